"""Selections of kernels that PyTorch and vLLM write by hand, as conditions of `dispatch`: equal on 1,000 inputs each.

PyTorch's are the functions that its own overrides ask (`torch._native.ops`). vLLM's compare the addresses and the
hidden size of `rms_norm` and `fused_add_rms_norm` in C++, which the functions here repeat.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, NamedTuple

import pytest

from torchgen_lite.analysis.checks.selections import typed_condition
from torchgen_lite.analysis.selection.inputs import (
    TensorInput,
    Value,
    dtype_named,
    reading,
    value_of,
)
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.tree import every_part
from torchgen_lite.schema import parse_schema

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

INPUTS = 1000
DTYPES = ("float16", "bfloat16", "float32", "float64", "int64", "complex64")
SIZES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 64, 100, 128, 256, 512, 2048, 2050, 32768)

Arguments = dict[str, Any]


class Selection(NamedTuple):
    """A schema, the condition of the entry, the function that is the oracle, and what makes arguments for both."""

    schema: str
    condition: str
    oracle: Callable[[Arguments], bool]
    make: Callable[[random.Random], Arguments]


def _tensor(source: random.Random, *, most: int = 3, dtypes: tuple[str, ...] = DTYPES) -> Any:
    """A tensor of random dtype and shape, whose first element and strides are where any view may have them."""
    dtype = getattr(torch, source.choice(dtypes))
    shape = [source.choice(SIZES[:8]) for _ in range(source.randint(0, most))]
    scale = source.choice((1, 1, 2))
    steps = []
    step = scale
    for size in reversed(shape):
        steps.insert(0, step)
        step *= max(size, 1)
    return torch.empty(step * 2 + 16, dtype=dtype)[source.choice((0, 0, 1, 2, 4, 8)) :].as_strided(
        shape, steps
    )


def _sized(source: random.Random, size: int, dtypes: tuple[str, ...] = DTYPES) -> Any:
    return torch.empty(2, size, dtype=getattr(torch, source.choice(dtypes)))


def _outer(source: random.Random) -> Arguments:
    rank = source.choice((2, 3, 3, 3))
    first = [source.choice((0, 1, 1, 2)) for _ in range(rank)]
    second = [source.choice((0, 1, 1, 2)) for _ in range(source.choice((3, 3, rank)))]
    dtype = getattr(torch, source.choice(DTYPES))
    return {"a": torch.empty(first, dtype=dtype), "b": torch.empty(second, dtype=dtype)}


def _is_outer_product(given: Arguments) -> bool:
    from torch._native.ops.bmm_outer_product.triton_impl import _is_outer_product

    return bool(_is_outer_product(**given))


def _topk(source: random.Random) -> Arguments:
    k = source.choice((1, 16, 16, 32, 64, 128, 256, 512, 1024))
    return {
        "x": _sized(source, source.choice((*SIZES, k, 2 * k, 8 * k, 32 * k, 32 * k + 2))),
        "k": k,
    }


def _topk_kernel(name: str) -> Callable[[Arguments], bool]:
    def oracle(given: Arguments) -> bool:
        from torch._native.ops.topk.cutedsl_impl import _kernel_for

        if signature(_kernel_for).parameters.keys() != {"k", "n"}:
            pytest.skip(
                "from 2.15 on, it selects by the dtype and the capability of the device, too"
            )
        return bool(_kernel_for(given["k"], given["x"].shape[-1]) == name)

    return oracle


def _row_major(source: random.Random) -> Arguments:
    x = _tensor(source)
    # PyTorch's function takes the only number of a tensor for a row.
    return {"x": x if x.dim() else x[None], "dim": source.randint(-4, 3)}


def _is_row_major(given: Arguments) -> bool:
    from torch._native.ops.topk._common import last_dim_row_major_ok

    return bool(last_dim_row_major_ok(given["x"], given["dim"]))


def _vectors(source: random.Random) -> Arguments:
    return {"x": _sized(source, source.randint(1, 70), DTYPES[:4])}


def _has_vectors(given: Arguments) -> bool:
    from torch._native.ops.norm.rmsnorm_impl import _n_yields_valid_cp_size

    return bool(_n_yields_valid_cp_size(given["x"].shape[-1], given["x"].dtype))


def _normalized(source: random.Random) -> Arguments:
    x = _tensor(source)
    sizes = source.choice(([], [*x.shape[-1:]], [*x.shape[-2:]], [2], [2, 3]))
    weight = source.choice((None, torch.empty(sizes), torch.empty(source.choice(([2], [2, 3])))))
    return {"x": x, "s": list(sizes), "w": weight}


def _is_normalized(given: Arguments) -> bool:
    from torch._native.ops.norm.rmsnorm_impl import _shape_is_valid

    return len(given["s"]) <= 2 and bool(_shape_is_valid(given["x"], given["s"], given["w"]))


def _rows(source: random.Random) -> Arguments:
    dtypes = (source.choice(DTYPES[:3]),)
    pair = (_tensor(source, dtypes=dtypes), _tensor(source, dtypes=dtypes))
    while any(one.dim() != 2 for one in pair):
        pair = (_tensor(source, dtypes=dtypes), _tensor(source, dtypes=dtypes))
    return {"dst": pair[0], "src": pair[1]}


def _is_aligned(least: int) -> Callable[[Arguments], bool]:
    def oracle(given: Arguments) -> bool:
        from torch._native.ops.scatter_add.cutedsl_impl import _alignment_contract_ok

        return bool(_alignment_contract_ok(given["dst"], given["src"], 0, dst_ptr_align=least))

    return oracle


def _hidden(source: random.Random) -> Arguments:
    return {
        name: _tensor(source, most=2, dtypes=DTYPES[:3]) for name in ("x", "residual", "weight")
    }


def _is_vectorized(*names: str) -> Callable[[Arguments], bool]:
    def oracle(given: Arguments) -> bool:
        x = given["x"]
        has_halves = x.element_size() == 2 and x.dim() > 0 and x.shape[-1] % 8 == 0
        return has_halves and all(given[name].data_ptr() % 16 == 0 for name in names)

    return oracle


_TOPK = "f(Tensor x, int k) -> Tensor"
_ALIGNED = "f(Tensor(a!) dst, Tensor src) -> ()"
_SOURCE_ROWS = "src.is_aligned(16) and (src.stride(0) % 8 == 0 or src.dtype == float and src.stride(0) % 4 == 0)"
_NORM = "f(Tensor x, Tensor residual, Tensor weight) -> Tensor"
_HALVES = "x.dtype in {half, bfloat16} and x.dim() > 0 and x.size(-1) % 8 == 0"
SELECTIONS = {
    "bmm of an outer product": Selection(
        "f(Tensor a, Tensor b) -> Tensor",
        "a.ndim == 3 and b.ndim == 3 and a.shape[2] == 1 and b.shape[1] == 1"
        " and a.numel() > 0 and b.numel() > 0 and not a.is_complex()",
        _is_outer_product,
        _outer,
    ),
    "topk in registers": Selection(
        _TOPK,
        "k == 16 and x.size(-1) in {64, 128, 256, 512, 1024, 2048} or k == 32 and x.size(-1) == 256",
        _topk_kernel("register"),
        _topk,
    ),
    "topk by radix": Selection(
        _TOPK,
        "x.size(-1) % 4 == 0 and (k in {64, 128, 256} and x.size(-1) >= 2 * k"
        " or k == 512 and x.size(-1) >= 4096 or k == 1024 and x.size(-1) >= 32768)",
        _topk_kernel("radix"),
        _topk,
    ),
    "topk of rows": Selection(
        "f(Tensor x, int dim) -> Tensor",
        "x.dim() > 0 and dim in {-1, x.dim() - 1} and x.is_contiguous()",
        _is_row_major,
        _row_major,
    ),
    "vectors of rms_norm": Selection(
        "f(Tensor x) -> Tensor",
        "x.dtype not in {half, bfloat16} or x.size(-1) % 2 == 0",
        _has_vectors,
        _vectors,
    ),
    "shapes of rms_norm": Selection(
        "f(Tensor x, int[] s, Tensor? w) -> Tensor",
        "len(s) == 1 and x.dim() >= 1 and x.size(-1) == s[0]"
        " and (not w.defined() or w.dim() == 1 and w.size(0) == s[0])"
        " or len(s) == 2 and x.dim() >= 2 and x.size(-2) == s[0] and x.size(-1) == s[1]"
        " and (not w.defined() or w.dim() == 2 and w.size(0) == s[0] and w.size(1) == s[1])",
        _is_normalized,
        _normalized,
    ),
    "scatter_add by TMA": Selection(
        _ALIGNED,
        f"{_SOURCE_ROWS} and dst.is_aligned(16)"
        " and (dst.stride(0) % 8 == 0 or dst.dtype == float and dst.stride(0) % 4 == 0)",
        _is_aligned(16),
        _rows,
    ),
    "scatter_add by vectors": Selection(
        _ALIGNED,
        f"{_SOURCE_ROWS} and dst.is_aligned(4) and (dst.stride(0) % 2 == 0 or dst.dtype == float)",
        _is_aligned(4),
        _rows,
    ),
    "rms_norm of vLLM": Selection(
        _NORM,
        f"{_HALVES} and x.is_aligned(16) and weight.is_aligned(16)",
        _is_vectorized("x", "weight"),
        _hidden,
    ),
    "fused_add_rms_norm of vLLM": Selection(
        _NORM,
        f"{_HALVES} and x.is_aligned(16) and residual.is_aligned(16) and weight.is_aligned(16)",
        _is_vectorized("x", "residual", "weight"),
        _hidden,
    ),
}


def _as_input(value: Any) -> Value:
    """The argument of a call as conditions read it."""
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, torch.Tensor):
        return value  # type: ignore[no-any-return]
    dtype = dtype_named(str(value.dtype).removeprefix("torch."))
    return TensorInput(dtype, tuple(value.shape), tuple(value.stride()), address=value.data_ptr())


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_condition_selects_what_is_selected_by_hand(name: str) -> None:
    schema, text, oracle, make = SELECTIONS[name]
    parsed, _ = parse_schema(schema)
    assert parsed is not None
    condition, found = parse_formula(text, is_condition=True)
    assert condition is not None and found == ()
    assert [
        part.mistake for part in every_part(typed_condition(condition, parsed)) if part.mistake
    ] == []
    source = random.Random(name)
    seen = {True: 0, False: 0}
    for _ in range(INPUTS):
        given = make(source)
        values: Mapping[str, Value] = {key: _as_input(value) for key, value in given.items()}
        selects = bool(value_of(condition, reading(values)))
        assert selects == oracle(given), f"{name}: {values}"
        seen[selects] += 1
    assert min(seen.values()) >= INPUTS // 50
