"""Names that formulas in C++ have and that no schema declares."""

from __future__ import annotations

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.loader.entry import NativeFunction

CPP_CONSTANTS = frozenset(
    {
        *("M_E", "M_LOG2E", "M_LOG10E", "M_LN2", "M_LN10", "M_PI", "M_PI_2", "M_PI_4"),
        *("M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2"),
    }
)
"""Numbers of `<cmath>`."""

_OF_HELPERS = frozenset({"kCudnnDoubleBackwardMsg"})
"""What the header of PyTorch's helper functions declares (FunctionsManual.h)."""

_RETAIN = "retain_variables"
"""A local of PyTorch's own nodes (torchgen `WILL_RELEASE_VARIABLES`)."""

_INDEX = "i"
"""Formulas of PyTorch's `_foreach_` operators are about one tensor of each list, and this is its index."""


def cpp_names(function: NativeFunction) -> frozenset[str]:
    """What the formulas of this operator may name in C++."""
    if function.namespace not in TORCH_NAMESPACES:
        return CPP_CONSTANTS
    return CPP_CONSTANTS | _OF_HELPERS | node_names(function)


def node_names(function: NativeFunction) -> frozenset[str]:
    """What formulas of this operator may name in the node that PyTorch makes, and in no other."""
    if function.namespace not in TORCH_NAMESPACES:
        return frozenset()
    is_foreach = function.func.base_name.startswith("_foreach_")
    return frozenset({_RETAIN, _INDEX} if is_foreach else {_RETAIN})
