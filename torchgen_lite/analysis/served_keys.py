"""The dispatch keys under which an operator can be called, as far as its entry says.

    - func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
      structured: True
      dispatch:
        CPU: f_out

is served for CPU and, because it is structured, for Meta; and so is an `f` that delegates to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.diagnostics import Span
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry import NativeFunction

_IMPLICIT = "CompositeImplicitAutograd"
_EXPLICIT = "CompositeExplicitAutograd"
_NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
# The keys that a kernel for every backend stands for.
_BACKENDS = frozenset(
    prefix + backend
    for functionality, prefix in CURRENT.per_backend
    if not functionality.startswith("Autograd")
    for backend in CURRENT.backends
) | frozenset(("FPGA", "Vulkan", "Metal", "MkldnnCPU"))


def served_keys(
    function: NativeFunction, by_name: Mapping[str, NativeFunction]
) -> dict[str, Span | None]:
    """Each key that has a kernel, and where that is written. `by_name` finds a structured delegate."""
    found = {entry.key: entry.key_span for entry in own_kernels(function)}
    if not function.is_written:
        found.setdefault(_EXPLICIT, None)
    if function.structured:
        found.setdefault("Meta", function.place("structured"))
    if function.delegate is not None:
        delegate = by_name.get(function.delegate)
        if delegate is not None:
            span = function.place("structured_delegate")
            for key in served_keys(delegate, {}):
                found.setdefault(key, span)
            found.setdefault(_NON_FUNCTIONAL, span)
    return found


def serves(key: str, keys: Collection[str]) -> bool:
    """Whether a call under `key` still finds a kernel: that of the key, or of one that stands for it.

    >>> serves("CPU", {"CompositeExplicitAutograd"}), serves("AutogradCPU", {"CPU"})
    (True, False)
    """
    return key in keys or any(general in keys for general in _more_general(key))


def _more_general(key: str) -> tuple[str, ...]:
    if key == _NON_FUNCTIONAL:
        return (_EXPLICIT, _IMPLICIT)
    if key == _EXPLICIT or key == "Autograd":
        return (_IMPLICIT,)
    if key.startswith("NestedTensor") or key == "AutogradNestedTensor":
        return (_IMPLICIT, f"{_IMPLICIT}NestedTensor")
    if key in _BACKENDS:
        # Kernels of the last one call views and in-place operators, which these backends can't run.
        functional = key.startswith("Sparse") or key.endswith(("XLA", "Lazy"))
        return (_IMPLICIT, _EXPLICIT) if functional else (_IMPLICIT, _EXPLICIT, _NON_FUNCTIONAL)
    if key.startswith("Autograd"):
        return (_IMPLICIT, "Autograd")
    return ()
