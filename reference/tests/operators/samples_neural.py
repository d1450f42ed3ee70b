"""Samples for matrix products, normalization and losses."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Named,
    Sample,
    complexes,
    floats,
    given,
    integers,
    probabilities,
    sample,
    samples,
)


@samples("mm", "matmul", "kron")
def mm() -> Iterator[Sample]:
    for dtype in ("float32", "float64", "float16"):
        yield sample(floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype))
    yield sample(floats(3, 2).T, floats(4, 3).T)
    yield sample(integers(2, 3), integers(3, 2))
    yield sample(integers(2, 3, dtype="uint8"), integers(3, 2, dtype="uint8"))
    yield sample(complexes(2, 3), complexes(3, 2))
    yield sample(floats(2, 0), floats(0, 3))
    yield sample(floats(0, 2), floats(2, 3))


@samples("matmul")
def matmul() -> Iterator[Sample]:
    yield sample(floats(3), floats(3, seed=1))
    yield sample(floats(2, 3), floats(3))
    yield sample(floats(3), floats(3, 2))
    yield sample(floats(2, 4, 3), floats(3, 5))
    yield sample(floats(2, 4, 3), floats(3))
    yield sample(floats(3), floats(2, 3, 4))
    yield sample(floats(4, 3), floats(2, 3, 5))
    yield sample(floats(2, 1, 4, 3), floats(5, 3, 2))
    yield sample(floats(2, 3, 4).seen(lambda x: x.transpose(0, 2, 1)), floats(3, 2))


@samples("bmm")
def bmm() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), floats(2, 4, 5))
    yield sample(integers(2, 3, 4), integers(2, 4, 1))
    yield sample(floats(0, 3, 4), floats(0, 4, 5))


@samples("addmm")
def addmm() -> Iterator[Sample]:
    yield sample(floats(2, 4), floats(2, 3), floats(3, 4))
    yield sample(floats(4), floats(2, 3), floats(3, 4), beta=0.5, alpha=2)
    yield sample(given([[float("nan")] * 4] * 2, "float32"), floats(2, 3), floats(3, 4), beta=0)
    yield sample(integers(2, 4), integers(2, 3), integers(3, 4), alpha=2)
    yield sample(floats(2, 4), floats(2, 0), floats(0, 4), beta=2)


@samples("baddbmm")
def baddbmm() -> Iterator[Sample]:
    yield sample(floats(2, 3, 5), floats(2, 3, 4), floats(2, 4, 5))
    yield sample(floats(5), floats(2, 3, 4), floats(2, 4, 5), beta=0.5, alpha=2)


@samples("addmv")
def addmv() -> Iterator[Sample]:
    yield sample(floats(2), floats(2, 3), floats(3))
    yield sample(floats(), floats(2, 3), floats(3), beta=2, alpha=0.5)


@samples("mv")
def mv() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3))
    yield sample(integers(3, 2).T, integers(3))
    yield sample(floats(2, 0), floats(0))


@samples("dot", "inner", "outer", "ger", "kron")
def vectors() -> Iterator[Sample]:
    yield sample(floats(3), floats(3, seed=1))
    yield sample(integers(3), integers(3, seed=1))
    yield sample(complexes(3), complexes(3, seed=1))
    yield sample(floats(0), floats(0))


@samples("inner")
def inner() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(4, 3))
    yield sample(floats(), floats(2))


@samples("tensordot")
def tensordot() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), floats(4, 3, 5), [1, 2], [1, 0])
    yield sample(floats(2), floats(3), [], [])


@samples("chain_matmul")
def chain_matmul() -> Iterator[Sample]:
    yield sample([floats(2, 3), floats(3, 4), floats(4, 2)])


@samples("trace")
def trace() -> Iterator[Sample]:
    yield sample(floats(3, 4))
    yield sample(integers(3, 3, dtype="int32"))


@samples("linear")
def linear() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(4, 3), floats(4))
    yield sample(floats(2, 3), floats(4, 3))
    yield sample(floats(5, 2, 3), floats(4, 3), floats(4))
    yield sample(floats(3), floats(4, 3), floats(4))


@samples("softmax.int", "log_softmax.int")
def softmax() -> Iterator[Sample]:
    yield sample(floats(2, 3), 1)
    yield sample(floats(2, 3, 4), 0)
    yield sample(floats(4, 3).T, -1)
    yield sample(floats(2, 3, dtype="float16"), 1)
    yield sample(integers(2, 3), 1, dtype=Named("float32"))
    yield sample(floats(), 0)
    yield sample(floats(0, 3), 1)
    yield sample(given([[1000.0, 1000.0], [-float("inf"), 0.0]], "float32"), 1)


@samples("_softmax", "_log_softmax")
def softmax_kernel() -> Iterator[Sample]:
    yield sample(floats(2, 3), 1, False)
    yield sample(floats(4, 3, dtype="float64").T, 0, False)


@samples("layer_norm")
def layer_norm() -> Iterator[Sample]:
    yield sample(floats(2, 3), [3])
    yield sample(floats(2, 3, 4), [3, 4], floats(3, 4, seed=1), floats(3, 4, seed=2))
    yield sample(floats(4, 3).T, [4], floats(4), None, 1e-3)
    yield sample(floats(2, 3, dtype="float64"), [3])


@samples("native_layer_norm")
def native_layer_norm() -> Iterator[Sample]:
    yield sample(floats(2, 3), [3], None, None, 1e-5)
    yield sample(floats(2, 3, 4), [3, 4], floats(3, 4), floats(3, 4, seed=1), 1e-3)


@samples("rms_norm")
def rms_norm() -> Iterator[Sample]:
    yield sample(floats(2, 3), [3])
    yield sample(floats(2, 3), [3], floats(3), 1e-3)


@samples("group_norm")
def group_norm() -> Iterator[Sample]:
    yield sample(floats(2, 4, 3), 2)
    yield sample(floats(2, 4, 3), 2, floats(4), floats(4, seed=1))


@samples("native_group_norm")
def native_group_norm() -> Iterator[Sample]:
    yield sample(floats(2, 4, 3), floats(4), floats(4, seed=1), 2, 4, 3, 2, 1e-5)


@samples("dropout")
def dropout() -> Iterator[Sample]:
    yield sample(floats(2, 3), 0.5, False)
    yield sample(floats(2, 3), 0.0, True)
    yield sample(floats(2, 3), 1.0, True)


@samples("one_hot")
def one_hot() -> Iterator[Sample]:
    yield sample(integers(4), 6)
    yield sample(integers(2, 3), 5)


@samples("cosine_similarity")
def cosine_similarity() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(2, 3, seed=1))
    yield sample(floats(3), floats(3, seed=1), 0)


@samples("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
def regression() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        yield sample(floats(2, 3), probabilities(2, 3), reduction)
    yield sample(floats(4, 3).T, probabilities(4, 3).T, 0)
    yield sample(floats(2, 3, dtype="float64"), probabilities(2, 3, dtype="float64"))
    yield sample(floats(), probabilities())
    yield sample(floats(0), probabilities(0))


@samples("smooth_l1_loss", "huber_loss")
def bent() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(2, 3, seed=1), 0, 0.5)


@samples("kl_div")
def kl_div() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(2, 3, seed=1), 2, log_target=True)
    yield sample(floats(2), given([0.0, 0.5], "float32"), 0)


@samples("binary_cross_entropy")
def binary_cross_entropy() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        yield sample(probabilities(2, 3), probabilities(2, 3, seed=1), None, reduction)
    yield sample(given([0.0, 1.0], "float32"), given([1.0, 1.0], "float32"), None, 0)
    yield sample(probabilities(2, 3), probabilities(2, 3, seed=1), floats(2, 3))


@samples("binary_cross_entropy.out")
def binary_cross_entropy_out() -> Iterator[Sample]:
    yield sample(probabilities(2, 3), probabilities(2, 3, seed=1), None, 0)


@samples("binary_cross_entropy_with_logits")
def with_logits() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        yield sample(floats(2, 3), probabilities(2, 3), None, None, reduction)
    yield sample(floats(2, 3), probabilities(2, 3), floats(3, seed=1), floats(3, seed=2))


@samples("nll_loss")
def nll_loss() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        yield sample(floats(4, 5), integers(4), None, reduction)
        yield sample(floats(4, 5), integers(4), probabilities(5), reduction, 2)
    yield sample(floats(5), given(3, "int64"))
    yield sample(floats(0, 5), integers(0), None, 2)


@samples("nll_loss_forward")
def nll_loss_forward() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        yield sample(floats(4, 5), integers(4), probabilities(5), reduction, 2)
    yield sample(floats(5), given(3, "int64"), None, 0, -100)


@samples("cross_entropy_loss")
def cross_entropy() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        for smoothing in (0.0, 0.2):
            yield sample(floats(4, 5), integers(4), None, reduction, -100, smoothing)
            yield sample(floats(4, 5), integers(4), probabilities(5), reduction, 2, smoothing)
            yield sample(floats(4, 5), probabilities(4, 5), None, reduction, -100, smoothing)
        yield sample(floats(2, 5, 3), integers(2, 3), probabilities(5), reduction, 2, 0.1)
    yield sample(floats(5), given(3, "int64"))
    yield sample(floats(2, 5, 3), probabilities(2, 5, 3), probabilities(5))


@samples("hinge_embedding_loss")
def hinge() -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        yield sample(floats(4), given([1, -1, 1, -1], "int64"), 1.5, reduction)


@samples("margin_ranking_loss")
def ranking() -> Iterator[Sample]:
    yield sample(floats(4), floats(4, seed=1), given([1.0, -1, 1, -1], "float32"), 0.5)
    yield sample(floats(4), floats(4, seed=1), given([1.0, -1, 1, -1], "float32"), 0.0, 0)
