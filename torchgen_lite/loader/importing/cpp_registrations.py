"""The registrations of a C++ file: `TORCH_LIBRARY` and similar blocks, and the calls in them.

Note [Nothing is passed over]
Every use of a block's variable is read as a registration or gives a diagnostic. A block that
the parser does not recognize is found by its name in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchgen_lite.diagnostics import Diagnostic, Help, Label, Span
from torchgen_lite.loader.importing.cpp_functions import Functions, infer_schema, used_namespaces
from torchgen_lite.loader.importing.cpp_kernels import Kernel, read_kernel, read_key
from torchgen_lite.loader.importing.cpp_preprocessor import without_quoted
from torchgen_lite.loader.importing.cpp_tree import (
    CppTree,
    Node,
    arguments,
    called,
    literal,
    split_commas,
    walk,
)
from torchgen_lite.loader.importing.library import CATCH_ALL, Definition, Implementation, Library
from torchgen_lite.loader.known_tags import KNOWN_TAGS
from torchgen_lite.loader.reader import KERNEL_NAME
from torchgen_lite.schema import parse_schema

_HEAD = re.compile(
    r"\b(?:STABLE_)?TORCH_LIBRARY(_IMPL|_FRAGMENT)?(?:_EXPAND|_THIS_API_IS_FOR_PER_OP_REGISTRATION_ONLY)?\b"
)
_SELECTIVE = frozenset({"TORCH_SELECTIVE_SCHEMA", "TORCH_SELECTIVE_NAME", "schema"})
# Registrations that are not for an operator.
_BY_HAND = {
    "class_": "a class for TorchScript",
    "fallback": "a fallback for all operators",
    "set_python_module": "the module of the fakes: the option `python-module` of the target says it",
    "impl_abstract_pystub": "the module of the fakes: the option `python-module` of the target says it",
}
LEGACY = "RegisterOperators"
_REGISTERS = re.compile(rf"TORCH_LIBRARY|{LEGACY}|\bLibrary::(?:DEF|IMPL|FRAGMENT)\b")
# Objects that register, where they are made: what is called on them may stand anywhere.
_OBJECT = re.compile(
    rf"\bMAKE_TORCH_LIBRARY\w*|\bLibrary::(?:DEF|IMPL|FRAGMENT)\b|\b{LEGACY}\b(?=\s*[({{]|\s+\w+\s*[({{=;])"
)


@dataclass(frozen=True, slots=True)
class Block:
    """`TORCH_LIBRARY_IMPL(namespace, key, variable)` and its place; the old API has no variable."""

    span: Span
    defines: bool
    namespace: str
    key: str
    variable: str
    around: tuple[str, ...]
    used: tuple[str, ...]


@dataclass(slots=True)
class Reader:
    """Reads a file into a library, given the functions that all files declare.

    `tags` are the variables about tags, by name, each with its value if that is certain.
    """

    tree: CppTree
    library: Library
    functions: Functions
    tags: Mapping[str, Node | None]

    def report(
        self, code: str, message: str, node: Node, text: str, help_: Help | None = None
    ) -> None:
        label = Label(self.tree.span(node), text)
        self.library.diagnostics.append(Diagnostic(code, message, label, help=help_))


def has_registrations(text: str) -> bool:
    """Whether a text may register operators, by a quick look."""
    return _REGISTERS.search(text) is not None


def read_registrations(tree: CppTree, functions: Functions, library: Library) -> None:
    """Everything that a file registers, added to the library."""
    reader = Reader(tree, library, functions, _variables(tree) if "Tag" in tree.text.text else {})
    used = tuple(used_namespaces(tree))
    read: list[tuple[int, int]] = []
    for node, around in walk(tree, "function_definition"):
        declarator = node.child_by_field_name("declarator")
        name = declarator and declarator.child_by_field_name("declarator")
        if declarator is None or name is None or not _HEAD.fullmatch(tree.of(name)):
            continue
        read.append((name.start_byte, name.end_byte))
        block = _read_head(reader, node, declarator, around, used)
        body = node.child_by_field_name("body")
        if block is not None and body is not None:
            _read_body(reader, block, body)
    for node, around in walk(tree, "declaration", "expression_statement"):
        calls = list(_legacy_calls(tree, node))
        if not calls:
            continue
        read.append((node.start_byte, node.end_byte))
        block = Block(tree.span(node), False, "", "", LEGACY, around, used)
        with library.reading(block.span, block.span, False):
            for method, call in calls:
                library.statements += 1
                if method == "op":
                    _read_definition(reader, block, call, "")
                else:
                    _refuse(reader, call)
    _report_unread(tree, read, library)


def _variables(tree: CppTree) -> dict[str, Node | None]:
    """The variables that are about tags; only a constant with one value has it for certain."""
    found, stack = dict[str, "Node | None"](), [tree.root]
    while stack:
        node = stack.pop()
        stack += node.named_children
        text = tree.of(node) if node.type == "declaration" else ""
        if re.search(r"\bTag\b", text):
            is_constant = re.match(r"(?:(?:static|inline)\s+)*(?:const|constexpr)\b", text)
            for one in node.children_by_field_name("declarator"):
                name = tree.of(one.child_by_field_name("declarator") or one)
                value = one.child_by_field_name("value")
                found[name] = value if is_constant and name not in found else None
    return found


def _report_unread(tree: CppTree, read: list[tuple[int, int]], library: Library) -> None:
    """Report blocks and objects that stand where no part of the text has been read."""
    rest, at = list[str](), 0
    for start, end in sorted(read):
        rest += [tree.text.text[at:start], " " * (end - max(at, start))]
        at = max(at, end)
    text = without_quoted("".join([*rest, tree.text.text[at:]]))
    for pattern, said, here in (
        (_HEAD, "cannot be read as the head of a block", "this block"),
        (_OBJECT, "makes an object that registers, which is not read", "this object"),
    ):
        for match in pattern.finditer(text):
            start = text.rfind("\n", 0, match.start()) + 1
            if not text[start : match.start()].lstrip().startswith("using"):
                label = Label(tree.text.span(match.start(), match.end()), here)
                help_ = "register in a `TORCH_LIBRARY` block, or give the built library: `--module`"
                message = f"`{match[0]}` {said}"
                library.diagnostics.append(
                    Diagnostic("TG601", message, label, help=help_ if pattern is _OBJECT else None)
                )


def _legacy_calls(tree: CppTree, statement: Node) -> Iterator[tuple[str, Node]]:
    """The calls of `auto r = RegisterOperators("f()", &f).op(..)`; `RegisterOperators r(..)` is one."""
    given = statement.child_by_field_name("declarator") or next(
        iter(statement.named_children), None
    )
    value = given and (given.child_by_field_name("value") or given)
    chain = _chain(tree, value) if value and value.type == "call_expression" else None
    if chain and chain[0] == LEGACY:
        yield from chain[1]
    type_ = tree.of(statement.child_by_field_name("type")).rpartition("::")[2]
    if value and type_ == LEGACY and value.type in ("argument_list", "initializer_list"):
        yield "op", value


def _read_head(
    reader: Reader, node: Node, head: Node, around: tuple[str, ...], used: tuple[str, ...]
) -> Block | None:
    tree = reader.tree
    name = tree.of(head.child_by_field_name("declarator"))
    given = split_commas(tree.of(head.child_by_field_name("parameters"))[1:-1])
    is_impl = "_IMPL" in name
    if len(given) != 2 + is_impl:
        reader.report("TG601", f"`{name}` with {len(given)} arguments", head, "this block")
        return None
    namespace, variable = given[0], given[-1]
    key = read_key(given[1]) if is_impl else ""
    is_macro = re.fullmatch(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*", namespace) is not None
    if is_macro or not re.fullmatch(r"\w+", namespace):
        message = f"the namespace `{namespace}` is a macro that is not known"
        word = namespace if is_macro else "NAME"
        reader.report("TG601", message, head, "this block", f"give `--macro {word}=...`")
        return None
    if key is None:
        message = f"`{given[1]}` is not a dispatch key"
        reader.report("TG601", message, head, "this block", f"give `--macro {given[1]}=...`")
        return None
    defines = not is_impl and "_FRAGMENT" not in name
    return Block(tree.span(node), defines, namespace, key, variable, around, used)


def _read_body(reader: Reader, block: Block, node: Node) -> None:
    """Read a block's statements in order; uses of the variable other than calls are refused."""
    stack = [(node, "")]
    while stack:
        one, doc = stack.pop()
        if one.type == "compound_statement":
            stack += reversed(_documented(reader.tree, one))
        elif one.type == "expression_statement":
            stack += [(child, doc) for child in reversed(one.named_children)]
        else:
            with reader.library.reading(reader.tree.span(one), block.span, block.defines):
                _read_statement(reader, block, one, doc)
            if _may_leave(one) and any(_mentions(reader, block, rest) for rest, _ in stack):
                message, help_ = "what follows this statement may not run", "move it up, or out"
                reader.report("TG601", message, one, "this may return", help_)
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


