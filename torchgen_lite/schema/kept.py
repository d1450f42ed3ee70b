"""A property that is computed once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as kept
else:

    class kept:
        """`functools.cached_property` without a lock, as it is from CPython 3.12 on.

        Before, the lock costs more than most facts do, and in a child of a fork it may be held by nobody. Two threads
        that ask at once both compute, and come to the same.
        """

        def __init__(self, compute: Any) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.compute(instance)
            return value


__all__ = ["kept"]
