"""The tensor itself: construction, memory, conversion, indexing, printing. No PyTorch needed."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from torchgen_lite_ops import functions, methods, operators, ops, redispatch
from torchgen_lite_reference.dtype import ALL
from torchgen_lite_reference.geometry import (
    broadcast_shapes,
    contiguous_strides,
    is_contiguous,
    is_dense,
    iterator_strides,
    wrap_dim,
    wrap_dims,
)
from torchgen_lite_reference.tensor import wrap_array, wrap_number


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, tl.bool),
        (1, tl.int64),
        (1.5, tl.float32),
        (1j, tl.complex64),
        ([1, 2.5], tl.float32),
        ([True, 2], tl.int64),
        ([], tl.float32),
        (np.zeros(2, np.float64), tl.float64),
        (np.float64(2.0), tl.float64),
        (np.zeros(2, np.int8), tl.int8),
    ],
)
def test_inferred_dtype(data: Any, dtype: tl.dtype) -> None:
    assert tl.tensor(data).dtype is dtype


def test_default_dtype() -> None:
    tl.set_default_dtype(tl.float64)
    try:
        assert tl.tensor(1.0).dtype is tl.float64 and tl.tensor(1j).dtype is tl.complex128
        assert (tl.tensor([1]) / 2).dtype is tl.float64
    finally:
        tl.set_default_dtype(tl.float32)
    with pytest.raises(TypeError, match="only floating-point types"):
        tl.set_default_dtype(tl.int64)


@pytest.mark.parametrize(
    ("data", "error"),
    [([[1], [1, 2]], ValueError), ("abc", TypeError), (None, TypeError), ([2**70], TypeError)],
)
def test_bad_data(data: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        tl.tensor(data)


def test_tensor_copies_and_from_numpy_shares() -> None:
    array = np.zeros((2, 3), np.float32)
    copied, shared = tl.tensor(array), tl.from_numpy(array)
    array[0, 0] = 7
    assert copied[0, 0].item() == 0 and shared[0, 0].item() == 7
    shared.add_(1)
    assert array[0, 0] == 8 and shared.numpy()[1, 2] == 1
    assert np.shares_memory(shared.numpy(), array)


def test_from_numpy_keeps_strides() -> None:
    array = np.arange(12, dtype=np.int64).reshape(3, 4)
    assert tl.from_numpy(array.T).stride() == (1, 4)
    sliced = tl.from_numpy(array[:, ::2])
    assert sliced.stride() == (4, 2) and sliced.tolist() == [[0, 2], [4, 6], [8, 10]]
    sliced.mul_(10)
    assert array[1].tolist() == [40, 5, 60, 7]
    with pytest.raises(ValueError, match="negative"):
        tl.from_numpy(array[::-1])
    with pytest.raises(TypeError, match="supported types are"):
        tl.from_numpy(np.array(["a"]))


def test_views_share_storage() -> None:
    x = tl.tensor([[1, 2, 3], [4, 5, 6]])
    row, column, transposed = x[1], x[:, 2], x.T
    column.add_(100)
    assert x.tolist() == [[1, 2, 103], [4, 5, 106]]
    assert row.tolist() == [4, 5, 106] and transposed.tolist() == [[1, 4], [2, 5], [103, 106]]
    assert row.storage_offset() == 3 and transposed.stride() == (1, 3)
    assert row.untyped_storage() is x.untyped_storage()
    assert row.data_ptr() == x.data_ptr() + 3 * 8


def test_growing_a_storage_is_seen_by_its_views() -> None:
    x = tl.tensor([1.0, 2.0])
    view = x[:1]
    x._set_geometry((4,))
    x.mul_(0).add_(5)
    assert view.tolist() == [5.0] and x.tolist() == [5.0] * 4


def test_facts() -> None:
    x = tl.tensor([[1.0, 2.0]], dtype=tl.float64)
    assert (x.ndim, x.dim(), x.numel(), x.element_size()) == (2, 2, 2, 8)
    assert x.shape == (1, 2) and repr(x.shape) == "Size([1, 2])" and x.size(-1) == 2
    assert x.device == "cpu" and x.device is tl.device("cpu") and str(x.device) == "cpu"
    assert x.layout is tl.strided and not x.is_sparse and not x.is_meta and x.is_contiguous()
    assert x.is_floating_point() and not x.is_complex()
    assert str(x._dispatch_keyset) == (
        "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    )


def test_meta() -> None:
    x = tl.tensor([[1.0, 2.0]]).to("meta")
    assert x.is_meta and x.shape == (1, 2) and x.data_ptr() == 0
    assert str(x._dispatch_keyset) == "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)"
    assert (x + 1).device == "meta" and x[0].shape == (2,) and x.T.shape == (2, 1)
    with pytest.raises(RuntimeError, match="has no data"):
        x.tolist()
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        x.to("cpu")
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        x.numpy()
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        x[0, 0].item()


def test_another_device() -> None:
    x = wrap_array(np.ones((2, 2), np.float32), tl.device("privateuse1:1"))
    assert str(x.device) == "privateuse1:1" and x.to("cpu").tolist() == [[1.0, 1.0]] * 2
    assert tl.device("privateuseone") is tl.device("privateuse1")
    assert str(x._dispatch_keyset) == (
        "DispatchKeySet(PrivateUse1, ADInplaceOrView, AutogradPrivateUse1, AutocastPrivateUse1)"
    )
    with pytest.raises(RuntimeError, match="same device"):
        tl.add(tl.tensor([1.0, 2.0]).to("meta"), tl.tensor([1.0, 2.0]))


@pytest.mark.parametrize("text", ["cpuu", "cpu:x", "", "cuda:-1"])
def test_bad_device(text: str) -> None:
    with pytest.raises(RuntimeError, match="device string"):
        tl.device(text)


def test_devices_and_dtypes_are_interned() -> None:
    for value in (tl.device("cuda", 1), *ALL):
        assert pickle.loads(pickle.dumps(value)) is value
        assert copy.deepcopy(value) is value or isinstance(value, tl.device)
    assert tl.device("cuda:1") is tl.device("cuda", 1) is not tl.device("cuda")
    assert repr(tl.device("cuda:1")) == "device(type='cuda', index=1)"
    assert repr(tl.float32) == "tl.float32"


def test_to() -> None:
    x = tl.tensor([1.7, -2.2])
    assert x.to("cpu") is x and x.to(tl.float32) is x and x.to(x) is x
    assert x.to(tl.float32, copy=True) is not x and x.to(tl.float32, False, True) is not x
    assert x.to(tl.int64).tolist() == [1, -2] and x.to("meta", tl.int8).dtype is tl.int8
    assert x.long().tolist() == [1, -2] and x.bool().tolist() == [True, True]
    assert x.double().dtype is tl.float64 and x.half().dtype is tl.float16
    with pytest.raises(TypeError, match="takes a device, a dtype or a tensor"):
        x.to(3)


def test_python_numbers() -> None:
    x = tl.tensor([3])
    assert (int(x), float(x), complex(x), bool(x), x.item()) == (3, 3.0, 3 + 0j, True, 3)
    assert [10, 20, 30, 40][x] == 40
    assert len(tl.tensor([[1], [2]])) == 2 and [row.item() for row in tl.tensor([1, 2])] == [1, 2]
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(tl.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to Scalar"):
        tl.tensor([1, 2]).item()
    with pytest.raises(TypeError, match="0-d"):
        len(tl.tensor(1))
    with pytest.raises(TypeError, match="0-d"):
        iter(tl.tensor(1))


def test_indexing() -> None:
    x = tl.tensor([[0, 1, 2], [3, 4, 5]])
    assert x[1, 2].item() == 5 and x[-1].tolist() == [3, 4, 5] and x[..., 0].tolist() == [0, 3]
    assert x[:, 1:].tolist() == [[1, 2], [4, 5]] and x[::2].tolist() == [[0, 1, 2]]
    assert x[None].shape == (1, 2, 3) and x[:, None, 0].shape == (2, 1)
    assert x[tl.tensor([1, 0, 1]), 1].tolist() == [4, 1, 4]
    assert x[[1]].tolist() == [[3, 4, 5]] and x[:, [2, 0]].tolist() == [[2, 0], [5, 3]]
    assert x[x > 2].tolist() == [3, 4, 5] and x[tl.tensor(1)].tolist() == [3, 4, 5]
    assert x[True].shape == (1, 2, 3)
    assert x[...] is not x


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (5, IndexError, "out of range"),
        ((0, 0, 0), IndexError, "too many indices"),
        ("a", IndexError, "only integers, slices"),
        (1.5, IndexError, "only integers, slices"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
    ],
)
def test_bad_index(index: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tl.tensor([[1, 2], [3, 4]])[index]


def test_assignment() -> None:
    x = tl.tensor([[0, 1, 2], [3, 4, 5]])
    x[0] = 9
    x[1, 1:] = tl.tensor([7, 8])
    assert x.tolist() == [[9, 9, 9], [3, 7, 8]]
    x[x > 8] = 0
    x[:, [0]] = tl.tensor([[5], [6]])
    assert x.tolist() == [[5, 0, 0], [6, 7, 8]]
    x[...] = 1.9
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="size of tensor"):
        x[0] = tl.tensor([1, 2])


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (tl.tensor(3), "tensor(3)"),
        (tl.tensor(3.14159), "tensor(3.1416)"),
        (tl.tensor([1.0, -2.5]), "tensor([ 1.0000, -2.5000])"),
        (tl.tensor([1.0, 2.0]), "tensor([1., 2.])"),
        (tl.tensor([[1, 20], [3, 4]]), "tensor([[ 1, 20],\n        [ 3,  4]])"),
        (tl.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
        (tl.tensor([float("inf"), float("nan"), 1.0]), "tensor([inf, nan, 1.])"),
        (tl.tensor([True, False]), "tensor([ True, False])"),
        (tl.tensor([1.0], dtype=tl.float64), "tensor([1.], dtype=tl.float64)"),
        (tl.tensor([]), "tensor([])"),
        (tl.tensor([[]]), "tensor([], size=(1, 0))"),
        (tl.tensor([], dtype=tl.int64), "tensor([], dtype=tl.int64)"),
        (tl.tensor([1 + 2j]), "tensor([1.+2.j])"),
        (tl.tensor([1.0]).to("meta"), "tensor(..., device='meta', size=(1,))"),
        (tl.tensor(list(range(2000))), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
        (
            tl.tensor([[[1.0]], [[2.0]]]),
            "tensor([[[1.]],\n\n        [[2.]]])",
        ),
    ],
)
def test_repr(tensor: tl.Tensor, text: str) -> None:
    assert repr(tensor) == text


def test_pickling_keeps_shared_memory() -> None:
    x = tl.tensor([[1, 2], [3, 4]])
    again, view = pickle.loads(pickle.dumps((x, x.T[0])))
    again.add_(1)
    assert view.tolist() == [2, 4] and x.tolist() == [[1, 2], [3, 4]]
    assert again._dispatch_keyset is x._dispatch_keyset
    assert copy.deepcopy(x).tolist() == x.tolist()
    sparse = pickle.loads(pickle.dumps(x.to_sparse()))
    assert sparse.is_coalesced() and sparse.to_dense().tolist() == x.tolist()


def test_every_operator_has_a_signature_and_pickles_by_its_name() -> None:
    namespaces = (functions, redispatch, methods.TensorMethods, ops.aten)
    found = [f for names in map(vars, namespaces) for f in names.values() if inspect.isfunction(f)]
    assert len(found) > 1000
    for function in found:
        assert inspect.signature(function).parameters
        assert pickle.loads(pickle.dumps(function)) is function


def test_generator() -> None:
    generator = tl.Generator().manual_seed(7)
    assert str(generator._dispatch_keyset) == "DispatchKeySet(CPU)"
    assert generator.initial_seed() == 7 and str(generator.device) == "cpu"
    again = copy.deepcopy(generator)
    assert generator.random.random() == again.random.random()
    for seed in ("7", 7.0):
        with pytest.raises(TypeError):
            generator.manual_seed(seed)  # type: ignore[arg-type]


def test_wrapped_numbers() -> None:
    number = wrap_number(2.5)
    assert number._wrapped and number.dtype is tl.float64 and number.shape == ()
    assert wrap_number(np.int8(3)).dtype is tl.int64
    with pytest.raises(TypeError, match="expected a Tensor or a number"):
        wrap_number("x")  # type: ignore[arg-type]


def test_promotion() -> None:
    assert tl.promote_types(tl.uint8, tl.int8) is tl.int16
    assert tl.promote_types(tl.int64, tl.float16) is tl.float16
    assert tl.promote_types(tl.float64, tl.complex64) is tl.complex128
    ints, half = tl.tensor([1], dtype=tl.int32), tl.tensor([1.0], dtype=tl.float16)
    assert tl.result_type(ints, 2.5) is tl.float32
    assert tl.result_type(half, tl.tensor(1.0, dtype=tl.float64)) is tl.float16
    assert tl.result_type(ints, tl.tensor(1, dtype=tl.int64)) is tl.int32
    assert tl.result_type(ints, tl.tensor(1.0, dtype=tl.float64)) is tl.float64
    assert tl.can_cast(tl.int64, tl.float16) and not tl.can_cast(tl.float32, tl.int64)
    assert not tl.can_cast(tl.complex64, tl.float32) and not tl.can_cast(tl.int8, tl.bool)


def test_geometry() -> None:
    assert contiguous_strides((2, 0, 3)) == (3, 3, 1)
    assert is_contiguous((2, 1, 3), (3, 77, 1)) and not is_contiguous((2, 3), (1, 2))
    assert is_dense((2, 3), (1, 2)) and not is_dense((2, 3), (6, 2))
    assert broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match .* tensor b \(4\)"):
        broadcast_shapes((3,), (2, 4))
    assert wrap_dim(-1, 3) == 2 and wrap_dim(0, 0) == 0 and wrap_dims((), 2) == (0, 1)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        wrap_dim(2, 2)
    assert iterator_strides((2, 3), [((2, 3), (1, 2))]) == (1, 2)
    assert iterator_strides((2, 3), [((2, 3), (3, 1)), ((3,), (1,))]) is None


def test_a_keyset_of_the_wrong_type_is_named_by_generated_stubs() -> None:
    class Bad:
        _dispatch_keyset = {1}

    with pytest.raises(
        TypeError, match="Bad, whose `_dispatch_keyset` must be a DispatchKeySet, not a set"
    ):
        operators.abs(Bad())  # type: ignore[arg-type]
