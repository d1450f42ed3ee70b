"""The functions of `tl` that do more than their operators: see `bindings.py`.

Numbers in place of tensors, for the operators for which torch's parser accepts them (`add(1, 2)`, `mul(x, 2, out=y)`),
and forms that only Python has (`meshgrid(*tensors)`, `tensordot(dims=1)`, tensors as ends of `linspace`).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from torchgen_lite_ops import functions, operators
from torchgen_lite_reference.bindings import factory, named, return_types, vector_norm
from torchgen_lite_reference.tensor import Number, Tensor, wrap_number
from torchgen_lite_runtime import take_numbers

__all__ = [
    "arange",
    "atleast_1d",
    "atleast_2d",
    "cat",
    "empty",
    "empty_like",
    "empty_strided",
    "eye",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "max",
    "meshgrid",
    "min",
    "nonzero",
    "norm",
    "ones",
    "ones_like",
    "rand",
    "randn",
    "range",
    "return_types",
    "scalar_tensor",
    "sort",
    "sparse_coo_tensor",
    "tensordot",
    "topk",
    "true_divide",
    "zeros",
    "zeros_like",
]


def _as_tensor(value: Any) -> Any:
    return wrap_number(value) if isinstance(value, (int, float, complex)) else value


def _between(function: Callable[..., Any]) -> Callable[..., Any]:
    """A factory whose ends may be tensors without dimensions."""

    def end_of(name: str, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if value._shape:
            raise RuntimeError(
                f"{function.__name__} only supports 0-dimensional start and end tensors, but got {name}"
                f" with {value.ndim} dimension(s)."
            )
        return value.item()

    @wraps(function)
    def call(start: Any, end: Any, *args: Any, **kwargs: Any) -> Any:
        return function(end_of("start", start), end_of("end", end), *args, **kwargs)

    return call


@wraps(functions.cat)
def cat(tensors: Any, *args: Any, **kwargs: Any) -> Tensor:
    if isinstance(tensors, (list, tuple)) and not tensors:
        # Without a tensor there is no backend to dispatch to.
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    result: Tensor = functions.cat(tensors, *args, **kwargs)
    return result


for _packet in (
    functions.add,
    functions.sub,
    functions.mul,
    functions.div,
    functions.floor_divide,
):
    take_numbers(_packet, _as_tensor)

true_divide = functions.div

max = named(functions.max, return_types.max)
min = named(functions.min, return_types.min)
sort = named(functions.sort, return_types.sort)
topk = named(functions.topk, return_types.topk)

arange = factory(functions.arange)
empty = factory(functions.empty)
empty_like = factory(functions.empty_like)
empty_strided = factory(functions.empty_strided)
eye = factory(functions.eye)
full = factory(functions.full)
full_like = factory(functions.full_like)
linspace = factory(_between(functions.linspace))
logspace = factory(_between(functions.logspace))
ones = factory(functions.ones)
ones_like = factory(functions.ones_like)
rand = factory(functions.rand)
randn = factory(functions.randn)
range = factory(functions.range)
scalar_tensor = factory(functions.scalar_tensor)
sparse_coo_tensor = factory(functions.sparse_coo_tensor)
zeros = factory(functions.zeros)
zeros_like = factory(functions.zeros_like)


def nonzero(
    self: Tensor, *, as_tuple: bool = False, out: Tensor | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The coordinates as the rows of a matrix, or with `as_tuple` a vector for each dimension."""
    if out is None:
        found: Tensor | tuple[Tensor, ...] = self.nonzero(as_tuple=as_tuple)
        return found
    if as_tuple:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return operators.nonzero_out(self, out=out)


def norm(
    self: Tensor,
    p: Number | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    """A vector norm over some dimensions or all; "fro" is the second."""
    return vector_norm(self, p, dim, keepdim, dtype, out=out)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid, from tensors passed separately or in a list."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    return tuple(operators.meshgrid_indexing(given, indexing=indexing or "ij"))


def _of_several(function: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """The function for one tensor, or for several, separately or in a list: then the result is a tuple."""

    @wraps(function)
    def call(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple(map(function, given)) if isinstance(given, (list, tuple)) else function(given)

    return call


atleast_1d = _of_several(functions.atleast_1d)
atleast_2d = _of_several(functions.atleast_2d)


def tensordot(
    self: Tensor,
    other: Tensor,
    dims: int | Tensor | Sequence[Sequence[int]] = 2,
    out: Tensor | None = None,
) -> Tensor:
    """Sums over pairs of dimensions: a list of them for each tensor, or how many, last ones with first ones."""
    if isinstance(dims, Tensor):
        dims = int(dims) if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got {dims=}")
        if dims > self.ndim or dims > other.ndim:
            raise RuntimeError(
                f"tensordot expects dims <= ndim_a or ndim_b, but got {dims=}, a dimension size of"
                f" {self.ndim} and {other.ndim}"
            )
        axes = builtins.range
        dims = [axes(self.ndim - dims, self.ndim), axes(dims)]
    if not isinstance(dims, (list, tuple)):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing"
            f" two lists, but got {dims=}"
        )
    first, second = dims
    if out is None:
        return operators.tensordot(self, other, first, second)
    return operators.tensordot_out(self, other, first, second, out=out)
