"""Names that C++ formulas may use although no schema declares them."""

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
"""Constants that the header of PyTorch's helper functions declares (FunctionsManual.h)."""

_RETAIN = "retain_variables"
"""A local variable in PyTorch's own nodes (torchgen `WILL_RELEASE_VARIABLES`)."""

_INDEX = "i"
"""In formulas of PyTorch's `_foreach_` operators, the index of the current tensor in each list."""


def cpp_names(function: NativeFunction) -> frozenset[str]:
    """The names that this operator's formulas may use in C++."""
    if function.namespace not in TORCH_NAMESPACES:
        return CPP_CONSTANTS
    return CPP_CONSTANTS | _OF_HELPERS | node_names(function)


def node_names(function: NativeFunction) -> frozenset[str]:
    """The names that this operator's formulas may use only in PyTorch's own node."""
    if function.namespace not in TORCH_NAMESPACES:
        return frozenset()
    is_foreach = function.func.base_name.startswith("_foreach_")
    return frozenset({_RETAIN, _INDEX} if is_foreach else {_RETAIN})
