"""The C++ functions that a library declares: places of kernels, and schemas from their types.

Note [Inferred schemas]
`m.def("f", &f)` takes the schema from the type of `f` (c10 `inferFunctionSchemaFromFunctor`), which calls arguments
`_0`, `_1` and so on. They get the names that they have in C++, and those without one are named after their types.
Ambiguous types (`Tensor&`) are read as libtorch reads them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword

from tree_sitter import Node

from torchgen_lite.diagnostics import Span
from torchgen_lite_tools.importing.cpp_preprocessor import without_comments
from torchgen_lite_tools.importing.cpp_tree import CppTree, split_commas, walk

_SCALARS = {
    "Tensor": "Tensor",
    "int64_t": "int",
    "double": "float",
    "bool": "bool",
    "complex<double>": "complex",
    "IValue": "Any",
    "string": "str",
    "string_view": "str",
    "Scalar": "Scalar",
    "ScalarType": "ScalarType",
    "Dtype": "ScalarType",
    "Device": "Device",
    "Layout": "Layout",
    "MemoryFormat": "MemoryFormat",
    # libtorch knows no other: an undefined one is None.
    "Generator": "Generator?",
    "SymInt": "SymInt",
    "Storage": "Storage",
    "Stream": "Stream",
    "TensorList": "Tensor[]",
    "ITensorListRef": "Tensor[]",
    "IntArrayRef": "int[]",
    "SymIntArrayRef": "SymInt[]",
}
# What may be around the name of a function and its parameters, with the sign that it adds to the type. `void f() {};`
# is parsed as if `{}` were a value.
_AROUND = {"reference_declarator": "&", "pointer_declarator": "*", "init_declarator": ""}
# What an argument without a name is called, by its type.
_WORDS = {
    "Tensor": "tensor",
    "int": "number",
    "SymInt": "number",
    "float": "number",
    "bool": "flag",
    "str": "text",
    "Scalar": "scalar",
    "ScalarType": "dtype",
    "Device": "device",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Generator": "generator",
}
_LISTS = frozenset({"vector", "array", "ArrayRef", "List", "HeaderOnlyArrayRef"})
_OPTIONALS = frozenset({"optional", "OptionalArrayRef"})
_PARAMETERS = frozenset({"parameter_declaration", "optional_parameter_declaration"})
_MAX_DEPTH = 16
# A tensor that is taken by a reference which is not const.
MAY_WRITE = re.compile(r"(?!.*\bconst\b)[\w:<>]*Tensor[\s>]*&(?!&)", re.S)


@dataclass(frozen=True, slots=True)
class Function:
    """A declared function. If it `is_hidden`, no other file can call it; a member has a class. `spans` are the places
    of its parameters, then its own; `names` are the parameters' names, `template` those of its template, `body` is there
    where it is defined.
    """

    path: tuple[str, ...]
    parameters: tuple[str, ...]
    returns: str
    is_hidden: bool = False
    is_member: bool = False
    spans: tuple[Span, ...] = field(default=(), compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)
    body: tuple[CppTree, Node] | None = field(default=None, compare=False)
    template: tuple[str, ...] = field(default=(), compare=False)


@dataclass(slots=True)
class Functions:
    """All functions by the last part of their name; `asked` has those that were looked for."""

    _found: dict[str, list[Function]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def add(self, tree: CppTree) -> None:
        for function in _functions_of(tree):
            self._found.setdefault(function.path[-1], []).append(function)

    def find(self, name: str, around: Sequence[str], used: Sequence[str]) -> list[Function]:
        """The overloads that a name refers to: in enclosing namespaces, then in used ones."""
        parts = tuple(re.sub(r"<.*>", "", name).removeprefix("::").split("::"))
        self.asked.add(parts[-1])
        if name.startswith("::"):
            named = []
        else:
            named = [part for part in around if part]
        places = [tuple(named[:n]) for n in range(len(named), -1, -1)]
        if not name.startswith("::"):
            places += [tuple(namespace.split("::")) for namespace in used]
        for place in places:
            wanted = (*place, *parts)
            overloads = []
            for f in self._found.get(parts[-1], ()):
                if f.path == wanted:
                    overloads.append(f)
            if overloads:
                return overloads
        return []


def used_namespaces(tree: CppTree) -> list[str]:
    """The namespaces of `using namespace` at the top of a file."""
    texts = (tree.of(node) for node, _ in walk(tree, "using_declaration"))
    matches = (re.fullmatch(r"using\s+namespace\s+(?:::)?([\w:]+)\s*;", text) for text in texts)
    return [match[1] for match in matches if match]


def _functions_of(tree: CppTree) -> Iterator[Function]:
    for node, around in walk(tree, "function_declarator"):
        name = node.child_by_field_name("declarator")
        parameters = node.child_by_field_name("parameters")
        if name is None or parameters is None or node.parent is None:
            continue
        text = tree.of(name)
        if not re.fullmatch(r"[\w:]+", text):
            continue
        returns, declaration = _returns(tree, node)
        given = _parameters(parameters)
        body = declaration.child_by_field_name("body")
        yield Function(
            (*filter(None, around), *text.split("::")),
            tuple([_type_of(tree, parameter) for parameter in given]),
            returns,
            "" in around or _is_static(tree, declaration),
            _is_member(declaration),
            (*map(tree.span, given), tree.span(node)),
            tuple([_name_of(tree, parameter) for parameter in given]),
            (tree, body) if body and declaration.type == "function_definition" else None,
            _template_names(tree, declaration),
        )


def _template_names(tree: CppTree, declaration: Node) -> tuple[str, ...]:
    """The parameters of the template that a function is: `T` and `n` of `template <typename T, int n = 1>`."""
    around = declaration.parent
    listed = around.child_by_field_name("parameters") if around else None
    if around is None or listed is None or around.type != "template_declaration":
        return ()
    texts = [tree.of(one).partition("=")[0] for one in listed.named_children]
    return tuple([word for text in texts for word in re.findall(r"\w+", text)[-1:]])


def function_of_lambda(tree: CppTree, node: Node) -> Function | None:
    """A lambda as a function without a name; None if nothing says what it returns."""
    declarator = node.child_by_field_name("declarator")
    body = node.child_by_field_name("body")
    returns = _trailing_type(tree, declarator) if declarator else ""
    if body is None or (not returns and _returns_value(body)):
        return None
    parameters = declarator and declarator.child_by_field_name("parameters")
    given = _parameters(parameters) if parameters else []
    types = tuple([_type_of(tree, parameter) for parameter in given])
    names = tuple([_name_of(tree, parameter) for parameter in given])
    spans = (*map(tree.span, given), tree.span(node))
    return Function(("",), types, returns or "void", True, False, spans, names, (tree, body))


def _returns_value(body: Node) -> bool:
    """Whether a `return` of a function, not of a lambda in it, gives a value."""
    stack = [body]
    while stack:
        node = stack.pop()
        if node.type == "return_statement" and node.named_children:
            return True
        if node.type != "lambda_expression":
            stack += node.named_children
    return False


def _parameters(listed: Node) -> list[Node]:
    return [one for one in listed.named_children if one.type in _PARAMETERS]


def _is_static(tree: CppTree, declaration: Node) -> bool:
    """Whether a function has internal linkage; `static` in a class means something else."""
    words = re.match(r"(?:\w+\s+)*static\b", tree.of(declaration))
    return words is not None and not _is_member(declaration)


def _is_member(declaration: Node) -> bool:
    around = declaration.parent
    return around is not None and around.type == "field_declaration_list"


def _returns(tree: CppTree, declarator: Node) -> tuple[str, Node]:
    """The type before a function's name, and the node of its whole declaration."""
    node = declarator
    signs = ""
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
        signs += _AROUND[node.type]
    declaration = node.parent or node
    trailing = _trailing_type(tree, declarator)
    if trailing:
        return trailing, declaration
    return _type_text(tree, declaration) + signs, declaration


