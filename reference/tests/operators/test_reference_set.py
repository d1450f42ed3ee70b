"""Every entry of `native_functions.yaml` against PyTorch, on the samples of `samples_*.py`.

An entry without samples fails, so the set can't grow past its tests. In-place and out variants use the
samples of the functional operator with the same arguments.
"""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl
from operators import (  # noqa: F401
    samples_factory,
    samples_index,
    samples_neural,
    samples_pointwise,
    samples_reduction,
    samples_shape,
    samples_sparse,
)
from operators.oracle import (
    Twin,
    assert_same,
    assert_same_geometry,
    attempt,
    is_answered_otherwise,
)
from operators.oracle import to_meta as tensor_to_meta
from operators.samples import Input, Sample, Sparse, build, retyped, samples_of
from torchgen_lite_reference.sparse_tensor import SparseTensor

pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[3]
ENTRIES: dict[str, dict[str, Any]] = {
    entry["func"].split("(")[0]: entry
    for entry in yaml.safe_load((ROOT / "native_functions.yaml").read_text("utf-8"))
}
# Their values are arbitrary or random: only the geometry can agree.
ARBITRARY = {"empty.memory_format", "empty_strided", "empty_like", "new_empty", "new_empty_strided"}
ARBITRARY |= {
    "empty.out",
    "rand.out",
    "randn.out",
    "rand",
    "randn",
    "bernoulli_.float",
    "uniform_",
    "normal_",
    "resize_",
}
# Their results depend on data, so there is nothing to say about Meta.
DATA_DEPENDENT = {"dynamic_output_shape", "data_dependent_output"}
# Composite operators that ask for data without PyTorch having a tag for it.
NEEDS_DATA = {"allclose", "equal", "is_coalesced", "where", "to_dense", "to_sparse"}
NEEDS_DATA |= {"tensor_split.tensor_indices_or_sections"}
# Dtypes or numbers that PyTorch's kernels of these operators refuse.
ACCEPTS_MORE = {"addcmul", "linalg_vector_norm", "binary_cross_entropy_with_logits"}
# PyTorch's out variants that write nothing into an empty `out`.
NOT_RESIZED = {"binary_cross_entropy.out"}
# PyTorch's own faults with a strided `out`: it is written as if it were contiguous, or restrided.
NOT_STRIDED = {"_softmax.out", "_log_softmax.out", "gelu.out", "matmul.out", "linear.out"}
# The result would be of a type that is not here (complex32).
NO_TYPE = {("view_as_complex", "float16")}
# Long sums lose more digits than one operation does.
LOOSE = {"float16": 4.0}


@cache
def schema(name: str) -> Any:
    return torch._C.parse_schema("aten::" + ENTRIES[name]["func"])


def out_arguments(name: str) -> list[Any]:
    return [argument for argument in schema(name).arguments if argument.is_out]


def is_inplace(name: str) -> bool:
    arguments = schema(name).arguments
    first = arguments[0].alias_info if arguments else None
    return bool(first and first.is_write) and not out_arguments(name)


def signature(name: str) -> tuple[tuple[str, str], ...]:
    return tuple((a.name, str(a.type)) for a in schema(name).arguments if not a.is_out)


def functional_of(name: str) -> str | None:
    """The functional operator with the same arguments as this in-place or out variant."""
    base: str = name.split(".")[0]
    wanted = base.removesuffix("_") if is_inplace(name) else base
    for other in ENTRIES:
        functional = not out_arguments(other) and not is_inplace(other)
        if other.split(".")[0] == wanted and functional and signature(other) == signature(name):
            return other
    return None


def samples_for(name: str) -> list[Sample]:
    found = samples_of(name)
    if not found and (out_arguments(name) or is_inplace(name)):
        found = samples_of(functional_of(name) or "")
    return [item for item in found if has_one_answer(name, item)]


def has_one_answer(name: str, item: Sample) -> bool:
    """Samples whose results have changed in PyTorch since 2.13 are left out."""
    first, *rest = item.args or (None,)
    dtype = first.base.dtype.name if isinstance(first, Input) else ""
    return not is_answered_otherwise(name, dtype, *rest)


def ours(value: Any) -> Any:
    if isinstance(value, Input):
        return Twin(value.array()).ours()
    if isinstance(value, Sparse):
        return tl.sparse_coo_tensor(ours(value.indices), ours(value.values), list(value.size))
    return tl.device(value.name) if value.name in ("cpu", "meta") else getattr(tl, value.name)


def theirs(value: Any) -> Any:
    if isinstance(value, Input):
        return Twin(value.array()).theirs()
    if isinstance(value, Sparse):
        indices, values = theirs(value.indices), theirs(value.values)
        return torch.sparse_coo_tensor(indices, values, value.size, check_invariants=True)
    return torch.device(value.name) if value.name in ("cpu", "meta") else getattr(torch, value.name)


def overload(library: Any, name: str) -> Any:
    base, _, variant = name.partition(".")
    return getattr(getattr(library.ops.aten, base), variant or "default")


