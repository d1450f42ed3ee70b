"""A property that is computed once, and kept as an attribute.

Values are set as attributes because `functools.cached_property` writes to `__dict__`, which until
CPython 3.12 also creates the dictionary. Until 3.11 it takes a lock as well, which costs more than
computing most values, and which a forked child may find held by a thread that no longer exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


__all__ = ["kept"]
