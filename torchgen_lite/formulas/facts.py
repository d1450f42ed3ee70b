"""What a formula needs from the inputs and results of the forward call (torchgen `saved_variables`).

A formula that needs only the shape of a tensor must not keep its memory alive, so these differ:

    grad.expand(self.sym_sizes())    keeps a fact about self, its sizes
    grad * self                      keeps self
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from torchgen_lite.schema.dispatch_kind import DispatchKind


class Fact(Enum):
    """What is kept of a value: the value itself, or a fact about a tensor; how its name ends."""

    whole = ""
    args_scalartypes = "args_scalartypes"
    args_sizes = "args_sizes"
    args_sizes_symint = "args_sizes_symint"
    blocksize = "self_sym_blocksize_opt"
    conjugate = "conjugate"
    device = "device"
    dim = "dim"
    dtype = "dtype"
    geometry = "geometry"
    info = "info"
    layout = "layout"
    ndim = "ndim"
    numel = "numel"
    options = "options"
    scalar_type = "scalar_type"
    shape = "shape"
    size = "sym_argsize"
    sym_numel = "sym_numel"
    sym_sizes = "sym_sizes"
    sym_sizes_opt = "sym_sizes_opt"
    sym_strides = "sym_strides"


LASTING = frozenset(
    {
        Fact.device,
        Fact.dim,
        Fact.dtype,
        Fact.info,
        Fact.layout,
        Fact.ndim,
        Fact.numel,
        Fact.scalar_type,
        Fact.shape,
        Fact.size,
        Fact.sym_numel,
        Fact.sym_sizes,
    }
)
"""What every target keeps apart from a tensor, and writing to the tensor does not change."""

FUNCTIONS = {
    "TensorGeometry": Fact.geometry,
    "to_args_scalartypes": Fact.args_scalartypes,
    "to_args_sizes": Fact.args_sizes,
    "to_args_sizes_symint": Fact.args_sizes_symint,
    # For `zeros_like`, PyTorch saves only the tensor's type and size.
    "zeros_like": Fact.info,
}
"""Functions of one tensor that need only facts about it."""

BROUGHT = frozenset({"not_implemented", *FUNCTIONS})
"""Functions that generated code has, which nobody declares."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Something that forward keeps for backward.

    `source` is an argument, or result number `result`, and `carries` what `dispatch_kind` says of
    it. `dim` is the argument of `size`. `apart` is appended to the name if an argument
    or result already has it. `needed_by` are the slots of the gradients that use it; empty means
    all.
    """

    source: str
    fact: Fact = Fact.whole
    dim: str = ""
    apart: str = ""
    carries: DispatchKind = DispatchKind.nothing
    result: int | None = None
    needed_by: tuple[int, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Its name in formulas and nodes (torchgen `SavedAttribute.nctype`): `self_sym_argsize_minus_1`."""
        if self.is_whole:
            return self.source
        index = f"_{self.dim.replace('-', 'minus_')}" if self.dim else ""
        return f"{self.source}_{self.fact.value}{index}{self.apart}"

    @property
    def is_whole(self) -> bool:
        """Whether the value itself is kept."""
        return self.fact is Fact.whole

    @property
    def keeps_tensors(self) -> bool:
        return self.is_whole and self.carries.has_tensors

    @property
    def keeps_list(self) -> bool:
        """Whether a list of tensors is kept alive."""
        return self.is_whole and self.carries.is_list
