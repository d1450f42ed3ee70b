"""Functions that pybind11 and nanobind bind to Python, as the operators that they may become.

Note [Bindings are proposed]
A binding has no schema: its types and names are those of the C++ function and of `py::arg`. C++ does not say what a
function writes, nor for which devices it is. What is not said becomes a question in the YAML, a comment `# ?`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from torchgen_lite.loader.importing.cpp_blocks import Reader
from torchgen_lite.loader.importing.cpp_functions import (
    MAY_WRITE,
    Function,
    bare_type,
    result_types,
    schema_type,
)
from torchgen_lite.loader.importing.cpp_kernels import read_kernel
from torchgen_lite.loader.importing.cpp_tree import CppTree, Node, arguments, called, literal
from torchgen_lite.loader.importing.library import CATCH_ALL, Definition
from torchgen_lite.schema import parse_schema

# What is said of a binding besides names and defaults, and changes nothing about calls.
_ASIDE = re.compile(r"[\w:]*\b(?:call_guard|keep_alive|pos_only|noconvert)\b.*|.*policy::\w+", re.S)
# Numbers that Python passes as `int` and `float`, and that no kernel of PyTorch takes.
_NARROW = re.compile(
    r"\b(?:(?:unsigned|signed|long|short)\b\s*)+(?:int\b)?|\b(?:int|size_t|u?int(?:8|16|32)_t|uint64_t)\b"
)
_WORDS = {"true": "True", "false": "False", "nullptr": "None", "nullopt": "None", "none()": "None"}


class _Proposal(NamedTuple):
    """The schema without its name, and the key; or why there is none. `asks` are about the schema, `asks_key` about
    the key."""

    schema: str = ""
    doc: str = ""
    asks: tuple[str, ...] = ()
    key: str = ""
    asks_key: str = ""
    problem: str = ""


def read_binding(reader: Reader, call: Node, prefix: str, doc: str) -> None:
    """Propose an operator for `m.def("f", &f, py::arg("x") = 1.0, "doc")`."""
    tree, given = reader.tree, arguments(call)
    word = literal(tree, given[0]) if len(given) > 1 else None
    if word is None:
        return reader.refuse(call)
    name, kernel = f"{reader.block.namespace}::{prefix}{word}", read_kernel(tree, given[1])
    functions = _defined(tree, reader.find(kernel))
    why = kernel.problem or ("this is an instance of a template" if "<" in kernel.name else "")
    if not why and len(functions) != 1:
        said = "is overloaded" if functions else "is declared in none of these files"
        why = f"`{kernel.name}` {said}"
    found = _Proposal(problem=why) if why else _propose(tree, given[2:], functions[0])
    schema, problems = parse_schema(name + found.schema)
    conditions = reader.conditions(call) or ()
    if not found.problem and ("", name, *conditions) in reader.read:
        found = _Proposal(problem="this name is bound twice")
    if found.problem or schema is None:
        return reader.report_unread(word, given[1], found.problem or problems[0].message)
    reader.read.add(("", name, *conditions))
    # What is asked of a namespace is asked once.
    namespace = [reader.block.asks] if reader.block.asks else []
    reader.block = replace(reader.block, asks="")
    asks = found.asks + ((f"`{word}` is bound in a submodule: which name?",) if prefix else ())
    definition = Definition(
        name,
        str(schema),
        conditions=conditions,
        doc=found.doc or doc,
        span=tree.span(given[0]),
        asks=(*namespace, *asks),
        binder=reader.block.binder,
    )
    reader.library.definitions.append(definition)
    return reader.add_kernel(name, found.key, kernel, given[1], found.asks_key)


def _defined(tree: CppTree, overloads: Sequence[Function]) -> list[Function]:
    """One function for each list of types: those that the file defines, or others do, or that are only declared."""
    own = [one for one in overloads if one.body and one.body[0] is tree]
    several = own or [one for one in overloads if one.body] or overloads
    types = {(*map(bare_type, one.parameters), bare_type(one.returns)): one for one in several}
    return list(types.values())


def _propose(tree: CppTree, given: Sequence[Node], function: Function) -> _Proposal:
    """The operator that a function may become, from what is given with it to `def`."""
    named, marks, doc = list[tuple[str, str | None]](), dict[int, str](), ""
    for one in given:
        argument, text = _argument(tree, one), literal(tree, one)
        if argument is not None:
            named.append(argument)
        elif text is not None:
            doc = " ".join(text.split())
        elif called(tree, one) == "kw_only":
            marks[len(named)] = "*, "
        elif not _ASIDE.fullmatch(tree.of(one)):
            return _Proposal(problem=f"`{tree.of(one)}` is not understood")
    taken = [text for text in function.parameters if text != "void"]
    names = named or [(name or f"_{at}", None) for at, name in enumerate(function.names)]
    if named and len(named) != len(taken):
        return _Proposal(problem=f"{len(named)} of {len(taken)} arguments have names")
    types = [schema_type(_wide(one)) for one in taken]
    results = result_types(function.returns)
    returns = [schema_type(_wide(one)) for one in results]
    for text, type_ in zip([*taken, *results], [*types, *returns]):
        if type_ is None:
            return _Proposal(problem=f"no schema has the type `{text}`")
    shown = [
        f"{marks.get(at, '')}{type_} {name}" + ("" if default is None else f"={default}")
        for at, (type_, (name, default)) in enumerate(zip(types, names))
    ]
    result = str(returns[0]) if len(returns) == 1 else f"({', '.join(map(str, returns))})"
    asks = tuple(_questions(function, taken, [name for name, _ in names]))
    key, asks_key = _key(function) if "Tensor" in "".join(taken) else (CATCH_ALL, "")
    return _Proposal(f"({', '.join(shown)}) -> {result}", doc, asks, key, asks_key)


def _wide(text: str) -> str:
    """A C++ type with the numbers that kernels of PyTorch take in place of narrower ones.

    >>> _wide("const std::vector<float>&"), _wide("unsigned int"), _wide("int64_t")
    ('const std::vector<double>&', 'int64_t', 'int64_t')
    """
    return _NARROW.sub("int64_t", re.sub(r"\bfloat\b", "double", text))


def _questions(function: Function, taken: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """What has to be decided about the schema."""
    written = [one for one, span in zip(names, function.spans) if MAY_WRITE.match(span.text)]
    tensors = [name for name, text in zip(names, taken) if "Tensor" in text]
    if written:
        yield f"{_listed(written)} may be written: then `Tensor(a!) {written[0]}`"
    elif tensors and function.returns == "void":
        yield f"nothing is returned: which of {_listed(tensors)} is written? `Tensor(a!) {tensors[-1]}`"
    for name, text in zip([*names, "the result"], [*taken, function.returns]):
        if _wide(text) != text:
            yield f"`{name}` is `{text}`: the kernel has to have `{_wide(text)}`"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _key(function: Function) -> tuple[str, str]:
    """The key that the file of a function names, and a question where its text speaks of devices."""
    if function.body is None:
        return "CPU", "for which devices? the function is defined in none of these files"
    tree, body = function.body
    if tree.text.source.path.endswith((".cu", ".cuh", ".hip")):
        return "CUDA", ""
    speaks = re.search(r"\w*(?:[cC]uda|CUDA|DEVICE)\w*", tree.of(body))
    return "CPU", f"for which devices? the function says `{speaks[0]}`" if speaks else ""


def _argument(tree: CppTree, node: Node) -> tuple[str, str | None] | None:
    """The name and default of `py::arg("x") = 1.0` or `"x"_a = 1.0`; None for anything else."""
    default = None
    if node.type == "assignment_expression":
        left, right = node.named_children[0], node.named_children[-1]
        default = _default(tree, right)
        node = left
    while node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            break
        node = function.named_children[0]
    name = None
    if called(tree, node) == "arg" and len(given := arguments(node)) == 1:
        name = literal(tree, given[0])
    elif node.type == "user_defined_literal" and tree.of(node).endswith("_a"):
        name = literal(tree, node.named_children[0])
    return None if name is None or default == "" else (name, default)


def _default(tree: CppTree, node: Node) -> str:
    """A default as schemas write it, "" for one that is not a literal."""
    text = tree.of(node)
    if node.type in ("initializer_list", "compound_literal_expression"):
        inner = node if node.type == "initializer_list" else node.named_children[-1]
        parts = [_default(tree, one) for one in arguments(inner)]
        return f"[{', '.join(parts)}]" if all(parts) else ""
    if (string := literal(tree, node)) is not None:
        return json.dumps(string)
    if re.fullmatch(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFlL]*", text):
        return text.rstrip("fFlL")
    return _WORDS.get(text.rpartition("::")[2], "")
