"""The registrations of a C++ file: `TORCH_LIBRARY` and similar blocks, and the calls in them.

Note [Nothing is passed over]
Every use of a block's variable is read as a registration or gives a diagnostic. A block that
the parser does not recognize is found by its name in the text. A function that a block passes its variable to is read
as a part of the block; one that takes a library and that no block calls is reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from tree_sitter import Node

from torchgen_lite.diagnostics import Diagnostic, Label, Span
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.schema import parse_schema
from torchgen_lite_tools.importing.cpp_bindings import read_binding
from torchgen_lite_tools.importing.cpp_blocks import Reader
from torchgen_lite_tools.importing.cpp_functions import (
    Functions,
    infer_schema,
    used_namespaces,
)
from torchgen_lite_tools.importing.cpp_kernels import Kernel, read_key
from torchgen_lite_tools.importing.cpp_preprocessor import without_quoted
from torchgen_lite_tools.importing.cpp_tree import (
    CppTree,
    arguments,
    called,
    literal,
    split_commas,
    walk,
)
from torchgen_lite_tools.importing.cpp_unread import HEAD, LEGACY, report_unread
from torchgen_lite_tools.importing.library import CATCH_ALL, Definition, Library

_BINDERS = {"PYBIND11_MODULE": "pybind11", "NB_MODULE": "nanobind"}
_SELECTIVE = frozenset({"TORCH_SELECTIVE_SCHEMA", "TORCH_SELECTIVE_NAME", "schema"})
# Registrations that are not for an operator.
_BY_HAND = {
    "class_": "a class for TorchScript",
    "fallback": "a fallback for all operators",
    "set_python_module": "the module of the fakes: the option `python-module` of the target says it",
    "impl_abstract_pystub": "the module of the fakes: the option `python-module` of the target says it",
}
# What gets a value: `f = `, `f += `.
_ASSIGNED = re.compile(r"\b(\w+)\s*[-+*/|&]?=(?!=)")
# The number of functions that call each other with a block's variable.
_MAX_DEPTH = 16


def read_registrations(trees: Sequence[CppTree], functions: Functions, library: Library) -> None:
    """Everything that files register, added to the library."""
    readers = dict[str, Reader]()
    read = set[tuple[str, ...]]()
    for tree in trees:
        tags = _variables(tree) if "Tag" in tree.text.text else {}
        used = tuple(used_namespaces(tree))
        modules = {LEGACY: ""}
        reader = Reader(tree, library, functions, tags, used, read, readers, modules)
        readers[tree.text.source.path] = reader
    spans = [_read_file(reader) for reader in readers.values()]
    for reader, of_file in zip(readers.values(), spans):
        report_unread(reader, of_file)


def _read_file(reader: Reader) -> list[tuple[int, int]]:
    """Read the blocks and objects of a file; where it has them."""
    tree = reader.tree
    library = reader.library
    read: list[tuple[int, int]] = []
    for node, around in walk(tree, "function_definition"):
        declarator = node.child_by_field_name("declarator")
        name = declarator and declarator.child_by_field_name("declarator")
        if declarator is None or name is None or not HEAD.fullmatch(tree.of(name)):
            continue
        read.append((name.start_byte, name.end_byte))
        inner = _read_head(replace(reader, place=tree.span(node)), declarator, around)
        body = node.child_by_field_name("body")
        if inner is not None and body is not None:
            _read_body(inner, body)
    for node, around in walk(tree, "declaration", "expression_statement"):
        calls = list(_legacy_calls(tree, node))
        if calls:
            read.append((node.start_byte, node.end_byte))
            with library.reading(tree.span(node), tree.span(node), defines=False):
                _read_object(replace(reader, around=around), calls)
    return read


def _read_object(reader: Reader, calls: Sequence[tuple[str, Node]]) -> None:
    for method, call in calls:
        reader.library.statements += 1
        if method == "op":
            _read_definition(reader, call, "")
        else:
            reader.refuse(call)


def _variables(tree: CppTree) -> dict[str, Node | None]:
    """The variables that are about tags; only a constant with one value has it for certain."""
    variables = dict[str, "Node | None"]()
    stack = [tree.root]
    while stack:
        node = stack.pop()
        stack += node.named_children
        text = tree.of(node) if node.type == "declaration" else ""
        if re.search(r"\bTag\b", text):
            is_constant = re.match(r"(?:(?:static|inline)\s+)*(?:const|constexpr)\b", text)
            for declarator in node.children_by_field_name("declarator"):
                name = tree.of(declarator.child_by_field_name("declarator") or declarator)
                value = declarator.child_by_field_name("value")
                variables[name] = value if is_constant and name not in variables else None
    return variables


def _legacy_calls(tree: CppTree, statement: Node) -> Iterator[tuple[str, Node]]:
    """The calls of `auto r = RegisterOperators("f()", &f).op(..)`; `RegisterOperators r(..)` is one."""
    given = statement.child_by_field_name("declarator") or next(
        iter(statement.named_children), None
    )
    value = given and (given.child_by_field_name("value") or given)
    if value and value.type == "call_expression":
        chain = _chain(tree, value)
    else:
        chain = None
    if chain and chain[0] == LEGACY:
        yield from chain[1]
    type_ = tree.of(statement.child_by_field_name("type")).rpartition("::")[2]
    if value and type_ == LEGACY and value.type in ("argument_list", "initializer_list"):
        yield "op", value


def _read_head(reader: Reader, head: Node, around: tuple[str, ...]) -> Reader | None:
    tree = reader.tree
    name = tree.of(head.child_by_field_name("declarator"))
    given = split_commas(tree.of(head.child_by_field_name("parameters"))[1:-1])
    is_impl = "_IMPL" in name
    binder = _BINDERS.get(name, "")
    given = given[:2] if binder else given
    if len(given) != 2 + is_impl:
        reader.report("TG601", f"`{name}` with {len(given)} arguments", head, "this block")
        return None
    namespace = given[0]
    variable = given[-1]
    key = read_key(given[1]) if is_impl else ""
    is_macro = re.fullmatch(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*", namespace) is not None
    asks = list[str]()
    if is_macro and binder:
        macro = namespace
        is_macro = False
        namespace = re.sub(r"\W", "_", PurePath(tree.text.source.path).stem)
        asks += [f"`{namespace}` is the file's name; the build names it: `--macro {macro}=...`"]
    if is_macro or not re.fullmatch(r"\w+", namespace):
        message = f"the namespace `{namespace}` is a macro that is not known"
        word = namespace if is_macro else "NAME"
        reader.report("TG601", message, head, "this block", f"give `--macro {word}=...`")
        return None
    if key is None:
        message = f"`{given[1]}` is not a dispatch key"
        reader.report("TG601", message, head, "this block", f"give `--macro {given[1]}=...`")
        return None
    block = replace(
        reader, modules={variable: ""}, around=around, binder=binder, asks=asks, given={}
    )
    defines = not (is_impl or binder or "_FRAGMENT" in name)
    is_stable = name.startswith("STABLE_")
    return replace(block, namespace=namespace, key=key, defines=defines, is_stable=is_stable)


def _read_body(reader: Reader, node: Node) -> None:
    """Read a block's statements in order; uses of the variable other than calls are refused."""
    if reader.binder:
        reader.library.binders[reader.tree.text.source.path] = reader.binder
    span = reader.tree.span(node)
    for included in re.finditer(r"^[ \t]*(#)\s*include\s*(\S+)", span.text, re.M):
        at = span.start + included.start(1)
        if at not in reader.tree.text.included:
            message = f"`{included[2]}` is included in the middle of a block, and not read"
            label = Label(Span(span.source, at, span.start + included.end()), "here")
            help_ = "give the file, if it has no conditions, or the built library: `--module`"
            reader.library.diagnostics.append(Diagnostic("TG601", message, label, help=help_))
    if not reader.depth and node.children[-1].is_missing:
        message = "the end of this block was not read"
        help_ = "give the whole file, or the built library: `--module`"
        reader.report("TG601", message, node.children[0], "opened here", help_)
    assigned = Counter(_ASSIGNED.findall(without_quoted(span.text)))
    reader.given.update(dict.fromkeys(word for word, count in assigned.items() if count > 1))
    stack = [(node, "")]
    while stack:
        statement, doc = stack.pop()
        if statement.type == "compound_statement":
            stack += reversed(_documented(reader.tree, statement))
        elif statement.type == "expression_statement":
            stack += [(child, doc) for child in reversed(statement.named_children)]
        else:
            if reader.depth or reader.place is None:
                _read_statement(reader, statement, doc)
            else:
                with reader.library.reading(
                    reader.tree.span(statement), reader.place, reader.defines
                ):
                    _read_statement(reader, statement, doc)
            if _may_leave(statement) and any(_mentions(reader, rest) for rest, _ in stack):
                message = "what follows this statement may not run"
                help_ = "move it up, or out"
                reader.report("TG601", message, statement, "this may return", help_)
                return