def _mentions(reader: Reader, block: Block, node: Node) -> bool:
    text = reader.tree.of(node)
    return node.type != "comment" and bool(re.search(rf"\b{re.escape(block.variable)}\b", text))


def _read_statement(reader: Reader, block: Block, node: Node, doc: str) -> None:
    tree = reader.tree
    if node.type == "call_expression":
        chain = _chain(tree, node)
        if chain and chain[0] == block.variable:
            _read_chain(reader, block, chain[1], doc)
            return
        name = tree.of(node.child_by_field_name("function"))
        if re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            message = f"macro `{name}` is not known"
            help_ = f"give `--macro '{name}(...)=...'`, or the file that defines it"
            reader.report("TG601", message, node, "not understood", help_)
            reader.library.statements += 1
            return
    if node.type == "ERROR" or _mentions(reader, block, node):
        reader.library.statements += 1
        _refuse(reader, node)


def _refuse(reader: Reader, node: Node) -> None:
    reader.report("TG601", "this registration is not understood", node, "this")


def _chain(tree: CppTree, node: Node) -> tuple[str, list[tuple[str, Node]]] | None:
    """`m.def(...).impl(...)` as its root and its calls, in order."""
    calls: list[tuple[str, Node]] = []
    while node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            calls += [("op", node)] if arguments(node) else []
            return (LEGACY, calls[::-1]) if called(tree, node) == LEGACY else None
        method = re.sub(r"<.*>", "", tree.of(function.child_by_field_name("field")))
        calls.append((method.removeprefix("template").strip(), node))
        inner = function.child_by_field_name("argument")
        if inner is None:
            return None
        node = inner
    return (tree.of(node), calls[::-1]) if calls and node.type == "identifier" else None


