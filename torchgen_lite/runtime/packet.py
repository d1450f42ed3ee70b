"""Choosing an overload from Python arguments: `add(x, y, alpha=2)` (torch's PythonArgParser).

A packet holds the overloads of one name in the order in which they are tried. The first whose
parameters fit the arguments, by number, name and type, is called; tensors fit before numbers because
the generator sorts them so.

Note [Remembered overloads]
Trying overloads costs more than running a kernel on a small tensor. If the types of the arguments alone decide
(tensors, numbers, None, lists of integers, but not other lists), the overload is remembered by these types. If nothing
fits, zero-dimensional tensors are tried as numbers: `x.reshape(n, -1)` of a tensor `n`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .candidate import LISTS, Candidate


def packet(qualname: str, *candidates: Candidate) -> Callable[..., Any]:
    """A function that calls the first of `candidates` that fits.

    It raises a TypeError that lists the signatures if none does. `qualname` is where the calling module keeps
    it: `add`, `TensorMethods.add`.
    """

    chosen: dict[tuple[type, ...], Callable[..., Any]] = {}

    def call(*arguments: Any, **keywords: Any) -> Any:
        if not keywords:
            stub = chosen.get(tuple(map(type, arguments)))
            if stub is None:
                stub = chosen.get(tuple(map(_kind, arguments)))
            if stub is not None:
                return stub(*arguments)
        for candidate in candidates:
            named, out = _written_apart(candidate, keywords)
            if out is not None and candidate.out is None:
                continue
            gathered = candidate.gather(arguments)
            if candidate.fits(gathered, named):
                if not keywords:
                    as_given = gathered is arguments
                    _remember(chosen, arguments, candidate.stub if as_given else candidate.spread)
                return candidate.call(gathered, named, out)
        found = overloads.find(arguments, keywords)
        if found is not None:
            candidate, arguments, named, out = found
            return candidate.call(arguments, named, out)
        raise TypeError(_mismatch(call.__name__, candidates, arguments, keywords))

    introduced: Any = _introduced(call, qualname, candidates)
    overloads: _Overloads = introduced.__wrapped__
    return introduced  # type: ignore[no-any-return]


def take_numbers(function: Any, wrap: Callable[[Any], Any]) -> None:
    """Let a packet take numbers as its first two arguments if no overload takes them as they are (`add(1, 2)`).

    `wrap` makes a tensor from a number, and returns other values unchanged.
    """
    function.__wrapped__.wrap = wrap


def with_overloads(
    function: Callable[..., Any], /, **overloads: Callable[..., Any]
) -> Callable[..., Any]:
    """A packet, or the only stub of its name, with its overloads as attributes."""
    function.__dict__.update(overloads)
    return function


def redispatch_packet(function: Any) -> Callable[..., Any]:
    """The packet of the same name that takes a keyset before the arguments of the schema."""
    candidates: tuple[Candidate, ...] = function.__wrapped__.candidates

    def call(keyset: Any, /, *arguments: Any, **keywords: Any) -> Any:
        for candidate in candidates:
            named, out = _written_apart(candidate, keywords)
            if out is not None and candidate.out is None:
                continue
            gathered = candidate.gather(arguments)
            if candidate.fits(gathered, named):
                return candidate.redispatch(keyset, gathered, named, out)
        raise TypeError(_mismatch(call.__name__, candidates, arguments, keywords))

    return _introduced(call, function.__name__, candidates, first=("keyset",))


def _written_apart(candidate: Candidate, keywords: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """What an overload gets by keyword, and apart from it what its out variant writes to: `out` may also be the name of
    an ordinary argument."""
    if "out" not in keywords or "out" in candidate.names:
        return keywords, None
    named = dict(keywords)
    out = named.pop("out")
    return named, out


class _Overloads:
    """What `inspect.unwrap` finds below a packet, whose signature is computed on demand."""

    __slots__ = ("candidates", "first", "wrap")

    def __init__(self, candidates: tuple[Candidate, ...], first: tuple[str, ...]) -> None:
        self.candidates = candidates
        self.first = first
        self.wrap: Callable[[Any], Any] | None = None

    def find(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[Candidate, tuple[Any, ...], dict[str, Any], Any] | None:
        """The first overload that fits once tensors are taken as numbers, or numbers as tensors, what it gets then, and what
        it writes to."""
        given = []
        for candidate in self.candidates:
            named, out = _written_apart(candidate, keywords)
            if out is None or candidate.out is not None:
                given.append((candidate, named, out))
        for candidate, named, out in given:
            plain, numbers = candidate.with_numbers(arguments, named)
            if candidate.fits(plain, numbers):
                return candidate, plain, numbers, out
        if self.wrap is not None:
            wrapped = (*map(self.wrap, arguments[:2]), *arguments[2:])
            for candidate, named, out in given:
                if candidate.fits(wrapped, named):
                    return candidate, wrapped, named, out
        return None

    @property
    def __signature__(self) -> Any:
        from .packet_signature import packet_signature

        return packet_signature(self.candidates, self.first)


def _introduced(
    call: Any, qualname: str, candidates: tuple[Candidate, ...], first: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Name a packet after the variable of its module that holds it, by which it pickles, and document it."""
    call.__module__ = sys._getframe(2).f_globals["__name__"]
    call.__qualname__ = qualname
    call.__name__ = name = qualname.rpartition(".")[2]
    docs = []
    for candidate in candidates:
        docs.append(candidate.stub.__doc__ or f"{name}{candidate}")
        if candidate.out is not None and candidate.out.__doc__:
            docs.append(candidate.out.__doc__)
    call.__doc__ = "\n".join(docs)
    call.__wrapped__ = _Overloads(candidates, first)
    return call  # type: ignore[no-any-return]


class _Ints:
    """The type under which a list or tuple of `int` is remembered."""


_PLAIN = frozenset({_Ints, bool, complex, float, int, str, type(None)})
_ONLY_INT = {int}
_LIMIT = 256


def _kind(value: Any) -> type:
    kind = type(value)
    return _Ints if kind in LISTS and {*map(type, value)} == _ONLY_INT else kind


def _remember(
    chosen: dict[tuple[type, ...], Callable[..., Any]],
    arguments: tuple[Any, ...],
    stub: Callable[..., Any],
) -> None:
    """See Note [Remembered overloads]."""
    types = tuple(map(_kind, arguments))
    if len(chosen) < _LIMIT and all(map(_decides, types)):
        chosen[types] = stub


def _decides(type_: type) -> bool:
    """Whether all values of a type fit the same schema types."""
    return type_ in _PLAIN or hasattr(type_, "_dispatch_keyset")


def _mismatch(
    name: str,
    candidates: tuple[Candidate, ...],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> str:
    given = [type(value).__name__ for value in arguments]
    given += [f"{key}={type(value).__name__}" for key, value in keywords.items()]
    signatures = "\n".join(f" * {candidate}" for candidate in candidates)
    return (
        f"{name}() received an invalid combination of arguments - got ({', '.join(given)}), "
        f"but expected one of:\n{signatures}"
    )