def _may_leave(statement: Node) -> bool:
    """Whether the statement may end the block; a `return` in a lambda does not."""
    stack = [statement] if statement.type.endswith("_statement") else []
    while stack:
        node = stack.pop()
        if node.type in ("return_statement", "goto_statement"):
            return True
        if node.type != "lambda_expression":
            stack += node.named_children
    return False


def _mentions(reader: Reader, node: Node) -> bool:
    names = "|".join(map(re.escape, reader.modules))
    return node.type != "comment" and bool(re.search(rf"\b(?:{names})\b", reader.tree.of(node)))


def _read_statement(reader: Reader, node: Node, doc: str) -> None:
    tree = reader.tree
    if reader.binder:
        declared = node.child_by_field_name("declarator")
    else:
        declared = None
    value = (declared and declared.child_by_field_name("value")) or node
    if node.type == "declaration":
        _note_variables(reader, node)
    if reader.binder and node.type == "assignment_expression":
        value = node.named_children[0]
    chain = _chain(tree, value)
    if chain and chain[0] in reader.modules:
        prefix = _read_chain(reader, chain[1], reader.modules[chain[0]], doc)
        if declared:
            reader.modules[tree.of(declared.child_by_field_name("declarator"))] = prefix
        return
    if node.type == "call_expression":
        if _follow(reader, node):
            return
        name = tree.of(node.child_by_field_name("function"))
        if re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            message = f"macro `{name}` is not known"
            help_ = f"give `--macro '{name}(...)=...'`, or the file that defines it"
            reader.report("TG601", message, node, "not understood", help_)
            reader.library.statements += 1
            return
    if node.type == "ERROR" or _mentions(reader, node):
        reader.library.statements += 1
        reader.refuse(node)


