"""Sample arguments for operators, described without any tensor library.

A sample is made into arguments for torch and for the reference by `build`, from the same arrays, so that
both see the same values, strides and aliasing. Generators of samples register under operator names:

    @samples("gather")
    def gather() -> Iterator[Sample]:
        yield sample(floats(3, 4), 1, integers(3, 2, high=4))

In-place and out variants need none of their own: they take those of the functional operator with the same
arguments (`test_reference_set.py`), unless a generator is registered under their own name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
View = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, repr=False)
class Input:
    """A strided tensor: a view on a fresh copy of `base`."""

    base: Array
    view: View | None = None

    def array(self) -> Array:
        copied = self.base.copy()
        return copied if self.view is None else self.view(copied)

    def seen(self, view: View) -> Input:
        return Input(self.base, view)

    def __repr__(self) -> str:
        array = self.array()
        return f"{array.dtype}{list(array.shape)} strides {array.strides}"

    @property
    def T(self) -> Input:
        return self.seen(lambda array: array.T)


@dataclass(frozen=True, slots=True)
class Sparse:
    """A COO tensor."""

    indices: Input
    values: Input
    size: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A dtype, memory format, layout or device by the name that torch gives it."""

    name: str


@dataclass(frozen=True, slots=True)
class Sample:
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


Generator = Callable[[], Iterator[Sample]]
REGISTRY: dict[str, list[Generator]] = {}


def samples(*names: str) -> Callable[[Generator], Generator]:
    """Registers a generator of samples for each of these operators."""

    def register(generator: Generator) -> Generator:
        for name in names:
            REGISTRY.setdefault(name, []).append(generator)
        return generator

    return register


def sample(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


def samples_of(name: str) -> list[Sample]:
    return [item for generator in REGISTRY.get(name, ()) for item in generator()]


def build(value: Any, make: Callable[[Any], Any]) -> Any:
    """The value with every Input, Sparse and Named in it replaced by `make` of it."""
    if isinstance(value, (Input, Sparse, Named)):
        return make(value)
    if isinstance(value, (list, tuple)):
        return [build(item, make) for item in value]
    if isinstance(value, dict):
        return {key: build(item, make) for key, item in value.items()}
    return value


def retyped(item: Sample, dtype: str) -> Sample:
    """The sample with its float32 tensors turned into another dtype."""

    def convert(value: Any) -> Any:
        if not isinstance(value, Input) or value.base.dtype != np.float32:
            return value
        with np.errstate(all="ignore"):
            return Input(value.base.astype(dtype), value.view)

    return Sample(tuple(build(item.args, convert)), build(item.kwargs, convert))


# Values. Each call draws from its own stream, which its arguments name.


def _stream(shape: tuple[int, ...], seed: int) -> np.random.Generator:
    return np.random.default_rng([len(shape), *shape, seed])


def floats(*shape: int, dtype: str = "float32", seed: int = 0, low: float = -3.0) -> Input:
    return Input(_stream(shape, seed).uniform(low, 3.0, shape).astype(dtype))


def probabilities(*shape: int, dtype: str = "float32", seed: int = 0) -> Input:
    return Input(_stream(shape, seed).uniform(0.05, 0.95, shape).astype(dtype))


def complexes(*shape: int, dtype: str = "complex64", seed: int = 0) -> Input:
    stream = _stream(shape, seed)
    parts = stream.uniform(-2, 2, shape) + 1j * stream.uniform(-2, 2, shape)
    return Input(np.asarray(parts).astype(dtype))


def integers(
    *shape: int, dtype: str = "int64", seed: int = 0, low: int = 0, high: int = 5
) -> Input:
    return Input(np.asarray(_stream(shape, seed).integers(low, high, shape)).astype(dtype))


def booleans(*shape: int, seed: int = 0) -> Input:
    return Input(np.asarray(_stream(shape, seed).integers(0, 2, shape)).astype(bool))


def distinct(*shape: int, dtype: str = "float32", seed: int = 0) -> Input:
    """No two elements alike, in no order."""
    count = int(np.prod(shape, dtype=int))
    return Input(_stream(shape, seed).permutation(count).reshape(shape).astype(dtype))


def given(values: Any, dtype: str) -> Input:
    return Input(np.array(values, dtype))


def swapped(array: Array) -> Array:
    turned: Array = array.swapaxes(0, -1)
    return turned


def every_second(array: Array) -> Array:
    half: Array = array[..., ::2]
    return half
