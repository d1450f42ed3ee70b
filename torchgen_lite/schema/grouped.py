"""Values by what they have in common, and by their names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol, TypeVar


class HasName(Protocol):
    """An argument, an operator, a tensor: whatever is called something."""

    @property
    def name(self) -> str: ...


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Named = TypeVar("Named", bound=HasName)


def grouped(values: Iterable[Value], key: Callable[[Value], Key]) -> dict[Key, list[Value]]:
    """The values by their keys, both in the order in which they first appear.

    >>> grouped(["add", "mul", "abs"], lambda name: name[0])
    {'a': ['add', 'abs'], 'm': ['mul']}
    """
    groups: dict[Key, list[Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def names_of(values: Iterable[HasName]) -> list[str]:
    """What the values are called, in their order."""
    return [value.name for value in values]


def places_of(keys: Iterable[Key]) -> dict[Key, int]:
    """The position of each."""
    return {key: place for place, key in enumerate(keys)}


def by_name(values: Iterable[Named]) -> dict[str, Named]:
    """The values by their names; of several with one name, the last."""
    return {value.name: value for value in values}


def first_text(texts: Iterable[str]) -> str:
    """The first text that says something; empty if none does."""
    return next(filter(None, texts), "")


def without_none(values: Iterable[Value | None]) -> list[Value]:
    """The values that are there."""
    return [value for value in values if value is not None]
