"""One operator in the `.pyi` files of PyTorch: `torch/_C/_VariableFunctions.pyi` and `__init__.pyi`.

def add(input: Tensor, other: Tensor, *, alpha: Number | _complex = 1) -> Tensor: ...
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.torch_python import PythonParameter, PythonSignature, signature
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import BaseType, ListType, OptionalType, Return, Type
from torchgen_lite.schema.model import bare_type

_TYPES = {
    "int": "_int",
    "DeviceIndex": "_int",
    "SymInt": "_int | SymInt",
    "float": "_float",
    "str": "str",
    "Scalar": "Number | _complex",
    "ScalarType": "_dtype",
    "bool": "_bool",
    "SymBool": "_bool",
    "complex": "_complex",
    "QScheme": "_qscheme",
    "Layout": "_layout",
    "Device": "DeviceLikeType | None",
    "MemoryFormat": "memory_format",
    "Storage": "Storage | UntypedStorage",
    "Tensor": "Tensor",
    "Generator": "Generator",
    "Stream": "Stream",
}
# Types that no function of torch takes or returns; torchgen writes nothing at all.
_UNKNOWN = "Any"
_DEFAULTS = {
    "nullptr": "None",
    "::std::nullopt": "None",
    "std::nullopt": "None",
    "{}": "None",
    "c10::MemoryFormat::Contiguous": "contiguous_format",
    "QScheme::PER_TENSOR_AFFINE": "per_tensor_affine",
}


def _optional(type_: str) -> str:
    return type_ if type_.endswith(" | None") else f"{type_} | None"


def argument_type(type_: Type) -> str:
    """What a caller may pass: `_int | _size` for `int[2]`, since one number stands for all."""
    if isinstance(type_, OptionalType):
        return _optional(argument_type(type_.elem))
    if isinstance(type_, BaseType):
        return _TYPES.get(type_.name, _UNKNOWN)
    if not isinstance(type_, ListType):
        return _UNKNOWN
    elem = bare_type(type_.elem)
    if elem == "int":
        return "_size" if type_.size is None else "_int | _size"
    if is_tensor_like(type_):
        return _tensor_list(type_)
    item = argument_type(type_.elem)
    if elem == "SymInt" and type_.size is not None:
        return f"{item} | Sequence[{item}]"
    return f"Sequence[{item}]"


def _tensor_list(type_: ListType) -> str:
    optional = isinstance(type_.elem, OptionalType)
    item = "Tensor | None" if optional else "Tensor"
    text = f"tuple[{item}, ...] | list[{item}]"
    if type_.size is not None:
        text = f"Tensor | {text}"
    return _optional(text) if optional else text


def return_type(type_: Type) -> str:
    """What comes back: as for arguments, but one type where a caller has a choice."""
    if isinstance(type_, OptionalType):
        return _optional(return_type(type_.elem))
    if isinstance(type_, ListType):
        return f"tuple[{return_type(type_.elem)}, ...]"
    return "_device" if bare_type(type_) == "Device" else argument_type(type_)


def field_names(returns: Sequence[Return]) -> tuple[str, ...]:
    """The names of a returned named tuple: where there are several results, and all have names."""
    names = tuple([r.name for r in returns if r.name is not None])
    return names if len(returns) > 1 and len(names) == len(returns) else ()


def returns_type(found: PythonSignature) -> str:
    """`Tensor`, `tuple[Tensor, Tensor]`, `torch.return_types.max`, `None`."""
    if field_names(found.returns):
        return f"torch.return_types.{found.name}"
    types = [return_type(r.type) for r in found.returns]
    if len(types) == 1:
        return types[0]
    return f"tuple[{', '.join(types)}]" if types else "None"


def parameter_text(parameter: PythonParameter) -> str:
    """`alpha: Number | _complex = 1`."""
    type_ = argument_type(parameter.type)
    text = identifier(parameter.name)
    if text == "out":
        type_ = _optional(type_)
    if parameter.default is None:
        return f"{text}: {type_}"
    return f"{text}: {type_} = {_default(parameter, parameter.default)}"


def _default(parameter: PythonParameter, default: str) -> str:
    of_int = isinstance(parameter.type, ListType) and bare_type(parameter.type.elem) == "int"
    if of_int and default.startswith("{") and default.endswith("}"):
        return f"({', '.join([item.strip() for item in default[1:-1].split(',')])})"
    return _DEFAULTS.get(default, default)


def arguments(found: PythonSignature) -> list[str]:
    """The parameters as they are written, `self` and `*` among them."""
    texts = found.with_star([parameter_text(p) for p in found.parameters])
    return ["self", *texts] if found.method else texts


def signature_text(found: PythonSignature) -> str:
    """The stub, on one line."""
    return _stub(found.name, arguments(found), returns_type(found))


def vararg_signature_text(found: PythonSignature) -> str | None:
    """The stub with sizes spread out, `def zeros(*size: _int)`; None where there is none.

    PyTorch takes them so where a list of numbers is the only positional argument.
    """
    first = found.parameters[0] if found.parameters else None
    if first is None or len(found.positional) != 1 or not isinstance(first.type, ListType):
        return None
    if bare_type(first.type.elem) not in ("int", "SymInt"):
        return None
    texts = [parameter_text(p) for p in found.parameters]
    texts[0] = f"*{first.name}: {argument_type(first.type.elem)}"
    if found.method:
        texts.insert(0, "self")
    return _stub(found.name, texts, returns_type(found))


def _stub(function: str, texts: Sequence[str], returns: str) -> str:
    return f"def {function}({', '.join(texts)}) -> {returns}: ..."


def signatures(function: NativeFunction) -> tuple[str, ...]:
    """Every stub of an entry: as a function, as a method, and with sizes spread out."""
    found: list[str] = []
    for variant in ("function", "method"):
        if variant in function.variants:
            parts = signature(function, method=variant == "method")
            found += filter(None, (signature_text(parts), vararg_signature_text(parts)))
    return tuple(found)
