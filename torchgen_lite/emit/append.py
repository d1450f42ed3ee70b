"""Add function stubs, and the imports or includes they need, to an author's file; existing text
stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from torchgen_lite.emit.printer import lay_out
from torchgen_lite.loader.python.function_code import defined_by
from torchgen_lite.schema.grouped import grouped

if TYPE_CHECKING:
    from torchgen_lite.targets.output import AuthorFunction


def add_python(text: str, functions: Sequence[AuthorFunction]) -> str:
    """The module with more functions at its end; types are imported for type checkers only.

    Annotations are not needed at run time, and importing them could create an import cycle with
    the framework. Raises SyntaxError if the text is not Python.
    """
    tree = ast.parse(text)
    imports = sorted({imported for function in functions for imported in function.imports})
    lines = text.splitlines()
    known = _bound(tree)
    wanted = [imported for imported in imports if imported[1].split()[-1] not in known]
    block: list[str] = []
    if wanted:
        if "TYPE_CHECKING" not in known:
            block += ["from typing import TYPE_CHECKING", ""]
        block += ["if TYPE_CHECKING:"]
        for module, named in groupby(wanted, key=itemgetter(0)):
            block.append(f"    from {module} import {', '.join(name for _, name in named)}")
    # What comes later in the text is added first, so that the other place stays where it is.
    _insert(lines, _import_end(tree), block)
    if not _has_future(tree):
        _insert(lines, _docstring_end(tree), ["from __future__ import annotations"])
    for function in functions:
        body = f'    raise NotImplementedError("{function.name}")'
        lines += ["", "", f"{function.declaration}:", body]
    return lay_out("a.py", "\n".join(lines).strip("\n") + "\n")


def _insert(lines: list[str], at: int, added: Sequence[str]) -> None:
    """Add lines, with an empty one before and behind them where others stand."""
    if not added:
        return
    before = [""] if at else []
    is_followed = lines[at : at + 1] not in ([], [""])
    behind = [""] if is_followed else []
    lines[at:at] = [*before, *added, *behind]


def _has_future(tree: ast.Module) -> bool:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return True
    return False


def _bound(tree: ast.Module) -> frozenset[str]:
    """The names bound by statements at any depth."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            names.update(defined_by(node))
    return frozenset(names)


def _docstring_end(tree: ast.Module) -> int:
    return (tree.body[0].end_lineno or 0) if ast.get_docstring(tree) is not None else 0


def _import_end(tree: ast.Module) -> int:
    """The number of lines up to the last import at the top."""
    end = _docstring_end(tree)
    for node in tree.body[1 if end else 0 :]:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        end = node.end_lineno or end
    return end


def add_declarations(text: str, functions: Sequence[AuthorFunction]) -> str:
    """The C++ header with more declarations."""
    before = text.rstrip("\n") if text.strip() else "#pragma once"
    added = _blocks(text, functions, [], lambda function: f"{function.declaration};")
    return f"{before}\n\n{added}\n"


def add_definitions(text: str, functions: Sequence[AuthorFunction]) -> str:
    """The C++ source with more definitions; the proof stays last."""
    proof = f"#include <{functions[0].last}>" if functions and functions[0].last else ""
    before = text.rstrip("\n").removesuffix(proof).rstrip("\n")
    added = _blocks(text, functions, ["#include <stdexcept>"], _definition)
    return "\n\n".join(filter(None, [before, added, proof])) + "\n"


def _blocks(
    text: str,
    functions: Sequence[AuthorFunction],
    more: Sequence[str],
    show: Callable[[AuthorFunction], str],
) -> str:
    """The includes that a text lacks, and a block of functions for each namespace."""
    includes = [
        f'#include "{h.name}"' if h.is_quoted else f"#include <{h.name}>"
        for function in functions
        for h in function.headers
    ]
    known = {_header(line) for line in text.splitlines() if line.startswith("#include")}
    missing = [
        header for header in dict.fromkeys([*includes, *more]) if _header(header) not in known
    ]
    parts = ["\n".join(missing)] if missing else []
    for namespace, of_namespace in grouped(functions, lambda function: function.namespace).items():
        # One for other releases may have types that this one lacks.
        body = "\n\n".join(
            f"#if {function.guard}\n{show(function)}\n#endif" if function.guard else show(function)
            for function in of_namespace
        )
        if namespace:
            body = f"namespace {namespace} {{\n\n{body}\n\n}} // namespace {namespace}"
        parts.append(body)
    return lay_out("a.cpp", "\n\n".join(parts) + "\n").rstrip("\n")


def _header(line: str) -> str:
    return line.removeprefix("#include").strip().strip('<>"')


def _definition(function: AuthorFunction) -> str:
    thrown = f'throw std::logic_error("{function.name} is not written yet");'
    return f"{function.declaration} {{\n  {thrown}\n}}"


def has_function(text: str, function: AuthorFunction) -> bool:
    """Whether a file has the function. Raises SyntaxError if a Python file does not parse."""
    if function.is_cpp:
        return defined_in_cpp(text, function.name) > 0
    return any(getattr(node, "name", "") == function.name for node in ast.parse(text).body)


def defined_in_cpp(text: str, name: str) -> int:
    """The line where a C++ file seems to declare or define a function (a textual search), or 0."""
    member = re.fullmatch(r"structured_(\w+)::(meta|impl)", name)
    # PyTorch has macros for them: `TORCH_IMPL_FUNC(add_out)`, `TORCH_META_FUNC2(add, Tensor)`.
    if member is not None:
        words = r"(?:_|\s*,\s*)".join(member[1].split("_"))
        macro = rf"\bTORCH_(?:PRECOMPUTE_)?{member[2].upper()}_FUNC2?\s*\(\s*{words}\s*\)"
        macro_match = re.search(macro, text)
        if macro_match is not None:
            return text.count("\n", 0, macro_match.end()) + 1
    for match in re.finditer(rf"(\w+|[>&*])\s+[&*]*(?:\w+::)*{re.escape(name)}\s*\(", text):
        if match[1] not in ("return", "else", "throw"):
            return text.count("\n", 0, match.end()) + 1
    return 0
