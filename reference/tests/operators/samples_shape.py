"""Samples for views, joining, rearranging, copies and conversions."""

from __future__ import annotations

from collections.abc import Iterator

from operators.samples import (
    Named,
    Sample,
    booleans,
    complexes,
    every_second,
    floats,
    given,
    integers,
    sample,
    samples,
    swapped,
)


@samples("as_strided")
def as_strided() -> Iterator[Sample]:
    yield sample(floats(3, 4), [2, 2], [1, 4])
    yield sample(floats(3, 4), [2, 3], [4, 0], 2)
    yield sample(floats(4, 3).T, [2], [1], 1)


@samples("_reshape_alias")
def reshape_alias() -> Iterator[Sample]:
    yield sample(floats(3, 4), [12], [1])


@samples("view", "reshape", "_unsafe_view")
def reshape() -> Iterator[Sample]:
    yield sample(floats(2, 6), [3, 4])
    yield sample(floats(2, 6), [-1])
    yield sample(floats(2, 3, 4).seen(lambda x: x.transpose(2, 0, 1)), [4, -1])
    yield sample(floats(4, 6).seen(every_second), [2, 2, 3, 1])
    yield sample(floats(), [1, 1])
    yield sample(floats(0, 3), [3, 0])
    yield sample(floats(0, 3), [0, 3])
    yield sample(floats(2, 1, 3), [2, 3])
    yield sample(floats(6), [])
    yield sample(floats(1, 1), [])


@samples("reshape")
def reshape_with_copy() -> Iterator[Sample]:
    yield sample(floats(4, 3).T, [-1])
    yield sample(floats(2, 3, 4).seen(swapped), [6, 4])


@samples("view.dtype")
def view_dtype() -> Iterator[Sample]:
    yield sample(floats(2, 3), Named("int32"))
    yield sample(floats(2, 4), Named("float64"))
    yield sample(floats(2, 3), Named("int16"))
    yield sample(complexes(2, 2), Named("float32"))
    yield sample(floats(), Named("int32"))


@samples(
    "alias", "detach", "t", "squeeze", "ravel", "atleast_1d", "atleast_2d", "clone", "contiguous"
)
def plain() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(4, 3).T)
    yield sample(floats(4))
    yield sample(floats(2, 1, 3, 1))
    yield sample(floats(2, 4).seen(every_second))
    yield sample(floats())
    yield sample(floats(0, 3))
    yield sample(booleans(2, 2))


@samples("clone", "contiguous")
def formats() -> Iterator[Sample]:
    yield sample(floats(4, 3).T, memory_format=Named("contiguous_format"))


@samples("permute")
def permute() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), [2, 0, 1])
    yield sample(floats(2, 3), [-1, 0])
    yield sample(floats(), [])


@samples("transpose.int", "swapaxes", "swapdims")
def transpose() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), 0, -1)
    yield sample(floats(2, 3), 1, 1)
    yield sample(floats(), 0, -1)


@samples("movedim.int")
def movedim() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), 0, -1)
    yield sample(floats(2, 3, 4), 2, 0)


@samples("movedim.intlist")
def movedims() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), [0, 1], [-1, 0])


@samples("expand", "broadcast_to")
def expand() -> Iterator[Sample]:
    yield sample(floats(2, 1), [2, 3])
    yield sample(floats(3), [2, 2, -1])
    yield sample(floats(1, 3), [0, 3])
    yield sample(floats(), [2, 2])
    yield sample(floats(4, 3).T, [2, 3, 4])


@samples("view_as", "reshape_as")
def as_other() -> Iterator[Sample]:
    yield sample(floats(2, 6), floats(3, 4))


@samples("expand_as")
def expand_as() -> Iterator[Sample]:
    yield sample(floats(2, 1), floats(3, 2, 4))


@samples("select.int")
def select() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4), 1, -1)
    yield sample(floats(4), 0, 2)
    yield sample(floats(4, 3).T, 0, 1)


@samples("slice.Tensor")
def slices() -> Iterator[Sample]:
    yield sample(floats(5, 4), 0, 1, 4, 2)
    yield sample(floats(5, 4), -1, -3)
    yield sample(floats(5, 4), 0, 4, 2)
    yield sample(floats(5, 4), 1, None, 100, 3)
    yield sample(floats(5))