def _read_chain(reader: Reader, block: Block, calls: list[tuple[str, Node]], doc: str) -> None:
    for method, call in calls:
        reader.library.statements += 1
        if method in _BY_HAND:
            message = f"`{method}` is not taken over"
            reader.report("TG606", message, call, _BY_HAND[method])
            if method == "class_":
                return  # What is called behind it is the class's.
        elif method == "def" and not block.key:
            _read_definition(reader, block, call, doc)
        elif method == "impl":
            _read_implementation(reader, block, call)
        else:
            _refuse(reader, call)


def _text(tree: CppTree, node: Node) -> str | None:
    """A string, with or without a macro for selective builds around it."""
    while called(tree, node) in _SELECTIVE and len(given := arguments(node)) == 1:
        node = given[0]
    return literal(tree, node)


def _read_definition(reader: Reader, block: Block, call: Node, doc: str) -> None:
    tree, given = reader.tree, arguments(call)
    text = _text(tree, given[0]) if given else None
    if text is None:
        return _refuse(reader, call)
    tags: tuple[str, ...] = ()
    kernel: Kernel | None = None
    at = given[0]
    for one in given[1:]:
        value = reader.tags.get(tree.of(one), one)
        found = _read_tags(tree, value) if value else None
        if found is None and tree.of(one) in reader.tags:
            message = f"`{tree.of(one)}` holds tags"
            help_ = "write them here, or make it a constant"
            return reader.report("TG601", message, one, "what is in it may change", help_)
        if found is not None:
            tags += found
        elif kernel is None:
            kernel, at = read_kernel(tree, one), one
        else:
            return _refuse(reader, call)
    full = text.strip() if "::" in text.partition("(")[0] else f"{block.namespace}::{text.strip()}"
    if "(" not in full:
        if kernel is None:
            return _refuse(reader, call)
        inferred = _inferred(reader, block, full, kernel, at)
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
    conditions = _conditions(reader, call)
    if conditions is None:
        return None
    definition = Definition(name, str(schema), tags, conditions, doc, tree.span(given[0]))
    reader.library.definitions.append(definition)
    if kernel is not None:
        _add_kernel(reader, block, name, kernel.key or CATCH_ALL, kernel, at)


def _inferred(reader: Reader, block: Block, name: str, kernel: Kernel, node: Node) -> str | None:
    overloads = reader.functions.find(kernel.name, block.around, block.used) if kernel.name else []
    schemas = {infer_schema(name, one) for one in overloads}
    schema = schemas.pop() if len(schemas) == 1 else None
    if schema is None:
        message = f"`{name}` takes its schema from the type of its kernel"
        why = (
            "has a type that is not known here"
            if len(overloads) == 1
            else "is overloaded" if overloads else "is declared in none of these files"
        )
        help_ = "give the files that declare it, or write the schema"
        text = kernel.problem or f"`{kernel.name}` {why}"
        reader.report("TG604", message, node, text, help_)
    return schema


