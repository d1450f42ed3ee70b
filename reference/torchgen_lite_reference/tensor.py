"""The tensor: a geometry over a storage, with the dispatch keys it carries.

Attributes (all plain slots; kernels read them directly)
    x._dispatch_keyset   interned DispatchKeySet
    x._shape, x._strides (in elements), x._offset (in elements), x._dtype, x._device, x._storage
    x._array             NumPy view of the elements, cached; writing to it writes to the tensor.
                         RuntimeError for Meta. Works on any device whose storage has NumPy memory.
    x._meta, x._requires_grad    what autograd knows of it, see autograd/node.py
    x._wrapped           True for a Python number made into a tensor (promotes least, like torch's)

Making tensors (none of them dispatches)
    Tensor(storage, shape, strides, offset, dtype, device, keyset)
    wrap_array(array, on=cpu)                  shares memory with the array
    place(array, on)                           the same; on "meta" its shape alone
    empty_strided(shape, strides, dtype, on)   strides None: row-major; "meta" allocates nothing
    wrap_number(value) -> Tensor               zero-dimensional, on the CPU, `_wrapped`
    x._as_strided(shape, strides, offset)      a view: same storage, other geometry; any device
    x._set_geometry(shape, strides)            resize in place (grows the storage)

Public: shape ndim dtype device layout is_sparse is_meta requires_grad T; size() stride() dim()
numel() storage_offset() is_contiguous() data_ptr() element_size() numpy() tolist() to() cpu(),
indexing, iteration, and every method of the generated `TensorMethods`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.attributes import AutogradAttributes
from torchgen_lite_reference.bindings import BoundMethods
from torchgen_lite_reference.conversion import Conversions
from torchgen_lite_reference.device import (
    CPU_KEYS,
    as_device,
    cpu,
    dense_keyset,
    meta,
    without_autograd,
)
from torchgen_lite_reference.device import device as Device
from torchgen_lite_reference.dtype import (
    INTEGER,
    bool_,
    complex128,
    float64,
    int64,
    of_numpy,
)
from torchgen_lite_reference.dtype import dtype as DType
from torchgen_lite_reference.geometry import (
    Shape,
    Strides,
    contiguous_strides,
    remembered_strides,
    span,
)
from torchgen_lite_reference.indexing import Indexing
from torchgen_lite_reference.printing import format_tensor
from torchgen_lite_reference.storage import Array, Storage, adopt
from torchgen_lite_reference.window import Window
from torchgen_lite_runtime import inference_use

Number = int | float | bool | complex


class Tensor(Window, AutogradAttributes, Conversions, Indexing, BoundMethods):
    """A strided tensor. See the module's text for its attributes."""

    __slots__ = ()
    __hash__ = object.__hash__
    # NumPy leaves `array + tensor` to the tensor.
    __array_priority__ = 1000

    # The window on memory.

    def _as_strided(self, shape: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
        """Another window on the same storage. The caller has checked that it fits."""
        return Tensor(
            self._storage,
            tuple(shape),
            tuple(strides),
            offset,
            self._dtype,
            self._device,
            self._dispatch_keyset,
        )

    def _beside(self, array: Array) -> Tensor:
        """A tensor of an array on the same device."""
        return place(array, self._device)

    def _shallow_copy(self) -> Tensor:
        """Another tensor on the same memory that nothing is recorded of."""
        copy = self._as_strided(self._shape, self._strides, self._offset)
        copy._cache = self._cache
        copy._cached_base = self._cached_base
        return copy

    # Facts that are views.

    @property
    def T(self) -> Tensor:
        return operators.permute(self, range(self.ndim)[::-1])

    @property
    def mT(self) -> Tensor:
        """A view with the last two dimensions swapped."""
        if len(self._shape) < 2:
            raise RuntimeError(
                "tensor.mT is only supported on matrices or batches of matrices. Got"
                f" {len(self._shape)}-D tensor."
            )
        return operators.transpose_int(self, -2, -1)

    @property
    def data(self) -> Tensor:
        """The same memory, of which nothing is recorded and whose changes nobody counts."""
        same = self._shallow_copy()
        same._storage = self._storage.uncounted()
        return same

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if value._device is not self._device or value.is_sparse is not self.is_sparse:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have"
                " incompatible tensor type."
            )
        if self._requires_grad and not value._dtype.differentiable:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        storage = value._storage.uncounted()
        storage.version = self._storage.version
        self._storage, self._offset, self._dtype = storage, value._offset, value._dtype
        self._shape, self._strides = value._shape, value._strides
        self._cache = self._cached_base = None

    @property
    def real(self) -> Tensor:
        """A view of the real parts; a real tensor itself."""
        return operators.real(self)

    @property
    def imag(self) -> Tensor:
        """A view of the imaginary parts. RuntimeError for a real tensor."""
        return operators.imag(self)

    def conj(self) -> Tensor:
        """The conjugate, computed at once (torch's is a view that remembers to); a real tensor itself."""
        return operators.conj_physical(self)

    # Out of and into Python.

    def numpy(self) -> Array:
        """The elements as a NumPy array that shares the memory."""
        if self._requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        if self._device is not cpu:
            raise TypeError(
                f"can't convert {self._device} device type tensor to numpy."
                " Use Tensor.cpu() to copy the tensor to host memory first."
            )
        if self.is_sparse:
            raise TypeError(
                "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
            )
        return self._array[...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def tolist(self) -> Any:
        return self._array.tolist()

    # Operators that torch's own tensor class writes by hand too: their operators are not methods.

    def __rsub__(self, other: Tensor | Number) -> Tensor:
        if isinstance(other, Tensor):
            return operators.rsub_Tensor(self, other)
        return operators.rsub_Scalar(self, other)

    def __rfloordiv__(self, other: Number) -> Tensor:
        return operators.floor_divide(wrap_number(other), self)

    def __rlshift__(self, other: Number) -> Tensor:
        return operators.bitwise_left_shift_Scalar_Tensor(other, self)

    def __rrshift__(self, other: Number) -> Tensor:
        return operators.bitwise_right_shift_Scalar_Tensor(other, self)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(self._shape[0]))

    def __bool__(self) -> bool:
        count = self.numel()
        if count != 1:
            kind = "no values" if count == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())  # type: ignore[arg-type]

    def __index__(self) -> int:
        if self._dtype.category > INTEGER or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())  # type: ignore[arg-type]

    def __float__(self) -> float:
        return float(self.item())  # type: ignore[arg-type]

    def __complex__(self) -> complex:
        return complex(self.item())

    def __reduce__(self) -> tuple[Any, ...]:
        """Tensors that share a storage still share it when they are read back together."""
        parts = (self._storage, self._shape, self._strides, self._offset, self._dtype, self._device)
        return (_rebuild, (*parts, self._wrapped, self._requires_grad))

    def __repr__(self) -> str:
        return format_tensor(self)


