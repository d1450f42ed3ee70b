"""COO tensors: how they are made, taken apart, combined; golden values that need no PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_lite_reference as tl

UNCOALESCED = ([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 5.0], (2, 2))


def uncoalesced() -> tl.Tensor:
    indices, values, size = UNCOALESCED
    return tl.sparse_coo_tensor(tl.tensor(indices), tl.tensor(values), size)


def eye(n: int = 3) -> tl.Tensor:
    return tl.from_numpy(np.eye(n, dtype=np.float32)).to_sparse()


def test_keys_of_a_sparse_tensor() -> None:
    assert str(eye()._dispatch_keyset) == (
        "DispatchKeySet(SparseCPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    )
    assert eye().is_sparse and eye().layout is tl.sparse_coo
    assert tuple(eye().shape) == (3, 3) and eye().ndim == 2


def test_coalescing_sorts_and_sums() -> None:
    x = uncoalesced()
    assert not x.is_coalesced() and x._nnz() == 3
    y = x.coalesce()
    assert y.is_coalesced() and y.coalesce() is y
    assert y.indices().tolist() == [[0, 1], [1, 0]]
    assert y.values().tolist() == [3.0, 5.0]
    assert x.to_dense().tolist() == y.to_dense().tolist() == [[0.0, 3.0], [5.0, 0.0]]


def test_indices_of_an_uncoalesced_tensor() -> None:
    x = uncoalesced()
    assert x._indices().tolist() == UNCOALESCED[0] and x._values().tolist() == UNCOALESCED[1]
    with pytest.raises(RuntimeError, match="Cannot get indices on an uncoalesced tensor"):
        x.indices()
    with pytest.raises(RuntimeError, match="Cannot get values on an uncoalesced tensor"):
        x.values()


def test_values_share_memory() -> None:
    x = eye()
    x._values().mul_(5)
    assert x.to_dense().tolist() == [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]]


def test_there_and_back() -> None:
    dense = tl.tensor([[0, 2, 0], [3, 0, 4]])
    sparse = dense.to_sparse()
    assert sparse.indices().tolist() == [[0, 1, 1], [1, 0, 2]]
    assert sparse.values().tolist() == [2, 3, 4] and sparse.dtype is tl.int64
    assert sparse.to_dense().tolist() == dense.tolist()
    hybrid = dense.to_sparse(1)
    assert (hybrid.sparse_dim(), hybrid.dense_dim()) == (1, 1)
    assert hybrid.values().tolist() == [[0, 2, 0], [3, 0, 4]]
    assert hybrid.to_dense().tolist() == dense.tolist()
    assert dense.to_dense() is dense
    assert tl.tensor(3.0).to_sparse().to_dense().item() == 3.0


def test_made_of_a_size_alone() -> None:
    x = tl.sparse_coo_tensor((2, 3))
    assert x._nnz() == 0 and x.is_coalesced() and x.to_dense().tolist() == [[0.0] * 3] * 2


def test_inferred_size() -> None:
    x = tl.sparse_coo_tensor(tl.tensor([[0, 4]]), tl.tensor([1, 2]))
    assert tuple(x.shape) == (5,) and x.dtype is tl.int64


@pytest.mark.parametrize(
    ("indices", "values", "size", "message"),
    [
        ([[0, 5]], [1.0, 2.0], (2,), "found index 5"),
        ([[0, -1]], [1.0, 2.0], (2,), "found negative index -1 for dim 0"),
        ([[0, 1]], [1.0], (2,), "values has incorrect size"),
        ([0, 1], [1.0, 2.0], (2,), "indices must be an integer matrix"),
    ],
)
def test_refused(indices: object, values: object, size: tuple[int, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        tl.sparse_coo_tensor(tl.tensor(indices), tl.tensor(values), size)


def test_sums() -> None:
    x = uncoalesced()
    assert (x + x).to_dense().tolist() == [[0.0, 6.0], [10.0, 0.0]]
    assert tl.add(x, x, alpha=3).to_dense().tolist() == [[0.0, 12.0], [20.0, 0.0]]
    assert (x - x).to_dense().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    both = eye() + eye()
    assert both.is_coalesced() and both.values().tolist() == [2.0, 2.0, 2.0]
    dense = tl.tensor([[1.0, 1.0], [1.0, 1.0]])
    assert (dense + x).tolist() == [[1.0, 4.0], [6.0, 1.0]]
    assert tl.sub(dense, x, alpha=2).tolist() == [[1.0, -5.0], [-9.0, 1.0]]
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        x + dense


def test_inplace_and_out() -> None:
    x, y = eye(), eye()
    assert x.add_(y) is x and x.to_dense().tolist()[0] == [2.0, 0.0, 0.0]
    out = tl.sparse_coo_tensor((1, 1))
    assert tl.add(x, y, out=out) is out
    assert tuple(out.shape) == (3, 3) and out.values().tolist() == [3.0, 3.0, 3.0]
    dense = tl.tensor([[1.0, 1.0, 1.0]] * 3)
    dense.add_(y)
    assert dense.tolist()[1] == [1.0, 2.0, 1.0]
    assert x.zero_() is x and x._nnz() == 0 and tuple(x.shape) == (3, 3)


def test_products() -> None:
    x = uncoalesced()
    assert (x * 2).to_dense().tolist() == [[0.0, 6.0], [10.0, 0.0]]
    assert (x * tl.tensor(2.0)).to_dense().tolist() == [[0.0, 6.0], [10.0, 0.0]]
    assert (x / 2).to_dense().tolist() == [[0.0, 1.5], [2.5, 0.0]]
    assert (x * x).to_dense().tolist() == [[0.0, 9.0], [25.0, 0.0]]
    assert (x * tl.tensor([10.0, 100.0])).to_dense().tolist() == [[0.0, 300.0], [50.0, 0.0]]
    assert tl.mm(x, tl.tensor([[1.0], [2.0]])).tolist() == [[6.0], [5.0]]
    assert tl.mm(x, x).is_sparse
    with pytest.raises(RuntimeError, match="requires a scalar or zero-dim"):
        x / x


def test_elementwise_works_on_sums_of_duplicates() -> None:
    x = uncoalesced()
    assert tl.neg(x).to_dense().tolist() == [[0.0, -3.0], [-5.0, 0.0]]
    assert tl.pow(x, 2).to_dense().tolist() == [[0.0, 9.0], [25.0, 0.0]]
    assert tl.abs(tl.neg(x)).to_dense().tolist() == [[0.0, 3.0], [5.0, 0.0]]
    assert x.sqrt_() is x
    np.testing.assert_allclose(x.values().numpy(), [3.0**0.5, 5.0**0.5], rtol=1e-6)


def test_reductions() -> None:
    x = uncoalesced()
    assert x.sum().item() == 8.0
    assert x.sum(0).to_dense().tolist() == [5.0, 3.0]
    assert x.sum(1, keepdim=True).to_dense().tolist() == [[3.0], [5.0]]
    assert x.any().item() is True


def test_no_kernel_for_sparse() -> None:
    with pytest.raises(NotImplementedError, match="SparseCPU"):
        tl.exp(eye())


def test_conversion_keeps_the_layout() -> None:
    x = eye().to(tl.float64)
    assert x.is_sparse and x.dtype is tl.float64 and x.clone().values().tolist() == [1.0] * 3


def test_no_strided_data() -> None:
    with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
        eye().numpy()
    with pytest.raises(RuntimeError, match="do not have strides"):
        eye().stride()


def test_repr() -> None:
    assert repr(uncoalesced()) == (
        "tensor(indices=tensor([[0, 0, 1],\n"
        "                       [1, 1, 0]]),\n"
        "       values=tensor([1., 2., 5.]),\n"
        "       size=(2, 2), nnz=3, layout=tl.sparse_coo)"
    )
