"""A window on memory: what a tensor is before any operator.

The state of a tensor and the facts that follow from it; `tensor.py` says what the attributes are. What stands between
this and the tensor (autograd, indexing, conversions) knows tensors by this class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_reference.device import contiguous_format, meta, strided
from torchgen_lite_reference.device import device as Device
from torchgen_lite_reference.device import layout as Layout
from torchgen_lite_reference.device import memory_format as MemoryFormat
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.formats import is_in_format
from torchgen_lite_reference.geometry import (
    Shape,
    Strides,
    contiguous_strides,
    numel,
    span,
    wrap_dim,
)
from torchgen_lite_reference.storage import Array, Storage

if TYPE_CHECKING:
    from torchgen_lite_reference.autograd.node import Meta
    from torchgen_lite_runtime import DispatchKeySet


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as torch's."""

    __slots__ = ()

    def numel(self) -> int:
        return numel(self)

    def __repr__(self) -> str:
        return f"Size([{', '.join(map(str, self))}])"


class Window:
    """A geometry over a storage, with the dispatch keys it carries."""

    __slots__ = (
        "_cache",
        "_cached_base",
        "_device",
        "_dispatch_keyset",
        "_dtype",
        "_meta",
        "_offset",
        "_requires_grad",
        "_shape",
        "_storage",
        "_strides",
        "_wrapped",
        "__weakref__",
    )

    _dispatch_keyset: DispatchKeySet
    _cache: Array | None
    _cached_base: Array | None
    _meta: Meta | None
    # Of the class; `layout` says the same.
    is_sparse = False

    def __init__(
        self,
        storage: Storage,
        shape: Shape,
        strides: Strides,
        offset: int,
        dtype: DType,
        on: Device,
        keyset: DispatchKeySet,
        cache: Array | None = None,
    ) -> None:
        """`cache` is the base of the storage where the window shows all of it."""
        self._storage = storage
        self._shape = shape
        self._strides = strides
        self._offset = offset
        self._dtype = dtype
        self._device = on
        self._dispatch_keyset = keyset
        self._cache = self._cached_base = cache
        self._wrapped = False
        self._meta = None
        self._requires_grad = False

    @property
    def _array(self) -> Array:
        base = self._storage.base
        if self._cached_base is base and self._cache is not None:
            return self._cache
        if base is None:
            raise RuntimeError(f"a tensor on the {self._device} device has no data")
        itemsize = self._dtype.itemsize
        empty = 0 in self._shape
        window: Array = np.ndarray(
            self._shape,
            self._dtype.numpy,
            base,
            0 if empty else self._offset * itemsize,
            tuple([stride * itemsize for stride in self._strides]),
        )
        self._cache = window
        self._cached_base = base
        return window

    def _set_geometry(self, shape: Shape, strides: Strides | None = None) -> None:
        """Resize in place; the storage grows if it must and never shrinks."""
        self._shape = shape
        self._strides = contiguous_strides(shape) if strides is None else strides
        self._storage.reserve(self._offset + span(shape, self._strides), self._dtype.numpy)
        self._cache = None

    # Facts.

    @property
    def shape(self) -> Size:
        return Size(self._shape)

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def device(self) -> Device:
        return self._device

    @property
    def layout(self) -> Layout:
        return strided

    @property
    def is_meta(self) -> bool:
        return self._device is meta

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one of its sizes."""
        if dim is None:
            return self.shape
        if not self._shape:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        return self._shape[wrap_dim(dim, len(self._shape))]

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or one of them."""
        return self._strides if dim is None else self._strides[dim]

    def dim(self) -> int:
        return len(self._shape)

    def numel(self) -> int:
        return numel(self._shape)

    nelement = numel

    def storage_offset(self) -> int:
        return self._offset

    def untyped_storage(self) -> Storage:
        return self._storage

    def element_size(self) -> int:
        return self._dtype.itemsize

    def is_contiguous(self, memory_format: MemoryFormat = contiguous_format) -> bool:
        return is_in_format(self._shape, self._strides, memory_format)

    def is_floating_point(self) -> bool:
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        return self._dtype.is_complex

    def is_conj(self) -> bool:
        """Conjugates are computed at once, so no tensor stands for one."""
        return False

    def data_ptr(self) -> int:
        """The address of the first element; 0 for Meta and for an empty tensor."""
        start = self._storage.data_ptr()
        return start and start + self._offset * self._dtype.itemsize
