"""What preprocessor conditions around registrations mean for an operator.

Note [A device is a condition]
Generated code for the keys of a device that a build may lack is in files of its own (`register_cuda.cpp`), which a build
has only where the device is. So `#ifdef WITH_CUDA` around a kernel for CUDA says nothing more. A condition that does is
one of the operator (`guard`), or refused.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from torchgen_lite.targets.cpp.registrations import REGISTER, file_of
from torchgen_lite_tools.importing.cpp_preprocessor import negated
from torchgen_lite_tools.importing.library import Definition, Implementation, Library

# Devices that a condition calls by several names: PyTorch's code for CUDA runs on HIP, too.
_NAMES = {"CUDA": "CUDA|HIP|ROCM", "HIP": "HIP|ROCM"}
_IS_THERE = (
    r"(?:\w+_)?(?:WITH|USE|HAVE|HAS|ENABLE|BUILD)_(?:{0})|(?:{0})(?:_(?:FOUND|ENABLED|AVAILABLE))?"
)
Registered = TypeVar("Registered", Definition, Implementation)


def is_of_device(condition: str, key: str) -> bool:
    """Whether a condition holds wherever the device of a key is.

    >>> is_of_device("defined(WITH_CUDA)", "AutogradCUDA"), is_of_device("defined(USE_CUDA) || WITH_HIP", "CUDA")
    (True, True)
    >>> is_of_device("!defined(USE_CUDA)", "CUDA"), is_of_device("defined(WITH_CUDA)", "CPU")
    (False, False)
    >>> is_of_device("defined(CUDA_HAS_FP16)", "CUDA"), is_of_device("defined(WITH_CUDA) && SM90", "CUDA")
    (False, False)
    """
    file = file_of(key)
    if file == REGISTER:
        return False
    device = file.removeprefix(f"{REGISTER}_").upper()
    is_there = re.compile(_IS_THERE.format(_NAMES.get(device, device)))
    words = re.findall(r"\w+", condition)
    signs = re.sub(r"\w+|\s+", "", condition)
    macros = [word for word in words if word != "defined"]
    return set(signs) <= set("()|") and all(is_there.fullmatch(macro) for macro in macros)


def join_branches(library: Library) -> None:
    """What an `#if` and its `#else` register alike is registered without that condition."""
    library.definitions = _joined(library.definitions, _defined)
    library.implementations = _joined(library.implementations, _implemented)


def _defined(one: Definition) -> tuple[object, ...]:
    return one.name, one.schema, one.tags, one.binder


def _implemented(one: Implementation) -> tuple[object, ...]:
    # Two kernels without a name are two kernels.
    return one.name, one.key, one.kernel or one.span


def _joined(
    every: Iterable[Registered], key_of: Callable[[Registered], tuple[object, ...]]
) -> list[Registered]:
    joined = list[Registered]()
    conditional = defaultdict[tuple[object, ...], list[Registered]](list)
    for registered in every:
        alike = conditional[key_of(registered)]
        other = _in_other_branch(registered, alike)
        while other is not None:
            # Without this condition, it may be what an `#if` further out registers in its other branch.
            joined.remove(other)
            alike.remove(other)
            registered = replace(other, conditions=other.conditions[:-1])
            other = _in_other_branch(registered, alike)
        joined.append(registered)
        if registered.conditions:
            alike.append(registered)
    return joined


def _in_other_branch(registered: Registered, alike: Iterable[Registered]) -> Registered | None:
    """What stands under the same conditions, but for the last, which is the opposite."""
    if not registered.conditions:
        return None
    mine = registered.conditions[-1]
    for earlier in alike:
        last = earlier.conditions[-1]
        is_opposite = negated(last) == mine or negated(mine) == last
        if is_opposite and earlier.conditions[:-1] == registered.conditions[:-1]:
            return earlier
    return None