def call(library: Any, name: str, item: Sample, make: Any) -> tuple[Any, list[Any]]:
    args = build(item.args, make)
    return attempt(overload(library, name), *args, **build(item.kwargs, make)), args


def geometry(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [geometry(item) for item in result]
    return (str(result.dtype).split(".")[-1], tuple(result.shape), tuple(result.stride()))


def dense(result: Any) -> Any:
    """Sparse results as their parts, so that the order of elements is compared as well."""
    if isinstance(result, SparseTensor):
        return [result._coo_indices.contiguous(), result._coo_values, list(result.shape)]
    if isinstance(result, torch.Tensor) and result.is_sparse:
        return [result._indices().contiguous(), result._values(), list(result.shape)]
    if isinstance(result, (list, tuple)):
        return [dense(item) for item in result]
    return result


def on_meta(result: Any) -> bool:
    return isinstance(result, torch.Tensor) and result.device.type == "meta"


def check(case: str, name: str, actual: Any, expected: Any) -> None:
    if isinstance(actual, Exception):
        raise AssertionError(f"{case}: unexpected {actual!r}") from actual
    if name in ARBITRARY or on_meta(expected):
        assert geometry(actual) == geometry(expected), case
        return
    dtype = str(getattr(expected, "dtype", "")).removeprefix("torch.")
    assert_same(case, dense(actual), dense(expected), LOOSE.get(dtype, 4.0), True)


def aliases(result: Any, args: list[Any]) -> list[int]:
    """Which arguments the results share memory with."""
    results = result if isinstance(result, (list, tuple)) else [result]
    starts = [storage_start(item) for item in results]
    return [
        place
        for place, argument in enumerate(args)
        if (start := storage_start(argument)) and start in starts
    ]


def storage_start(value: Any) -> int:
    if not isinstance(value, (torch.Tensor, tl.Tensor)) or value.is_sparse:
        return 0
    return int(value.untyped_storage().data_ptr())


def to_meta(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [to_meta(item) for item in value]
    return tensor_to_meta(value)


def depends_on_data(name: str) -> bool:
    tags = ENTRIES[name].get("tags", [])
    return bool(DATA_DEPENDENT & set([tags] if isinstance(tags, str) else tags))


def check_meta(case: str, name: str, item: Sample, actual: Any) -> None:
    if depends_on_data(name) or "sparse" in name or name == "to.device":
        return
    args = to_meta(build(item.args, ours))
    kwargs = {key: to_meta(value) for key, value in build(item.kwargs, ours).items()}
    kwargs |= {"device": tl.device("meta")} if "device" in kwargs else {}
    if not any(isinstance(value, tl.Tensor) for value in flat(args)):
        return
    assert_same_geometry("meta " + case, attempt(overload(tl, name), *args, **kwargs), actual)


def flat(values: Any) -> list[Any]:
    lists = [flat(item) if isinstance(item, (list, tuple)) else [item] for item in values]
    return list(itertools.chain.from_iterable(lists))


OTHER_DTYPES = ("float64", "float16", "int64", "int32", "uint8", "bool", "complex64", "complex128")
FUNCTIONAL = [name for name in ENTRIES if not out_arguments(name) and not is_inplace(name)]
INPLACE = [name for name in ENTRIES if is_inplace(name)]
OUT = [name for name in ENTRIES if out_arguments(name)]


def test_the_kinds_cover_the_set() -> None:
    assert len(FUNCTIONAL) + len(INPLACE) + len(OUT) == len(ENTRIES) >= 160


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional(name: str) -> None:
    compared = 0
    for item in samples_for(name):
        expected, their_args = call(torch, name, item, theirs)
        actual, our_args = call(tl, name, item, ours)
        if isinstance(expected, Exception):
            if all(is_ordinary(value) for value in flat(item.args)):
                must_refuse(name, item, actual, expected)
            continue
        case = f"{name} {item}"
        check(case, name, actual, expected)
        assert aliases(actual, our_args) == aliases(expected, their_args), f"{case}: aliasing"
        if name not in NEEDS_DATA and not any(isinstance(a, Sparse) for a in item.args):
            check_meta(case, name, item, actual)
        compared += 1
    assert compared, f"{name} has no samples that torch accepts"


def must_refuse(name: str, item: Sample, actual: Any, expected: Exception) -> None:
    """What torch has no kernel for is refused here as well, and never silently computed."""
    refused = isinstance(actual, Exception) or name.removesuffix("_") in ACCEPTS_MORE
    assert refused, f"{name} {item}: must be refused, as by torch: {expected}"


def is_ordinary(value: Any) -> bool:
    """PyTorch doesn't ask for the dtype of empty tensors; infinities have many complex forms."""
    return not isinstance(value, Input) or (value.base.size > 0 and finite(value.base))


def finite(array: Any) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


@pytest.mark.parametrize("name", [name for name in FUNCTIONAL if name not in ARBITRARY])
def test_dtypes(name: str) -> None:
    """The same samples in other dtypes, wherever torch has a kernel for them. A failure shows the arguments."""
    samples = []
    for item in samples_for(name):
        if all(is_ordinary(value) for value in flat(item.args)):
            samples.append(item)
    for dtype in OTHER_DTYPES:
        for item in samples:
            check_dtype(name, retyped(item, dtype), dtype)


def check_dtype(name: str, item: Sample, dtype: str) -> None:
    """The result is torch's, and what torch refuses is refused."""
    if not has_one_answer(name, item):
        return
    expected, _ = call(torch, name, item, theirs)
    actual, _ = call(tl, name, item, ours)
    if isinstance(expected, Exception):
        must_refuse(name, item, actual, expected)
    elif (name, dtype) in NO_TYPE:
        assert isinstance(actual, RuntimeError), f"{name} {item}"
    else:
        check(f"{name} {item}", name, actual, expected)


@pytest.mark.parametrize("name", INPLACE)
def test_inplace(name: str) -> None:
    """What is returned is `self`, and what is written is what torch writes, where it writes."""
    compared = 0
    for item in samples_for(name):
        expected, their_args = call(torch, name, item, theirs)
        actual, our_args = call(tl, name, item, ours)
        if isinstance(expected, Exception):
            if all(is_ordinary(value) for value in flat(item.args)):
                must_refuse(name, item, actual, expected)
            continue
        case = f"{name} {item}"
        check(case, name, actual, expected)
        assert actual is our_args[0], f"{case}: must return self"
        check(case, name, our_args[0], their_args[0])
        check_meta(case, name, item, actual)
        compared += 1
    assert compared, f"{name} has no samples that torch accepts"


def outputs(expected: Any) -> list[Any]:
    return list(expected) if isinstance(expected, (list, tuple)) else [expected]


@pytest.mark.parametrize("name", OUT)
@pytest.mark.parametrize("kind", ["exact", "empty", "strided"])
def test_out(name: str, kind: str) -> None:
    """`out` is returned and written in place if its shape fits, and resized if it is empty."""
    if (kind == "empty" and name in NOT_RESIZED) or (kind == "strided" and name in NOT_STRIDED):
        pytest.skip("a fault in PyTorch")
    compared = 0
    for item in samples_for(name):
        plain = reference_result(name, item)
        if isinstance(plain, Exception):
            continue
        names = [argument.name for argument in out_arguments(name)]
        their_outs = [make_out(result, kind) for result in outputs(plain)]
        our_outs = [same_geometry(out) for out in their_outs]
        expected = call_out(torch, name, item, theirs, dict(zip(names, their_outs)))
        if isinstance(expected, Exception):
            continue
        case = f"{name} {item} out {kind}"
        starts = [out.data_ptr() for out in our_outs]
        actual = call_out(tl, name, item, ours, dict(zip(names, our_outs)))
        check(case, name, actual, expected)
        for out, returned, start in zip(our_outs, outputs(actual), starts):
            assert out is returned, f"{case}: must return out"
            assert kind == "empty" or out.data_ptr() == start, f"{case}: must keep its memory"
        check_meta_out(case, name, item, dict(zip(names, our_outs)))
        compared += 1
    assert compared, f"{name} has no samples that torch accepts"


def call_out(library: Any, name: str, item: Sample, make: Any, outs: dict[str, Any]) -> Any:
    kwargs = build(item.kwargs, make)
    return attempt(overload(library, name), *build(item.args, make), **kwargs, **outs)


def reference_result(name: str, item: Sample) -> Any:
    """What the out tensors must hold, from the functional operator where there is one."""
    functional = functional_of(name)
    if functional is not None:
        return call(torch, functional, item, theirs)[0]
    outs = {argument.name: torch.empty(0) for argument in out_arguments(name)}
    return call_out(torch, name, item, theirs, outs)


def make_out(result: Any, kind: str) -> Any:
    if kind == "empty":
        return torch.empty(0, dtype=result.dtype)
    if kind == "exact" or not result.dim():
        return torch.zeros(result.shape, dtype=result.dtype)
    shape = (*result.shape[:-1], result.shape[-1] * 2)
    return torch.zeros(shape, dtype=result.dtype)[..., ::2]


def same_geometry(out: Any) -> tl.Tensor:
    """Zeros with the shape, strides and dtype of a tensor of torch's."""
    storage = tl.zeros([out.untyped_storage().nbytes()], dtype=tl.uint8)
    dtype = getattr(tl, str(out.dtype).removeprefix("torch."))
    return tl.ops.aten.view.dtype(storage, dtype).as_strided(list(out.shape), out.stride(), 0)


def check_meta_out(case: str, name: str, item: Sample, outs: dict[str, Any]) -> None:
    if not any(isinstance(value, (Input, Sparse)) for value in flat(item.args)):
        return
    if depends_on_data(functional_of(name) or name):
        return
    metas = {key: to_meta(out) for key, out in outs.items()}
    args = to_meta(build(item.args, ours))
    kwargs = {key: to_meta(value) for key, value in build(item.kwargs, ours).items()}
    result = attempt(overload(tl, name), *args, **kwargs, **metas)
    expected = list(outs.values()) if len(outs) > 1 else next(iter(outs.values()))
    assert_same_geometry("meta " + case, result, expected)