@samples("narrow")
def narrow() -> Iterator[Sample]:
    yield sample(floats(5, 4), 0, 1, 3)
    yield sample(floats(5, 4), 1, -2, 2)
    yield sample(floats(5, 4), 0, 5, 0)


@samples("diagonal")
def diagonal() -> Iterator[Sample]:
    yield sample(floats(3, 4))
    yield sample(floats(3, 4), -1)
    yield sample(floats(2, 3, 4), 1, 2, 0)
    yield sample(floats(3, 4), 9)


@samples("unfold")
def unfold() -> Iterator[Sample]:
    yield sample(floats(7), 0, 3, 2)
    yield sample(floats(2, 6), -1, 2, 2)
    yield sample(floats(), 0, 1, 1)


@samples("squeeze.dim")
def squeeze_dim() -> Iterator[Sample]:
    yield sample(floats(2, 1, 3), 1)
    yield sample(floats(2, 1, 3), 0)
    yield sample(floats(), 0)


@samples("squeeze.dims")
def squeeze_dims() -> Iterator[Sample]:
    yield sample(floats(1, 2, 1), [0, -1])
    yield sample(floats(1, 2, 1), [1])


@samples("unsqueeze")
def unsqueeze() -> Iterator[Sample]:
    yield sample(floats(2, 3), 0)
    yield sample(floats(2, 3), -1)
    yield sample(floats(4, 3).T, 1)
    yield sample(floats(), 0)


@samples("split.Tensor", "chunk", "tensor_split.sections")
def parts() -> Iterator[Sample]:
    yield sample(floats(7, 2), 3)
    yield sample(floats(2, 6), 2, 1)
    yield sample(floats(0, 2), 2)
    yield sample(floats(3), 5)


@samples("tensor_split.tensor_indices_or_sections")
def parts_by_tensor() -> Iterator[Sample]:
    yield sample(floats(7, 2), given(3, "int64"))
    yield sample(floats(7, 2), given([1, 4], "int64"))
    yield sample(floats(2, 6), given([2, 2, 9], "int64"), -1)


@samples("split.sizes", "split_with_sizes", "tensor_split.indices")
def sized_parts() -> Iterator[Sample]:
    yield sample(floats(7, 2), [3, 0, 4])
    yield sample(floats(2, 6), [1, 5], -1)


@samples("unbind.int")
def unbind() -> Iterator[Sample]:
    yield sample(floats(3, 2))
    yield sample(floats(3, 2), 1)


@samples("flatten.using_ints")
def flatten() -> Iterator[Sample]:
    yield sample(floats(2, 3, 4))
    yield sample(floats(2, 3, 4), 1, 2)
    yield sample(floats(2, 3, 4).seen(swapped), 0, 1)
    yield sample(floats())


@samples("unflatten.int")
def unflatten() -> Iterator[Sample]:
    yield sample(floats(2, 6), 1, [2, -1])
    yield sample(floats(6, 2), -2, [3, 2])


@samples("cat", "concat")
def cat() -> Iterator[Sample]:
    yield sample([floats(2, 3), floats(1, 3, seed=1)])
    yield sample([floats(2, 3), floats(2, 1)], -1)
    yield sample([integers(2), floats(3), booleans(1)])
    yield sample([floats(0), floats(2, 3)], 1)
    yield sample([floats(4, 3).T, floats(4, 3).T], 1)
    yield sample([floats(0, 3), floats(0, 3)])


@samples("stack", "hstack", "vstack")
def stack() -> Iterator[Sample]:
    yield sample([floats(2, 3), floats(2, 3, seed=1)])
    yield sample([floats(), floats(seed=1)])
    yield sample([floats(3), integers(3)])


@samples("stack")
def stack_at() -> Iterator[Sample]:
    yield sample([floats(2, 3), floats(2, 3, seed=1)], -1)
    yield sample([floats(2, 3), floats(2, 3, seed=1)], 1)


@samples("meshgrid.indexing")
def meshgrid() -> Iterator[Sample]:
    yield sample([floats(2), floats(3), floats()], indexing="ij")
    yield sample([floats(2), floats(3)], indexing="xy")


@samples("repeat")
def repeat() -> Iterator[Sample]:
    yield sample(floats(2, 3), [2, 2])
    yield sample(floats(3), [4, 2])
    yield sample(floats(2, 3), [1, 1])
    yield sample(floats(2, 3), [0, 2])
    yield sample(floats(), [3])
    yield sample(floats(), [])


