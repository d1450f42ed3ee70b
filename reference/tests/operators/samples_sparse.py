"""Samples for COO tensors."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Named,
    Sample,
    Sparse,
    floats,
    given,
    integers,
    sample,
    samples,
)


def coordinates(dtype: str = "float32") -> Sparse:
    """Three elements, two of them at the same place."""
    indices = given([[0, 2, 0], [1, 0, 1]], "int64")
    return Sparse(indices, given([1.5, -2.0, 4.0], dtype), (3, 2))


@samples(
    *("coalesce", "_coalesce", "is_coalesced", "_indices", "_values"),
    *("to_dense", "_to_dense", "sparse_dim", "dense_dim", "_nnz"),
)
def any_sparse() -> Iterator[Sample]:
    yield sample(coordinates())
    yield sample(coordinates("float64"))


@samples("indices", "values")
def coalesced() -> Iterator[Sample]:
    single = Sparse(given([[2]], "int64"), given([1.5], "float32"), (3,))
    yield sample(single)


@samples("to_sparse", "_to_sparse")
def to_sparse() -> Iterator[Sample]:
    yield sample(given([[0.0, 1.0], [2.0, 0.0]], "float32"))
    yield sample(integers(3, 4, high=2))


@samples("to_sparse.sparse_dim", "_to_sparse.sparse_dim")
def to_sparse_dims() -> Iterator[Sample]:
    yield sample(given([[0.0, 0.0], [2.0, 0.0]], "float32"), 1)
    yield sample(integers(3, 4, high=2), 2)


@samples("sparse_coo_tensor.size")
def sparse_of_size() -> Iterator[Sample]:
    sparse = Named("sparse_coo")
    yield sample([2, 3], dtype=Named("float32"), layout=sparse, device=Named("cpu"))


@samples("sparse_coo_tensor.indices")
def sparse_of_indices() -> Iterator[Sample]:
    yield sample(given([[0, 2], [1, 0]], "int64"), floats(2))


@samples("sparse_coo_tensor.indices_size")
def sparse_of_indices_and_size() -> Iterator[Sample]:
    yield sample(given([[0, 2], [1, 0]], "int64"), floats(2), [4, 5])


@samples("sparse_mask")
def masked() -> Iterator[Sample]:
    single = Sparse(given([[2], [1]], "int64"), given([1.5], "float32"), (3, 2))
    yield sample(floats(3, 2), single)
    yield sample(coordinates(), single)
    yield sample(floats(2, 2), single)


@samples("_sparse_coo_tensor_with_dims_and_tensors")
def put_together() -> Iterator[Sample]:
    sparse = Named("sparse_coo")
    indices = given([[0, 2], [1, 0]], "int64")
    yield sample(2, 0, [4, 5], indices, floats(2), layout=sparse, is_coalesced=True)
    yield sample(2, 1, [4, 5, 3], indices, floats(2, 3), layout=sparse)