def _rebuild(
    storage: Storage,
    shape: Shape,
    strides: Strides,
    offset: int,
    dtype: DType,
    on: Device,
    wrapped: bool,
    requires_grad: bool,
) -> Tensor:
    keyset = dense_keyset(on)
    if storage.version is None:
        # A shallow copy of an inference tensor shares its memory, and is one.
        keyset = without_autograd(keyset)
    result = Tensor(storage, shape, strides, offset, dtype, on, keyset)
    result._wrapped = wrapped
    result._requires_grad = requires_grad
    return result


def place(array: Array, on: Device) -> Tensor:
    """A tensor of an array on a device, which need not have memory."""
    if on is meta:
        return empty_strided(array.shape, None, of_numpy(array.dtype), on)
    return wrap_array(array, on)


def wrap_array(array: Array, on: Device = cpu) -> Tensor:
    """A tensor on the array's own memory."""
    dtype = of_numpy(array.dtype)
    itemsize = array.itemsize
    shape = array.shape
    if array.flags.c_contiguous:
        base, strides = array, contiguous_strides(shape)
    else:
        base = adopt(array)
        strides = tuple(stride // itemsize for stride in array.strides)
    result = Tensor(Storage(base, on), shape, strides, 0, dtype, on, dense_keyset(on))
    result._cache = array
    result._cached_base = base
    return result


def empty_strided(
    shape: Shape, strides: Strides | None, dtype: DType, on: Device | str | None = None
) -> Tensor:
    """Uninitialized memory in the given order; on the Meta device no memory at all."""
    if strides is None and on is cpu:
        # Most results of operators are made here.
        base: Array = np.empty(shape, dtype.numpy)
        keyset = dense_keyset(cpu) if inference_use.seen else CPU_KEYS
        strides = remembered_strides(shape)
        return Tensor(Storage(base, cpu), shape, strides, 0, dtype, cpu, keyset, base)
    on = as_device(on)
    keyset = dense_keyset(on)
    if on is meta:
        strides = remembered_strides(shape) if strides is None else strides
        return Tensor(Storage(None, on), shape, strides, 0, dtype, on, keyset)
    if strides is None:
        base = np.empty(shape, dtype.numpy)
        strides = remembered_strides(shape)
        return Tensor(Storage(base, on), shape, strides, 0, dtype, on, keyset, base)
    base = np.empty(span(shape, strides), dtype.numpy)
    return Tensor(Storage(base, on), shape, strides, 0, dtype, on, keyset)


def wrap_number(value: Number) -> Tensor:
    """A Python number as a tensor that takes part in dispatch and counts least in promotion."""
    kind = type(value)
    dtype = _NUMBER_TYPES.get(kind)
    if dtype is None:
        value, dtype = _foreign_number(value)
    base: Array = np.array(value, dtype.numpy)
    keyset = dense_keyset(cpu) if inference_use.seen else CPU_KEYS
    result = Tensor(Storage(base, cpu), (), (), 0, dtype, cpu, keyset, base)
    result._wrapped = True
    return result


# c10 `wrapped_scalar_tensor`: the widest type of each category.
_NUMBER_TYPES: dict[type, DType] = {
    bool: bool_,
    int: int64,
    float: float64,
    complex: complex128,
}


def _foreign_number(value: Any) -> tuple[Any, DType]:
    """NumPy's scalars and subclasses of the Python numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    for kind, dtype in _NUMBER_TYPES.items():
        if isinstance(value, kind):
            return value, dtype
    raise TypeError(f"expected a Tensor or a number, got {type(value).__name__}")


def is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)
