"""What formulas may say, as data: names, attributes, methods and functions, each with its kind.

One table has what PyTorch has; a language is the part of it that one field of an entry may use.

    derivatives:  GRADIENTS   what is not declared is assumed to be a tensor: C++ has the last word
    fake:         RULES       what no table has is a mistake; symbolic integers are integers
    samples:      SAMPLES     names of PyTorch; what is called makes a tensor
    reference:    REFERENCES  an expression of Python; nothing is assumed
    dispatch:     CONDITIONS  what is known of a call before it is made; nothing that reads data
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from torchgen_lite.formulas import kinds
from torchgen_lite.formulas.facts import Fact
from torchgen_lite.schema import Argument, Type
from torchgen_lite.schema.defaults import ENUMERATORS

Wanted = frozenset[kinds.Kind]
ANY = frozenset({kinds.UNKNOWN})
NUMBERS = frozenset({kinds.INT, kinds.FLOAT, kinds.BOOL, kinds.SCALAR})
LISTS = frozenset({kinds.TENSORS, kinds.INTS, kinds.FLOATS, kinds.BOOLS})
DTYPES = frozenset(ENUMERATORS["ScalarType"])
_INTEGRAL = frozenset("Bool Byte Char Int Long Short UInt16 UInt32 UInt64".split())
INTEGRAL_DTYPES = frozenset(n for n, enum in ENUMERATORS["ScalarType"].items() if enum in _INTEGRAL)
"""The names of integral dtypes, which libtorch does not let require a gradient."""


class Method(NamedTuple):
    """A method of a tensor: the kind of its result, and of the one for an integer, if it takes one; what is saved for
    its result instead of the tensor."""

    result: kinds.Kind
    indexed: kinds.Kind | None = None
    saved: Fact | None = None


class Function(NamedTuple):
    """A function: the kind of its result, its parameters (`...` repeats the last), how many it needs."""

    result: kinds.Kind
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
    """What one field may say. `assumed` is the kind of what is in no table, which is a mistake if it `is_closed`.

    Where it `is_python`, `and` and `or` give an operand, the branches of a condition may be of two kinds, and an item
    of a tensor is a tensor. In messages its expressions are called a `noun`, and mistakes have the codes of an unknown
    name and of a wrong kind.
    """

    constants: Mapping[str, kinds.Kind]
    attributes: Mapping[str, kinds.Kind]
    methods: Mapping[str, Method]
    functions: Mapping[str, Function]
    assumed: kinds.Kind = kinds.UNKNOWN
    is_closed: bool = False
    is_python: bool = False
    noun: str = "rule"
    unknown_name: str = "TG332"
    wrong_kind: str = "TG333"


TRUTH = dict.fromkeys(("True", "False", "true", "false"), kinds.BOOL)
CONSTANTS = {
    **dict.fromkeys(DTYPES, kinds.DTYPE),
    **dict.fromkeys(ENUMERATORS["MemoryFormat"], kinds.MEMORY_FORMAT),
    **TRUTH,
}
# What a tensor has besides tensors.
_ATTRIBUTES = {
    "device": kinds.DEVICE,
    "dtype": kinds.DTYPE,
    "layout": kinds.LAYOUT,
    "ndim": kinds.INT,
    "requires_grad": kinds.BOOL,
    "shape": kinds.SYMINTS,
}
_METHODS = {
    "defined": Method(kinds.BOOL),
    "dim": Method(kinds.INT, saved=Fact.dim),
    "expect_int": Method(kinds.INT),
    "is_complex": Method(kinds.BOOL),
    "is_conj": Method(kinds.BOOL, saved=Fact.conjugate),
    "is_floating_point": Method(kinds.BOOL),
    "item": Method(kinds.SCALAR),
    "layout": Method(kinds.LAYOUT, saved=Fact.layout),
    "numel": Method(kinds.SYMINT, saved=Fact.numel),
    "options": Method(kinds.UNKNOWN, saved=Fact.options),
    "scalar_type": Method(kinds.DTYPE, saved=Fact.scalar_type),
    "size": Method(kinds.SYMINTS, kinds.SYMINT, saved=Fact.sym_sizes),
    "sizes": Method(kinds.SYMINTS),
    "storage_offset": Method(kinds.INT),
    "stride": Method(kinds.SYMINTS, kinds.SYMINT),
    "suggest_memory_format": Method(kinds.MEMORY_FORMAT),
    "sym_blocksize": Method(kinds.UNKNOWN, saved=Fact.blocksize),
    "sym_numel": Method(kinds.SYMINT, saved=Fact.sym_numel),
    "sym_size": Method(kinds.SYMINTS, kinds.SYMINT),
    "sym_sizes": Method(kinds.SYMINTS, saved=Fact.sym_sizes),
    "sym_strides": Method(kinds.SYMINTS, saved=Fact.sym_strides),
}
# Helpers of PyTorch's formulas whose result is no tensor.
_HELPERS = ("TensorGeometry", "to_args_scalartypes", "to_args_sizes", "to_args_sizes_symint")

GRADIENTS = Language(
    TRUTH,
    _ATTRIBUTES,
    _METHODS,
    dict.fromkeys(_HELPERS, Function(kinds.UNKNOWN)),
    kinds.TENSOR,
)
CERTAIN = GRADIENTS._replace(assumed=kinds.UNKNOWN)
"""The same formulas, for checks: what is not declared may be anything."""
SAMPLES = Language(CONSTANTS, {}, {}, {}, kinds.TENSOR)
_TENSORS_OF_TENSORS = ("H", "T", "imag", "mH", "mT", "real")
_BUILTINS = {
    "bool": Function(kinds.BOOL),
    "float": Function(kinds.FLOAT),
    "int": Function(kinds.INT),
    "len": Function(kinds.INT),
}
REFERENCES = Language(
    TRUTH,
    {**_ATTRIBUTES, **dict.fromkeys(_TENSORS_OF_TENSORS, kinds.TENSOR)},
    _METHODS,
    _BUILTINS,
    is_python=True,
)


def _attributes(*names: str) -> dict[str, kinds.Kind]:
    """Some of the attributes, where symbolic integers are integers."""
    return {name: kinds.as_integer(_ATTRIBUTES[name]) for name in names}


def _methods(*names: str) -> dict[str, Method]:
    """The same of methods."""
    methods = {}
    for name in names:
        method = _METHODS[name]
        methods[name] = Method(kinds.as_integer(method.result), method.indexed and kinds.INT)
    return methods


_INT = frozenset({kinds.INT})
_BOOL = frozenset({kinds.BOOL})
_DTYPE = frozenset({kinds.DTYPE})
_SHAPE = frozenset({kinds.TENSOR, kinds.INTS})
_DIMS = frozenset(
    kind._replace(is_optional=flag) for kind in (kinds.INT, kinds.INTS) for flag in (False, True)
)
_OF_INTEGERS = {
    "floor_div": Function(kinds.INT, (_INT, _INT), 2),
    "len": Function(kinds.INT, (LISTS,), 1),
    "max": Function(kinds.INT, (_INT,), 2, True),
    "min": Function(kinds.INT, (_INT,), 2, True),
}
_SIZES = ("defined", "dim", "numel", "size", "storage_offset", "stride")
RULES = Language(
    CONSTANTS,
    _attributes("shape", "dtype", "device", "ndim"),
    _methods(*_SIZES, "sym_size"),
    {
        "broadcast": Function(kinds.INTS, (_SHAPE,), 1, True),
        "ceil_div": Function(kinds.INT, (_INT, _INT), 2),
        "concat": Function(kinds.INTS, (frozenset({kinds.INTS}),), 1, True),
        **_OF_INTEGERS,
        "promote": Function(kinds.DTYPE, (NUMBERS | {kinds.TENSOR, kinds.DTYPE},), 1, True),
        "real": Function(kinds.DTYPE, (_DTYPE | {kinds.TENSOR},), 1),
        "reduced": Function(kinds.INTS, (_SHAPE, _DIMS, _BOOL), 2),
        "sum_sizes": Function(kinds.INT, (frozenset({kinds.TENSORS}), _INT), 2),
        "with_size": Function(kinds.INTS, (_SHAPE, _INT, _INT), 3),
    },
    is_closed=True,
)

CONDITIONS = Language(
    CONSTANTS,
    _attributes("shape", "dtype", "ndim", "requires_grad"),
    {
        **_methods(*_SIZES),
        "is_aligned": Method(kinds.BOOL, kinds.BOOL),
        "is_complex": Method(kinds.BOOL),
        "is_contiguous": Method(kinds.BOOL),
        "is_floating_point": Method(kinds.BOOL),
    },
    {
        "capability": Function(kinds.INT, (frozenset({kinds.TENSOR}),), 1),
        **_OF_INTEGERS,
    },
    is_closed=True,
    noun="condition",
    unknown_name="TG390",
    wrong_kind="TG391",
)
"""`x.is_aligned(16)`: the address of the first element is divisible by 16. `capability(x)`: ten times the major version
of what the device of a tensor is capable of, plus the minor one, such as 90; 0 for devices that have none."""


def kinds_of_values(arguments: Iterable[Argument]) -> dict[str, kinds.Kind]:
    """The kinds of arguments in rules, samples and conditions, by their names."""
    return {argument.name: value_kind(argument.type) for argument in arguments}


def value_kind(type_: Type) -> kinds.Kind:
    """The kind of an argument or a result in rules and samples; lists that these don't have are unknown."""
    kind = kinds.as_integer(kinds.kind_of_type(type_))
    if kind.is_list and kind.present not in LISTS:
        return kinds.UNKNOWN
    return kind
