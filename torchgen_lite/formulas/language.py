"""What formulas may say, as data: names, attributes, methods and functions, each with its kind.

One table has what PyTorch has; a language is the part of it that one field of an entry may use.

    derivatives:  GRADIENTS   what is not declared is assumed to be a tensor: C++ has the last word
    fake:         RULES       what no table has is a mistake; symbolic integers are integers
    samples:      SAMPLES     names of PyTorch; what is called makes a tensor
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torchgen_lite.formulas.kinds import (
    BOOL,
    BOOLS,
    DEVICE,
    DTYPE,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    LAYOUT,
    MEMORY_FORMAT,
    SCALAR,
    SYMINT,
    SYMINTS,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Kind,
    as_integer,
    kind_of_type,
)
from torchgen_lite.schema import Type
from torchgen_lite.schema.defaults import ENUMERATORS

Wanted = frozenset[Kind]
ANY = frozenset({UNKNOWN})
NUMBERS = frozenset({INT, FLOAT, BOOL, SCALAR})
LISTS = frozenset({TENSORS, INTS, FLOATS, BOOLS})
DTYPES = frozenset(ENUMERATORS["ScalarType"])
_INTEGRAL = frozenset("Bool Byte Char Int Long Short UInt16 UInt32 UInt64".split())
INTEGRAL_DTYPES = frozenset(n for n, enum in ENUMERATORS["ScalarType"].items() if enum in _INTEGRAL)
"""The names of integral dtypes, which libtorch does not let require a gradient."""


class Method(NamedTuple):
    """A method of a tensor: the kind of its result, and of the one for an integer, if it takes one."""

    result: Kind
    indexed: Kind | None = None


class Function(NamedTuple):
    """A function: the kind of its result, its parameters (`...` repeats the last), how many it needs."""

    result: Kind
    takes: tuple[Wanted, ...] = (ANY,)
    least: int = 0
    repeats: bool = False

    def wanted(self, position: int) -> Wanted:
        return self.takes[min(position, len(self.takes) - 1)]

    def miscounted(self, count: int) -> str:
        """What it takes instead of so many arguments; empty if it takes them."""
        most = None if self.repeats else len(self.takes)
        if self.least <= count and (most is None or count <= most):
            return ""
        number = f"at least {self.least}" if most != self.least else f"{most}"
        return f"{number} argument{'s' * (self.least != 1)}, not {count}"


class Language(NamedTuple):
    """What one field may say. `assumed` is the kind of what is in no table, which is a mistake if it `is_closed`."""

    constants: Mapping[str, Kind]
    attributes: Mapping[str, Kind]
    methods: Mapping[str, Method]
    functions: Mapping[str, Function]
    assumed: Kind = UNKNOWN
    is_closed: bool = False


TRUTH = dict.fromkeys(("True", "False", "true", "false"), BOOL)
CONSTANTS = {
    **dict.fromkeys(DTYPES, DTYPE),
    **dict.fromkeys(ENUMERATORS["MemoryFormat"], MEMORY_FORMAT),
    **TRUTH,
}
# What a tensor has besides tensors.
_ATTRIBUTES = {
    "device": DEVICE,
    "dtype": DTYPE,
    "layout": LAYOUT,
    "ndim": INT,
    "requires_grad": BOOL,
    "shape": SYMINTS,
}
_METHODS = {
    "defined": Method(BOOL),
    "dim": Method(INT),
    "expect_int": Method(INT),
    "is_complex": Method(BOOL),
    "is_conj": Method(BOOL),
    "is_floating_point": Method(BOOL),
    "item": Method(SCALAR),
    "layout": Method(LAYOUT),
    "numel": Method(SYMINT),
    "options": Method(UNKNOWN),
    "scalar_type": Method(DTYPE),
    "size": Method(SYMINTS, SYMINT),
    "sizes": Method(SYMINTS),
    "storage_offset": Method(INT),
    "stride": Method(SYMINTS, SYMINT),
    "suggest_memory_format": Method(MEMORY_FORMAT),
    "sym_blocksize": Method(UNKNOWN),
    "sym_numel": Method(SYMINT),
    "sym_size": Method(SYMINTS, SYMINT),
    "sym_sizes": Method(SYMINTS),
    "sym_strides": Method(SYMINTS),
}
# Helpers of PyTorch's formulas whose result is no tensor.
_HELPERS = ("TensorGeometry", "to_args_scalartypes", "to_args_sizes", "to_args_sizes_symint")

GRADIENTS = Language(
    TRUTH, _ATTRIBUTES, _METHODS, dict.fromkeys(_HELPERS, Function(UNKNOWN)), TENSOR
)
CERTAIN = GRADIENTS._replace(assumed=UNKNOWN)
"""The same formulas, for checks: what is not declared may be anything."""
SAMPLES = Language(CONSTANTS, {}, {}, {}, TENSOR)

_INT, _BOOL, _DTYPE = frozenset({INT}), frozenset({BOOL}), frozenset({DTYPE})
_SHAPE = frozenset({TENSOR, INTS})
_DIMS = frozenset(kind._replace(is_optional=flag) for kind in (INT, INTS) for flag in (False, True))
RULES = Language(
    CONSTANTS,
    {name: as_integer(_ATTRIBUTES[name]) for name in ("shape", "dtype", "device", "ndim")},
    {
        name: Method(as_integer(_METHODS[name].result), _METHODS[name].indexed and INT)
        for name in ("defined", "dim", "numel", "size", "storage_offset", "stride", "sym_size")
    },
    {
        "broadcast": Function(INTS, (_SHAPE,), 1, True),
        "ceil_div": Function(INT, (_INT, _INT), 2),
        "concat": Function(INTS, (frozenset({INTS}),), 1, True),
        "floor_div": Function(INT, (_INT, _INT), 2),
        "len": Function(INT, (LISTS,), 1),
        "max": Function(INT, (_INT,), 2, True),
        "min": Function(INT, (_INT,), 2, True),
        "promote": Function(DTYPE, (NUMBERS | {TENSOR, DTYPE},), 1, True),
        "real": Function(DTYPE, (_DTYPE | {TENSOR},), 1),
        "reduced": Function(INTS, (_SHAPE, _DIMS, _BOOL), 2),
        "sum_sizes": Function(INT, (frozenset({TENSORS}), _INT), 2),
        "with_size": Function(INTS, (_SHAPE, _INT, _INT), 3),
    },
    is_closed=True,
)


def value_kind(type_: Type) -> Kind:
    """The kind of an argument or a result in rules and samples; lists that these don't have are unknown."""
    kind = as_integer(kind_of_type(type_))
    return UNKNOWN if kind.is_list and kind.present not in LISTS else kind
