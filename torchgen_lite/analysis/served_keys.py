"""The dispatch keys under which an operator can be called, according to its entry.

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
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry import NativeFunction

_IMPLICIT = "CompositeImplicitAutograd"
_EXPLICIT = "CompositeExplicitAutograd"
_NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
# For each alias key, the other alias keys that serve everything it stands for.
_ABOVE = {
    _NON_FUNCTIONAL: (_EXPLICIT, _IMPLICIT),
    _EXPLICIT: (_IMPLICIT,),
    "Autograd": (_IMPLICIT,),
}


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
    """Whether a call under `key` finds a kernel, of this key or of an alias that includes it.

    >>> serves("CPU", {"CompositeExplicitAutograd"}), serves("AutogradCPU", {"CPU"})
    (True, False)
    """
    members = key_sets(CURRENT).members
    general = [*_ABOVE.get(key, ()), *[alias for alias in members if key in members[alias]]]
    return key in keys or any(one in keys for one in general)