def _read_tags(tree: CppTree, node: Node) -> tuple[str, ...] | None:
    """`{at::Tag::core}`; None if it is not a list of tags."""
    text = tree.of(node)
    if node.type not in ("initializer_list", "compound_literal_expression"):
        return (text.rpartition("::")[2],) if re.search(r"\bTag::\w+$", text) else None
    inner = text.partition("{")[2].rpartition("}")[0]
    parts = [one for one in split_commas(inner) if one]
    return tuple(part.rpartition("::")[2] for part in parts)


def _read_implementation(reader: Reader, block: Block, call: Node) -> None:
    tree, given = reader.tree, arguments(call)
    name = _text(tree, given[0]) if len(given) in (2, 3) else None
    if name is None:
        return _refuse(reader, call)
    key = read_key(tree.of(given[1])) if len(given) == 3 else ""
    if key is None:
        return _refuse(reader, call)
    kernel = read_kernel(tree, given[-1])
    full = name if "::" in name else f"{block.namespace}::{name}"
    key = kernel.key or key or block.key or CATCH_ALL
    return _add_kernel(reader, block, full, key, kernel, given[-1])


def _add_kernel(
    reader: Reader, block: Block, name: str, key: str, kernel: Kernel, node: Node
) -> None:
    tree = reader.tree
    if kernel.problem:
        message = f"`{name}` has a kernel for {key} that YAML cannot express"
        return reader.report("TG602", message, node, kernel.problem, "give it a name")
    overloads = reader.functions.find(kernel.name, block.around, block.used)
    function, *template = kernel.name.partition("<")
    path = overloads[0].path if overloads else _path(block, function)
    shown = "::".join(path) if len(path) > 1 else f"::{path[0]}"
    if path[:-1] == (name.partition("::")[0],):
        shown = path[-1]
    shown += "".join(template)
    is_hidden = bool(overloads) and all(one.is_hidden for one in overloads)
    is_member = any(one.is_member for one in overloads)
    if not KERNEL_NAME.fullmatch(shown):
        message = f"`{name}` has a kernel for {key} that YAML cannot express"
        problem, help_ = "this is an instance of a template", "give it a function of its own"
        return reader.report("TG602", message, node, problem, help_)
    if is_member:
        message = f"kernel `{shown}` of `{name}` is a static member of a class"
        class_ = shown.rpartition("::")[0]
        help_ = f'name the class in the options of the C++ target: `kernel-classes = ["{class_}"]`'
        reader.report("TG606", message, node, "in a class", help_)
    if is_hidden:
        message = f"kernel `{shown}` of `{name}` can be called only in its own file"
        help_ = "move it out of the unnamed namespace, and remove `static`"
        reader.report("TG606", message, node, "generated code has to call it", help_)
    conditions = _conditions(reader, node)
    if conditions is not None:
        reader.library.implementations.append(
            Implementation(
                name, key, shown, conditions, bool(overloads), tree.span(node), tuple(overloads)
            )
        )
    return None


def _conditions(reader: Reader, node: Node) -> tuple[str, ...] | None:
    conditions = reader.tree.conditions(node)
    if conditions is None:
        message = "this registration is below more conditions than a guard can repeat"
        reader.report("TG601", message, node, "this", "give its file a build of its own")
    return conditions


def _path(block: Block, function: str) -> tuple[str, ...]:
    """The namespaces and name of a function that none of the files declares."""
    if function.startswith("::"):
        return tuple(function.removeprefix("::").split("::"))
    return (*filter(None, block.around), *function.split("::"))


def _documented(tree: CppTree, body: Node) -> list[tuple[Node, str]]:
    """The statements of a block, each with the comment on the lines right above it."""
    found, above, last = list[tuple[Node, str]](), list[Node](), -1
    for node in body.named_children:
        first = node.start_point[0]
        if first != last + 1:
            above = []
        if node.type != "comment":
            found.append((node, _doc(tree, above)))
            above = []
        elif first == last:  # It follows a statement on its line, and is about that.
            above = []
        else:
            above.append(node)
        last = node.end_point[0]
    return found


def _doc(tree: CppTree, comments: list[Node]) -> str:
    """The text of comments; "" if it is commented-out code."""
    lines = [line for one in comments for line in tree.span(one).text.splitlines()]
    words = [re.sub(r"^\s*(?:/\*+|\*+/|\*|//+)\s?|\s*\*/\s*$", "", one).strip() for one in lines]
    text = " ".join(filter(None, words))
    is_code = re.search(r"[;{}]|\.(?:def|impl)\(|\bTODO\b|\bNOLINT|\bclang-format\b", text)
    return "" if is_code else text
