"""Calls below autograd in packages that are `final`.

Note [Final kernels]
Autograd calls what is below it through the dispatcher, which looks the kernel up and converts the arguments once more.
PyTorch does not tell whether another library has put its kernel in the place of one, so only an author can say that none
does: then a kernel of the package is called as it is, where the dispatcher would call no other.
"""

from __future__ import annotations

from typing import Any

import torch

from ._library import Function, Registering, current, through_the_dispatcher

# Parts of torch have no annotations.
_C: Any = torch._C


def below(registering: Registering, keyset: Any) -> Function:
    """The kernel that the dispatcher would call for these keys, if it is one of the package."""
    for rule in registering.operator.rules:
        key = getattr(_C.DispatchKey, rule, None)
        if key is None:
            continue
        of_rule = _C.DispatchKeySet(key)
        if of_rule.raw_repr() == keyset.raw_repr():
            return current(registering.table, registering.name, rule)
    return through_the_dispatcher(registering, keyset)
