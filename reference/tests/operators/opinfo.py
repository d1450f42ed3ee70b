"""PyTorch's own inputs, its `OpInfo`s, given to the reference operators.

    entries()                        the entries of `op_db` whose operator is in the set, with ours
    samples(entry, dtype, count)     the first inputs of a dtype
    differences(entry, sample)       how ours differ from torch's: as a function, as a method, in place, with `out=`
    error_differences(entry)         the inputs that torch refuses
    gradient_differences(entry, sample)    of the first and the second order

A difference is a line of text that begins with its kind. Those that are meant are in `exceptions.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import EllipsisType
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from operators.oracle import ALL_DTYPES, same_layout
from torchgen_lite_reference.dtype import by_name

torch = pytest.importorskip("torch")

_ERRORS = (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError, AttributeError)
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_DTYPES = {getattr(torch, name): by_name(name) for name in ALL_DTYPES}
_FORMATS = {
    torch.contiguous_format: tl.contiguous_format,
    torch.preserve_format: tl.preserve_format,
    torch.channels_last: tl.channels_last,
    torch.channels_last_3d: tl.channels_last_3d,
}
_LAYOUTS = {torch.strided: tl.strided, torch.sparse_coo: tl.sparse_coo}
# Of one name with an operator of the set, and something else: im2col, a lazy conjugate.
_OTHERS = {"conj", "nn.functional.unfold"}
# In place they change the geometry of a tensor, which the set leaves out.
_GEOMETRY = {"as_strided_", "squeeze_", "t_", "transpose_", "unsqueeze_"}


class NotOurs(Exception):
    """An input that the set cannot express: bfloat16, quantized, CSR ..."""


@dataclass(frozen=True)
class Entry:
    """An entry of `op_db`, and our function for it."""

    info: Any
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        name: str = self.info.name
        variant: str = self.info.variant_test_name
        return f"{name}.{variant}" if variant else name

    def dtypes(self) -> list[str]:
        """Those that torch supports."""
        supported = self.info.supported_dtypes("cpu")
        return [name for name in ALL_DTYPES if getattr(torch, name) in supported]


@cache
def entries() -> tuple[Entry, ...]:
    from torch.testing._internal.common_methods_invocations import op_db

    found = [Entry(info, function) for info in op_db if (function := _our_function(info))]
    return tuple(found)


def _our_function(info: Any) -> Callable[..., Any] | None:
    name = info.name
    if name in _OTHERS or name.startswith("torch."):
        return None
    functional = name.startswith("nn.functional.")
    flat = name.removeprefix("nn.functional.").replace(".", "_")
    if info.variant_test_name.startswith(("reflect", "replicate", "circular", "triton")):
        return None
    if name == "where":
        return _where
    if functional and hasattr(tl, flat):
        return partial(_call_functional, flat)
    if hasattr(tl, flat) and flat not in _METHODS_ONLY:
        function: Callable[..., Any] = getattr(tl, flat)
        return function
    if hasattr(tl.Tensor, flat):
        return partial(_call_lambda, flat) if flat in _ATTRIBUTES else getattr(tl.Tensor, flat)
    return None


# Names that mean a dtype in `tl`, and a conversion in `op_db`.
_METHODS_ONLY = {"bool", "double", "float", "half", "int", "long", "short", "cdouble", "cfloat"}
_ATTRIBUTES = {"T", "mT", "real", "imag"}


def _where(self: Any, condition: Any, *other: Any, **kwargs: Any) -> Any:
    return tl.where(condition, self, *other, **kwargs)


def _call_lambda(name: str, self: Any) -> Any:
    return getattr(self, name)


def _call_functional(name: str, *args: Any, **kwargs: Any) -> Any:
    """What `torch.nn.functional` does in Python before it calls the operator."""
    kwargs = {key: value for key, value in kwargs.items() if value is not None or key == "dtype"}
    reduction = kwargs.get("reduction")
    if reduction == "batchmean" or "weight" in kwargs and name in ("mse_loss", "l1_loss"):
        raise NotOurs("made by torch.nn.functional")
    if isinstance(reduction, str):
        if reduction not in _REDUCTIONS:
            raise ValueError(f"{reduction} is not a valid value for reduction")
        kwargs["reduction"] = _REDUCTIONS[reduction]
    if "max_norm" in kwargs or (name == "nll_loss" and args[0].ndim > 2):
        raise NotOurs("other operators: embedding_renorm_, nll_loss2d")
    for legacy in ("size_average", "reduce", "norm_type"):
        kwargs.pop(legacy, None)
    if kwargs.pop("inplace", False):
        name += "_"
    if name == "dropout":
        args = (args[0], kwargs.pop("p", 0.5), kwargs.pop("training", True))
    return getattr(tl, name)(*args, **kwargs)


# Conversion.


def ours(value: Any) -> Any:
    """What torch is given, in our types."""
    if isinstance(value, torch.Tensor):
        return _our_tensor(value)
    if isinstance(value, torch.dtype):
        if value not in _DTYPES:
            raise NotOurs(str(value))
        return _DTYPES[value]
    if isinstance(value, torch.memory_format):
        return _FORMATS[value]
    if isinstance(value, torch.layout):
        if value not in _LAYOUTS:
            raise NotOurs(str(value))
        return _LAYOUTS[value]
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)(ours(item) for item in value)
    if isinstance(value, dict):
        return {key: ours(item) for key, item in value.items()}
    if isinstance(value, (slice, str, int, float, complex, np.ndarray, np.generic, EllipsisType)):
        return value
    if value is None:
        return value
    raise NotOurs(type(value).__name__)


def _our_tensor(value: Any) -> tl.Tensor:
    if value.dtype not in _DTYPES:
        raise NotOurs(str(value.dtype))
    if value.layout is torch.sparse_coo:
        made = tl.sparse_coo_tensor(
            _our_tensor(value._indices()),
            _our_tensor(value._values()),
            tuple(value.shape),
            is_coalesced=value.is_coalesced(),
        )
    elif value.layout is not torch.strided:
        raise NotOurs(str(value.layout))
    else:
        made = _our_strided(value.detach().resolve_conj().resolve_neg())
    if value.requires_grad:
        made.requires_grad_()
    return made


def _our_strided(value: Any) -> tl.Tensor:
    if value.device.type != "cpu":
        return tl.empty_strided(
            tuple(value.shape), value.stride(), dtype=_DTYPES[value.dtype], device=value.device.type
        )
    if not value.numel():
        return tl.empty_strided(tuple(value.shape), value.stride(), dtype=_DTYPES[value.dtype])
    if value.ndim > 64:
        raise NotOurs("more dimensions than NumPy has")
    array = value.numpy()
    made = tl.from_numpy(same_layout(array))
    if made.stride() != value.stride():
        # A dimension of size 1 has any stride.
        made = tl.as_strided(made, tuple(value.shape), value.stride())
        made._meta = None
    return made


def copied(value: Any) -> Any:
    """The same input again, so that no call sees what another one wrote."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.device.type != "cpu":
            return value.detach().clone().requires_grad_(value.requires_grad)
        fresh = torch.from_numpy(same_layout(value.detach().resolve_conj().resolve_neg().numpy()))
        if value.numel() and fresh.stride() != value.stride():
            fresh = fresh.as_strided(value.shape, value.stride())
        elif not value.numel():
            fresh = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        return fresh.detach().requires_grad_(value.requires_grad)
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(copied(item) for item in value)
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


