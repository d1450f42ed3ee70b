"""One operator in PyTorch's `.pyi` files: `torch/_C/_VariableFunctions.pyi` and `__init__.pyi`.

def add(input: Tensor, other: Tensor, *, alpha: Number | _complex = 1) -> Tensor: ...
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.diagnostics.text import cut_at
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import (
    ANY,
    STAR,
    Annotation,
    Parameter,
    optional,
    returned,
    sequence,
    tuple_of,
    union,
)
from torchgen_lite.languages.python.torch_python import (
    NOTHING,
    PythonParameter,
    PythonSignature,
    signature,
)
from torchgen_lite.languages.python.types import TYPES
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import BaseType, ListType, OptionalType, Type
from torchgen_lite.schema.kind import VARIANTS
from torchgen_lite.schema.model import bare_type

# The annotation for types that no function of torch takes or returns; torchgen writes none.
_UNKNOWN = ANY
_SIZE = Annotation("_size")
_DEFAULTS = {
    **dict.fromkeys(NOTHING, "None"),
    "c10::MemoryFormat::Contiguous": "contiguous_format",
    "QScheme::PER_TENSOR_AFFINE": "per_tensor_affine",
}


def argument_type(type_: Type) -> Annotation:
    """What a caller may pass: `_int | _size` for `int[2]`, as one number may replace the list."""
    if isinstance(type_, OptionalType):
        return optional(argument_type(type_.elem))
    if isinstance(type_, BaseType):
        return TYPES["torch_pyi"].get(type_.name, _UNKNOWN)
    if not isinstance(type_, ListType):
        return _UNKNOWN
    elem = bare_type(type_.elem)
    if elem == "int":
        if type_.size is None:
            return _SIZE
        return union(Annotation("_int"), _SIZE)
    if is_tensor_like(type_):
        return _tensor_list(type_)
    item = argument_type(type_.elem)
    if elem == "SymInt" and type_.size is not None:
        return union(item, sequence(item))
    return sequence(item)


def _tensor_list(type_: ListType) -> Annotation:
    has_none = isinstance(type_.elem, OptionalType)
    tensor = Annotation("Tensor")
    item = optional(tensor) if has_none else tensor
    tensors = union(tuple_of(item), Annotation("list", (item,)))
    if type_.size is not None:
        tensors = union(tensor, tensors)
    return optional(tensors) if has_none else tensors


def return_type(type_: Type) -> Annotation:
    """The type of a result: as for an argument, but a single type where callers have a choice."""
    if isinstance(type_, OptionalType):
        return optional(return_type(type_.elem))
    if isinstance(type_, ListType):
        return tuple_of(return_type(type_.elem))
    if bare_type(type_) == "Device":
        return Annotation("_device")
    return argument_type(type_)


def returns_type(given: PythonSignature) -> Annotation:
    """`Tensor`, `tuple[Tensor, Tensor]`, `None`; `torch.return_types.max` where several results are all named."""
    if len(given.returns) > 1 and all(r.name is not None for r in given.returns):
        return Annotation(f"torch.return_types.{given.name}")
    return returned([return_type(r.type) for r in given.returns])


def parameter(given: PythonParameter) -> Parameter:
    """`alpha: Number | _complex = 1`."""
    name = identifier(given.name)
    annotation = argument_type(given.type)
    if name == "out":
        annotation = optional(annotation)
    default = given.default
    of_int = isinstance(given.type, ListType) and bare_type(given.type.elem) == "int"
    if default is not None and of_int and default.startswith("{") and default.endswith("}"):
        default = f"({', '.join(cut_at(default[1:-1], ','))})"
    return Parameter(name, annotation, default and _DEFAULTS.get(default, default))


def signature_text(given: PythonSignature) -> str:
    """The stub, on one line."""
    return _stub(given, given.with_star([*map(parameter, given.parameters)], STAR))


def vararg_signature_text(signature: PythonSignature) -> str | None:
    """The stub with variadic sizes, `def zeros(*size: _int)`; None if the operator has none.

    PyTorch accepts sizes this way if a list of integers is the only positional argument.
    """
    first = signature.parameters[0] if signature.parameters else None
    if first is None or len(signature.positional) != 1 or not isinstance(first.type, ListType):
        return None
    if bare_type(first.type.elem) not in ("int", "SymInt"):
        return None
    sizes = Parameter(first.name, argument_type(first.type.elem), stars="*")
    return _stub(signature, [sizes, *map(parameter, signature.parameters[1:])])


def _stub(signature: PythonSignature, parameters: Sequence[Parameter]) -> str:
    given = parameters
    if signature.method:
        given = [Parameter("self"), *parameters]
    return f"def {signature.name}({', '.join(map(str, given))}) -> {returns_type(signature)}: ..."


def signatures(function: NativeFunction) -> tuple[str, ...]:
    """Every stub of an entry: as a function, as a method, and with variadic sizes."""
    stubs: list[str] = []
    for variant in VARIANTS:
        if variant in function.variants:
            parts = signature(function, variant)
            stubs += filter(None, (signature_text(parts), vararg_signature_text(parts)))
    return tuple(stubs)
