"""The parts of a schema: types, arguments and returns; frozen and lossless.

`str()` of every node gives the text that it was parsed from. Equality ignores spans. Types have no
spans, so that equal types can be one object; `Argument.type_span` says where a type is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar, Union

from ..diagnostics import Span


@dataclass(frozen=True, slots=True)
class AliasAnnotation:
    """The `(a!)`, `(a|b)`, `(a -> *)` or bare `!` behind a type.

    `before` and `after` are alias sets in the order written; `after` is empty without an arrow. A
    wildcard is the set `("*",)`. `shorthand` marks the spelling `Tensor!`, which names no set.
    """

    before: tuple[str, ...]
    is_write: bool
    after: tuple[str, ...] = ()
    shorthand: bool = False

    def __str__(self) -> str:
        if self.shorthand:
            return "!"
        after = f" -> {'|'.join(self.after)}" if self.after else ""
        return f"({'|'.join(self.before)}{'!' if self.is_write else ''}{after})"


class _Printed:
    """A type whose text is that of its parts, and its own annotation behind them."""

    __slots__ = ()

    def __str__(self: Any) -> str:
        return f"{_text(self, str)}{self.annotation or ''}"


@dataclass(frozen=True, slots=True)
class BaseType(_Printed):
    """A named type: `Tensor`, `int`, `SymInt`, `Scalar`, `__torch__.torch.classes.c10d.Work`."""

    name: str
    annotation: AliasAnnotation | None = None


@dataclass(frozen=True, slots=True)
class OptionalType(_Printed):
    """`T?`. An alias annotation belongs to the element, `Tensor(a!)?`: PyTorch reads none after `?`."""

    elem: Type
    annotation: ClassVar[AliasAnnotation | None] = None


@dataclass(frozen=True, slots=True)
class ListType(_Printed):
    """`T[]`, or `T[N]` with a fixed `size`, where one element may stand for N equal ones."""

    elem: Type
    size: int | None = None
    annotation: AliasAnnotation | None = None


@dataclass(frozen=True, slots=True)
class GenericType(_Printed):
    """`Dict(str, Tensor)`, `Future(t)`, `RRef(t)`, `Union(int, float)`: a name with type arguments."""

    name: str
    args: tuple[Type, ...]
    annotation: AliasAnnotation | None = None


@dataclass(frozen=True, slots=True)
class TupleType(_Printed):
    """`(int, Tensor)` in the place of a type."""

    elems: tuple[Type, ...]
    annotation: AliasAnnotation | None = None


Type = Union[BaseType, OptionalType, ListType, GenericType, TupleType]


def walk_type(type_: Type) -> Iterator[Type]:
    """Every node of a type, outermost first."""
    yield type_
    for inner in _inner_types(type_):
        yield from walk_type(inner)


def _inner_types(type_: Type) -> tuple[Type, ...]:
    if isinstance(type_, BaseType):
        return ()
    if isinstance(type_, (OptionalType, ListType)):
        return (type_.elem,)
    return type_.args if isinstance(type_, GenericType) else type_.elems


def bare_type(type_: Type) -> str:
    """A type without alias annotations, as text: `Tensor[]` for `Tensor(a!)[]`."""
    return _text(type_, bare_type)


def bare_types(values: Iterable[Argument | Return]) -> list[str]:
    """Those of arguments or results."""
    return [bare_type(value.type) for value in values]


def annotations_of(values: Iterable[Argument | Return]) -> list[AliasAnnotation | None]:
    """Those of arguments or results; None for one that shares memory with nothing."""
    return [value.annotation for value in values]


def _text(type_: Type, part: Callable[[Type], str]) -> str:
    """The text of a type without its own annotation; `part` gives that of an inner type."""
    if isinstance(type_, BaseType):
        return type_.name
    inner = ", ".join(map(part, _inner_types(type_)))
    if isinstance(type_, OptionalType):
        return f"{inner}?"
    if isinstance(type_, ListType):
        return f"{inner}[{'' if type_.size is None else type_.size}]"
    return f"{type_.name}({inner})" if isinstance(type_, GenericType) else f"({inner})"


# Element types of which one value may stand for a whole list: the JIT's broadcasting lists.
_NUMBERS = frozenset({"SymInt", "bool", "float", "int"})


def sized_list(type_: Type) -> ListType | None:
    """The fixed-size list of numbers for which one number may stand: `int[1]` of `int[1]?`."""
    if isinstance(type_, OptionalType):
        return sized_list(type_.elem)
    if not isinstance(type_, ListType) or type_.size is None:
        return None
    return type_ if isinstance(type_.elem, BaseType) and type_.elem.name in _NUMBERS else None


def find_annotation(type_: Type) -> AliasAnnotation | None:
    """The outermost alias annotation of a type: `Tensor(a!)[]` and `Tensor[](a!)` both have `(a!)`."""
    # Called for every argument several times; nearly all types are plain, optional or lists.
    while type_.annotation is None and isinstance(type_, (OptionalType, ListType)):
        type_ = type_.elem
    if type_.annotation is not None or isinstance(type_, BaseType):
        return type_.annotation
    return next((t.annotation for t in walk_type(type_) if t.annotation is not None), None)


_Class = TypeVar("_Class", bound=type)


def compared(count: int) -> Callable[[_Class], _Class]:
    """For named tuples whose last fields are places: only the first `count` matter to `==`."""

    def decorate(cls: Any) -> Any:
        def same(self: Any, other: object) -> bool:
            return isinstance(other, cls) and self[:count] == other[:count]

        cls.__eq__ = same
        cls.__ne__ = lambda self, other: not same(self, other)
        cls.__hash__ = lambda self: hash(self[:count])
        return cls

    return decorate


# The start and end of an argument, the start and end of its name, and the start of its default.
Offsets = tuple[int, int, int, int, int]


@compared(4)
class Argument(NamedTuple):
    """One argument. `default` is the text after `=`, as written.

    The argument starts `base` characters after the start of `origin`, and `offsets` count from
    there. PyTorch's file has 9,300 arguments and messages point at very few of them, so spans are
    made on demand.
    """

    type: Type
    name: str
    default: str | None = None
    kwarg_only: bool = False
    origin: Span | None = None
    base: int = 0
    offsets: Offsets = (0, 0, 0, 0, 0)

    def _part(self, start: int, end: int) -> Span | None:
        if self.origin is None:
            return None
        source, begin, _ = self.origin
        begin += self.base
        return Span(source, begin + start, begin + end)

    @property
    def span(self) -> Span | None:
        return self._part(*self.offsets[:2])

    @property
    def type_span(self) -> Span | None:
        """Where the type is written: from the start of the argument to its name."""
        before = self._part(self.offsets[0], self.offsets[2])
        return before and before._replace(end=before.start + len(before.text.rstrip()))

    @property
    def name_span(self) -> Span | None:
        return self._part(*self.offsets[2:4])

    @property
    def default_span(self) -> Span | None:
        return None if self.default is None else self._part(self.offsets[4], self.offsets[1])

    @property
    def annotation(self) -> AliasAnnotation | None:
        return find_annotation(self.type)

    @property
    def is_write(self) -> bool:
        """Whether the operator mutates this argument."""
        annotation = self.annotation
        return annotation is not None and annotation.is_write

    @property
    def is_out(self) -> bool:
        """Whether this is an out argument: keyword-only, mutable, without a default."""
        return self.kwarg_only and self.is_write and self.default is None

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{self.type} {self.name}{default}"


@compared(2)
class Return(NamedTuple):
    """One return value; `name` is None if none is written.

    The value is written from `start` to `end`, counted from the start of `origin`.
    """

    type: Type
    name: str | None = None
    origin: Span | None = None
    start: int = 0
    end: int = 0

    @property
    def span(self) -> Span | None:
        if self.origin is None:
            return None
        source, begin, _ = self.origin
        return Span(source, begin + self.start, begin + self.end)

    @property
    def annotation(self) -> AliasAnnotation | None:
        return find_annotation(self.type)

    @property
    def is_write(self) -> bool:
        annotation = self.annotation
        return annotation is not None and annotation.is_write

    def __str__(self) -> str:
        return str(self.type) if self.name is None else f"{self.type} {self.name}"


# What the parser finds: the fields of a `FunctionSchema`, in the same order.
Parts = tuple[str, str, tuple[Argument, ...], tuple[Return, ...], bool, bool, bool, Span, int]
