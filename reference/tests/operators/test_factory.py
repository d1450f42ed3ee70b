"""Creation, without PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

import torchgen_lite_reference as tl


def test_full_takes_its_dtype_from_the_value() -> None:
    assert tl.full([2], True).dtype is tl.bool
    assert tl.full([2], 3).dtype is tl.int64
    assert tl.full([2], 0.5).dtype is tl.float32
    assert tl.full([1], 2, dtype=tl.float64).tolist() == [2.0]


def test_arange_and_range() -> None:
    assert tl.arange(1, 6, 2).tolist() == [1, 3, 5]
    assert tl.arange(3).dtype is tl.int64
    assert tl.arange(0, 1, 0.25).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert tl.range(1, 3).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="inconsistent with step sign"):
        tl.arange(0, 3, -1)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        tl.arange(0, 3, 0)


def test_linspace_ends_exactly() -> None:
    assert tl.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert tl.linspace(2, 9, 1).tolist() == [2.0]
    assert tl.logspace(0, 2, 3).tolist() == [1.0, 10.0, 100.0]


def test_eye() -> None:
    assert tl.eye(2, 3, dtype=tl.int64).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_like_keeps_the_order_of_memory() -> None:
    x = tl.zeros([2, 3]).t()
    assert tl.empty_like(x).stride() == (1, 3)
    assert tl.empty_like(x, memory_format=tl.contiguous_format).stride() == (2, 1)
    assert tl.ones_like(x, dtype=tl.int64).tolist() == [[1, 1]] * 3


def test_channels_last() -> None:
    x = tl.empty([2, 3, 4, 5], memory_format=tl.channels_last)
    assert x.stride() == (60, 1, 15, 3)


@pytest.mark.parametrize("make", [tl.zeros, tl.ones, tl.empty, tl.rand])
def test_the_device_chooses_the_backend(make: Callable[..., tl.Tensor]) -> None:
    x = make([2, 3], device="meta", dtype=tl.float64)
    assert (x.device.type, x.shape, x.dtype) == ("meta", (2, 3), tl.float64)


def test_the_layout_chooses_the_backend() -> None:
    x = tl.zeros([2, 3], layout=tl.sparse_coo)
    assert x.is_sparse
    assert x.to_dense().tolist() == [[0.0] * 3] * 2
    assert tl.zeros_like(x).is_sparse


def test_out_keeps_its_shape_if_the_count_fits() -> None:
    out = tl.empty([2, 2])
    assert tl.arange(4, out=out) is out
    assert out.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_resize_keeps_elements() -> None:
    x = tl.arange(6).reshape([2, 3])
    assert x.resize_([2, 2]) is x
    assert x.tolist() == [[0, 1], [2, 3]]


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        tl.zeros([2, -1])


def test_random_numbers_follow_the_seed() -> None:
    tl.manual_seed(3)
    first = tl.randn([4]).tolist()
    tl.manual_seed(3)
    assert tl.randn([4]).tolist() == first
    x = tl.empty([1000]).uniform_(2.0, 3.0)
    assert min(x.tolist()) >= 2.0 and max(x.tolist()) < 3.0
    assert set(tl.empty([100]).bernoulli_(0.5).tolist()) == {0.0, 1.0}


def test_the_first_draw_imports_what_it_needs() -> None:
    code = (
        "import sys, numpy\n"
        "before = 'numpy.random' in sys.modules  # NumPy 1 imports it by itself.\n"
        "import torchgen_lite_reference as tl; tl.manual_seed(3)\n"
        "assert ('numpy.random' in sys.modules) is before\n"
        "tl.randn([2]); assert 'numpy.random' in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_to_returns_self_when_nothing_changes() -> None:
    x = tl.ones([2])
    assert tl.ops.aten.to.dtype(x, tl.float32) is x
    assert tl.ops.aten.to.dtype(x, tl.float32, False, True) is not x
    assert x.to("meta").device.type == "meta"
