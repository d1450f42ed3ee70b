"""What PyTorch reads of a device's module (`torch.chip`), taken from the sources of the installed PyTorch.

A module gets into a variable by `getattr(torch, device_type)` or `get_device_module`; what is read of this variable, by
an attribute, `getattr` or `hasattr`, is a name that PyTorch looks for. Only Python is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

# The modules of PyTorch's own devices, inductor (which the template refuses as a whole), and what no training runs.
_LEFT_OUT = ("cuda", "xpu", "mtia", "mps", "cpu", "_inductor", "testing", "onnx", "ao")
# Functions that return the module, and names of variables and parameters that hold it.
_MAKERS = {"get_device_module", "_get_device_module", "_get_available_device_module"}
_HOLDERS = {"device_module", "_device_module", "device_mod", "device_handle", "_device_handle"}
# What the name of a device is called where it is looked up in `torch`.
_WORDS = ("device", "backend", "acc")
# Without one of these, a file has no such variable.
_SIGNS = ("getattr(torch,", "_custom_mod_func", "device_module", "device_mod", "device_handle")


def read_by_torch(torch: Path) -> dict[str, set[str]]:
    """Each name that is read of a device's module, and the files that read it."""
    found: dict[str, set[str]] = {}
    for path in sorted(torch.rglob("*.py")):
        file = path.relative_to(torch)
        text = path.read_text("utf-8")
        if file.parts[0] in _LEFT_OUT or not any(sign in text for sign in _SIGNS):
            continue
        reader = _Reader()
        reader.visit(ast.parse(text))
        for name in reader.names:
            found.setdefault(name, set()).add(file.as_posix())
    return found


def defined_by(path: Path, class_name: str | None = None) -> set[str]:
    """The names that a module, or a class in it, defines."""
    body = ast.parse(path.read_text("utf-8")).body
    if class_name is not None:
        classes = [node for node in body if isinstance(node, ast.ClassDef)]
        body = next(node.body for node in classes if node.name == class_name)
    return set(_defined(body))


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.If):
            yield from _defined(node.body)
        elif isinstance(node, ast.Assign):
            for part in ast.walk(ast.Tuple(node.targets)):
                if isinstance(part, ast.Name):
                    yield part.id


class _Reader(ast.NodeVisitor):
    """Collects the names. `_modules` and `_texts` are what the variables of each open scope hold."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._modules: set[str] = set()
        self._texts: Mapping[str, str] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_scope(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_scope(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_scope(node)

    def _visit_scope(self, node: ast.stmt) -> None:
        outside = self._modules, self._texts
        self._modules, self._texts = set(outside[0]), dict(outside[1])
        self.generic_visit(node)
        self._modules, self._texts = outside

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        targets = [ast.unparse(target) for target in node.targets]
        if self._is_module(node.value):
            self._modules.update(targets)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self._texts = {**self._texts, **dict.fromkeys(targets, node.value.value)}

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        if self._is_module(node.value):
            self._modules.add(node.target.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and self._is_module(node.value):
            self.names.add(node.attr)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        called = ast.unparse(node.func).rpartition(".")[2]
        name = node.args[-1] if called == "_get_custom_mod_func" and node.args else None
        if called in ("getattr", "hasattr") and self._is_module(node.args[0]):
            name = node.args[1]
        if name is None:
            return
        text = self._texts.get(ast.unparse(name))
        if isinstance(name, ast.Constant):
            text = name.value
        # Other names are made while PyTorch runs.
        if text is not None:
            self.names.add(text)

    def _is_module(self, node: ast.expr) -> bool:
        if isinstance(node, ast.IfExp):
            return self._is_module(node.body) or self._is_module(node.orelse)
        if isinstance(node, ast.NamedExpr):
            return self._is_module(node.value)
        if not isinstance(node, ast.Call):
            text = ast.unparse(node)
            return text in self._modules or text.rpartition(".")[2] in _HOLDERS
        called = ast.unparse(node.func).rpartition(".")[2]
        if called != "getattr" or ast.unparse(node.args[0]) != "torch":
            return called in _MAKERS
        name = node.args[1]
        is_fixed = isinstance(name, ast.Constant)
        return not is_fixed and any(word in ast.unparse(name).lower() for word in _WORDS)
