"""What modules of torch know of operators with axes: DTensor, NestedTensor and the flop counter."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from . import _jagged, _sharding
from ._axes import Axes, leaves, places_in, sizes_at
from ._later import when_imported
from ._library import handle, named

LineOf = Callable[[str], Axes]
_lines: dict[str, Axes] = {}


def register(*lines: Axes) -> None:
    """Register strategies and formulas in these modules once they are imported. A reload of the package replaces the lines."""
    new = [line.operator for line in lines if line.operator not in _lines]
    _lines.update({line.operator: line for line in lines})
    modules: dict[str, Callable[[LineOf, str], None]] = {
        "torch.distributed.tensor": _sharding.register,
        "torch.utils.flop_counter": _register_flops,
        "torch.nested._internal.ops": _jagged.register,
    }
    for module, register_in in modules.items():
        when_imported(module, partial(register_in, _lines.__getitem__), new)


def _register_flops(line_of: LineOf, operator: str) -> None:
    """Twice the product of all sizes, for a sum over an axis that several tensors have."""
    from torch.utils import flop_counter

    op = handle(operator)
    axes = chain.from_iterable(line_of(operator).tensors.values())
    summed = [axis for axis in axes if axis.endswith("+")]
    is_product = len(summed) > len(set(summed))

    def flops(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        line = line_of(operator)
        given = leaves(named(op._schema, args, kwargs).items())
        places, _ = places_in(line, given)
        count: int = 2 * math.prod(sizes_at(line, given, places).values())
        return count

    packet = op.overloadpacket
    if is_product and packet not in flop_counter.flop_registry:
        flop_counter.register_flop_formula(packet, get_raw=True)(flops)
