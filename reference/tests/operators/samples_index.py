"""Samples for indexing, masks and order."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Sample,
    booleans,
    distinct,
    floats,
    given,
    integers,
    sample,
    samples,
    swapped,
)


@samples("gather")
def gather() -> Iterator[Sample]:
    yield sample(floats(3, 4), 1, integers(3, 2, high=4))
    yield sample(floats(3, 4), 0, integers(2, 4, high=3))
    yield sample(floats(4, 3).T, -1, integers(2, 5, high=4))
    yield sample(floats(), 0, integers(high=1))
    yield sample(floats(3), 0, integers(0))


@samples("scatter.src", "scatter_add")
def scatter() -> Iterator[Sample]:
    yield sample(floats(3, 4), 1, given([[0, 2], [3, 1]], "int64"), floats(3, 3, seed=1))
    yield sample(floats(3, 4), 0, given([[0, 1, 2, 0]], "int64"), floats(1, 4, seed=1))
    yield sample(integers(4), -1, given([3, 0], "int64"), integers(2, seed=1))
    yield sample(floats(), 0, given(0, "int64"), floats(seed=1))
    yield sample(floats(3, 4), 0, integers(0, 4), floats(0, 4))


@samples("scatter_add")
def scatter_repeated() -> Iterator[Sample]:
    yield sample(floats(3), 0, integers(6, high=3), floats(6, seed=1))


@samples("scatter.value")
def scatter_value() -> Iterator[Sample]:
    yield sample(floats(3, 4), 1, given([[0, 2], [3, 1]], "int64"), 2.5)
    yield sample(integers(3, 4), 0, given([[0, 1, 2, 0]], "int64"), 7)


@samples("scatter.reduce")
def scatter_reduced() -> Iterator[Sample]:
    for reduce in ("add", "multiply"):
        place = given([[0, 2], [3, 0]], "int64")
        yield sample(floats(3, 4), 1, place, floats(3, 3, seed=1), reduce=reduce)
        yield sample(floats(3), 0, integers(6, high=3), floats(6, seed=1), reduce=reduce)
        yield sample(integers(4), -1, given([3, 3], "int64"), integers(2, seed=1), reduce=reduce)


@samples("scatter.value_reduce")
def scatter_value_reduced() -> Iterator[Sample]:
    for reduce in ("add", "multiply"):
        yield sample(floats(3), 0, given([0, 2, 0], "int64"), 2.5, reduce=reduce)
        yield sample(integers(3, 4), 0, given([[0, 1, 2, 0]], "int64"), 7, reduce=reduce)


@samples("take")
def take() -> Iterator[Sample]:
    yield sample(floats(3, 4), given([[0, -1], [5, 11]], "int64"))
    yield sample(floats(4, 3).T, given([3], "int64"))
    yield sample(floats(3), integers(0))
    yield sample(floats(), given(0, "int64"))


@samples("take_along_dim")
def take_along_dim() -> Iterator[Sample]:
    yield sample(floats(3, 4), integers(3, 1, high=4), 1)
    yield sample(floats(1, 4), integers(3, 4, high=4), 1)
    yield sample(floats(3, 4), integers(5, high=12))


@samples("index_select")
def index_select() -> Iterator[Sample]:
    yield sample(floats(3, 4), 0, given([2, 0, 2], "int64"))
    yield sample(floats(4, 3).T, -1, given([3], "int32"))
    yield sample(floats(), 0, given([0], "int64"))
    yield sample(floats(3, 4), 1, integers(0))
    yield sample(floats(3), 0, given(1, "int64"))


@samples("index_add", "index_copy")
def index_rows() -> Iterator[Sample]:
    yield sample(floats(3, 4), 0, given([2, 0], "int64"), floats(2, 4, seed=1))
    yield sample(floats(3, 4), 1, given([1, 3], "int64"), floats(3, 2, seed=1))
    yield sample(floats(), 0, given([0], "int64"), floats(seed=1))


@samples("index_add")
def index_add() -> Iterator[Sample]:
    yield sample(floats(3), 0, given([1, 1, 2], "int64"), floats(3, seed=1), alpha=2)
    yield sample(integers(3), 0, given([1, 1], "int64"), integers(2, seed=1), alpha=-1)


@samples("index_fill.int_Scalar")
def index_fill() -> Iterator[Sample]:
    yield sample(floats(3, 4), 1, given([0, 3], "int64"), 2.5)
    yield sample(floats(4, 3).T, 0, given([1], "int64"), -1)
    yield sample(floats(), 0, given([0], "int64"), 1)


@samples("index.Tensor")
def index() -> Iterator[Sample]:
    yield sample(floats(3, 4), [integers(2, 2, high=3)])
    yield sample(floats(3, 4), [None, given([0, -1], "int64")])
    yield sample(floats(3, 4), [given([0, 2], "int64"), given([[1], [3]], "int64")])
    yield sample(floats(2, 3, 4), [given([0, 1], "int64"), None, given([2, 3], "int64")])
    yield sample(floats(2, 3, 4), [None, given([0, 2], "int64"), given([2, 3], "int64")])
    yield sample(floats(2, 3, 4, 5).seen(swapped), [None, integers(2, high=3)])
    yield sample(floats(2, 3, 4).seen(swapped), [integers(2, 2, high=4).T])
    yield sample(floats(3, 4), [given(1, "int64")])
    yield sample(floats(3, 4), [integers(0)])
    yield sample(floats(0, 4), [None, integers(2, high=4)])


@samples("index.Tensor")
def index_by_mask() -> Iterator[Sample]:
    yield sample(floats(3, 4), [booleans(3, 4)])
    yield sample(floats(3, 4), [booleans(3)])
    yield sample(floats(2, 3, 4), [None, booleans(3), given([1], "int64")])


@samples("index_put")
def index_put() -> Iterator[Sample]:
    yield sample(floats(3, 4), [given([0, 2], "int64")], floats(2, 4, seed=1))
    yield sample(floats(3, 4), [None, given([1], "int64")], floats(seed=1))
    yield sample(floats(4), [given([1, 1, 2], "int64")], floats(3, seed=1), True)
    yield sample(floats(4, 3).T, [booleans(3)], floats(4, seed=1))
    yield sample(floats(3, 4), [booleans(3, 4)], floats(seed=1))


@samples("_index_put_impl_")
def index_put_impl() -> Iterator[Sample]:
    yield sample(floats(3, 4), [given([0, 2], "int64")], floats(2, 4, seed=1), False, False)


@samples("embedding")
def embedding() -> Iterator[Sample]:
    yield sample(floats(5, 3), integers(4))
    yield sample(floats(5, 3), integers(2, 2))
    yield sample(floats(5, 3), integers())
    yield sample(floats(5, 3), integers(0))


@samples("masked_fill.Scalar")
def masked_fill() -> Iterator[Sample]:
    yield sample(floats(2, 3), booleans(2, 3), 9)
    yield sample(floats(4, 3).T, booleans(4), -1.5)
    yield sample(floats(3), booleans(2, 3), 0)
    yield sample(integers(), booleans(), 3)
    yield sample(floats(0, 3), booleans(3), 1)


@samples("masked_fill.Tensor")
def masked_fill_tensor() -> Iterator[Sample]:
    yield sample(floats(2, 3), booleans(3), floats(seed=1))


@samples("masked_select")
def masked_select() -> Iterator[Sample]:
    yield sample(floats(2, 3), booleans(2, 3))
    yield sample(floats(4, 3).T, booleans(4))
    yield sample(floats(3), booleans(2, 3))
    yield sample(floats(0), booleans(0))


@samples("sort", "argsort")
def sort() -> Iterator[Sample]:
    yield sample(distinct(3, 4))
    yield sample(distinct(3, 4), 0, True)
    yield sample(distinct(4, 3).T)
    yield sample(given([2.0, float("nan"), -1.0, float("inf")], "float32"), -1, True)
    yield sample(given([2.0, float("nan"), -1.0], "float32"))
    yield sample(floats())
    yield sample(floats(0, 3), 1)
    yield sample(distinct(5, dtype="int32"))


@samples("sort.stable", "argsort.stable")
def sort_stable() -> Iterator[Sample]:
    yield sample(integers(8, high=3), stable=True)
    yield sample(integers(2, 6, high=3), stable=True, dim=1, descending=True)
    yield sample(distinct(2, 3, 4).seen(swapped), stable=True, dim=0)


@samples("topk")
def topk() -> Iterator[Sample]:
    yield sample(distinct(3, 4), 2)
    yield sample(distinct(3, 4), 2, 0, False)
    yield sample(distinct(4, 3).T, 0)
    yield sample(distinct(5, dtype="int64"), 5)
    yield sample(floats(), 1)
