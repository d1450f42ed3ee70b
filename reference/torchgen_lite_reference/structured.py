"""What a structured kernel is made of: a spec of the result, and what is done with it.

A meta function (`meta_add_Tensor`) looks at shapes and types alone and returns a `TensorSpec`, or a
tuple of them. The generated kernels of the three variants then do the rest:

    functional   out = allocate(spec, "CPU"); impl(..., out=out); return out
    in-place     check_inplace(self, spec);   impl(..., out=self); return self
    out          resize_out(out, spec);       impl(..., out=out); return out

For the Meta key impl is left away. An impl writes into `out._array`, converting to its dtype.

    TensorSpec(shape, dtype, strides=None, device=None)   no strides: row-major; no device: the key's
    ExactSpec, AnySpec                                    the same, for an `out` of that very dtype, or of any
    key_for_options(dtype, layout, device) -> DispatchKeySet       what BackendSelect adds
    warn_on_resize(out, shape)
"""

from __future__ import annotations

import warnings

from torchgen_lite_reference.device import (
    as_device,
    cpu,
    device,
    layout,
    meta,
    sparse_coo,
)
from torchgen_lite_reference.dtype import dtype
from torchgen_lite_reference.geometry import Shape, Strides
from torchgen_lite_reference.promotion import check_cast
from torchgen_lite_reference.tensor import Tensor, empty_strided
from torchgen_lite_runtime import DispatchKey, DispatchKeySet

_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single"
    " memory location. Please clone() the tensor before performing the operation."
)
_DEVICES = {"CPU": cpu, "Meta": meta}


class TensorSpec:
    """Shape, dtype and strides of a result that doesn't exist yet."""

    __slots__ = ("device", "dtype", "shape", "strides")
    # Whether the operator in place writes element after element, and therefore to expanded tensors too.
    fills = False

    def __init__(
        self,
        shape: Shape,
        dtype: dtype,
        strides: Strides | None = None,
        device: device | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.device = device

    def check_dtype(self, out: Tensor) -> None:
        """Refuse an `out` that the result can't be cast to."""
        check_cast(self.dtype, out._dtype)

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.dtype}, {self.strides}, {self.device})"


class ExactSpec(TensorSpec):
    """A result that is written as it is: `out` must have its dtype."""

    __slots__ = ()

    def check_dtype(self, out: Tensor) -> None:
        if out._dtype is not self.dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {self.dtype.name}, but got {out._dtype.name} instead"
            )


class FilledSpec(ExactSpec):
    """The same of an operator that in place fills some elements: expanded tensors are written to as well."""

    __slots__ = ()
    fills = True


class AnySpec(TensorSpec):
    """A result that is computed in the dtype of `out`, whatever that is."""

    __slots__ = ()

    def check_dtype(self, out: Tensor) -> None:
        pass


def allocate(spec: TensorSpec, key: str) -> Tensor:
    """A fresh tensor for a result, on the device of the spec or else of the dispatch key."""
    on = spec.device or _DEVICES.get(key) or device(key.lower())
    return empty_strided(spec.shape, spec.strides, spec.dtype, on)


def check_inplace(self: Tensor, spec: TensorSpec) -> None:
    """Refuse what doesn't fit into `self`: another shape, a higher category, repeated elements."""
    if self._shape != spec.shape:
        raise RuntimeError(
            f"output with shape {list(self._shape)} doesn't match the broadcast shape"
            f" {list(spec.shape)}"
        )
    check_cast(spec.dtype, self._dtype)
    if not spec.fills:
        check_no_overlap(self)


def resize_out(out: Tensor, spec: TensorSpec) -> None:
    """Give `out` the shape of the result, with a warning if it held elements; check its dtype."""
    spec.check_dtype(out)
    if spec.device is not None and out._device is not spec.device:
        raise RuntimeError(
            f"Expected out tensor to have device {spec.device}, but got {out._device} instead"
        )
    if out._shape == spec.shape:
        check_no_overlap(out)
        return
    warn_on_resize(out, spec.shape)
    out._set_geometry(spec.shape, spec.strides)


def warn_on_resize(out: Tensor, shape: Shape) -> None:
    if 0 not in out._shape:
        warnings.warn(
            "An output with one or more elements was resized since it had shape"
            f" {list(out._shape)}, which does not match the required output shape {list(shape)}."
            " Resize it to zero elements first if this is intended.",
            UserWarning,
            stacklevel=7,
        )


def check_no_overlap(out: Tensor) -> None:
    """A write into an expanded tensor has no defined result, unless it has no elements."""
    if 0 not in out._strides or 0 in out._shape:
        return
    if any(t == 0 and s > 1 for s, t in zip(out._shape, out._strides)):
        raise RuntimeError(_OVERLAP)


def key_for_options(
    dtype: dtype | None, layout: layout | None, device: device | str | None
) -> DispatchKeySet:
    """The backend that a factory with these options runs on (c10 `computeDispatchKey`).

    Only the backend: the redispatch that uses it must not come back to autograd.
    """
    backend = as_device(device).backend
    name = f"Sparse{backend}" if layout is sparse_coo else backend
    return DispatchKeySet(getattr(DispatchKey, name))
