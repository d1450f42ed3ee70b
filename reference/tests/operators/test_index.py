"""Indexing, masks and order, without PyTorch."""

from __future__ import annotations

import pytest

import torchgen_lite_reference as tl


def matrix() -> tl.Tensor:
    return tl.arange(6).reshape([2, 3])


def test_gather_and_scatter() -> None:
    x = matrix()
    index = tl.tensor([[2, 0], [1, 1]])
    assert tl.gather(x, 1, index).tolist() == [[2, 0], [4, 4]]
    assert tl.scatter(x, 1, index, 9).tolist() == [[9, 1, 9], [3, 9, 5]]
    assert tl.scatter_add(tl.zeros([3]), 0, tl.tensor([1, 1]), tl.ones([2])).tolist() == [0, 2, 0]
    with pytest.raises(RuntimeError, match="index 3 is out of bounds for dimension 1 with size 3"):
        tl.gather(x, 1, tl.tensor([[3]]))
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        tl.gather(x, 1, tl.tensor([0]))


def test_scatter_in_place_writes_and_returns_self() -> None:
    x = matrix()
    assert x.scatter_(0, tl.tensor([[1, 0, 1]]), 7) is x
    assert x.tolist() == [[0, 7, 2], [7, 4, 7]]


def test_rows() -> None:
    x = matrix()
    assert tl.index_select(x, 1, tl.tensor([2, 2])).tolist() == [[2, 2], [5, 5]]
    source = tl.tensor([[10, 20, 30]] * 2)
    both = tl.index_add(x, 0, tl.tensor([0, 0]), source, alpha=2)
    assert both.tolist() == [[40, 81, 122], [3, 4, 5]]
    assert tl.index_fill(x, 1, tl.tensor([0]), -1).tolist() == [[-1, 1, 2], [-1, 4, 5]]
    assert tl.embedding(x, tl.tensor([[1], [0]])).tolist() == [[[3, 4, 5]], [[0, 1, 2]]]


def test_take_counts_from_the_end() -> None:
    assert tl.take(matrix(), tl.tensor([-1, 0])).tolist() == [5, 0]
    with pytest.raises(IndexError, match="tried to access index 6 on a tensor of 6 elements"):
        tl.take(matrix(), tl.tensor([6]))


def test_indexing_by_several_tensors() -> None:
    x = tl.arange(24).reshape([2, 3, 4])
    rows, columns = tl.tensor([0, 1]), tl.tensor([2, 3])
    apart = tl.ops.aten.index.Tensor(x, [rows, None, columns])
    assert apart.shape == (2, 3)
    assert apart.tolist() == [[2, 6, 10], [15, 19, 23]]
    beside = tl.ops.aten.index.Tensor(x, [None, rows, columns])
    assert beside.tolist() == [[2, 7], [14, 19]]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 3"):
        tl.ops.aten.index.Tensor(x, [None, None, None, rows])
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 1 with size 3"):
        tl.ops.aten.index.Tensor(x, [None, tl.tensor([9])])


def test_masks() -> None:
    x = matrix()
    mask = tl.tensor([[True, False, True], [False, False, True]])
    assert x[mask].tolist() == tl.masked_select(x, mask).tolist() == [0, 2, 5]
    assert tl.nonzero(mask).tolist() == [[0, 0], [0, 2], [1, 2]]
    assert tl.masked_fill(x, mask, 9).tolist() == [[9, 1, 9], [3, 4, 9]]
    assert tl.where(mask, x, -1.5).dtype is tl.float32
    with pytest.raises(NotImplementedError, match="depends on the data"):
        x.to("meta")[mask.to("meta")]


@pytest.mark.parametrize(
    ("value", "dtype", "name"),
    [
        (300, "uint8", "uint8_t"),
        (-1.5, "uint8", "uint8_t"),
        (2**40, "int32", "int"),
        (70000.0, "float16", "c10::Half"),
        (1 + 2j, "float32", "float"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(value: complex, dtype: str, name: str) -> None:
    x, mask = tl.zeros([1], dtype=getattr(tl, dtype)), tl.tensor([True])
    with pytest.raises(RuntimeError, match=f"to type {name} without overflow"):
        tl.masked_fill(x, mask, value)


def test_numbers_that_wrap_or_lose_their_fraction() -> None:
    x, mask = tl.zeros([1], dtype=tl.uint8), tl.tensor([True])
    assert tl.masked_fill(x, mask, -1).tolist() == [255]
    assert tl.masked_fill(x, mask, 2.9).tolist() == [2]
    assert tl.masked_fill(x, mask, 1 + 0j).tolist() == [1]


def test_index_put_adds_repeated_places_up() -> None:
    x = tl.zeros([3])
    x.index_put_([tl.tensor([1, 1])], tl.ones([2]), True)
    assert x.tolist() == [0, 2, 0]
    with pytest.raises(RuntimeError, match="dtypes match"):
        x.index_put_([tl.tensor([0])], tl.tensor([1]))


def test_order() -> None:
    x = tl.tensor([2.0, float("nan"), -1.0, 2.0])
    values, indices = tl.sort(x, descending=True)
    assert indices.tolist() == [1, 0, 3, 2]
    assert values.tolist()[1:] == [2.0, 2.0, -1.0]
    assert tl.argsort(x).tolist() == [2, 0, 3, 1]
    best, places = tl.topk(tl.tensor([3, 9, 4]), 2)
    assert (best.tolist(), places.tolist()) == ([9, 4], [1, 2])
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        tl.topk(x, 5)
