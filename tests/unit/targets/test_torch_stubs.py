"""Target `torch-stubs`: tests that do not need PyTorch."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

from torchgen_lite import load
from torchgen_lite.pipeline import generate
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.torch_stubs.views import build_namespace

PLAIN = [
    "f(Tensor x, *, Scalar y=1, Device? where=None) -> Tensor",
    "f.second(Tensor[] x, bool y) -> (Tensor, int)",
    "f.third(Tensor x, ...) -> ...",
    "f.fourth(Tensor x, *, int import) -> ()",
]


def module_of(folder: Path, schemas: list[str]) -> str:
    folder.mkdir()
    (folder / "torchgen_lite.toml").write_text('targets = ["torch-stubs"]\n')
    entries = [f"- func: named::{schema}\n" for schema in schemas]
    (folder / "native_functions.yaml").write_text("".join(entries))
    files = generate(load(root=folder))
    [path] = [path for path in files if path.endswith("_ops_stubs/named.pyi")]
    return files[path]


def hidden_names(text: str) -> Iterator[str]:
    """The names that a class has, and wants from the module. The text is Python, or a SyntaxError is raised."""
    for node in compile(text, "named.pyi", "exec", ast.PyCF_ONLY_AST).body:
        if not isinstance(node, ast.ClassDef):
            continue
        # What the class derives from is looked up outside of it.
        body = ast.Module(node.body, [])
        names = [part for part in ast.walk(body) if isinstance(part, ast.Name)]
        stored = {part.id for part in names if isinstance(part.ctx, ast.Store)}
        yield from stored.intersection(p.id for p in names if isinstance(p.ctx, ast.Load))
    compile(text, "named.pyi", "exec")


def test_arguments_overloads_and_operators_may_have_the_names_of_the_stubs(
    tmp_path: Path,
) -> None:
    plain = module_of(tmp_path / "plain", PLAIN)
    tokens = tokenize.generate_tokens(io.StringIO(plain).readline)
    words = {token.string for token in tokens if token.type == tokenize.NAME}
    # Schemas have their own rules for names with two underscores, and for `default`.
    names = [word for word in sorted(words) if word[:2] != "__" and word != "default"]
    assert {"_op", "overload", "_op_f", "Tensor"} <= {*names}
    schemas = [*PLAIN]
    for name in names:
        schemas += [
            f"of_{name}(Tensor {name}, *, Tensor other) -> Tensor",
            f"beside_{name}(Tensor x) -> Tensor",
            f"beside_{name}.{name}(Tensor[] x, Scalar? y) -> Tensor",
        ]
        if name != "f":
            schemas.append(f"{name}(Tensor x) -> Tensor")
    assert [*hidden_names(module_of(tmp_path / "all", schemas))] == []


def test_namespaces_have_modules_of_their_own() -> None:
    """Their files are apart where case is ignored, and the attributes of `torch.ops` keep their names."""
    schemas = [FunctionSchema.parse("f(Tensor x) -> Tensor")]
    modules: dict[str, str] = {}
    for name in ("a::b", "a__b", "Lib", "lib", "LIB", "lib_", "nul", "__init__"):
        build_namespace(name, schemas, modules, {})
    assert modules == {
        "a__b": "a__b",
        "a__b_": "a__b_",
        "Lib": "Lib",
        "lib": "lib_",
        "LIB": "LIB__",
        "lib_": "lib___",
        "nul": "nul_",
        "__init__": "__init___",
    }
