"""Samples for reductions and scans."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Named,
    Sample,
    booleans,
    distinct,
    every_second,
    floats,
    given,
    integers,
    sample,
    samples,
)


@samples("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "max", "min", "any", "all")
def whole() -> Iterator[Sample]:
    yield sample(distinct(2, 3))
    yield sample(distinct(4, 3, dtype="float64").T)
    yield sample(floats(2, 4).seen(every_second))
    yield sample(floats(3, dtype="float16"))
    yield sample(integers(2, 3, low=-3))
    yield sample(integers(4, dtype="uint8"))
    yield sample(booleans(4))
    yield sample(floats())
    yield sample(floats(0, 3))
    yield sample(given([1.0, float("nan"), 2.0], "float32"))


@samples("sum", "mean", "prod")
def into_dtype() -> Iterator[Sample]:
    yield sample(floats(2, 3), dtype=Named("float64"))
    yield sample(integers(2, 3), dtype=Named("float32"))


@samples("sum.dim_IntList", "mean.dim", "amax", "amin", "var.dim", "std.dim", "logsumexp")
def several_dims() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), [1])
    yield sample(floats(2, 3, 4), [0, -1], True)
    yield sample(floats(4, 3, dtype="float64").T, [0])
    yield sample(integers(2, 3), [1])
    yield sample(floats(), [0])
    yield sample(floats(2, 0, 3), [0])


@samples("sum.dim_IntList", "mean.dim")
def every_dim() -> Iterator[Sample]:
    yield sample(floats(2, 3), None)
    yield sample(floats(2, 3), [])
    yield sample(floats(2, 0), [1])
    yield sample(integers(2, 3), [0], True, dtype=Named("float32"))


@samples("var", "std")
def spread() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(5, dtype="float64"), False)


@samples("var.dim", "std.dim")
def biased_spread() -> Iterator[Sample]:
    yield sample(floats(2, 3), [1], False)
    yield sample(floats(2, 3), [0], True, True)


@samples("var.correction", "std.correction")
def corrected_spread() -> Iterator[Sample]:
    yield sample(floats(2, 3), [1], correction=0)
    yield sample(floats(2, 3), None, correction=2)
    yield sample(floats(2, 3, 4), [0, 2], correction=1, keepdim=True)
    yield sample(floats(2, 3))


@samples("prod.dim_int", "any.dim", "all.dim", "max.dim", "min.dim", "argmax", "argmin")
def one_dim() -> Iterator[Sample]:
    yield sample(distinct(2, 3), 1)
    yield sample(distinct(2, 3, 4), 0, True)
    yield sample(distinct(4, 3).T, -1)
    yield sample(distinct(4, dtype="int64"), 0)
    yield sample(booleans(1, 4), 0)
    yield sample(floats(), 0)
    yield sample(floats(0, 3), 1)


@samples("any.dims", "all.dims")
def truth_of_several_dims() -> Iterator[Sample]:
    yield sample(booleans(2, 3, 4), [0, 2])
    yield sample(integers(2, 3, 2), [0, -1], True)
    yield sample(floats(2, 3), [])
    yield sample(floats(2, 3), None, True)
    yield sample(booleans(0, 3), [0, 1])


@samples("linalg_vector_norm")
def vector_norm() -> Iterator[Sample]:
    for order in (2, 1, 0, 3.5, float("inf"), -float("inf")):
        yield sample(floats(2, 3), order, [1])
    yield sample(floats(2, 3))
    yield sample(floats(2, 3), 2, [0, 1], True)
    yield sample(floats(2, 3), 2, [0], dtype=Named("float64"))


@samples("norm.Scalar")
def norm() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(2, 3, dtype="float64"), 1)


@samples("norm.ScalarOpt_dim")
def norm_of_dims() -> Iterator[Sample]:
    yield sample(floats(2, 3), 2, [1])
    yield sample(floats(2, 3), None, [0], True)
    yield sample(floats(2, 3), 1, [0, 1])


@samples("logsumexp")
def logsumexp() -> Iterator[Sample]:
    yield sample(given([[-float("inf"), -float("inf")], [1000.0, 1000.5]], "float32"), [1])


@samples("cumsum", "cumprod")
def scans() -> Iterator[Sample]:
    yield sample(floats(2, 3), 1)
    yield sample(floats(4, 3, dtype="float64").T, 0)
    yield sample(integers(2, 3, dtype="int32"), -1)
    yield sample(booleans(4), 0)
    yield sample(floats(), 0)
    yield sample(floats(0, 3), 0)
    yield sample(integers(2, 3), 1, dtype=Named("float32"))