def _note_variables(reader: Reader, declaration: Node) -> None:
    """The variables that a block declares: each stands for its value, if it gets no other one."""
    text = reader.tree.of(declaration)
    for declarator in declaration.children_by_field_name("declarator"):
        named = declarator.child_by_field_name("declarator") or declarator
        name = re.search(r"\w+", reader.tree.of(named))
        value = declarator.child_by_field_name("value")
        if name is not None:
            is_certain = name[0] not in reader.given and re.search(rf"\b{name[0]}\s*=", text)
            reader.given[name[0]] = reader.meant(value) if value and is_certain else None


def _follow(reader: Reader, call: Node) -> bool:
    """Read the function that a block passes its variable to; whether it was found."""
    values = arguments(call)
    given = [reader.tree.of(value) for value in values]
    at = next((at for at, text in enumerate(given) if text in reader.modules), -1)
    conditions = reader.conditions_of(call)
    if at < 0 or conditions is None or reader.depth == _MAX_DEPTH:
        return False
    name = re.sub(r"\s+", "", reader.tree.of(call.child_by_field_name("function")))
    prefix = reader.modules[given[at]]
    is_found = False
    for function in reader.functions.find(name, reader.around, reader.used):
        tree, body = function.body or (reader.tree, call)
        other = reader.others.get(tree.text.source.path)
        if other is None or function.body is None or at >= len(function.names):
            continue
        is_found = True
        means: dict[str, tuple[Reader, Node] | None] = dict.fromkeys(
            function.names + function.template
        )
        means |= {word: reader.meant(value) for word, value in zip(function.names, values) if word}
        shown = [home.tree.of(value) for home, value in filter(None, means.values())]
        place = (tree.text.source.path, str(body.start_byte))
        once = (*place, reader.namespace, reader.key, prefix, *shown)
        if once not in reader.read:
            reader.read.update((once, place))
            around = function.path[:-1]
            used = other.used
            inner = replace(reader, modules={function.names[at]: prefix}, around=around, used=used)
            inner = replace(inner, tree=tree, tags=other.tags, conditions=conditions, given=means)
            _read_body(replace(inner, depth=reader.depth + 1), body)
    return is_found


