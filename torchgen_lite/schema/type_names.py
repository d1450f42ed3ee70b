"""The names of types that a schema may use."""

from __future__ import annotations

import re

# Used by native_functions.yaml of at least one release since 1.8.
_OPERATOR_TYPES = tuple("""
    Tensor int SymInt float bool SymBool str Scalar ScalarType Layout Device DeviceIndex
    MemoryFormat Generator Dimname DimVector QScheme ConstQuantizerPtr Storage Stream
    """.split())
# Known only to PyTorch's own schema parser.
_JIT_TYPES = tuple("""
    Any AnyClassType AnyEnumType AnyList AnyTuple Capsule Function None NoneType PyObject SymFloat
    complex number
    """.split())
BASE_TYPES = frozenset(_OPERATOR_TYPES + _JIT_TYPES)
# What a misspelled name may mean: operators have hardly any of the others.
MEANT_TYPES = (*_OPERATOR_TYPES, "Any", "SymFloat", "complex")

SYMBOLIC_TYPES = frozenset({"SymBool", "SymFloat", "SymInt"})
"""Numbers that a compiler may not know yet."""

TYPES_SINCE = {"SymBool": (2, 9)}
"""For each of these types, the first release whose dispatcher reads it in a schema."""

TYPES_UNTIL = {"Dimname": (2, 12)}
"""For each of these types, the last release that has it; the others are in all from 2.6 on."""

DEVICES = frozenset("""
    cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone
    """.split())
"""The devices that a string names in each release from 2.6 on: the types of a `Device`."""

# Names that take types in parentheses: `Dict(str, Tensor)`.
GENERIC_TYPES = frozenset({"Dict", "Future", "RRef", "Await", "Union"})

# What other languages call a type, and what a schema calls it. Names are without their namespace or module.
TYPE_SPELLINGS = {
    **dict.fromkeys("Array NDArray array ndarray tensor".split(), "Tensor"),
    **dict.fromkeys("Int int8 int16 int32 int64 uint8 long size_t unsigned".split(), "int"),
    **dict.fromkeys(
        "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split(), "int"
    ),
    **dict.fromkeys("String string string_view".split(), "str"),
    **dict.fromkeys("IntArrayRef Size".split(), "int[]"),
    "SymIntArrayRef": "SymInt[]",
    "OptionalTensor": "Tensor?",
    "OptionalIntArrayRef": "int[]?",
    "TensorList": "Tensor[]",
    **dict.fromkeys(("Boolean", "boolean"), "bool"),
    **dict.fromkeys("Float Double double float16 float32 float64".split(), "float"),
    **dict.fromkeys("DType DataType Dtype dtype".split(), "ScalarType"),
    "device": "Device",
    "layout": "Layout",
    "memory_format": "MemoryFormat",
    "list": "T[]",
    **dict.fromkeys(("Number", "number"), "Scalar"),
    "void": "()",
}


def spelling_of(name: str) -> str | None:
    """What a schema calls a type of another language: `at::IntArrayRef` is `int[]`. None for any other name."""
    base = re.split(r"\.|::", name)[-1]
    if base != name and base in BASE_TYPES:
        return base
    return TYPE_SPELLINGS.get(base)


def is_type_variable(name: str) -> bool:
    """Whether a name is a type variable, as in `(t[] a, t b) -> t[]`.

    PyTorch's parser takes any name that starts with a lowercase letter. Here the name has to look
    like a variable (`t`, `t1`, `tVal`, `key`), so that `flaot` is a mistake.
    """
    if name in ("key", "val") or "." in name:
        return "." not in name
    return name[:1].islower() and (len(name) == 1 or name[1].isupper() or name[1:].isdigit())
