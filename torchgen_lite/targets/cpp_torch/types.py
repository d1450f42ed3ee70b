"""The C++ types of an operator, as libtorch takes them.

The dispatcher's dialect defines them, which is enough for PyTorch's operators. For others libtorch
refuses kernels with some of its types: torchgen never met a `bool[]`, a `Dict` or a list of lists,
it passes a written `Tensor?` as `at::Tensor&`, which is read as a `Tensor`, and a returned `str`
would refer to freed text.

The author defines the C++ types of custom classes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from torchgen_lite.languages.cpp import public, torch_types
from torchgen_lite.languages.cpp.defaults import EMPTY, TORCH, default_of
from torchgen_lite.languages.cpp.signature import CppParameter, CppSignature, trailing_defaults
from torchgen_lite.languages.cpp.torch_types import OPTIONAL_TENSOR, Conventions, Sizes, owned
from torchgen_lite.languages.cpp.types import CType, Expression, bare, const_ref
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import (
    Argument,
    BaseType,
    FunctionSchema,
    ListType,
    OptionalType,
    Type,
    walk_type,
)
from torchgen_lite.schema.grouped import by_name
from torchgen_lite.schema.model import GenericType, TupleType, bare_type

# The named types that libtorch passes to a kernel.
_TAKEN = frozenset("""
    Any Device Generator Layout MemoryFormat QScheme Scalar ScalarType Storage Stream
    SymBool SymInt Tensor bool complex float int number str
    """.split())
_DICT_KEYS = frozenset({"bool", "float", "int", "str"})
# libtorch treats a returned generator as optional.
_RESULTS_REFUSED = frozenset({"Scalar[]", "number[]", "Generator"})
Classes = Mapping[CType, CType]
"""How each custom class is passed, by its type in a dialect."""
NO_CLASSES: Classes = {}


def signature(
    function: NativeFunction, sizes: Sizes = "SymInt", classes: Classes = NO_CLASSES
) -> CppSignature:
    """What the dispatcher calls, and what a kernel is; `sizes` says whether it takes
    `c10::SymInt`."""
    return own_types(function, public.dispatched(function, sizes), classes)


def own_types(
    function: NativeFunction, signature: CppSignature, classes: Classes = NO_CLASSES
) -> CppSignature:
    """A signature of a dialect with the types that libtorch takes."""
    parameters = signature.parameters
    returns = signature.returns
    if not function.is_pytorchs:
        arguments = by_name(function.func.arguments)
        parameters = tuple([_own(p, arguments) for p in parameters])
        returns = owned(returns)
        if _is_mixed(function.func):
            # libtorch makes no tuple of references and values.
            returns = returns._replace(args=tuple(map(bare, returns.args)))
    if classes:
        parameters = tuple([p._replace(type=_passed(p.type, classes)) for p in parameters])
        is_class = returns in classes
        returns = _passed(returns, classes)
        returns = bare(returns) if is_class else returns
    parameters = tuple([p if p.default is None else _with_made_list(p) for p in parameters])
    return CppSignature(signature.name, returns, trailing_defaults(parameters))


def _passed(type_: CType, classes: Classes) -> CType:
    """The type with the author's classes substituted for the dialect's; nested ones are passed by
    value."""
    args = tuple([bare(_passed(arg, classes)) for arg in type_.args])
    return classes.get(type_) or type_._replace(args=args)


def _own(parameter: CppParameter, arguments: Mapping[str, Argument]) -> CppParameter:
    """The parameter of an operator that isn't PyTorch's; `at::TensorOptions` is not an argument of the schema."""
    argument = arguments.get(parameter.name)
    if argument is None:
        return parameter
    default = parameter.default and _default(argument)
    return CppParameter(_argument_type(argument) or parameter.type, parameter.name, default)


def _default(argument: Argument) -> Expression | None:
    # With a list of complex numbers as default, g++ 12 gives every function the first one's.
    for part in walk_type(argument.type):
        if isinstance(part, ListType) and bare_type(part.elem) == "complex":
            return None
    return default_of(argument, TORCH)


def _with_made_list(parameter: CppParameter) -> CppParameter:
    """An empty `c10::List` is made explicitly."""
    if parameter.default != EMPTY or parameter.type.name != "c10::List":
        return parameter
    return parameter._replace(default=Expression(f"{bare(parameter.type)}()"))


def _argument_type(argument: Argument) -> CType | None:
    """The type where it differs from the dialect's."""
    if argument.is_write and bare_type(argument.type) == "Tensor?":
        return const_ref(OPTIONAL_TENSOR)
    type_ = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
    needs_own = isinstance(type_, (GenericType, TupleType)) or (
        isinstance(type_, ListType)
        and (
            isinstance(type_.elem, ListType)
            or (bare_type(type_.elem) == "bool" and not type_.size)
            # `Tensor?[]` is a reference, which an optional cannot hold.
            or (type_ is not argument.type and isinstance(type_.elem, OptionalType))
        )
    )
    if not needs_own:
        return None
    return owned(torch_types.return_type(argument.type, False, Conventions("SymInt")))


def refused(function: NativeFunction, classes: Collection[str]) -> Iterator[tuple[str, str]]:
    """What libtorch can't pass to a kernel: `("argument 'x'", "Dimname")`. It passes these `classes`, but not to a
    structured kernel, whose types are another dialect's."""
    if function.is_pytorchs:
        return
    known = _TAKEN
    if not function.shares_structured:
        known = _TAKEN.union(classes)
    for argument in function.func.arguments:
        for name in _unknown(argument.type, known):
            yield f"argument `{argument.name}`", name
        # An `at::Generator` may be undefined, and libtorch treats every one as a `Generator?`.
        names = [bare_type(part) for part in walk_type(argument.type)]
        if names.count("Generator") > names.count("Generator?"):
            yield f"argument `{argument.name}`", bare_type(argument.type)
    for returned in function.func.returns:
        for name in _unknown(returned.type, known):
            yield "the result", name
        if bare_type(returned.type) in _RESULTS_REFUSED:
            yield "the result", bare_type(returned.type)
    aliased = [r for r in function.func.returns if r.is_write]
    is_referred = aliased and not _is_mixed(function.func)
    if is_referred and not _is_given_back(function.func, len(aliased)):
        yield "the result", str(aliased[0].type)


def _is_mixed(schema: FunctionSchema) -> bool:
    """Whether some results are what is written, and others are new."""
    return len({returned.is_write for returned in schema.returns}) > 1


def _is_given_back(schema: FunctionSchema, count: int) -> bool:
    """Whether written results are where libtorch expects them: the first argument, or the last
    ones."""
    arguments = schema.arguments
    is_first = count == 1 and bool(arguments) and arguments[0].is_write
    return is_first or (len(arguments) >= count and all(a.is_write for a in arguments[-count:]))


def _unknown(type_: Type, known: Collection[str]) -> Iterator[str]:
    for part in walk_type(type_):
        name = ""
        if isinstance(part, (BaseType, GenericType)):
            name = part.name
        has_keys = isinstance(part, GenericType) and bare_type(part.args[0]) in _DICT_KEYS
        if name and name not in known and not (name == "Dict" and has_keys):
            yield name
