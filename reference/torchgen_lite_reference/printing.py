"""`repr` of a tensor, as torch prints the simple cases: `tensor([[1., 2.]], dtype=tl.float64)`.

Differences: there are no printing options, and the digits of complex numbers are NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_lite_reference.device import cpu, meta
from torchgen_lite_reference.dtype import bool_, default_complex_dtype, get_default_dtype, int64
from torchgen_lite_reference.storage import Array

if TYPE_CHECKING:
    from torchgen_lite_reference.sparse_tensor import SparseTensor
    from torchgen_lite_reference.tensor import Tensor

PRECISION = 4
LINE_WIDTH = 80
THRESHOLD = 1000
EDGE_ITEMS = 3

Formatter = Callable[[Any], str]


def format_tensor(self: Tensor) -> str:
    """The text of a strided or sparse tensor."""
    if self.is_sparse:
        return _format_sparse(self)  # type: ignore[arg-type]
    prefix = "tensor("
    suffixes: list[str] = []
    if self._device is not cpu:
        suffixes.append(f"device='{self._device}'")
    default = (get_default_dtype(), default_complex_dtype())
    if self._device is meta:
        suffixes.append(f"size={_size(self._shape)}")
        if self._dtype is not default[0]:
            suffixes.append(f"dtype={self._dtype!r}")
        body = "..."
    elif not self.numel():
        if len(self._shape) != 1:
            suffixes.append(f"size={_size(self._shape)}")
        if self._dtype is not default[0]:
            suffixes.append(f"dtype={self._dtype!r}")
        body = "[]"
    else:
        if self._dtype not in (*default, int64, bool_):
            suffixes.append(f"dtype={self._dtype!r}")
        body = format_array(self._array, len(prefix))
    if self.grad_fn is not None:
        suffixes.append(f"grad_fn=<{self.grad_fn.name()}>")
    elif self._requires_grad:
        suffixes.append("requires_grad=True")
    return _join(prefix, body, suffixes)


def _format_sparse(self: SparseTensor) -> str:
    prefix = "tensor("
    indices, values = self._coo_indices, self._coo_values
    lead = "indices=tensor("
    parts = [f"indices=tensor({format_array(indices._array, len(prefix) + len(lead))})"]
    if not indices.numel():
        parts = [f"indices=tensor([], size={_size(indices._shape)})"]
    body = format_array(values._array, 14) if values.numel() else "[]"
    size = f", size={_size(values._shape)}" if not values.numel() else ""
    parts.append(f"values=tensor({body}{size})")
    dtype = "" if self._dtype is get_default_dtype() else f", dtype={self._dtype!r}"
    parts.append(
        f"size={_size(self._shape)}, nnz={indices._shape[1]}{dtype}, layout={self.layout!r})"
    )
    return prefix + ",\n       ".join(parts)


def _size(shape: Sequence[int]) -> str:
    return str(tuple(shape))


def _join(prefix: str, body: str, suffixes: list[str]) -> str:
    text = prefix + body
    last_line = len(text) - text.rfind("\n") - 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > LINE_WIDTH:
            text += ",\n" + " " * len(prefix) + suffix
            last_line = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            last_line += len(suffix) + 2
    return text + ")"


def format_array(array: Array, indent: int) -> str:
    summarize = array.size > THRESHOLD
    formatter = _formatter(_summary(array) if summarize else array)
    return _format_nested(array, indent, formatter, summarize)


def _summary(array: Array) -> Array:
    """The elements that are shown when the middle of a large tensor is left out."""
    for axis, size in enumerate(array.shape):
        if size > 2 * EDGE_ITEMS:
            kept = [*range(EDGE_ITEMS), *range(size - EDGE_ITEMS, size)]
            array = array.take(kept, axis)
    return array


def _format_nested(array: Array, indent: int, formatter: Formatter, summarize: bool) -> str:
    if not array.ndim:
        return formatter(array[()])
    if array.ndim == 1:
        return _format_row(array, indent, formatter, summarize)
    shown: list[str]
    size = len(array)
    if summarize and size > 2 * EDGE_ITEMS:
        rows = [*range(EDGE_ITEMS), *range(size - EDGE_ITEMS, size)]
        shown = [_format_nested(array[i], indent + 1, formatter, summarize) for i in rows]
        shown.insert(EDGE_ITEMS, "...")
    else:
        shown = [_format_nested(row, indent + 1, formatter, summarize) for row in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(shown) + "]"


def _format_row(row: Array, indent: int, formatter: Formatter, summarize: bool) -> str:
    if summarize and len(row) > 2 * EDGE_ITEMS:
        texts = [formatter(x) for x in row[:EDGE_ITEMS]]
        texts.append(" ...")
        texts += [formatter(x) for x in row[-EDGE_ITEMS:]]
    else:
        texts = [formatter(x) for x in row]
    width = max((len(text) for text in texts if text != " ..."), default=1) + 2
    per_line = max(1, (LINE_WIDTH - indent) // width)
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _formatter(array: Array) -> Formatter:
    """One format for all the elements, so that columns line up."""
    kind = array.dtype.kind
    if kind == "f":
        return _float_formatter(array.astype(np.float64))
    if kind == "c":
        return _complex_formatter(array)
    width = max((len(str(x)) for x in array.ravel().tolist()), default=1)
    return lambda value: str(value).rjust(width)


def _float_formatter(values: Array) -> Formatter:
    finite = values[np.isfinite(values) & (values != 0)]
    if not finite.size:
        return _plain
    magnitude = np.abs(finite)
    low, high = float(magnitude.min()), float(magnitude.max())
    whole = bool((np.ceil(finite) == finite).all())
    scientific = high / low > 1000.0 or high > 1.0e8 or (not whole and low < 1.0e-4)
    text: Formatter
    if scientific:
        text = _scientific
    elif whole:
        text = _plain
    else:
        text = _fixed
    width = max(len(text(x)) for x in finite.tolist())
    return lambda value: text(value).rjust(width)


def _plain(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def _fixed(value: float) -> str:
    return f"{value:.{PRECISION}f}"


def _scientific(value: float) -> str:
    return f"{value:.{PRECISION}e}"


def _complex_formatter(array: Array) -> Formatter:
    real, imaginary = _float_formatter(array.real), _float_formatter(np.abs(array.imag))

    def text(value: complex) -> str:
        sign = "-" if math.copysign(1.0, value.imag) < 0 else "+"
        return f"{real(value.real)}{sign}{imaginary(abs(value.imag)).lstrip()}j"

    return text
