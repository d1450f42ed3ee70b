"""Comparison of the reference operators with PyTorch's on the same inputs.

    twin(array)                     -> Twin, the array as a tensor of both libraries, strides kept
    scalar-like arguments           go to both as they are; `Dtype("int64")` becomes each one's own
    compare(name, *args, **kwargs)  call `tl.<name>` and `torch.<name>`; both raise, or the results
    agree in
                                    value, dtype, shape and strides; Meta agrees in dtype, shape and
                                    strides
    compare_out(...), compare_inplace(...)   the variants that write, with every dtype of the output

Only this module and the tests marked `torch` know PyTorch; without it they are skipped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from tests.installed import RELEASE
from torchgen_lite_reference.dtype import by_name

torch = pytest.importorskip("torch")

ALL_DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
# One of each category and size that behaves differently; the full list squared would be slow.
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64")
REAL_DTYPES = tuple(name for name in DTYPES if not name.startswith("complex"))
FLOAT_DTYPES = ("float16", "float32", "float64")

# Relative and absolute tolerance of one operation in each type.
_TOLERANCE = {
    "float16": (2e-3, 2e-3),
    "float32": (1e-5, 1e-5),
    "float64": (1e-10, 1e-10),
    "complex64": (2e-5, 2e-5),
    "complex128": (1e-10, 1e-10),
}


@dataclass(frozen=True)
class Dtype:
    """A dtype argument by name."""

    name: str


@dataclass(frozen=True)
class Twin:
    """One array, to be given to both libraries, each time as a fresh copy with the same strides."""

    array: np.ndarray[Any, Any]

    def ours(self) -> tl.Tensor:
        return tl.from_numpy(same_layout(self.array))

    def theirs(self) -> Any:
        if not self.array.size:
            # NumPy's strides of an empty array are zeros; torch's own are not.
            return torch.empty(self.array.shape, dtype=getattr(torch, str(self.array.dtype)))
        return torch.from_numpy(same_layout(self.array))

    def __repr__(self) -> str:
        return f"Twin({self.array.dtype}{list(self.array.shape)}, strides {self.array.strides})"


def same_layout(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy whose strides are those of the array (an expanded array stays expanded)."""
    extent = 1 + sum((n - 1) * s for n, s in zip(array.shape, array.strides)) // array.itemsize
    if not array.size:
        return np.empty(array.shape, array.dtype)
    flat = np.zeros(extent, array.dtype)
    view = np.lib.stride_tricks.as_strided(flat, array.shape, array.strides)
    view[...] = array
    return view


def ours(value: Any) -> Any:
    if isinstance(value, Twin):
        return value.ours()
    if isinstance(value, Dtype):
        return by_name(value.name)
    return [ours(item) for item in value] if _holds_twins(value) else value


def theirs(value: Any) -> Any:
    if isinstance(value, Twin):
        return value.theirs()
    if isinstance(value, Dtype):
        return getattr(torch, value.name)
    return [theirs(item) for item in value] if _holds_twins(value) else value


def _holds_twins(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, Twin) for item in value)


def _each(function: Callable[[Any], Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: function(value) for key, value in kwargs.items()}


def to_meta(value: Any) -> Any:
    if isinstance(value, tl.Tensor):
        return value.to("meta") if value.is_contiguous() else _meta_like(value)
    if isinstance(value, (list, tuple)) and any(isinstance(item, tl.Tensor) for item in value):
        return [to_meta(item) for item in value]
    return value


def _meta_like(value: tl.Tensor) -> tl.Tensor:
    """Meta with the very strides, which `to` keeps only for dense tensors."""
    from torchgen_lite_reference.device import meta
    from torchgen_lite_reference.tensor import empty_strided

    return empty_strided(value._shape, value._strides, value._dtype, meta)


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result, or the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError) as error:
            return error


_BOUNDED = {"clamp", "clamp_max", "clamp_min", "hardtanh"}


