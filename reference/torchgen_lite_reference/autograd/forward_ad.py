"""Dual numbers, under the names of `torch.autograd.forward_ad`.

with dual_level():
    dual = make_dual(x, tangent)
    value, derivative = unpack_dual(function(dual))
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.forward import own
from torchgen_lite_reference.autograd.node import meta_of
from torchgen_lite_reference.autograd.tangents import (
    Level,
    dual_levels,
    keep,
    suspended,
    tangent_of,
)
from torchgen_lite_runtime import is_inference_mode_enabled

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor. `tangent` is None where there is none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open the level of forward mode; there is one, so it is 0."""
    if dual_levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    dual_levels.append(Level())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: no tensor has a tangent any more."""
    if not dual_levels or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not"
            " supported."
        )
    dual_levels.pop().close()


@contextmanager
def dual_level() -> Iterator[int]:
    """Forward mode inside a `with`."""
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor on the same memory with a tangent. In-place operators change the tangent, too."""
    if not dual_levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to"
            " enter_dual_level() first."
        )
    for what, given in (("primal", tensor), ("tangent", tangent)):
        if not given._dtype.differentiable:
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {given._dtype!r}"
            )
    if is_inference_mode_enabled() or tensor.is_inference():
        raise RuntimeError("Inference tensors have no tangents: calls with them skip autograd.")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0"
            " is not supported."
        )
    if tangent._shape != tensor._shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor,"
            f" this is not supported. Tensor is of size {list(tensor._shape)} while the given forward"
            f" gradient is of size {list(tangent._shape)}."
        )
    dual = _apart(tensor)
    with suspended():
        keep(dual, own(dual, tangent))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value without its tangent, and the tangent."""
    tangent = tangent_of(tensor)
    return UnpackedDualTensor(tensor if tangent is None else _apart(tensor), tangent)


def _apart(tensor: Tensor) -> Tensor:
    """A view of a tensor, of a sparse one a copy, that has not its tangent."""
    with suspended():
        made: Any = operators.clone(tensor) if tensor.is_sparse else operators.alias(tensor)
    meta_of(made).apart = True
    found: Tensor = made
    return found