# Comparison.


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result, or the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except (*_ERRORS, NotOurs) as error:
            return error


def difference(
    actual: Any, expected: Any, tolerance: float = 1.0, values: bool = True
) -> str | None:
    """How two outcomes differ; None if they don't."""
    if isinstance(expected, Exception):
        if not isinstance(actual, Exception):
            return f"accepted: torch says {_first_line(expected)}"
        if not isinstance(actual, _class_of(expected)):
            return f"class: {actual!r} for {expected!r}"
        return None
    if isinstance(actual, Exception):
        return f"refused: {type(actual).__name__}: {_first_line(actual)}"
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(actual, expected, tolerance, values)
    if isinstance(expected, torch.Size):
        return None if tuple(actual) == tuple(expected) else f"value: {actual} for {expected}"
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return f"type: {actual!r:.60} for {len(expected)} results"
        found = (difference(*pair, tolerance, values) for pair in zip(actual, expected))
        return next(filter(None, found), None)
    if isinstance(expected, torch.dtype):
        return None if actual.name == str(expected)[6:] else f"dtype: {actual} for {expected}"
    if actual == expected or (actual != actual and expected != expected):
        return None
    return f"value: {actual!r:.60} for {expected!r:.60}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:120]


def _class_of(expected: Exception) -> type[Exception]:
    for kind in (NotImplementedError, IndexError, ValueError, TypeError, AttributeError):
        if isinstance(expected, kind):
            return kind
    return RuntimeError


