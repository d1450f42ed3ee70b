"""What a formula needs from the inputs and results of the forward call (torchgen `saved_variables`).

A formula that needs only the shape of a tensor must not keep its memory alive, so these differ:

    grad.expand(self.sym_sizes())    keeps a fact about self, its sizes
    grad * self                      keeps self
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from torchgen_lite.formulas.model import Call, Expression, Literal, Member, Name, Unary, called_name
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


_NAMED_ALIKE = "dim layout numel options scalar_type sym_numel sym_sizes sym_strides".split()
METHODS = {
    **{name: Fact[name] for name in _NAMED_ALIKE},
    "is_conj": Fact.conjugate,
    "size": Fact.sym_sizes,
    "sym_blocksize": Fact.blocksize,
}
"""Methods without arguments whose result is saved instead of the tensor."""

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

# The same facts as attributes, which our own formulas may use: `self.shape`.
_ATTRIBUTES = {fact.value: fact for fact in (Fact.device, Fact.dtype, Fact.ndim, Fact.shape)}


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


def saved_by(node: Expression, values: Mapping[str, Saved]) -> Saved | None:
    """What to save for an expression that is one of these values or a fact about one; else None."""
    match node:
        case Name(text):
            return values.get(text)
        case Member(value, name):
            return _about(value, values, _ATTRIBUTES.get(name))
        case Call(Member(value, "sym_sizes", True), (), ()):
            return _about(value, values, Fact.sym_sizes_opt)
        case Call(Member(value, name, False), (), ()):
            return _about(value, values, METHODS.get(name))
        case Call(
            Member(value, "size" | "sym_size", False), (Literal() | Name() | Unary() as dim,), ()
        ):
            return _about(value, values, Fact.size, str(dim))
        case Call(function, (value,), ()) if not isinstance(function, Member):
            return _about(value, values, FUNCTIONS.get(called_name(node) or ""))
    return None


def _about(
    value: Expression, values: Mapping[str, Saved], fact: Fact | None, dim: str = ""
) -> Saved | None:
    source = values.get(value.text) if isinstance(value, Name) else None
    if source is None or fact is None:
        return None
    has_sizes = source.carries.has_tensors and not source.carries.is_list
    if fact in (Fact.size, Fact.sym_sizes) and not has_sizes:
        return None  # `sizes.size()` is the length of a list.
    saved = replace(source, fact=fact, dim=dim)
    while saved.name in values:
        saved = replace(saved, apart=f"{saved.apart}_")
    return saved