def _type_text(tree: CppTree, declaration: Node) -> str:
    """The type of what is declared, without comments in it: `std::tuple<Tensor /*mean*/, Tensor>`."""
    text = tree.of(declaration.child_by_field_name("type"))
    if "/" not in text:
        return text
    return " ".join(without_comments(text).split())


def _trailing_type(tree: CppTree, declarator: Node) -> str:
    """The type behind `->`, "" for none."""
    for one in declarator.named_children:
        if one.type == "trailing_return_type":
            return tree.of(one).removeprefix("->").strip()
    return ""


def _type_of(tree: CppTree, parameter: Node) -> str:
    """The type of a parameter: its text without name and default."""
    name = parameter.child_by_field_name("declarator")
    text = _type_text(tree, parameter)
    if name is None:
        return text
    return text + "".join(re.findall(r"[&*]|\[", tree.of(name)))


def _name_of(tree: CppTree, parameter: Node) -> str:
    """The name of a parameter, "" for none."""
    words = re.findall(r"[A-Za-z_]\w*", tree.of(parameter.child_by_field_name("declarator")))
    return words[0] if words else ""


def infer_schema(name: str, overloads: Sequence[Function]) -> str | None:
    """The schema that libtorch infers from a function's type; None for an unknown type, or for several types."""
    inferred = {_types_of(overload) for overload in overloads}
    if len(inferred) != 1:
        return None
    given, returned = inferred.pop()
    types = [type_ for type_ in given if type_ is not None]
    results = [type_ for type_ in returned if type_ is not None]
    if len(types) < len(given) or len(results) < len(returned):
        return None
    arguments = []
    for type_, argument in zip(types, argument_names(overloads, types)):
        arguments.append(f"{type_} {argument}")
    returns = ", ".join(results)
    if len(results) != 1:
        returns = f"({returns})"
    return f"{name}({', '.join(arguments)}) -> {returns}"


