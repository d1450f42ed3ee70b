"""The kind of an expression's value, as far as it is known without running the expression.

Note [Kinds in formulas]
Formulas are untyped, but the code generated from them is not: a symbolic size needs a different C++
function, a quotient of two integers is not an integer, an optional number is unpacked before any
arithmetic, and a rule of `fake:` asks for integers. So each expression has a kind. Symbolic
integers have a different kind from other integers, and what is computed of them and is a float from other floats.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from torchgen_lite.schema.model import BaseType, ListType, OptionalType, Type


class Sort(Enum):
    """The sort of one value, in the words that messages use."""

    tensor = "tensor"
    int = "integer"
    symint = "symbolic integer"
    float = "float"
    symfloat = "symbolic float"
    bool = "boolean"
    scalar = "number"
    string = "string"
    dtype = "dtype"
    layout = "layout"
    device = "device"
    memory_format = "memory format"
    unknown = "value"


class Kind(NamedTuple):
    """The kind of a value or of a list of values; `is_optional` if it may be None."""

    sort: Sort
    is_list: bool = False
    is_optional: bool = False

    @property
    def present(self) -> Kind:
        """The kind if the value is known not to be None."""
        if self.is_optional:
            return self._replace(is_optional=False)
        return self

    @property
    def is_known(self) -> bool:
        return self.sort is not Sort.unknown

    @property
    def is_number(self) -> bool:
        return self.sort in NUMBER_SORTS and not self.is_list and not self.is_optional

    @property
    def words(self) -> str:
        """`a tensor`, `a list of integers or None`."""
        noun = self.sort.value
        article = "an" if noun[0] in "aeiou" else "a"
        words = f"a list of {noun}s" if self.is_list else f"{article} {noun}"
        if self.is_optional:
            return f"{words} or None"
        return words


UNKNOWN = Kind(Sort.unknown)
TENSOR = Kind(Sort.tensor)
TENSORS = Kind(Sort.tensor, is_list=True)
INT = Kind(Sort.int)
INTS = Kind(Sort.int, is_list=True)
SYMINT = Kind(Sort.symint)
SYMINTS = Kind(Sort.symint, is_list=True)
FLOAT = Kind(Sort.float)
SYMFLOAT = Kind(Sort.symfloat)
FLOATS = Kind(Sort.float, is_list=True)
BOOL = Kind(Sort.bool)
BOOLS = Kind(Sort.bool, is_list=True)
SCALAR = Kind(Sort.scalar)
STRING = Kind(Sort.string)
DTYPE = Kind(Sort.dtype)
LAYOUT = Kind(Sort.layout)
DEVICE = Kind(Sort.device)
MEMORY_FORMAT = Kind(Sort.memory_format)

NUMBER_SORTS = frozenset({Sort.int, Sort.symint, Sort.float, Sort.symfloat, Sort.bool, Sort.scalar})
_SORTS = {
    "Tensor": Sort.tensor,
    "int": Sort.int,
    "SymInt": Sort.symint,
    "float": Sort.float,
    "bool": Sort.bool,
    "SymBool": Sort.bool,
    "str": Sort.string,
    "Scalar": Sort.scalar,
    "number": Sort.scalar,
    "ScalarType": Sort.dtype,
    "Layout": Sort.layout,
    "Device": Sort.device,
    "MemoryFormat": Sort.memory_format,
}


def kind_of_type(type_: Type) -> Kind:
    if isinstance(type_, OptionalType):
        return kind_of_type(type_.elem)._replace(is_optional=True)
    if isinstance(type_, ListType):
        inner = kind_of_type(type_.elem)
        if inner.is_list or inner.is_optional:
            return UNKNOWN
        return inner._replace(is_list=True)
    if isinstance(type_, BaseType):
        return Kind(_SORTS.get(type_.name, Sort.unknown))
    return UNKNOWN


def as_integer(kind: Kind) -> Kind:
    """The kind where symbolic integers are integers, as in Python."""
    if kind.sort is Sort.symint:
        return kind._replace(sort=Sort.int)
    return kind
