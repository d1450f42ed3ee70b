"""`dataclass` as the standard library has it, for classes that are made at the start of every run.

Note [Records]
`dataclasses` writes up to seven methods of each class as text and compiles each by itself, until CPython 3.13; for a
hundred classes that is a fifteenth of a run. Here `__init__` alone is compiled, and the other methods are the same
functions for all classes. Fields, slots and what reads them (`replace`, `fields`) are the standard library's, and type
checkers see nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen=False, slots=False, kw_only=False, eq=True):
        """A decorator; without `eq`, instances are equal if they are the same."""

        def make(cls):
            own = vars(cls).keys()
            cls = dataclasses.dataclass(
                cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
            )
            if "__init__" not in own:
                cls.__init__ = _init(cls, frozen)
            if "__repr__" not in own:
                cls.__repr__ = _repr
            if eq:
                _compare(cls, frozen)
            if frozen:
                cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
                cls.__getstate__, cls.__setstate__ = _get_state, _set_state
            return cls

        return make


def _init(cls: type[Any], frozen: bool) -> Any:
    """Compiled, so that it takes what a function takes that somebody wrote, and refuses the rest in the same words."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    positional, keywords, body = ["self"], ["*"], ["pass"]
    for one in fields(cls):
        name, default = one.name, f"_of_{one.name}"
        value, parameter = name, name
        if one.default is not MISSING:
            names[default], parameter = one.default, f"{name}={default}"
        elif one.default_factory is not MISSING:
            names[default], parameter = one.default_factory, f"{name}=_MISSING"
            value = f"{default}() if {name} is _MISSING else {name}" if one.init else f"{default}()"
        if one.init:
            (keywords if one.kw_only else positional).append(parameter)
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    parameters = ", ".join(positional + (keywords if len(keywords) > 1 else []))
    exec(f"def __init__({parameters}):\n " + "\n ".join(body), names)
    names["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return names["__init__"]


def _compare(cls: type[Any], frozen: bool) -> None:
    """Equality of all fields, and the hash of what cannot change."""
    compared = [one.name for one in fields(cls) if one.compare]
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda self: ()

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    cls.__eq__ = equal  # type: ignore[assignment]
    cls.__hash__ = hashed if frozen else None  # type: ignore[assignment]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


__all__ = ["dataclass", "field"]