def _chain(tree: CppTree, node: Node) -> tuple[str, list[tuple[str, Node]]] | None:
    """`m.def(...).impl(...)` as its root and its calls, in order."""
    calls: list[tuple[str, Node]] = []
    while node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            calls += [("op", node)] if arguments(node) else []
            if called(tree, node) == LEGACY:
                return (LEGACY, calls[::-1])
            return None
        method = re.sub(r"<.*>", "", tree.of(function.child_by_field_name("field")))
        calls.append((method.removeprefix("template").strip(), node))
        inner = function.child_by_field_name("argument")
        if inner is None:
            return None
        node = inner
    if calls and node.type == "identifier":
        return (tree.of(node), calls[::-1])
    return None


def _read_chain(reader: Reader, calls: list[tuple[str, Node]], prefix: str, doc: str) -> str:
    """Read the calls of a chain; the prefix of the submodule that they end in."""
    for method, call in calls:
        if reader.binder and method in ("doc", "def_submodule"):
            if arguments(call):
                name = literal(reader.tree, arguments(call)[0])
            else:
                name = ""
            prefix += f"{name}_" if name else ""
            continue
        reader.library.statements += 1
        if reader.binder and method == "def":
            read_binding(reader, call, prefix, doc)
        elif not reader.binder and method in _BY_HAND:
            message = f"`{method}` is not taken over"
            reader.report("TG606", message, call, _BY_HAND[method])
            if method == "class_":
                break  # What is called behind it is the class's.
        elif method == "def" and not reader.key:
            _read_definition(reader, call, doc)
        elif method == "impl" and not reader.binder:
            _read_implementation(reader, call)
        else:
            reader.refuse(call)
    return prefix


def _text(reader: Reader, node: Node) -> tuple[str | None, Span]:
    """A string, with or without a macro for selective builds around it, and where it stands."""
    while called(reader.tree, node) in _SELECTIVE and len(given := arguments(node)) == 1:
        node = given[0]
    home, value = reader.meant(node)
    return literal(home.tree, value), home.tree.span(value)


def _read_definition(reader: Reader, call: Node, doc: str) -> None:
    tree = reader.tree
    given = arguments(call)
    if not given:
        return reader.refuse(call)
    text, place = _text(reader, given[0])
    if text is None:
        return reader.refuse(call)
    tags: tuple[str, ...] = ()
    kernel: Kernel | None = None
    home = reader
    at = given[0]
    for argument in given[1:]:
        value = reader.tags.get(tree.of(argument), argument)
        its_tags = _read_tags(tree, value) if value else None
        if its_tags is None and tree.of(argument) in reader.tags:
            message = f"`{tree.of(argument)}` holds tags"
            help_ = "write them here, or make it a constant"
            return reader.report("TG601", message, argument, "what is in it may change", help_)
        if its_tags is not None:
            tags += its_tags
        elif kernel is None:
            kernel, home, at = reader.read_kernel(argument)
        else:
            return reader.refuse(call)
    if "::" in text.partition("(")[0]:
        full = text.strip()
    else:
        full = f"{reader.namespace}::{text.strip()}"
    if "(" not in full:
        if kernel is None:
            return reader.refuse(call)
        inferred = _inferred(home, full, kernel, at)
        if inferred is None:
            return None
        full = inferred
    schema, problems = parse_schema(full)
    if schema is None:
        message = f"`{full.partition('(')[0]}`: {problems[0].message}"
        return reader.report("TG604", message, given[0], "this schema", problems[0].help)
    unknown = [tag for tag in tags if tag not in KNOWN_TAGS]
    if unknown:
        message = f"`{unknown[0]}` is not a tag"
        return reader.report("TG601", message, call, "this registration")
    name = schema.full_name
    conditions = reader.conditions_of(call)
    if conditions is None:
        return None
    definition = Definition(name, str(schema), tags, conditions, doc, place)
    reader.library.definitions.append(definition)
    if reader.is_stable:
        reader.library.stable.add(name)
    if kernel is not None:
        home = replace(home, conditions=conditions)
        home.add_kernel(name, kernel.key or CATCH_ALL, "", kernel, at)


