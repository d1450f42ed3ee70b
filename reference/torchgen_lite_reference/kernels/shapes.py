"""Arithmetic of view operators: integers in, integers out, and no tensors.

Every view of a strided tensor is another (shape, strides, offset) over the same storage. The functions
below compute those as PyTorch does, so that strides come out equal and not merely equivalent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchgen_lite_reference.geometry import (
    Shape,
    Strides,
    contiguous_strides,
    is_dense,
    iterator_strides,
    numel,
    wrap_dim,
)

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor


def ordered_dims(dims: Sequence[int], ndim: int) -> Shape:
    """Dimensions counted from the front, in the order given, each once."""
    wrapped = tuple(wrap_dim(dim, ndim) for dim in dims)
    for place, dim in enumerate(wrapped):
        if dim in wrapped[:place]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return wrapped


def infer_shape(shape: Sequence[int], count: int) -> Shape:
    """A requested shape for `count` elements, with its one allowed -1 worked out."""
    free = [axis for axis, size in enumerate(shape) if size == -1]
    if len(free) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(size < -1 for size in shape):
        raise RuntimeError(f"invalid shape dimension {min(shape)}")
    known = numel([size for size in shape if size != -1])
    if free and known == 0 == count:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified"
            " dimension size -1 can be any value and is ambiguous"
        )
    fits = (known != 0 and count % known == 0) if free else count == known
    if not fits:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return tuple(count // known if size == -1 else size for size in shape)


def view_strides(old: Shape, strides: Strides, new: Shape) -> Strides | None:
    """The strides with which `new` shows the same elements, or None where no strides can.

    ATen `computeStride`: old dimensions merge into runs that are contiguous in memory, and each run must
    be divided exactly by new dimensions.
    """
    if not old:
        return (1,) * len(new)
    if 0 in old:
        return strides if old == new else contiguous_strides(new)
    result = [0] * len(new)
    axis = len(new) - 1
    base = strides[-1]
    run = viewed = 1
    for dim in range(len(old) - 1, -1, -1):
        run *= old[dim]
        if dim and (old[dim - 1] == 1 or strides[dim - 1] == run * base):
            continue
        while axis >= 0 and (viewed < run or new[axis] == 1):
            result[axis] = viewed * base
            viewed *= new[axis]
            axis -= 1
        if viewed != run:
            return None
        if dim:
            base = strides[dim - 1]
            run = viewed = 1
    return tuple(result) if axis == -1 else None


def expand_geometry(shape: Shape, strides: Strides, to: Sequence[int]) -> tuple[Shape, Strides]:
    """Shape and strides of a broadcast view; -1 keeps the size of an existing dimension."""
    lead = len(to) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(to)}) must be greater or equal to the number of"
            f" dimensions in the tensor ({len(shape)})"
        )
    sizes, steps = list(to), [0] * len(to)
    if not shape:
        return tuple(sizes), tuple(steps)
    for axis in range(len(to) - 1, -1, -1):
        size = shape[axis - lead] if axis >= lead else 1
        if axis >= lead:
            step = strides[axis - lead]
        else:
            step = sizes[axis + 1] * steps[axis + 1] if axis + 1 < len(to) else 1
        if sizes[axis] == -1:
            if axis < lead:
                raise RuntimeError(
                    "expand: the expanded size -1 isn't allowed in a leading, non-existing dimension"
                    f" {axis}"
                )
            sizes[axis] = size
        if size != sizes[axis]:
            if size != 1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({sizes[axis]}) must match the existing size"
                    f" ({size}) at non-singleton dimension {axis}.  Target sizes: {list(to)}.  Tensor"
                    f" sizes: {list(shape)}"
                )
            step = 0
        steps[axis] = step
    return tuple(sizes), tuple(steps)


def preserved_strides(self: Tensor) -> Strides | None:
    """Strides of a fresh tensor in the memory order of `self` (`preserve_format`); None is row-major."""
    if self._strides == contiguous_strides(self._shape) or is_dense(self._shape, self._strides):
        return self._strides
    return iterator_strides(self._shape, [(self._shape, self._strides)])


def split_points(size: int, sections: int) -> list[int]:
    """Where `tensor_split` cuts a dimension into sections that differ by one at most."""
    least, larger = divmod(size, sections)
    return [least * part + min(part, larger) for part in range(1, sections)]
