"""One operator in PyTorch's Python API: the strings that PythonArgParser parses.

    add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None)

Out arguments are merged into one `out`; factories take dtype, layout, device, pin_memory and
requires_grad, whether or not their schemas have them. torchgen `api/python.py`, torch
`python_arg_parser.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from torchgen_lite.analysis.derive.layout import argument_layout, is_tensor_like
from torchgen_lite.languages.cpp import public
from torchgen_lite.languages.cpp.defaults import as_written
from torchgen_lite.languages.cpp.torch_types import Sizes
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, BaseType, ListType, OptionalType, Return, Type
from torchgen_lite.schema.kind import Variant
from torchgen_lite.schema.model import bare_type

T = TypeVar("T")
_TYPES = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
_LISTS = {
    "int": "IntArrayRef",
    "SymInt": "SymIntArrayRef",
    "Tensor": "TensorList",
    "Scalar": "ScalarList",
}
NOTHING = frozenset({"nullptr", "::std::nullopt", "std::nullopt", "{}"})


class PythonParameter(NamedTuple):
    """One parameter; `default` is text that PythonArgParser parses, or None."""

    name: str
    type: Type
    default: str | None = None


class PythonSignature(NamedTuple):
    """The parts of a signature, in the order in which they are written. A method omits `self`."""

    name: str
    positional: tuple[PythonParameter, ...]
    keywords: tuple[PythonParameter, ...]
    out: PythonParameter | None
    options: tuple[PythonParameter, ...]
    returns: tuple[Return, ...]
    method: bool

    @property
    def parameters(self) -> tuple[PythonParameter, ...]:
        """All parameters, in the order in which they are written."""
        out = () if self.out is None else (self.out,)
        return self.positional + self.keywords + out + self.options

    def with_star(self, parts: list[T], star: T) -> list[T]:
        """`parts`, one per parameter, with `star` inserted before the first keyword-only one."""
        if len(parts) > len(self.positional):
            parts.insert(len(self.positional), star)
        return parts

    def __str__(self) -> str:
        return signature_text(self)


_OPTIONS = (
    PythonParameter("dtype", OptionalType(BaseType("ScalarType")), "None"),
    PythonParameter("layout", OptionalType(BaseType("Layout")), "None"),
    PythonParameter("device", OptionalType(BaseType("Device")), "None"),
    PythonParameter("pin_memory", OptionalType(BaseType("bool")), "False"),
    PythonParameter("requires_grad", OptionalType(BaseType("bool")), "False"),
)


def argument_type(type_: Type, sizes: Sizes = "SymInt") -> str:
    """`Tensor`, `int64_t?`, `IntArrayRef[2]`."""
    if isinstance(type_, BaseType):
        return _TYPES.get(type_.name, type_.name)
    if isinstance(type_, OptionalType):
        return f"{argument_type(type_.elem, sizes)}?"
    if not isinstance(type_, ListType):
        return bare_type(type_)
    elem = bare_type(type_.elem)
    if elem == "bool" and type_.size is not None:
        return f"::std::array<bool,{type_.size}>"
    if elem == "Tensor?":
        return "c10::List<::std::optional<Tensor>>"
    known = _LISTS.get(sizes if elem == "SymInt" else elem)
    if known is None:
        return f"ArrayRef<{argument_type(type_.elem, sizes)}>"
    if type_.size is None:
        return known
    return f"{known}[{type_.size}]"


def default_text(argument: Argument) -> str | None:
    """The default as PythonArgParser reads it: from the C++ expression, since it uses C++ names."""
    if argument.default is None:
        return None
    if argument.default.startswith("["):
        return f"{{{argument.default[1:-1]}}}"
    expression = as_written(argument.default, argument.type, "int").text
    if expression in ("true", "false"):
        return expression.capitalize()
    for convert in (int, float):
        try:
            return str(convert(expression))
        except ValueError:
            continue
    return expression


def _parameter(argument: Argument) -> PythonParameter:
    """The parameter for an argument. The tensor `self` of a method is `input` in a function."""
    is_receiver = argument.name == "self" and bare_type(argument.type) == "Tensor"
    shown = "input" if is_receiver else argument.name
    return PythonParameter(shown, argument.type, default_text(argument))


def signature(function: NativeFunction, variant: Variant = "function") -> PythonSignature:
    schema = function.func
    layout = argument_layout(schema)
    positional = [a for a in layout.positional if not (variant == "method" and a.name == "self")]
    takes_options = _takes_options(function)
    return PythonSignature(
        schema.base_name,
        tuple(map(_parameter, positional)),
        tuple(map(_parameter, layout.before_options + layout.after_options)),
        _out_parameter(layout.out),
        _OPTIONS if takes_options else (),
        schema.returns,
        variant == "method",
    )


def _out_parameter(out: Sequence[Argument]) -> PythonParameter | None:
    """A single out argument unchanged, or several as one list of fixed size."""
    if not out:
        return None
    if len(out) == 1:
        return PythonParameter(out[0].name, out[0].type, "None")
    return PythonParameter("out", ListType(BaseType("Tensor"), len(out)), "None")


def _takes_options(function: NativeFunction) -> bool:
    """Whether it is a factory, `new_*` or `*_like`; `category_override` decides if names and types
    mislead."""
    schema = function.func
    category = function.category_override
    if category in ("dummy", "factory", "new", "like"):
        return category != "dummy"
    if schema.base_name.startswith("new_") or public.name(schema).endswith("_like"):
        return True
    makes = any(is_tensor_like(value.type) for value in schema.returns)
    takes = any(is_tensor_like(a.type) for a in schema.inputs)
    return makes and not takes


def parameter_text(parameter: PythonParameter, sizes: Sizes = "SymInt") -> str:
    """`Scalar alpha=1`."""
    text = f"{argument_type(parameter.type, sizes)} {parameter.name}"
    if parameter.default is None:
        return text
    return f"{text}={'None' if parameter.default in NOTHING else parameter.default}"


def signature_text(signature: PythonSignature, sizes: Sizes = "SymInt") -> str:
    """The string for PythonArgParser."""
    texts = [parameter_text(p, sizes) for p in signature.parameters]
    inner = ", ".join(signature.with_star(texts, "*"))
    return f"{signature.name}({inner})"
