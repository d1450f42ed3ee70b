"""A property that is computed once, and kept as an attribute.

Note [Kept attributes]
Instances of a class share one table of attribute names, and each instance stores only its values.
CPython adds the names that the first instances set, and soon adds no others: an instance that gets
a new attribute after that pays for a separate dictionary, four times the size. Kept values are set
late, after all instances have been made. So `@keeping` sets the names once, before the first
instance.

Values are set as attributes because `functools.cached_property` writes to `__dict__`, which until
CPython 3.12 also creates the dictionary. Until 3.11 it takes a lock as well, which costs more than
computing most values, and which a forked child may find held by a thread that no longer exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from functools import cached_property as kept
else:
    _set = object.__setattr__  # The class may be frozen.

    class kept:
        """`functools.cached_property` without a lock: two threads may compute the same value."""

        def __init__(self, compute: Any) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = self.compute(instance)
            _set(instance, self.name, value)
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
