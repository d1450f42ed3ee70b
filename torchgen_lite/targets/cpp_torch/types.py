"""The C++ types of an operator, spelled in the style of the output.

The dispatcher's dialect says what they are. For operators of PyTorch's that is the whole truth. Elsewhere
some of its types are such that libtorch refuses a kernel with them: torchgen never met a `bool[]`, a
`Dict` or a list of lists, it passes a written `Tensor?` as `at::Tensor&`, which is read as a `Tensor`, and
a `str` that is returned would refer to a text that is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_types, dispatcher
from torchgen_lite.dialects.cpp_signature import CppParameter, CppSignature
from torchgen_lite.dialects.cpp_types import OPTIONAL_TENSOR, Conventions, const
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument, BaseType, ListType, OptionalType, Type, walk_type
from torchgen_lite.schema.model import GenericType, TupleType, bare_type
from torchgen_lite.targets.cpp_torch.defaults import own_default

# What nearly every signature needs.
_ALWAYS = ("ATen/core/Tensor.h", "c10/core/Scalar.h")
_HEADERS = (
    ("c10::Dict<", "ATen/core/Dict.h"),
    ("at::Generator", "ATen/core/Generator.h"),
    ("c10::List<", "ATen/core/List.h"),
    ("c10::IValue", "ATen/core/ivalue.h"),
    ("at::Stream", "c10/core/Stream.h"),
)
_STANDARD_HEADERS = (
    ("std::array<", "array"),
    ("int64_t", "cstdint"),
    ("std::optional<", "optional"),
    ("std::string", "string"),
    ("c10::string_view", "string_view"),
    ("std::tuple<", "tuple"),
    ("std::vector<", "vector"),
)
# The named types that libtorch passes to a kernel.
_TAKEN = frozenset("""
    Any Device Generator Layout MemoryFormat QScheme Scalar ScalarType Storage Stream
    SymBool SymInt Tensor bool complex float int number str
    """.split())
# libtorch takes a generator that is returned for an optional one.
_RESULTS_REFUSED = frozenset({"Scalar[]", "number[]", "Generator"})


def signature(function: NativeFunction, *, symint: bool = True) -> CppSignature:
    """What the dispatcher calls, and what a kernel is; `symint` says whether it takes `c10::SymInt`."""
    return own_types(function, dispatcher.signature(function, symint=symint))


def own_types(function: NativeFunction, signature: CppSignature) -> CppSignature:
    """A signature of a dialect with the types that libtorch takes."""
    own: dict[str, str] = {}
    defaults: dict[str, Argument] = {}
    returns = signature.returns
    if function.namespace not in TORCH_NAMESPACES:
        arguments = {a.name: _argument_type(a) for a in function.func.arguments}
        own = {name: type_ for name, type_ in arguments.items() if type_}
        defaults = {a.name: a for a in function.func.arguments if a.default is not None}
        returns = _owned(returns)
    parameters: list[CppParameter] = []
    is_last = True
    for parameter in reversed(signature.parameters):
        type_ = own.get(parameter.name, parameter.type)
        # A schema may have keyword arguments without a default behind others with one; C++ may not.
        default = parameter.default
        if default is not None and parameter.name in defaults:
            default = own_default(defaults[parameter.name], default)
        is_last = is_last and default is not None
        default = _default(type_, default) if is_last else None
        parameters.insert(0, CppParameter(type_, parameter.name, default))
    return CppSignature(signature.name, returns, tuple(parameters))


def _default(type_: str, default: str | None) -> str | None:
    """An empty `c10::List` is made explicitly."""
    if default == "{}" and "c10::List<" in type_[:16]:
        return f"{type_.removeprefix('const ').removesuffix('&')}()"
    return default


def headers(signatures: Iterable[CppSignature], *more: str) -> tuple[str, ...]:
    """The headers that declare the types, PyTorch's and `more`, then those of the standard library."""
    texts = [t for s in signatures for t in (s.returns, *[p.type for p in s.parameters])]
    text = " ".join(dict.fromkeys(texts))
    own = [header for word, header in _HEADERS if word in text]
    standard = [header for word, header in _STANDARD_HEADERS if word in text]
    return (*sorted([*_ALWAYS, *own, *more]), *([""] if standard else []), *standard)


def _argument_type(argument: Argument) -> str:
    """The type where it isn't that of the dialect."""
    if argument.is_write and bare_type(argument.type) == "Tensor?":
        return const(OPTIONAL_TENSOR)
    type_ = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
    needs_own = isinstance(type_, (GenericType, TupleType)) or (
        isinstance(type_, ListType)
        and (
            isinstance(type_.elem, ListType) or (bare_type(type_.elem) == "bool" and not type_.size)
        )
    )
    if not needs_own:
        return ""
    return _owned(cpp_types.return_type(argument.type, False, Conventions(symint=True)))


def _owned(type_: str) -> str:
    """A type of the dialect that owns what it holds."""
    type_ = type_.replace("c10::string_view", "::std::string")
    return type_.replace("::std::vector<bool>", "c10::List<bool>")


def refused(function: NativeFunction) -> Iterator[tuple[str, str]]:
    """What libtorch can't pass to a kernel: `("argument 'x'", "Dimname")`."""
    if function.namespace in TORCH_NAMESPACES:
        return
    for argument in function.func.arguments:
        for name in _unknown(argument.type):
            yield f"argument `{argument.name}`", name
        written = bare_type(argument.type)
        # An `at::Generator` may be undefined, and libtorch takes each for a `Generator?`.
        if "Generator" in written and "Generator?" not in written:
            yield f"argument `{argument.name}`", written
    for returned in function.func.returns:
        for name in _unknown(returned.type):
            yield "the result", name
        if bare_type(returned.type) in _RESULTS_REFUSED:
            yield "the result", bare_type(returned.type)


def _unknown(type_: Type) -> Iterator[str]:
    for part in walk_type(type_):
        if (
            isinstance(part, BaseType)
            and part.name not in _TAKEN
            or isinstance(part, GenericType)
            and not _is_dict(part)
        ):
            yield part.name


def _is_dict(type_: GenericType) -> bool:
    return type_.name == "Dict" and bare_type(type_.args[0]) in ("str", "int", "float", "bool")


def takes_symint(kernel: str) -> bool:
    """PyTorch tells by the name whether a kernel wants `SymInt` as `c10::SymInt`."""
    return "_symint" in kernel.rpartition("::")[2]