@samples("tile")
def tile() -> Iterator[Sample]:
    yield sample(floats(2, 3), [2])
    yield sample(floats(3), [2, 2])


@samples("flip")
def flip() -> Iterator[Sample]:
    yield sample(floats(2, 3), [0])
    yield sample(floats(2, 3, 4), [0, -1])
    yield sample(floats(4, 3).T, [1])
    yield sample(floats(0, 3), [1])
    yield sample(floats(2, 3), [])


@samples("fliplr", "flipud")
def flip_sides() -> Iterator[Sample]:
    yield sample(floats(2, 3))


@samples("roll")
def roll() -> Iterator[Sample]:
    yield sample(floats(5), [2], [0])
    yield sample(floats(2, 3), [-4])
    yield sample(floats(2, 3), [1, -1], [0, 1])
    yield sample(floats(0, 3), [1], [1])


@samples("rot90")
def rot90() -> Iterator[Sample]:
    for turns in (0, 1, 2, 3, -1):
        yield sample(floats(2, 3), turns)
    yield sample(floats(2, 3, 4), 1, [1, 2])


@samples("tril", "triu")
def triangles() -> Iterator[Sample]:
    yield sample(floats(3, 4))
    yield sample(floats(2, 3, 3), 1)
    yield sample(floats(4, 3).T, -1)
    yield sample(booleans(3, 3))
    yield sample(floats(0, 3))


@samples("diag")
def diag() -> Iterator[Sample]:
    yield sample(floats(3))
    yield sample(floats(3), -1)
    yield sample(floats(3, 4), 1)


@samples("diag_embed")
def diag_embed() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(2, 3), 1, 0, 2)
    yield sample(floats(3), -2)


@samples("constant_pad_nd", "pad")
def pad() -> Iterator[Sample]:
    yield sample(floats(2, 3), [1, 2])
    yield sample(floats(2, 3), [1, -1, 0, 2])


@samples("constant_pad_nd")
def pad_with_value() -> Iterator[Sample]:
    yield sample(floats(2, 3), [1, 0], 7)


@samples("pad")
def pad_mode() -> Iterator[Sample]:
    yield sample(floats(2, 3), [1, 0], "constant", 1.5)


@samples("to.dtype")
def to_dtype() -> Iterator[Sample]:
    yield sample(floats(2, 3), Named("float64"))
    yield sample(floats(4, 3).T, Named("int64"))
    yield sample(floats(2, 3), Named("float32"))
    yield sample(floats(2, 3), Named("float32"), False, True)
    yield sample(integers(4), Named("bool"))


@samples("to.device")
def to_device() -> Iterator[Sample]:
    yield sample(floats(2, 3), Named("cpu"), Named("float64"))
    yield sample(floats(2, 3), Named("meta"), Named("float32"))


@samples("to.other", "type_as")
def to_other() -> Iterator[Sample]:
    yield sample(floats(2, 3), integers(2))
    yield sample(floats(2, 3), floats(1))


@samples("to.dtype_layout", "_to_copy")
def to_options() -> Iterator[Sample]:
    yield sample(floats(2, 3), dtype=Named("float64"))
    yield sample(floats(4, 3).T, dtype=Named("float64"))
    yield sample(floats(2, 3), device=Named("meta"))
    yield sample(floats(4, 3).T, memory_format=Named("contiguous_format"), dtype=Named("int32"))


@samples("copy_")
def copy() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats(3, seed=1))
    yield sample(floats(4, 3).T, integers(3, 4))
    yield sample(integers(4), floats(4))


@samples("zero_")
def zero() -> Iterator[Sample]:
    yield sample(floats(2, 3))
    yield sample(floats(3, 4).seen(every_second))


@samples("fill.Scalar", "fill_.Scalar")
def fill() -> Iterator[Sample]:
    yield sample(floats(2, 3), 2)
    yield sample(integers(4), 7)
    yield sample(floats(4, 3).T, 1.5)
    yield sample(booleans(2), True)


@samples("fill.Tensor", "fill_.Tensor")
def fill_tensor() -> Iterator[Sample]:
    yield sample(floats(2, 3), floats())
    yield sample(integers(4), integers())


@samples("item", "_local_scalar_dense")
def item() -> Iterator[Sample]:
    yield sample(floats())
    yield sample(integers(1))
    yield sample(booleans(1, 1))
