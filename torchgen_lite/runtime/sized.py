"""Arguments that may be given as one number: `int[1] dim` given as 3 is `(3,)` in a kernel.

Note [Sized lists are tuples]
The schema allows one number in place of a list with a size; it is repeated that many times (the JIT's broadcasting
lists). Kernels need not know about this: call stubs and boxed calls always make a tuple. Lists
without a size are passed on as they are, since they are sequences already.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from .candidate import LISTS, Check, check_of
from .report import wrong_argument
from .signature import Signature


def as_tuple(signature: Signature, position: int, value: Any) -> Any:
    """What a kernel gets for `value`, the argument at `position`, which is in `signature.sized`.

    None stays None where the type is optional. The elements of a sequence are not looked at. Raises TypeError for a
    value that is neither a number of the type nor a sequence.
    """
    if type(value) in LISTS:
        return tuple(value)
    size, is_number, is_optional, expected = _read(signature.sized[position])
    if is_number(value):
        return (value,) * size
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(value)
    if value is None and is_optional:
        return None
    raise wrong_argument(signature, position, expected, value)


@cache
def _read(type_: str) -> tuple[int, Check, bool, str]:
    """The size of a list, what its elements are, whether it may be None, and the argument in words."""
    element, _, size = type_.partition("[")
    expected = f"{element.replace('SymInt', 'int')} or a sequence of them"
    is_optional = type_.endswith("?")
    return (
        int(size.partition("]")[0]),
        check_of(element),
        is_optional,
        f"{expected}, or None" if is_optional else expected,
    )