def is_answered_otherwise(name: str, dtype: str, *bounds: Any) -> bool:
    """Whether the installed release, which may be later than 2.13, gives something else than that.

    From 2.15 on `clamp` and `hardtanh` take a bound that an unsigned type does not hold for the nearest one that it
    does. Before, `clamp` converts it as C++ does, and `hardtanh` refuses it.
    """
    is_bounded = name.partition(".")[0].rstrip("_") in _BOUNDED
    # Those of `hardtanh` are -1 and 1 where none are given.
    has_negative = any(isinstance(bound, int) and bound < 0 for bound in bounds or (-1, 1))
    return RELEASE >= (2, 15) and is_bounded and dtype == "uint8" and has_negative


def compare(
    name: str, *args: Any, tolerance: float = 1.0, strides: bool = True, **kwargs: Any
) -> Any:
    """Call both and compare. Returns our result."""
    our_function, their_function = _resolve(tl, name), _resolve(torch, name)
    our_args, our_kwargs = [ours(a) for a in args], _each(ours, kwargs)
    expected = attempt(their_function, *map(theirs, args), **_each(theirs, kwargs))
    actual = attempt(our_function, *our_args, **our_kwargs)
    case = f"{name}(*{args}, **{kwargs})"
    assert_same(case, actual, expected, tolerance, strides)
    if not isinstance(actual, Exception):
        meta = attempt(our_function, *map(to_meta, our_args), **_each(to_meta, our_kwargs))
        assert_same_geometry("meta " + case, meta, actual)
    return actual


def _resolve(library: Any, name: str) -> Any:
    """`linalg.vector_norm` is `linalg_vector_norm` here, as in the schema."""
    if library is tl:
        name = name.replace(".", "_")
    for part in name.split("."):
        library = getattr(library, part)
    return library


def assert_same(case: str, actual: Any, expected: Any, tolerance: float, strides: bool) -> None:
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        both = isinstance(expected, Exception) and isinstance(actual, Exception)
        if not both and isinstance(actual, Exception):
            raise AssertionError(f"{case}: unexpected {actual!r}") from actual
        assert both, f"{case}: expected {expected!r}, got {actual!r}"
        return
    if isinstance(expected, torch.Tensor):
        assert isinstance(actual, tl.Tensor), f"{case}: got {actual!r}"
        assert_same_tensor(case, actual, expected, tolerance, strides)
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), case
        for one, other in zip(actual, expected):
            assert_same(case, one, other, tolerance, strides)
    else:
        assert actual == expected or actual != actual, f"{case}: {actual!r} is not {expected!r}"


def assert_same_tensor(
    case: str, actual: tl.Tensor, expected: Any, tolerance: float, strides: bool
) -> None:
    assert actual.dtype.name == str(expected.dtype).removeprefix(
        "torch."
    ), f"{case}: dtype {actual.dtype} instead of {expected.dtype}"
    assert tuple(actual.shape) == tuple(
        expected.shape
    ), f"{case}: shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
    if strides:
        assert (
            actual.stride() == expected.stride()
        ), f"{case}: strides {actual.stride()} instead of {expected.stride()}"
    wanted = expected.resolve_conj().resolve_neg().numpy()
    got = actual.numpy()
    if actual.dtype.name not in _TOLERANCE:
        np.testing.assert_array_equal(got, wanted, case)
        return
    relative, absolute = _TOLERANCE[actual.dtype.name]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            got, wanted, rtol=relative * tolerance, atol=absolute * tolerance, err_msg=case
        )


def assert_same_geometry(case: str, meta: Any, actual: Any) -> None:
    if isinstance(meta, Exception):
        raise AssertionError(f"{case}: unexpected {meta!r}") from meta
    if isinstance(actual, tl.Tensor):
        assert meta.device.type == "meta", case
        assert meta.dtype is actual.dtype, f"{case}: {meta.dtype} instead of {actual.dtype}"
        assert meta.shape == actual.shape, f"{case}: {meta.shape} instead of {actual.shape}"
        assert meta.stride() == actual.stride(), f"{case}: {meta.stride()} != {actual.stride()}"
    elif isinstance(actual, (tuple, list)):
        for one, other in zip(meta, actual):
            assert_same_geometry(case, one, other)


