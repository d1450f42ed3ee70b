"""A property that is computed once."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    from functools import cached_property as kept
else:

    class kept:
        """`functools.cached_property` without a lock, and without a dictionary of each instance.

        Before CPython 3.12 the lock costs more than most facts do, and in a child of a fork it may be held by nobody.
        Two threads that ask at once both compute, and come to the same. Asking for `__dict__` would make one, see
        `with_room`.
        """

        def __init__(self, compute: Any) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = self.compute(instance)
            object.__setattr__(instance, self.name, value)
            return value


def with_room(cls: _Class) -> _Class:
    """A class decorator for dataclasses that keep facts, of which there are many instances.

    CPython shares the names of attributes among instances, as long as all that there are appear on the first ones;
    an instance that gets another one later pays for a dictionary of its own, which takes more than most facts do.
    """
    first: Any = object.__new__(cls)
    facts = [name for name, value in vars(cls).items() if isinstance(value, kept)]
    for name in (*[field.name for field in fields(cls)], *facts):
        object.__setattr__(first, name, None)
    return cls


__all__ = ["kept", "with_room"]
