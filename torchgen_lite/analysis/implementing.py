"""Compare two versions of one operator from the view of its C++ implementer.

All kernels of an operator have one C++ type, including references and `const`: `const at::Tensor&`
for arguments that are read, `at::Tensor&` for those written (c10 `CppSignature`). c10 accepts a
kernel with `int64_t` where the schema says `SymInt`; names, defaults and the size in `int[2]` don't
affect kernels (`OperatorEntry::checkSchema`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import zip_longest
from typing import NamedTuple

from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, Return
from torchgen_lite.schema.model import bare_type

# The sizes of lists don't count, but `bool[3]` is an array.
_SIZE = re.compile(r"(?<!\bbool)\[\d+\]")
_SYMINT = re.compile(r"\bSymInt\b")


class Rank(IntEnum):
    """What happens to a kernel that was written for another schema, worst last."""

    same = 0
    names = 1
    symint = 2
    aborts = 3


SAID = {
    Rank.names: "only names or defaults",
    Rank.symint: "`int` or `SymInt` alone",
    Rank.aborts: "a different type of kernel: loading the library aborts",
}


class Difference(NamedTuple):
    """How far two schemas differ, and the first argument or result at fault in each, if any."""

    rank: Rank
    old: Argument | Return | None = None
    new: Argument | Return | None = None


def compare_kernels(old: NativeFunction, new: NativeFunction) -> Difference:
    """Whether a kernel for `old` still works for `new`."""
    if old.func.local_text == new.func.local_text and _conventions(old) == _conventions(new):
        return Difference(Rank.same)
    changed = old.func.local_text != new.func.local_text
    differences = [Difference(Rank.names if changed else Rank.same), *_differences(old, new)]
    # The first of the worst, rather one that is somewhere.
    return max(differences, key=lambda worst: (worst.rank, bool(worst.old or worst.new)))


def _conventions(function: NativeFunction) -> tuple[bool, bool]:
    """The fields that change C++ types without changing the schema."""
    return function.use_const_ref_for_mutable_tensors, function.shares_structured


Value = Argument | Return


def _differences(old: NativeFunction, new: NativeFunction) -> Iterator[Difference]:
    """The arguments and results at one place that are not the same."""
    arguments = zip_longest(old.func.arguments, new.func.arguments)
    for was, now in (*arguments, *zip_longest(old.func.returns, new.func.returns)):
        if was is None or now is None:
            yield Difference(Rank.aborts, was, now)
            continue
        if _kernel_type(old, was) == _kernel_type(new, now):
            rank = Rank.names
        elif _kernel_type(old, was, "int") == _kernel_type(new, now, "int"):
            rank = Rank.symint
        else:
            rank = Rank.aborts
        if rank is not Rank.names or str(was) != str(now):
            yield Difference(rank, was, now)


def _kernel_type(
    function: NativeFunction, value: Value, sizes: str = "SymInt"
) -> tuple[str, bool, bool]:
    """The type as C++ sees it, whether tensors are mutable references, and lists `ITensorListRef`.

    `sizes` is what a `SymInt` becomes; one that is a result is never an `int64_t`.
    """
    is_result = isinstance(value, Return)
    name = bare_type(value.type)
    is_tensor = name == "Tensor" or (name == "Tensor?" and not is_result)
    is_const = function.use_const_ref_for_mutable_tensors
    is_ref = value.is_write and is_tensor and not is_const
    is_list = name.startswith("Tensor[") and not is_result
    # A result returned by const reference is not a value either.
    by_const = value.is_write and is_result and name == "Tensor" and is_const
    in_cpp = _SIZE.sub("[]", name if is_result else _SYMINT.sub(sizes, name))
    return in_cpp, is_ref, (is_list and function.shares_structured) or by_const