def _types_of(function: Function) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    types = [schema_type(one) for one in function.parameters if one != "void"]
    return tuple(types), tuple(map(schema_type, result_types(function.returns)))


def argument_names(overloads: Sequence[Function], types: Sequence[str]) -> list[str]:
    """The names of arguments: those of the definition, else of the first declaration that has one, else of the type."""
    definition_first = sorted(overloads, key=lambda function: function.body is None)
    names = [""] * len(types)
    for function in definition_first:
        for at, name in enumerate(function.names[: len(types)]):
            names[at] = names[at] or name
    for at, type_ in enumerate(types):
        names[at] = names[at] or _name_by_type(type_, names)
    return [f"{name}_" if iskeyword(name) else name for name in names]


def _name_by_type(type_: str, taken: Collection[str]) -> str:
    """A name for an argument without one, with a number if another argument has it."""
    word = _WORDS.get(re.sub(r"\W", "", type_), "argument")
    name = word
    number = 1
    while name in taken:
        number += 1
        name = f"{word}_{number}"
    return name


def result_types(text: str) -> list[str]:
    """The types of the results that a function returns with this type.

    >>> result_types("void"), result_types("std::tuple<Tensor, int64_t>"), result_types("Tensor")
    ([], ['Tensor', 'int64_t'], ['Tensor'])
    """
    bare = bare_type(text)
    tuple_ = re.fullmatch(r"tuple<(.*)>", bare)
    if tuple_:
        return split_commas(tuple_[1])
    if bare != "void":
        return [bare]
    return []


def schema_type(text: str, depth: int = 0) -> str | None:
    """The schema type; None if unknown or nested absurdly deep."""
    bare = bare_type(text)
    if bare in _SCALARS:
        return _SCALARS[bare]
    match = re.fullmatch(r"(\w+)<(.*)>", bare)
    if match is None or depth == _MAX_DEPTH:
        return None
    if match[1] == "Dict":
        both = [schema_type(part, depth + 1) for part in split_commas(match[2])]
        if None in both or len(both) != 2:
            return None
        return f"Dict({both[0]}, {both[1]})"
    element = split_commas(match[2])[0] if match[1] == "array" else match[2]
    inner = schema_type(element, depth + 1)
    if inner is None:
        return None
    if match[1] == "OptionalArrayRef":
        return f"{inner}[]?"
    if match[1] in _OPTIONALS:
        return f"{inner.removesuffix('?')}?"
    return f"{inner}[]" if match[1] in _LISTS else None


def bare_type(text: str) -> str:
    """A type without `const`, `&` and namespaces.

    >>> bare_type("const std::optional<at::Tensor>&")
    'optional<Tensor>'
    """
    plain = re.sub(r"\b(?:const|inline|static|extern)\b|&|\b[A-Za-z_]\w*::|(?<!\w)::", " ", text)
    if "*" not in plain:
        return re.sub(r"\s+", "", plain)
    return ""
