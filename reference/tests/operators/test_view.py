"""Views and rearranging: geometry, aliasing and errors, without PyTorch."""

from __future__ import annotations

import pytest

import torchgen_lite_reference as tl
from torchgen_lite_reference.kernels.shapes import (
    expand_geometry,
    infer_shape,
    split_points,
    view_strides,
)


def matrix() -> tl.Tensor:
    return tl.arange(6).reshape([2, 3])


@pytest.mark.parametrize(
    ("shape", "count", "expected"),
    [([2, -1], 6, (2, 3)), ([-1, 5], 0, (0, 5)), ([], 1, ()), ([3, 2], 6, (3, 2))],
)
def test_infer_shape(shape: list[int], count: int, expected: tuple[int, ...]) -> None:
    assert infer_shape(shape, count) == expected


@pytest.mark.parametrize(
    ("shape", "count", "message"),
    [
        ([-1, -1], 4, "only one dimension can be inferred"),
        ([2, 2], 6, r"shape '\[2, 2\]' is invalid for input of size 6"),
        ([-1, 0], 0, "cannot reshape tensor of 0 elements"),
        ([-2], 4, "invalid shape dimension -2"),
    ],
)
def test_infer_shape_refuses(shape: list[int], count: int, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        infer_shape(shape, count)


@pytest.mark.parametrize(
    ("old", "strides", "new", "expected"),
    [
        ((2, 3), (3, 1), (6,), (1,)),
        ((2, 3), (1, 2), (6,), None),
        ((2, 3), (1, 2), (2, 3, 1), (1, 2, 2)),
        ((4, 6), (12, 2), (2, 2, 3, 2), (24, 12, 4, 2)),
        ((), (), (1, 1), (1, 1)),
        ((0, 3), (3, 1), (3, 0), (1, 1)),
    ],
)
def test_view_strides(
    old: tuple[int, ...],
    strides: tuple[int, ...],
    new: tuple[int, ...],
    expected: tuple[int, ...] | None,
) -> None:
    assert view_strides(old, strides, new) == expected


def test_expand_geometry() -> None:
    assert expand_geometry((2, 1), (1, 1), (4, -1, 3)) == ((4, 2, 3), (0, 1, 0))
    assert expand_geometry((2, 1), (1, 1), (4, 2, 1)) == ((4, 2, 1), (0, 1, 1))


def test_split_points() -> None:
    assert split_points(7, 3) == [3, 5]


def test_views_share_memory_and_copies_do_not() -> None:
    x = matrix()
    x.t()[0, 1] = 40
    x[1].view([3, 1])[2, 0] = 50
    x.flatten()[0] = 60
    x.t().reshape([6])[1] = -1
    assert x.tolist() == [[60, 1, 2], [40, 4, 50]]


def test_view_of_a_transposed_tensor_says_to_reshape() -> None:
    with pytest.raises(RuntimeError, match=r"Use .reshape\(...\) instead"):
        matrix().t().view([6])


def test_slices_clamp_and_select_does_not() -> None:
    x = tl.arange(5)
    assert tl.slice(x, 0, -2, 100).tolist() == [3, 4]
    assert tl.slice(x, 0, 1, None, 2).tolist() == [1, 3]
    with pytest.raises(IndexError, match="index 5 out of range"):
        tl.select(x, 0, 5)


def test_as_strided_stays_inside_the_storage() -> None:
    x = tl.arange(4)
    assert tl.as_strided(x, [3, 2], [1, 1]).tolist() == [[0, 1], [1, 2], [2, 3]]
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 32"):
        tl.as_strided(x, [3], [2])


def test_parts() -> None:
    x = tl.arange(7)
    assert [part.tolist() for part in tl.chunk(x, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [part.tolist() for part in tl.tensor_split(x, 3)] == [[0, 1, 2], [3, 4], [5, 6]]
    assert [part.tolist() for part in tl.split(x, [2, 5])] == [[0, 1], [2, 3, 4, 5, 6]]
    with pytest.raises(RuntimeError, match="sum exactly to 7"):
        tl.split(x, [2, 2])


def test_views_of_meta_have_the_same_geometry() -> None:
    for on in ("cpu", "meta"):
        x = tl.empty([2, 3, 4], device=tl.device(on))
        y = x.permute([2, 0, 1]).unsqueeze(1).select(-1, 2)
        assert (y.shape, y.stride(), y.storage_offset()) == ((4, 1, 2), (1, 24, 12), 8)


def test_joining() -> None:
    x = matrix()
    assert tl.cat([x, x], 1).tolist() == [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
    assert tl.cat([x, tl.empty([0])]).dtype is tl.float32
    assert tl.stack([x[0], x[1]], 1).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(RuntimeError, match="Expected size 3 but got size 2 for tensor number 1"):
        tl.cat([x, tl.zeros([2, 2])])


def test_rearranging() -> None:
    x = matrix()
    assert tl.roll(x, 1, 1).tolist() == [[2, 0, 1], [5, 3, 4]]
    assert tl.rot90(x).tolist() == [[2, 5], [1, 4], [0, 3]]
    assert tl.flip(x, [0]).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert tl.tril(x).tolist() == [[0, 0, 0], [3, 4, 0]]
    assert tl.diag(tl.arange(2), 1).tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert tl.pad(tl.arange(2), [1, 2]).tolist() == [0, 0, 1, 0, 0]
    assert x.repeat([1, 2]).tolist() == [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
