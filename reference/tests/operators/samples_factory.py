"""Samples for creation."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Named,
    Sample,
    booleans,
    every_second,
    floats,
    integers,
    sample,
    samples,
)


@samples("zeros", "ones", "empty.memory_format", "rand", "randn")
def sized() -> Iterator[Sample]:
    yield sample([2, 3])
    yield sample([])
    yield sample([0, 3], dtype=Named("float64"))
    yield sample([2], device=Named("meta"), dtype=Named("float16"))


@samples("zeros", "ones", "empty.memory_format")
def sized_integers() -> Iterator[Sample]:
    yield sample([2, 3], dtype=Named("int64"))


@samples("zeros.out", "ones.out")
def sized_out() -> Iterator[Sample]:
    yield sample([2, 3])
    yield sample([])


@samples("full.out")
def full_out() -> Iterator[Sample]:
    yield sample([2, 3], 1.5)


@samples("empty.memory_format")
def channels_last() -> Iterator[Sample]:
    yield sample([2, 3, 4, 5], memory_format=Named("channels_last"))


@samples("empty_strided")
def empty_strided() -> Iterator[Sample]:
    yield sample([2, 3], [1, 2])
    yield sample([2, 3], [3, 1], dtype=Named("int32"))


@samples("full")
def full() -> Iterator[Sample]:
    yield sample([2, 3], 1.5)
    yield sample([2, 3], 2)
    yield sample([2], True)
    yield sample([], 2, dtype=Named("float64"))
    yield sample([2], 1, device=Named("meta"))


@samples("scalar_tensor")
def scalar_tensor() -> Iterator[Sample]:
    yield sample(2)
    yield sample(2, dtype=Named("int64"))


@samples("zeros_like", "ones_like", "empty_like")
def like() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(4, 3).T)
    yield sample(floats(3, 4).seen(every_second))
    yield sample(floats(2, 3, 4).seen(lambda x: x.transpose(2, 0, 1)[:, ::2]))
    yield sample(floats(2, 3), dtype=Named("int64"))
    yield sample(floats(4, 3).T, memory_format=Named("contiguous_format"))
    yield sample(booleans())
    yield sample(integers(0, 3), device=Named("meta"))


@samples("full_like")
def full_like() -> Iterator[Sample]:
    yield sample(floats(4, 3).T, 2)
    yield sample(integers(2), 3, dtype=Named("float32"))


@samples("new_zeros", "new_ones", "new_empty")
def new() -> Iterator[Sample]:
    yield sample(integers(2), [2, 3])
    yield sample(integers(2), [], dtype=Named("float32"))
    yield sample(floats(2), [2], device=Named("meta"))


@samples("new_empty_strided")
def new_strided() -> Iterator[Sample]:
    yield sample(integers(2), [2, 3], [1, 2])


@samples("new_full")
def new_full() -> Iterator[Sample]:
    yield sample(integers(2), [2, 3], 4)


@samples("resize_")
def resize() -> Iterator[Sample]:
    yield sample(floats(2, 3), [3, 2])
    yield sample(floats(2, 3), [2])
    yield sample(floats(4, 3).T, [3, 4])


@samples("arange", "arange.out")
def arange() -> Iterator[Sample]:
    yield sample(5)
    yield sample(3.5)
    yield sample(0)


@samples("arange")
def arange_options() -> Iterator[Sample]:
    yield sample(5, dtype=Named("float64"))
    yield sample(5, device=Named("meta"))


@samples("arange.start")
def arange_start() -> Iterator[Sample]:
    yield sample(2, 6)
    yield sample(-1.5, 2)
    yield sample(1, 4, dtype=Named("int32"))


@samples("arange.start_step", "arange.start_out")
def arange_step() -> Iterator[Sample]:
    yield sample(1, 10, 3)
    yield sample(10, 0, -4)
    yield sample(0, 1, 0.3)


@samples("range", "range.out_")
def inclusive() -> Iterator[Sample]:
    yield sample(1, 4)
    yield sample(0.5, 3)


@samples("range.step", "range.out")
def inclusive_step() -> Iterator[Sample]:
    yield sample(1, 10, 3)
    yield sample(1, 4, 1.5)
    yield sample(4, 1, -1)


@samples("range.step")
def inclusive_options() -> Iterator[Sample]:
    yield sample(1, 10, 2, dtype=Named("int64"))


@samples("linspace", "logspace", "linspace.out", "logspace.out")
def lines() -> Iterator[Sample]:
    yield sample(0, 1, 5)
    yield sample(-1.5, 2, 4)
    yield sample(2, 1, 1)
    yield sample(2, 1, 0)


@samples("linspace")
def line_options() -> Iterator[Sample]:
    yield sample(0, 10, 4, dtype=Named("int64"))
    yield sample(0, 10, 4, dtype=Named("float64"))


@samples("logspace")
def powers() -> Iterator[Sample]:
    yield sample(0, 3, 4, 2.0, dtype=Named("float64"))


@samples("empty.out", "rand.out", "randn.out")
def arbitrary_out() -> Iterator[Sample]:
    yield sample([2, 3])
    yield sample([0])


@samples("empty.out")
def arbitrary_out_in_a_format() -> Iterator[Sample]:
    yield sample([2, 3, 4, 5], memory_format=Named("channels_last"))


@samples("eye", "eye.out")
def eye() -> Iterator[Sample]:
    yield sample(3)
    yield sample(0)


@samples("eye.m", "eye.m_out")
def eye_m() -> Iterator[Sample]:
    yield sample(2, 3)
    yield sample(3, 2)


@samples("eye.m")
def eye_options() -> Iterator[Sample]:
    yield sample(2, 3, dtype=Named("int64"))


@samples("bernoulli_.float", "uniform_", "normal_")
def random() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(3, dtype="float64"), 0.3)