def compare_inplace(name: str, *args: Any, tolerance: float = 1.0, **kwargs: Any) -> None:
    """`name` ends in `_`: the first argument is written, and is what is returned."""
    mine, its = ours(args[0]), theirs(args[0])
    rest = args[1:]
    case = f"{name}(*{args}, **{kwargs})"
    expected = attempt(getattr(its, name), *map(theirs, rest), **_each(theirs, kwargs))
    actual = attempt(getattr(mine, name), *map(ours, rest), **_each(ours, kwargs))
    assert_same(case, actual, expected, tolerance, True)
    if not isinstance(actual, Exception):
        assert actual is mine, case
        assert_same_tensor(case, mine, its, tolerance, True)


def compare_out(
    name: str, *args: Any, dtype: str, out: str = "exact", tolerance: float = 1.0, **kwargs: Any
) -> None:
    """With `out=` of a dtype: of `exact` shape, `empty` (is resized) or `strided`."""
    kwargs_ours, kwargs_theirs = _each(ours, kwargs), _each(theirs, kwargs)
    shape = attempt(_resolve(torch, name), *map(theirs, args), **kwargs_theirs)
    if isinstance(shape, Exception) or not isinstance(shape, torch.Tensor):
        return
    base = np.zeros(_out_shape(tuple(shape.shape), out), dtype)
    window = base[..., ::2] if out == "strided" and base.ndim else base
    mine, its = tl.from_numpy(window), torch.from_numpy(base.copy()).clone()
    if out == "strided" and base.ndim:
        its = its[..., ::2]
    case = f"{name}(*{args}, **{kwargs}, out={dtype} {out})"
    expected = attempt(_resolve(torch, name), *map(theirs, args), **kwargs_theirs, out=its)
    actual = attempt(_resolve(tl, name), *map(ours, args), **kwargs_ours, out=mine)
    # The output may be wider than what was computed, and then shows the rounding of that.
    computed = str(shape.dtype).removeprefix("torch.")
    exact = _TOLERANCE.get(dtype, _TOLERANCE["float64"])[0]
    tolerance *= max(1.0, _TOLERANCE.get(computed, (0.0, 0.0))[0] / exact)
    assert_same(case, actual, expected, tolerance, True)
    if not isinstance(actual, Exception):
        assert actual is mine, case


def _out_shape(shape: tuple[int, ...], out: str) -> tuple[int, ...]:
    if out == "empty":
        return (0,)
    return (*shape[:-1], shape[-1] * 2) if out == "strided" and shape else shape


# Inputs.


def values(shape: tuple[int, ...], dtype: str, seed: int = 0, special: bool = False) -> Any:
    """Reproducible numbers of a dtype: small integers, floats around zero, optionally inf and nan."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return random.integers(0 if dtype == "uint8" else -5, 9, shape).astype(dtype)
    array = random.normal(size=shape) * 2
    if dtype.startswith("complex"):
        return (array + 1j * random.normal(size=shape)).astype(dtype)
    array = array.astype(dtype)
    if special and array.size >= 4:
        flat = array.reshape(-1)
        flat[:4] = [np.inf, -np.inf, np.nan, 0.0]
    return array


def layouts(
    shape: tuple[int, ...], dtype: str, seed: int = 0, special: bool = False
) -> Iterator[Twin]:
    """The same shape in several orders of memory."""
    yield Twin(values(shape, dtype, seed, special))
    if len(shape) >= 2:
        yield Twin(values(shape[::-1], dtype, seed + 1, special).transpose())
        yield Twin(values((*shape[:-1], shape[-1] * 2), dtype, seed + 2, special)[..., ::2])
        yield Twin(np.broadcast_to(values((1, *shape[1:]), dtype, seed + 3, special), shape))
    if len(shape) == 3:
        yield Twin(values((shape[2], shape[0], shape[1]), dtype, seed + 4).transpose(1, 2, 0))


def operands(dtype: str, seed: int = 0, special: bool = False) -> Iterator[Twin]:
    """Tensors of all kinds of one dtype: shapes, orders of memory, zero-dimensional, empty."""
    yield from layouts((2, 3), dtype, seed, special)
    yield from layouts((2, 3, 4), dtype, seed, special)
    yield Twin(values((), dtype, seed))
    yield Twin(values((5,), dtype, seed, special))
    yield Twin(values((0, 3), dtype, seed))
