"""Element types, under torch's names.

`dtype` objects are interned module constants (`float32`, `int64` ...): compare them with `is` or
`==`. Each knows its NumPy dtype (`.numpy`), its size (`.itemsize`), its category (`.category`: 0
bool, 1 integer, 2 floating, 3 complex) and the name that ATen's messages use (`.scalar_type`,
"Float").

    of_numpy(np.dtype)       -> dtype     (TypeError for a type that is not among ours)
    of_value(bool|int|...)   -> dtype     what a Python scalar infers: bool, int64, default, complex
    get_default_dtype(), set_default_dtype(d), default_complex_dtype()
    finfo(d), iinfo(d)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

BOOL: Final = 0
INTEGER: Final = 1
FLOATING: Final = 2
COMPLEX: Final = 3


class dtype:
    """One element type; there is exactly one object for each."""

    __slots__ = (
        "category",
        "differentiable",
        "is_complex",
        "is_floating_point",
        "itemsize",
        "name",
        "numpy",
        "scalar_type",
    )

    name: str
    scalar_type: str
    numpy: np.dtype[Any]
    itemsize: int
    category: int
    is_floating_point: bool
    is_complex: bool
    differentiable: bool

    def __init__(self, name: str, scalar_type: str, category: int) -> None:
        self.name = name
        self.scalar_type = scalar_type
        self.numpy = np.dtype(name)
        self.itemsize = self.numpy.itemsize
        self.category = category
        self.is_floating_point = category == FLOATING
        self.is_complex = category == COMPLEX
        self.differentiable = category >= FLOATING

    @property
    def is_signed(self) -> bool:
        return self.category > INTEGER or self.numpy.kind == "i"

    def to_real(self) -> dtype:
        """The type of the real part: complex64 -> float32; other types are their own."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """The complex type of this precision; float16 has none here and takes complex64."""
        if self.category == COMPLEX:
            return self
        return complex128 if self is float64 else complex64

    def __repr__(self) -> str:
        return f"tl.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (by_name, (self.name,))

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self


# bool is a name of this module from here on, as it is of torch; builtins are reached otherwise.
bool_ = dtype("bool", "Bool", BOOL)
uint8 = dtype("uint8", "Byte", INTEGER)
int8 = dtype("int8", "Char", INTEGER)
int16 = dtype("int16", "Short", INTEGER)
int32 = dtype("int32", "Int", INTEGER)
int64 = dtype("int64", "Long", INTEGER)
float16 = dtype("float16", "Half", FLOATING)
float32 = dtype("float32", "Float", FLOATING)
float64 = dtype("float64", "Double", FLOATING)
complex64 = dtype("complex64", "ComplexFloat", COMPLEX)
complex128 = dtype("complex128", "ComplexDouble", COMPLEX)

ALL: Final = (
    bool_,
    uint8,
    int8,
    int16,
    int32,
    int64,
    float16,
    float32,
    float64,
    complex64,
    complex128,
)
ALIASES: Final = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
}

_BY_NAME: Final = {entry.name: entry for entry in ALL}
_BY_NUMPY: Final = {entry.numpy: entry for entry in ALL}
_default: dtype = float32


def by_name(name: str) -> dtype:
    return _BY_NAME[name]


def of_numpy(array_dtype: np.dtype[Any]) -> dtype:
    """The element type of a NumPy dtype, in whatever byte order NumPy writes it natively."""
    try:
        return _BY_NUMPY[array_dtype]
    except KeyError:
        names = ", ".join(entry.name for entry in ALL)
        raise TypeError(
            f"can't convert an array of dtype {array_dtype}; the supported types are: {names}"
        ) from None


def of_value(value: object) -> dtype:
    """The type that a Python scalar alone would infer (c10 `Scalar::type` with the defaults)."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return _default
    if isinstance(value, (complex, np.complexfloating)):
        return default_complex_dtype()
    raise TypeError(f"expected a Python number, got {type(value).__name__}")


def get_default_dtype() -> dtype:
    """The type of `tensor([1.0])` and of the mean of integers."""
    return _default


def set_default_dtype(new: dtype) -> None:
    global _default
    if new.category != FLOATING:
        raise TypeError(f"only floating-point types are supported as the default type, not {new!r}")
    _default = new


def default_complex_dtype() -> dtype:
    return complex128 if _default is float64 else complex64


def finfo(of: dtype) -> np.finfo[Any]:
    limits: np.finfo[Any] = np.finfo(of.numpy)
    return limits


def iinfo(of: dtype) -> np.iinfo[Any]:
    return np.iinfo(of.numpy)
