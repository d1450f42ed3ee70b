"""Compares the annotations of a Python kernel with the types of its schema.

Only a plain contradiction is a fault: an annotation all of whose alternatives are types of the standard library that
the argument never has. Names that only the framework knows are ignored.
"""

from __future__ import annotations

from types import FunctionType

from .signature import Signature

_NUMBERS = frozenset({"bool", "int", "float", "complex", "Number"})
_LISTS = frozenset({"list", "tuple", "Sequence", "Iterable", "Collection"})
# A kernel may accept more than it gets: `float` includes int, as in PEP 484.
_ACCEPTS: dict[str, frozenset[str]] = {
    "Tensor": frozenset({"Tensor"}),
    "int": _NUMBERS - {"bool"},
    "SymInt": _NUMBERS - {"bool"},
    "float": _NUMBERS - {"bool", "int"},
    "bool": _NUMBERS,
    "Scalar": _NUMBERS,
    "str": frozenset({"str"}),
}
_KNOWN = _NUMBERS | _LISTS | {"Tensor", "str", "bytes", "dict", "set", "None"}


def fault_of_annotations(signature: Signature, function: FunctionType, first: int) -> str:
    """The first contradiction, or an empty string. `first` is how many parameters precede the schema's."""
    code = function.__code__
    names = code.co_varnames[first : code.co_argcount]
    count = len(signature.arguments)
    for index, (argument, type_) in enumerate(zip(signature.parameters, signature.types)):
        name = argument
        if index < signature.positional:
            if index >= len(names):
                break
            name = names[index]
        annotation = function.__annotations__.get(name)
        if annotation is not None and not _agree(_text(annotation), type_):
            return f"it annotates '{name}' as {_text(annotation)}, but the schema says {type_}"
    if "return" in function.__annotations__:
        text = _text(function.__annotations__["return"])
        returns = signature.types[count:]
        if not _agree_on_returns(text, returns):
            return f"it is annotated to return {text}, but the schema says {_returns_text(returns)}"
    return ""


def _text(annotation: object) -> str:
    if isinstance(annotation, str):
        return annotation.strip("'\"")
    if annotation is None:
        return "None"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _returns_text(returns: tuple[str, ...]) -> str:
    return returns[0] if len(returns) == 1 else f"({', '.join(returns)})"


def _agree_on_returns(text: str, returns: tuple[str, ...]) -> bool:
    heads = _alternatives(text)
    if not heads <= _KNOWN:
        return True
    if not returns:
        return heads == {"None"}
    first, *others = returns
    return bool(heads & _LISTS) if others else _agree(text, first)


def _agree(text: str, type_: str) -> bool:
    heads = _alternatives(text)
    if not heads <= _KNOWN:
        return True
    if type_.endswith("?"):
        return "None" in heads and _agree(text, type_[:-1])
    if type_.endswith("]"):
        element, _, size = type_[:-1].rpartition("[")
        return bool(heads & _LISTS) or bool(size) and element not in _ACCEPTS
    accepted = _ACCEPTS.get(type_.partition("(")[0].rstrip("!"))
    return accepted is None or bool(heads & accepted)


def _alternatives(text: str) -> set[str]:
    """The heads of a union: `Optional[Sequence[int]]` gives Sequence and None."""
    heads: set[str] = set()
    for part in _split(text, "|"):
        head, bracket, inside = part.partition("[")
        head = head.rpartition(".")[2].strip()
        if bracket and head in ("Optional", "Union"):
            heads.update(*(_alternatives(item) for item in _split(inside.rstrip()[:-1], ",")))
            if head == "Optional":
                heads.add("None")
        else:
            heads.add({"NoneType": "None", "List": "list", "Tuple": "tuple"}.get(head, head))
    return heads


def _split(text: str, separator: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == separator and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]