def _inferred(reader: Reader, name: str, kernel: Kernel, node: Node) -> str | None:
    overloads = reader.find(kernel)
    schema = infer_schema(name, overloads)
    if schema is None:
        message = f"`{name}` takes its schema from the type of its kernel"
        if len(overloads) == 1:
            why = "has a type that is not known here"
        elif overloads:
            why = "is overloaded"
        else:
            why = "is declared in none of these files"
        help_ = "give the files that declare it, or write the schema"
        text = kernel.problem or f"`{kernel.name}` {why}"
        reader.report("TG604", message, node, text, help_)
    elif any(
        re.match(r"(?!.*\bconst\b).*Tensor", span.text, re.S) for span in overloads[0].spans[:-1]
    ):
        reader.library.inferred.append(name)
    return schema


def _read_tags(tree: CppTree, node: Node) -> tuple[str, ...] | None:
    """`{at::Tag::core}`; None if it is not a list of tags."""
    text = tree.of(node)
    if node.type not in ("initializer_list", "compound_literal_expression"):
        if re.search(r"\bTag::\w+$", text):
            return (text.rpartition("::")[2],)
        return None
    inner = text.partition("{")[2].rpartition("}")[0]
    parts = [part for part in split_commas(inner) if part]
    return tuple(part.rpartition("::")[2] for part in parts)


def _read_implementation(reader: Reader, call: Node) -> None:
    given = arguments(call)
    name = _text(reader, given[0])[0] if len(given) in (2, 3) else None
    if name is None:
        return reader.refuse(call)
    key: str | None = ""
    if len(given) == 3:
        home, value = reader.meant(given[1])
        key = read_key(home.tree.of(value))
    conditions = reader.conditions_of(call)
    if key is None:
        return reader.refuse(call)
    if conditions is None:
        return None
    kernel, home, node = reader.read_kernel(given[-1])
    full = name if "::" in name else f"{reader.namespace}::{name}"
    key = kernel.key or key or reader.key or CATCH_ALL
    return replace(home, conditions=conditions).add_kernel(full, key, "", kernel, node)


def _documented(tree: CppTree, body: Node) -> list[tuple[Node, str]]:
    """The statements of a block, each with the comment on the lines right above it."""
    statements = list[tuple[Node, str]]()
    above = list[Node]()
    last = -1
    for node in body.named_children:
        first = node.start_point[0]
        if first != last + 1:
            above = []
        if node.type != "comment":
            statements.append((node, _doc(tree, above)))
            above = []
        elif first == last:  # It follows a statement on its line, and is about that.
            above = []
        else:
            above.append(node)
        last = node.end_point[0]
    return statements


def _doc(tree: CppTree, comments: list[Node]) -> str:
    """The text of comments; "" if it is commented-out code."""
    lines = [line for one in comments for line in tree.span(one).text.splitlines()]
    words = [re.sub(r"^\s*(?:/\*+|\*+/|\*|//+)\s?|\s*\*/\s*$", "", one).strip() for one in lines]
    text = " ".join(filter(None, words))
    is_code = re.search(r"[;{}]|\.(?:def|impl)\(|\bTODO\b|\bNOLINT|\bclang-format\b", text)
    return "" if is_code else text
