"""What PyTorch's Python bindings add to operators, and the methods that do more than their operators.

An operator takes tensors and returns tensors. The bindings add named results (`x.max(0).indices`), `requires_grad=` of
factories, and options next to `out=`. `face.py` has the functions that are made in the same way; `tl.ops.aten` has the
plain operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from torchgen_lite_ops import operators
from torchgen_lite_ops.methods import TensorMethods
from torchgen_lite_reference.device import as_device
from torchgen_lite_runtime import (
    DispatchKey,
    DispatchKeySet,
    StateBelow,
    local_state,
    set_local_state,
)

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Number, Tensor


# What a guard does, at a third of its cost: factories are called often.
_WITHOUT_CHANGES = StateBelow(DispatchKeySet(DispatchKey.ADInplaceOrView))


class Factory(Protocol):
    def __call__(self, *args: Any, requires_grad: bool = False, **kwargs: Any) -> Tensor: ...


class ValuesAndIndices(NamedTuple):
    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}(\nvalues={self.values},\nindices={self.indices})"


class return_types:
    """The classes of results with names."""

    class max(ValuesAndIndices):
        __slots__ = ()

    class min(ValuesAndIndices):
        __slots__ = ()

    class sort(ValuesAndIndices):
        __slots__ = ()

    class topk(ValuesAndIndices):
        __slots__ = ()


def named(function: Callable[..., Any], kind: type[ValuesAndIndices]) -> Any:
    """The function with a name for each of two results."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return kind(*result) if type(result) is tuple else result

    return call


def factory(function: Callable[..., Any]) -> Factory:
    """With `requires_grad=`, and with options that must be those of `out` where it is given."""

    @wraps(function)
    def call(*args: Any, requires_grad: bool = False, **kwargs: Any) -> Tensor:
        if kwargs.get("out") is not None:
            _check_options(kwargs)
            result: Tensor = function(*args, **kwargs)
        else:
            # Writing to a new tensor does not count as a change.
            outer = local_state()
            set_local_state(_WITHOUT_CHANGES[outer])
            try:
                result = function(*args, **kwargs)
            finally:
                set_local_state(outer)
        return result.requires_grad_() if requires_grad else result

    return call


def _check_options(kwargs: dict[str, Any]) -> None:
    out: Tensor = kwargs["out"]
    dtype, layout = kwargs.pop("dtype", None), kwargs.pop("layout", None)
    device = kwargs.pop("device", None)
    kwargs.pop("pin_memory", None)
    if dtype is not None and dtype is not out._dtype:
        raise RuntimeError(
            f"dtype {dtype.scalar_type} does not match dtype of out parameter"
            f" ({out._dtype.scalar_type})"
        )
    if layout is not None and layout is not out.layout:
        raise RuntimeError(f"layout {layout} does not match layout of out parameter ({out.layout})")
    if device is not None and as_device(device).type != out._device.type:
        raise RuntimeError(
            f"device type {device} does not match device type of out parameter ({out._device.type})"
        )


def nonzero(self: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The coordinates as the rows of a matrix, or with `as_tuple` a vector for each dimension."""
    return tuple(operators.where(self)) if as_tuple else operators.nonzero(self)


def vector_norm(
    self: Tensor,
    p: Number | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A vector norm over some dimensions or all; "fro" is the second."""
    if isinstance(p, str):
        if p != "fro":
            raise NotImplementedError(f"norm: the order must be a number or 'fro', not '{p}'")
        p = 2
    order = 2 if p is None else p
    dims = [dim] if isinstance(dim, int) else dim
    if out is None:
        return operators.linalg_vector_norm(self, order, dims, keepdim, dtype=dtype)
    return operators.linalg_vector_norm_out(self, order, dims, keepdim, dtype=dtype, out=out)


def copy_(self: Tensor, src: Tensor | Number, non_blocking: bool = False) -> Tensor:
    """Writes a tensor, or a number everywhere."""
    if isinstance(src, (int, float, complex)):
        src = operators.full([], src, device=self._device)
    return operators.copy_(self, src, non_blocking)


class BoundMethods(TensorMethods):
    """The methods that do more than their operators."""

    __slots__ = ()

    max: Any = named(TensorMethods.max, return_types.max)
    min: Any = named(TensorMethods.min, return_types.min)
    sort: Any = named(TensorMethods.sort, return_types.sort)
    topk: Any = named(TensorMethods.topk, return_types.topk)
    copy_: Any = copy_
    new_empty: Any = factory(TensorMethods.new_empty)
    new_empty_strided: Any = factory(TensorMethods.new_empty_strided)
    new_full: Any = factory(TensorMethods.new_full)
    new_ones: Any = factory(TensorMethods.new_ones)
    new_zeros: Any = factory(TensorMethods.new_zeros)
    nonzero: Any = nonzero
    norm: Any = vector_norm
    true_divide: Any = TensorMethods.div
    true_divide_: Any = TensorMethods.div_
