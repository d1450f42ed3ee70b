"""Kernels that no call reaches, since no argument carries their key: TG406."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import BaseType, walk_type


def unreachable_kernels(functions: Sequence[NativeFunction]) -> Reported:
    """Exempts operators with a `Device` argument or BackendSelect kernel: BackendSelect chooses."""
    for function in functions:
        if not function.dispatch or function.func.carries_keys:
            continue
        if _is_selected_by_hand(function):
            continue
        for entry in function.dispatch:
            if entry.key in key_sets().backends:
                yield finding(
                    function,
                    "TG406",
                    f"kernel for `{entry.key}` is unreachable: no argument carries a key",
                    entry.key_span,
                    "never chosen",
                    "register it for `CompositeExplicitAutograd`",
                )


def _is_selected_by_hand(function: NativeFunction) -> bool:
    names: set[str] = set()
    for argument in function.func.arguments:
        types = walk_type(argument.type)
        names.update(type_.name for type_ in types if isinstance(type_, BaseType))
    has_kernel = "BackendSelect" in function.keys
    return has_kernel or not names.isdisjoint({"Device", "Tensor"})