def _tensor_difference(actual: Any, expected: Any, tolerance: float, values: bool) -> str | None:
    if not isinstance(actual, tl.Tensor):
        return f"type: {actual!r:.60}"
    if actual.dtype.name != str(expected.dtype).removeprefix("torch."):
        return f"dtype: {actual.dtype.name} for {expected.dtype}"
    if tuple(actual.shape) != tuple(expected.shape):
        return f"shape: {list(actual.shape)} for {list(expected.shape)}"
    if expected.layout is torch.sparse_coo:
        if not actual.is_sparse:
            return "type: strided for sparse"
        actual, expected = actual.to_dense(), expected.to_dense()
    elif actual.is_sparse:
        return "type: sparse for strided"
    elif actual.stride() != expected.stride():
        return f"strides: {actual.stride()} for {expected.stride()}, shape {list(expected.shape)}"
    if values and expected.device.type == "cpu":
        return _value_difference(actual, expected, tolerance)
    return None


# Relative and absolute tolerance of an operator of several steps.
_TOLERANCE = {
    "float16": (4e-3, 4e-3),
    "float32": (2e-5, 2e-5),
    "float64": (1e-8, 1e-8),
    "complex64": (4e-5, 4e-5),
    "complex128": (1e-8, 1e-8),
}


def _value_difference(actual: tl.Tensor, expected: Any, tolerance: float) -> str | None:
    wanted = expected.detach().resolve_conj().resolve_neg().numpy(force=True)
    got = actual.detach().numpy()
    relative, absolute = _TOLERANCE.get(actual.dtype.name, (0.0, 0.0))
    with np.errstate(all="ignore"):
        same = np.isclose(
            got, wanted, rtol=relative * tolerance, atol=absolute * tolerance, equal_nan=True
        )
        if same.all():
            return None
        place = tuple(int(axis[0]) for axis in np.nonzero(~same)) if same.ndim else ()
    return f"value: {got[place]} for {wanted[place]} at {list(place)} of {list(got.shape)}"


# The calls of a sample.


def samples(entry: Entry, dtype: str, requires_grad: bool = False) -> list[Any]:
    """The inputs that torch's own tests give the operator.

    `OpInfo.sample_inputs` makes the same, and searches the stack for a unittest before each, which takes four times as
    long as all the rest.
    """
    torch.manual_seed(0)
    info = entry.info
    return list(info.sample_inputs_func(info, "cpu", getattr(torch, dtype), requires_grad))


def gradient_dtypes(entry: Entry) -> list[str]:
    supported = entry.dtypes() if entry.info.supports_autograd else ()
    return [dtype for dtype in ("float64", "complex128") if dtype in supported]


def differences(entry: Entry, sample: Any) -> Iterator[tuple[str, str]]:
    """How each way to call the operator differs, with the name of that way."""
    args, kwargs = (sample.input, *sample.args), sample.kwargs
    try:
        ours((args, kwargs))
    except NotOurs:
        return
    info = entry.info
    values = not _is_random(entry)
    expected = attempt(info.op, *copied(args), **copied(kwargs))
    actual = attempt(entry.function, *ours(args), **ours(kwargs))
    if isinstance(actual, NotOurs):
        return
    if text := difference(actual, expected, values=values):
        yield "function", text
    method = info.method_variant
    if isinstance(sample.input, torch.Tensor):
        if method is not None:
            name = info.name.rpartition(".")[2]
            theirs = attempt(method, *copied(args), **copied(kwargs))
            mine = attempt(partial(_call_method, name), *ours(args), **ours(kwargs))
            if text := difference(mine, theirs, values=values):
                yield "method", text
        if info.inplace_variant is not None:
            yield from _inplace_differences(entry, args, kwargs, values)
    if info.supports_out and isinstance(expected, torch.Tensor):
        yield from _out_differences(entry, args, kwargs, expected, values)


