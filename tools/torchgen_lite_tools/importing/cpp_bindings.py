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

from tree_sitter import Node

from torchgen_lite.schema import parse_schema
from torchgen_lite_tools.importing.cpp_blocks import Reader
from torchgen_lite_tools.importing.cpp_functions import (
    MAY_WRITE,
    Function,
    argument_names,
    bare_type,
    result_types,
    schema_type,
)
from torchgen_lite_tools.importing.cpp_kernels import Kernel
from torchgen_lite_tools.importing.cpp_tree import CppTree, arguments, called, literal
from torchgen_lite_tools.importing.library import CATCH_ALL, Definition

# What is said of a binding besides names and defaults, and changes nothing about calls.
_ASIDE = re.compile(r"[\w:]*\b(?:call_guard|keep_alive|pos_only|noconvert)\b.*|.*policy::\w+", re.S)
# Strings with macros between them.
_STRINGS = re.compile(r'(?:\w+\s+)?(?:"(?:[^"\\]|\\.)*"(?:\s+\w+)*\s*)+', re.S)
# Numbers that Python passes as `int` and `float`, and that no kernel of PyTorch takes.
_NARROW = re.compile(
    r"\b(?:un)?signed char\b"
    r"|\b(?:(?:un)?signed |long |short )*(?:unsigned|long|short|int|size_t|u?int(?:8|16|32)_t|uint64_t)\b"
)
_REALS = re.compile(r"\b(?:long double|float)\b")
# What generated code converts in calls: such numbers, alone or in these, which no reference can be written through.
_HOLDING = frozenset(
    {"array", "ArrayRef", "HeaderOnlyArrayRef", "optional", "pair", "tuple", "vector"}
)
_WORDS = {"true": "True", "false": "False", "nullptr": "None", "nullopt": "None", "none()": "None"}


def read_binding(reader: Reader, call: Node, prefix: str, doc: str) -> None:
    """Propose an operator for `m.def("f", &f, py::arg("x") = 1.0, "doc")`."""
    tree = reader.tree
    given = arguments(call)
    if len(given) < 2:
        return reader.refuse(call)
    named_in, named = reader.meant(given[0])
    word = literal(named_in.tree, named)
    if word is None:
        return reader.refuse(call)
    name = f"{reader.namespace}::{prefix}{word}"
    kernel, home, at = reader.read_kernel(given[1])
    overloads = home.find(kernel)
    functions = _defined(tree, overloads)
    why = _unusable(kernel, functions)
    proposal = why or _propose(tree, given[2:], functions[0], overloads)
    conditions = reader.conditions_of(call)
    if conditions is None:
        return None
    path = reader.tree.text.source.path
    if (name, *conditions) in reader.read and not isinstance(proposal, str):
        before = _bound_before(reader, name + proposal[0], conditions)
        key, doubt = _key(functions[0])
        if before is not None and key not in before:
            if kernel.name.rpartition("::")[2] in before.values():
                doubt = f"`{kernel.name}` is the name of several functions: each needs its own"
            reader.library.proposed[path] += 1
            return replace(home, conditions=conditions).add_kernel(name, key, doubt, kernel, at)
        proposal = "this name is bound twice"
    if isinstance(proposal, str):
        return reader.report_unread(word, given[1], proposal)
    text, written_doc, names = proposal
    schema, problems = parse_schema(name + text)
    if schema is None:
        return reader.report_unread(word, given[1], problems[0].message)
    reader.read.add((name, *conditions))
    # What is asked of a namespace is asked once.
    asks = [*reader.asks, *_questions(functions[0], names)]
    asks += [f"`{word}` is bound in a submodule: which name?"] if prefix else []
    asks += ["the kernel is a lambda: make it a function, and name that"] if kernel.function else []
    reader.asks.clear()
    doc = written_doc or doc
    span = named_in.tree.span(named)
    binder = reader.binder
    definition = Definition(name, str(schema), (), conditions, doc, span, tuple(asks), binder)
    reader.library.definitions.append(definition)
    reader.library.proposed[path] += 1
    if any(is_converted for _, _, is_converted in _numbers(functions[0], names)):
        reader.library.converted.add(name)
    home = replace(home, conditions=conditions)
    return home.add_kernel(name, *_key(functions[0]), kernel, at)


def _unusable(kernel: Kernel, functions: Sequence[Function]) -> str:
    """Why nothing can be proposed for a kernel; "" if something can."""
    if "<" in kernel.name:
        return "this is an instance of a template"
    if kernel.function and not functions:
        return "what this lambda returns is not written"
    if kernel.problem and not kernel.function:
        return kernel.problem
    if not functions:
        return f"`{kernel.name}` is declared in none of these files"
    if len(functions) > 1:
        return f"`{kernel.name}` is overloaded"
    return ""


def _bound_before(
    reader: Reader, schema: str, conditions: tuple[str, ...]
) -> dict[str, str] | None:
    """The kernels by key of an operator that another extension binds with this schema, without their namespaces; None
    if there is none."""
    parsed, _ = parse_schema(schema)
    library = reader.library
    for definition in library.definitions:
        is_same = definition.schema == str(parsed) and definition.conditions == conditions
        if definition.binder and is_same:
            kernels = (each for each in library.implementations if each.name == definition.name)
            return {each.key: each.kernel.rpartition("::")[2] for each in kernels}
    return None


