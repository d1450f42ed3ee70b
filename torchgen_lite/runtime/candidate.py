"""One overload of a name, and the test whether Python arguments fit it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .arguments import find_keyset

Check = Callable[[Any], bool]

LISTS = frozenset({list, tuple})


class Candidate:
    """One overload of a packet.

    `types` are schema types, one for each parameter of the stub. `out` is the stub of the out variant and
    `out_names` its out arguments, reached by `out=`, which have no types here. `varargs` is the position of
    an `int[]` that may be given as separate integers (`x.view(2, 3)`). `names` are the stub's parameters: the
    first `positional` are positional, the first `required` of those have no default, and
    `required_keywords` are the keyword-only ones without one.
    """

    __slots__ = (
        "_checks",
        "_index",
        "names",
        "out",
        "out_names",
        "positional",
        "required",
        "required_keywords",
        "stub",
        "types",
        "varargs",
    )

    def __init__(
        self,
        stub: Callable[..., Any],
        types: tuple[str, ...],
        out: Callable[..., Any] | None = None,
        out_names: tuple[str, ...] = ("out",),
        varargs: int | None = None,
    ) -> None:
        self.stub: Any = stub
        self.types = types
        self.out: Any = out
        self.out_names = out_names
        self.varargs = varargs
        self._checks: tuple[Check, ...] = ()
        self._index: dict[str, int] = {}
        self._read_stub()

    def _read_stub(self) -> None:
        code = self.stub.__code__
        outs = self.out_names if self.out is self.stub else ()
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults = self.stub.__kwdefaults__ or ()
        self.names = tuple(name for name in names if name not in outs)
        self.positional: int = code.co_argcount
        self.required: int = code.co_argcount - len(self.stub.__defaults__ or ())
        keywords = self.names[self.positional :]
        self.required_keywords = tuple(name for name in keywords if name not in defaults)

    def fits(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether the arguments, apart from `out`, are those of this overload."""
        if not self._checks:
            self._checks = tuple(map(check_of, self.types))
            self._index = {name: index for index, name in enumerate(self.names)}
        count = len(arguments)
        if count > self.positional:
            return False
        for check, value in zip(self._checks, arguments):
            if not check(value):
                return False
        for name, value in keywords.items():
            index = self._index.get(name)
            if index is None or index < count or not self._checks[index](value):
                return False
        for index in range(count, self.required):
            if self.names[index] not in keywords:
                return False
        return all(name in keywords for name in self.required_keywords)

    def gather(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Combine separate integers at the end into the list that they stand for."""
        at = self.varargs
        if at is None or len(arguments) <= at:
            return arguments
        rest = arguments[at:]
        return (*arguments[:at], rest) if all(map(_is_int, rest)) else arguments

    def spread(self, *arguments: Any) -> Any:
        """Call the stub with integers that are passed separately."""
        return self.stub(*arguments[: self.varargs], arguments[self.varargs :])

    def with_numbers(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with tensors converted to numbers where the schema has numbers or lists of numbers."""
        at = len(arguments) if self.varargs is None else self.varargs
        kinds = self.types[:at] + self.types[at : at + 1] * max(len(arguments) - at, 0)
        plain = [
            _as_number(value) if _is_of_numbers(kind) else value
            for kind, value in zip(kinds, arguments)
        ]
        kind_of = dict(zip(self.names, self.types))
        named = {
            name: _as_number(value) if _is_of_numbers(kind_of.get(name, "")) else value
            for name, value in keywords.items()
        }
        return self.gather((*plain, *arguments[len(plain) :])), named

    def call(self, arguments: tuple[Any, ...], keywords: dict[str, Any], out: Any) -> Any:
        if out is None:
            return self.stub(*arguments, **keywords)
        return self.out(*arguments, **keywords, **self._outs(out))

    def redispatch(
        self, keyset: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], out: Any
    ) -> Any:
        if out is None:
            return self.stub.redispatch(keyset, *arguments, **keywords)
        return self.out.redispatch(keyset, *arguments, **keywords, **self._outs(out))

    def _outs(self, out: Any) -> dict[str, Any]:
        return dict(zip(self.out_names, (out,) if len(self.out_names) == 1 else out))

    def __str__(self) -> str:
        needed = {*self.names[: self.required], *self.required_keywords}
        parts = [
            f"{type_} {name}" if name in needed else f"{type_} {name}=..."
            for type_, name in zip(self.types, self.names)
        ]
        if len(parts) > self.positional:
            parts.insert(self.positional, "*")
        if self.out is not None:
            parts.append("out=None")
        return f"({', '.join(parts)})"


_NUMBERS = frozenset({"int", "SymInt", "float", "Scalar"})


def _is_of_numbers(type_: str) -> bool:
    return type_.partition("[")[0].rstrip("?") in _NUMBERS


def _as_number(value: Any) -> Any:
    """The value of a zero-dimensional tensor, unless it is recorded; the same for the elements of a list."""
    if type(value) in LISTS:
        return [_as_number(item) for item in value]
    if not _is_tensor(value) or getattr(value, "shape", None) != ():
        return value
    return value if getattr(value, "requires_grad", False) else value.item()


def _is_tensor(value: Any) -> bool:
    return find_keyset(value) is not None


def _is_single(value: Any) -> bool:
    """Whether something that converts to a number is one. An array has the methods of a number, however long it is."""
    return not hasattr(value, "__len__") and not _is_tensor(value)


def _is_int(value: Any) -> bool:
    if type(value) is int:
        return True
    return hasattr(value, "__index__") and not isinstance(value, bool) and _is_single(value)


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float, complex))
        or (hasattr(value, "__complex__") or hasattr(value, "__float__"))
        and _is_single(value)
    )


def _is_real(value: Any) -> bool:
    return _is_number(value) and not isinstance(value, complex)


_BASE_CHECKS: dict[str, Check] = {
    "Tensor": _is_tensor,
    "int": _is_int,
    "SymInt": _is_int,
    "float": _is_real,
    "Scalar": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "Dimname": lambda value: isinstance(value, str),
}


def _is_other(value: Any) -> bool:
    """A value of a type that only the framework knows: not one of the kinds above."""
    return value is not None and not _is_tensor(value) and not isinstance(value, (list, tuple))


def check_of(type_: str) -> Check:
    """Whether a Python value can be passed for a schema type: `Tensor?`, `int[2]`, `Scalar`."""
    if type_.endswith("?"):
        inner = check_of(type_[:-1])
        return lambda value: value is None or inner(value)
    if type_.endswith("]"):
        elem, _, size = type_[:-1].rpartition("[")
        inner = check_of(elem)
        alone = inner if size else None

        def is_list(value: Any) -> bool:
            # Testing against an abstract class is slow.
            if type(value) in LISTS or (isinstance(value, Sequence) and not isinstance(value, str)):
                return all(map(inner, value))
            return alone is not None and alone(value)

        return is_list
    return _BASE_CHECKS.get(type_, _is_other)
