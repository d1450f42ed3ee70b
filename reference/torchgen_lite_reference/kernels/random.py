"""Random numbers. They are NumPy's, so a seed gives different numbers than in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite_ops import operators as ops
from torchgen_lite_reference.device import meta
from torchgen_lite_reference.dtype import FLOATING
from torchgen_lite_reference.generator import Generator, default_generator
from torchgen_lite_reference.kernels.common import store, unsupported
from torchgen_lite_reference.structured import check_no_overlap

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from torchgen_lite_reference.options import TensorOptions
    from torchgen_lite_reference.tensor import Tensor


def bernoulli_(self: Tensor, p: float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Ones with probability `p`, zeros otherwise."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    check_no_overlap(self)
    if self._device is not meta:
        store(self, (generator or default_generator).random.random(self._shape) < p)
    return self


def uniform_(
    self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Numbers from `from_` up to, but not including, `to`."""
    if self._dtype.category != FLOATING:
        raise unsupported("check_uniform_bounds", self._dtype)
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}"
        )
    check_no_overlap(self)
    if self._device is not meta:
        store(self, (generator or default_generator).random.uniform(from_, to, self._shape))
    return self


def normal_(
    self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Complex numbers have half of the variance in each part."""
    if self._dtype.category < FLOATING:
        raise unsupported("normal_kernel_cpu", self._dtype)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    check_no_overlap(self)
    if self._device is not meta:
        draw = (generator or default_generator).random.normal
        if self._dtype.is_complex:
            parts = draw(0, std / math.sqrt(2), (2, *self._shape))
            store(self, mean + parts[0] + 1j * parts[1])
        else:
            store(self, draw(mean, std, self._shape))
    return self


def rand(size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    """Uniform on [0, 1)."""
    fresh = ops.empty_memory_format(size, **options)
    return ops.uniform_(fresh, 0, 1)


def rand_out(size: Sequence[int], *, out: Tensor) -> Tensor:
    return ops.uniform_(ops.empty_out(size, out=out), 0, 1)


def randn_out(size: Sequence[int], *, out: Tensor) -> Tensor:
    return ops.normal_(ops.empty_out(size, out=out), 0, 1)


def randn(size: Sequence[int], **options: Unpack[TensorOptions]) -> Tensor:
    """Normal with mean 0 and variance 1."""
    fresh = ops.empty_memory_format(size, **options)
    return ops.normal_(fresh, 0, 1)
