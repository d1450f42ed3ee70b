"""A property that is computed once, and kept as an attribute.

Note [Kept attributes]
Objects of a class share the names of their attributes, and each has room for the values alone. CPython lets the names
of the first objects in and soon no others: whoever gets an attribute later than that pays for a dictionary of its own,
four times the room. What is kept comes late, when all objects are made. So `@keeping` sets the names once, before the
first object. And values are set as attributes: `functools.cached_property` writes to `__dict__`, which until CPython
3.12 makes the dictionary as well (and takes a lock until 3.11, which costs more than most facts do, and which in the
child of a fork may be held by nobody).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from functools import cached_property as kept
else:

    class kept:
        """`functools.cached_property` without a lock: two threads that ask at once both compute the same."""

        def __init__(self, compute: Any) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = self.compute(instance)
            object.__setattr__(instance, self.name, value)  # The class may be frozen.
            return value


_Class = TypeVar("_Class", bound=type)


def keeping(cls: _Class) -> _Class:
    """For classes with kept properties: see Note [Kept attributes]."""
    first: Any = object.__new__(cls)
    for name, value in vars(cls).items():
        if isinstance(value, kept):
            object.__setattr__(first, name, None)
    return cls


__all__ = ["kept", "keeping"]