def _call_method(name: str, self: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(self, name)(*args, **kwargs)


def _is_random(entry: Entry) -> bool:
    return entry.name.startswith(
        ("empty", "new_empty", "rand", "normal", "uniform", "bernoulli", "nn.functional.dropout")
    )


def _inplace_differences(entry: Entry, args: Any, kwargs: Any, values: bool) -> Iterator[Any]:
    name = entry.info.name.removesuffix("_") + "_"
    if name.startswith("nn.functional."):
        flat = name.removeprefix("nn.functional.")
        call: Any = partial(_call_functional, flat) if hasattr(tl, flat) else None
    else:
        call = None if name in _GEOMETRY else partial(_call_method, name)
    if call is None:
        return
    theirs, mine = copied(args), ours(args)
    expected = attempt(entry.info.inplace_variant, *theirs, **copied(kwargs))
    actual = attempt(call, *mine, **ours(kwargs))
    if isinstance(actual, NotOurs):
        return
    if text := difference(actual, expected, values=values):
        yield "in-place", text
    elif not isinstance(expected, Exception) and actual is not mine[0]:
        yield "in-place", "result: not the tensor that was given"
    elif text := difference(mine[0], theirs[0], values=values):
        yield "in-place", "left behind: " + text


def _out_differences(
    entry: Entry, args: Any, kwargs: Any, expected: Any, values: bool
) -> Iterator[Any]:
    """`out=` of the right shape, with other strides, of no elements, and of other dtypes."""
    if expected.dtype not in _DTYPES or expected.layout is not torch.strided:
        return
    outs = {"out": torch.full_like(expected, 0)}
    # Torch writes outside of a strided `out` of more than three dimensions.
    is_unsafe = entry.name in ("tril", "triu") and expected.ndim > 3
    if expected.ndim > 1 and not is_unsafe:
        outs["out, transposed"] = torch.zeros(expected.shape[::-1], dtype=expected.dtype).permute(
            *range(expected.ndim)[::-1]
        )
    outs["out, empty"] = torch.empty(0, dtype=expected.dtype)
    for other in (torch.int64, torch.float32, torch.float64, torch.complex64):
        if other is not expected.dtype:
            outs[f"out, {str(other)[6:]}"] = torch.zeros(expected.shape, dtype=other)
    for how, out in outs.items():
        theirs, mine = copied(out), ours(out)
        wanted = attempt(entry.info.op, *copied(args), **copied(kwargs), out=theirs)
        got = attempt(entry.function, *ours(args), **ours(kwargs), out=mine)
        if text := difference(got, wanted, _widened(expected, out), values):
            yield how, text
        elif not isinstance(wanted, Exception) and got is not mine:
            yield how, "result: not the tensor that was given"


def _widened(computed: Any, out: Any) -> float:
    """The output may be wider than what was computed, and then shows the rounding of that."""
    mine = _TOLERANCE.get(str(out.dtype)[6:], (1.0, 1.0))[0]
    return max(1.0, _TOLERANCE.get(str(computed.dtype)[6:], (0.0, 0.0))[0] / mine)


def error_differences(entry: Entry) -> Iterator[tuple[str, str]]:
    info = entry.info
    if info.error_inputs_func is None:
        return
    for error in info.error_inputs_func(info, "cpu"):
        sample = error.sample_input
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        try:
            mine, mine_named = ours(args), ours(kwargs)
        except NotOurs:
            continue
        expected = attempt(info.op, *copied(args), **copied(kwargs))
        if not isinstance(expected, Exception):
            continue
        if text := difference(attempt(entry.function, *mine, **mine_named), expected):
            yield "error", text


# Gradients.


def gradient_differences(
    entry: Entry, sample: Any, second: bool = True
) -> Iterator[tuple[str, str]]:
    """The gradients of the inputs that require them, and the gradients of those."""
    args, kwargs = (sample.input, *sample.args), sample.kwargs
    try:
        mine, mine_named = ours(args), ours(kwargs)
    except NotOurs:
        return
    theirs, theirs_named = copied(args), copied(kwargs)
    expected = attempt(entry.info.op, *theirs, **theirs_named)
    actual = attempt(entry.function, *mine, **mine_named)
    if isinstance(expected, Exception) or isinstance(actual, Exception) or _is_random(entry):
        return
    leaves = [list(_leaves((theirs, theirs_named))), list(_leaves((mine, mine_named)))]
    roots = [_differentiable(expected), _differentiable(actual)]
    if not leaves[0] or not roots[0]:
        return
    if len(roots[0]) != len(roots[1]):
        yield "gradient", f"outputs: {len(roots[1])} for {len(roots[0])}"
        return
    seeds = [_cotangents(roots[0], 1)]
    seeds.append([ours(seed) for seed in seeds[0]])
    wanted = attempt(
        torch.autograd.grad, roots[0], leaves[0], seeds[0], create_graph=second, allow_unused=True
    )
    got = attempt(
        tl.autograd.grad, roots[1], leaves[1], seeds[1], create_graph=second, allow_unused=True
    )
    text = _gradients_differ(got, wanted)
    if text:
        yield "gradient", text
    if text or not second or isinstance(wanted, Exception):
        return
    again = [_differentiable(wanted), _differentiable(got)]
    seeds = [_cotangents([g for g in wanted if g is not None], 2)]
    seeds.append([ours(seed) for seed in seeds[0]])
    if len([g for g in got if g is not None]) != len(seeds[0]) or not (again[0] or again[1]):
        return
    results = []
    for library, grads, side, seed in zip((torch, tl), (wanted, got), leaves, seeds, strict=True):
        pairs = zip([g for g in grads if g is not None], seed, strict=True)
        chosen = [(g, s) for g, s in pairs if g.requires_grad]
        results.append(_second(library, chosen, side))
    if text := _gradients_differ(results[1], results[0]):
        yield "second gradient", text


def _second(library: Any, chosen: list[tuple[Any, Any]], leaves: list[Any]) -> Any:
    """The gradients of gradients; gradients that do not depend on the inputs have none."""
    if not chosen:
        return [None] * len(leaves)
    roots, seeds = map(list, zip(*chosen))
    return attempt(library.autograd.grad, roots, leaves, seeds, allow_unused=True)


def _gradients_differ(got: Any, wanted: Any) -> str | None:
    if isinstance(wanted, Exception):
        return difference(got, wanted)
    if isinstance(got, Exception):
        return difference(got, wanted)
    for mine, theirs in zip(got, wanted):
        if (mine is None) != (theirs is None):
            # What is not there is zero.
            some = theirs if mine is None else mine
            if bool((some != 0).any()):
                return f"value: {mine!r:.60} for {theirs!r:.60}"
        elif mine is not None:
            # Layouts of gradients are the leaf's when they are kept, and not before.
            theirs = theirs.to_dense() if theirs.is_sparse else theirs
            mine = mine.to_dense() if mine.is_sparse else mine
            if str(mine.dtype)[3:] != str(theirs.dtype)[6:] or mine.shape != tuple(theirs.shape):
                return f"dtype: {mine.dtype}{mine.shape} for {theirs.dtype}{theirs.shape}"
            if text := _value_difference(mine, theirs, 100.0):
                return text
    return None


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (torch.Tensor, tl.Tensor)):
        if value.requires_grad:
            yield value
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)


def _differentiable(value: Any) -> list[Any]:
    return list(_leaves(value))


def _cotangents(roots: Sequence[Any], seed: int) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(root.shape, dtype=root.dtype, generator=generator, device=root.device)
        for root in roots
    ]