def _defined(tree: CppTree, overloads: Sequence[Function]) -> list[Function]:
    """One function for each list of types: those that the file defines, or others do, or that are only declared."""
    here = [function for function in overloads if function.body and function.body[0] is tree]
    several = here or [function for function in overloads if function.body] or overloads
    types = {
        (*map(bare_type, function.parameters), bare_type(function.returns)): function
        for function in several
    }
    return list(types.values())


def _propose(
    tree: CppTree, given: Sequence[Node], function: Function, overloads: Sequence[Function]
) -> tuple[str, str, list[str]] | str:
    """Schema, documentation and names of arguments, from what is given to `def` with a function; or why there is none."""
    named = list[tuple[str, str | None]]()
    marks = dict[int, str]()
    doc = ""
    for node in given:
        argument = _argument(tree, node)
        text = literal(tree, node)
        if argument is not None:
            named.append(argument)
        elif text is not None:
            doc = " ".join(text.split())
        elif _STRINGS.fullmatch(tree.of(node)):
            continue  # Documentation of which a part is a macro.
        elif called(tree, node) == "kw_only":
            marks[len(named)] = "*, "
        elif not _ASIDE.fullmatch(tree.of(node)):
            return f"`{tree.of(node)}` is not understood"
    taken = [text for text in function.parameters if text != "void"]
    if named and len(named) != len(taken):
        return f"{len(named)} of {len(taken)} arguments have names"
    texts = [*taken, *result_types(_wide(function.returns))]
    types = [schema_type(_wide(text)) or "" for text in texts]
    if "" in types:
        return f"no schema has the type `{texts[types.index('')]}`"
    same = [
        overload for overload in overloads if len(overload.parameters) == len(function.parameters)
    ]
    of_function = argument_names([function, *same], types[: len(taken)])
    names = named or [(name, None) for name in of_function]
    shown = [
        f"{marks.get(at, '')}{type_} {name}" + ("" if default is None else f"={default}")
        for at, (type_, (name, default)) in enumerate(zip(types, names[: len(taken)]))
    ]
    results = types[len(taken) :]
    returns = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(shown)}) -> {returns}", doc, [name for name, _ in names]


def _wide(text: str) -> str:
    """A C++ type with the numbers that kernels of PyTorch take in place of narrower ones, and a tuple for a pair.

    >>> _wide("const std::vector<float>&"), _wide("unsigned int"), _wide("int64_t")
    ('const std::vector<double>&', 'int64_t', 'int64_t')
    >>> _wide("std::pair<at::Tensor, float>")
    'std::tuple<at::Tensor, double>'
    """
    text = re.sub(r"\bpair(?=\s*<)", "tuple", text)
    return _NARROW.sub("int64_t", _REALS.sub("double", text))


def _numbers(function: Function, names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """The arguments, and the result, with types that no kernel of PyTorch takes: the name, the type, and whether
    generated code takes a kernel with it."""
    typed = [
        (name, text, span.text)
        for name, text, span in zip(names, function.parameters, function.spans)
    ]
    typed.append(("return", function.returns, function.returns))
    for name, text, written in typed:
        if _wide(text) != text:
            may_write = "&" in written and not re.search(r"\bconst\b|&&", written)
            templates = re.findall(r"\w+(?=\s*<)", text)
            is_held = _HOLDING.issuperset(templates)
            yield name, text, is_held and not may_write


def _questions(function: Function, names: Sequence[str]) -> Iterator[str]:
    """What has to be decided about the schema."""
    given = list(zip(names, function.parameters, function.spans))
    written = [f"`{name}`" for name, _, span in given if MAY_WRITE.match(span.text)]
    tensors = [f"`{name}`" for name, text, _ in given if "Tensor" in text]
    if written:
        yield f"{', '.join(written)} may be written, in C++: `Tensor(a!)`?"
    elif tensors and function.returns == "void":
        yield f"nothing is returned: which of {', '.join(tensors)} is written, a `Tensor(a!)`?"
    for name, text, is_converted in _numbers(function, names):
        if not is_converted:
            yield f"`{name}` is `{text}`: the kernel has to have `{_wide(text)}`"


def _key(function: Function) -> tuple[str, str]:
    """The key that the file of a function names, and a question where its text speaks of devices."""
    if "Tensor" not in "".join(function.parameters):
        return CATCH_ALL, ""
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
        default = _default(tree, node.named_children[-1])
        node = node.named_children[0]
    # What is said of an argument, such as `py::arg("x").none(false)`, changes no call that is right.
    while (inner := node.child_by_field_name("function")) and inner.type == "field_expression":
        node = inner.named_children[0]
    is_name = called(tree, node) == "arg" or re.fullmatch(r'"\w+"_a', tree.of(node))
    word = is_name and re.search(r'"(\w+)"', tree.of(node))
    if word and default != "":
        return (word[1], default)
    return None


def _default(tree: CppTree, node: Node) -> str:
    """A default as schemas write it, "" for one that is not a literal."""
    text = tree.of(node)
    if node.type in ("initializer_list", "compound_literal_expression"):
        if node.type == "initializer_list":
            inner = node
        else:
            inner = node.named_children[-1]
        parts = [_default(tree, part) for part in arguments(inner)]
        return f"[{', '.join(parts)}]" if all(parts) else ""
    if (string := literal(tree, node)) is not None:
        return json.dumps(string)
    if re.fullmatch(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFlL]*", text):
        return text.rstrip("fFlL")
    return _WORDS.get(text.rpartition("::")[2], "")
