"""Normalization, dropout, and other operators of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import FLOATING, finfo, float16, float32, int64
from torchgen_lite_reference.geometry import broadcast_shapes, numel
from torchgen_lite_reference.kernels.common import store, unsupported
from torchgen_lite_reference.kernels.elements import wide
from torchgen_lite_reference.promotion import result_type
from torchgen_lite_reference.silence import quiet

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Array
    from torchgen_lite_reference.tensor import Tensor


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    return ops.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def _check_normalized(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None
) -> int:
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one"
            " element, but got normalized_shape = []"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter._shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape"
                f" {list(parameter._shape)} and normalized_shape = {list(shape)}"
            )
    if input.ndim < len(shape) or input._shape[input.ndim - len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*,"
            f" {', '.join(map(str, shape))}], but got input of size{list(input._shape)}"
        )
    return input.ndim - len(shape)


def _check_parameters(input: Tensor, *parameters: Tensor | None) -> None:
    for parameter in parameters:
        if parameter is not None and parameter._dtype.category != FLOATING:
            raise RuntimeError(
                f"expected scalar type {input._dtype.scalar_type} but found"
                f" {parameter._dtype.scalar_type}"
            )


def _normalize(rows: Array, eps: float) -> tuple[Array, Array, Array]:
    """Rows with mean 0 and variance 1, together with their original mean and inverse deviation."""
    mean = rows.mean(axis=1, keepdims=True)
    inverse = 1.0 / np.sqrt(rows.var(axis=1, keepdims=True) + rows.dtype.type(eps))
    return (rows - mean) * inverse, mean, inverse


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalized input, and for the derivative the mean and inverse deviation of each row."""
    axis = _check_normalized(input, normalized_shape, weight, bias)
    if input._dtype.category != FLOATING:
        raise unsupported("LayerNormKernelImpl", input._dtype)
    _check_parameters(input, weight, bias)
    rows = numel(input._shape[:axis])
    kept = [*input._shape[:axis], *([1] * (input.ndim - axis))]
    result = ops.new_empty(input, input._shape)
    mean, inverse = ops.new_empty(input, kept), ops.new_empty(input, kept)
    if input._device is not meta and input.numel():
        with quiet():
            normal, means, inverses = _normalize(wide(input).reshape(rows, -1), eps)
            scaled = normal.reshape(input._shape)
            if weight is not None:
                scaled = scaled * wide(weight)
            if bias is not None:
                scaled = scaled + wide(bias)
            store(result, scaled)
            store(mean, means.reshape(kept))
            store(inverse, inverses.reshape(kept))
    return result, mean, inverse


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`layer_norm` over groups of channels; the channels are dimension 1."""
    if input.ndim < 2:
        raise RuntimeError("Expected at least 2 dimensions for input tensor")
    batch, channels = input._shape[:2]
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape"
            f" {list(input._shape)} and num_groups={num_groups}"
        )
    count = numel(input._shape[2:])
    return ops.native_group_norm(
        ops.contiguous(input), weight, bias, batch, channels, count, num_groups, eps
    )[0]


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    if input._dtype.category != FLOATING:
        raise unsupported("GroupNormKernelImpl", input._dtype)
    _check_parameters(input, weight, bias)
    result = ops.new_empty(input, input._shape)
    mean, inverse = ops.new_empty(input, [N, group]), ops.new_empty(input, [N, group])
    if input._device is not meta and input.numel():
        with quiet():
            normal, means, inverses = _normalize(wide(input).reshape(N * group, -1), eps)
            scaled = normal.reshape(N, C, HxW)
            if weight is not None:
                scaled = scaled * wide(weight).reshape(1, C, 1)
            if bias is not None:
                scaled = scaled + wide(bias).reshape(1, C, 1)
            store(result, scaled.reshape(input._shape))
            store(mean, means.reshape(N, group))
            store(inverse, inverses.reshape(N, group))
    return result, mean, inverse


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divides by the root of the mean square over the last dimensions."""
    axis = _check_normalized(input, normalized_shape, weight, None)
    dims = list(range(axis, input.ndim))
    bound = float(finfo(input._dtype).eps) if eps is None else eps
    wide = ops.to_dtype(input, float32) if input._dtype is float16 else input
    square = ops.mean_dim(ops.pow_Tensor_Scalar(wide, 2), dims, True)
    result = ops.mul_Tensor(wide, ops.rsqrt(ops.add_Scalar(square, bound)))
    if weight is not None:
        result = ops.mul_Tensor(result, weight)
    return ops.to_dtype(result, input._dtype)


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training, each element becomes 0 with probability `p`, and the others grow to match."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or 0 in input._shape:
        return input
    if p == 1:
        return ops.mul_Tensor(input, ops.zeros_like(input))
    noise = ops.bernoulli__float(ops.empty_like(input), 1 - p)
    return ops.mul_Tensor(input, ops.div__Scalar(noise, 1 - p))


def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 in the column that each element names; by default, as many columns as needed."""
    if self._dtype is not int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor, but got"
            f" {self._dtype.scalar_type}"
        )
    if self.numel() == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if self._device is not meta and self.numel():
        if ops.item(ops.min(self)) < 0:  # type: ignore[operator]
            raise RuntimeError("Class values must be non-negative.")
        largest = int(ops.item(ops.max(self)))  # type: ignore[arg-type]
        if num_classes == -1:
            num_classes = largest + 1
        elif largest >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    elif num_classes == -1:
        raise NotImplementedError("one_hot on the meta device needs num_classes")
    result = ops.new_zeros(self, [*self._shape, num_classes])
    return ops.scatter__value(result, -1, ops.unsqueeze(self, -1), 1)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The product of two vectors divided by their lengths, each of which is at least `eps`."""
    common = result_type(x1, x2)
    if common.category != FLOATING:
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is " + common.scalar_type
        )
    shape = broadcast_shapes(x1._shape, x2._shape)
    first, second = ops.expand(x1, shape), ops.expand(x2, shape)
    lengths = [
        ops.clamp_min(ops.linalg_vector_norm(vector, 2, [dim], True), eps)
        for vector in (first, second)
    ]
    units = ops.div_Tensor(first, lengths[0]), ops.div_Tensor(second, lengths[1])
    return ops.sum_dim_IntList(ops.mul_Tensor(*units), [dim])
