"""One operator as `torch.ops` takes it: `torch.ops.aten.add.Tensor(x, y, alpha=2)`.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

is

    def __call__(_op, /, self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...

The operator itself comes first and has no name for callers, as in `OpOverload.__call__`: schemas may well have
an argument `self`. What is accepted follows `toIValue` of torch/csrc/jit/python/pybind_utils.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.checks.registrable import NUMBER_NAMES
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import BUILTIN_TYPES, identifier, is_reserved
from torchgen_lite.languages.python.signature import (
    ANY,
    SLASH,
    STAR,
    Annotation,
    Parameter,
    returned,
    union,
)
from torchgen_lite.languages.python.types import BROADCASTING, TYPES, Annotations
from torchgen_lite.languages.text import lengthened
from torchgen_lite.schema import Argument, FunctionSchema, NamedConstant, walk_type
from torchgen_lite.schema.defaults import ENUMERATORS, as_received
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.model import bare_type, sized_list

_TYPES = Annotations(
    TYPES["common"] | TYPES["torch_ops"],
    # A caller may name a device; what comes back is one.
    accepted={"Device": union(Annotation("device"), Annotation("str"))},
    custom_class=Annotation("ScriptObject"),
)
argument_type = _TYPES.argument
return_type = _TYPES.returned
# What is a number by the time that a caller gets it: an operator of PyTorch gives 6 for `torch.float32`.
_NUMBERED = dict.fromkeys(("ScalarType", "Layout", "MemoryFormat"), Annotation("int"))
_RESULTS = _TYPES._replace(names={**_TYPES.names, **_NUMBERED})
# The names of types that this dialect writes, and where a stub imports them from.
_NAMES_OF = {
    "typing": ("Any", "TYPE_CHECKING", "overload"),
    "collections.abc": ("Callable", "Sequence"),
    "torch.types": ("Number",),
    "torch": (
        *("Generator", "ScriptObject", "Stream", "SymBool", "SymFloat", "SymInt", "Tensor"),
        *("UntypedStorage", "device", "dtype", "layout", "memory_format", "qscheme"),
    ),
    "builtins": BUILTIN_TYPES,
}
TYPE_MODULES = {name: module for module, names in _NAMES_OF.items() for name in names}


def returns_type(schema: FunctionSchema) -> Annotation:
    """What a caller gets: `None`, one type, or a tuple; `Any` where a schema gives any number of values."""
    return _all_results(schema, _RESULTS)


def kernel_returns_type(schema: FunctionSchema) -> Annotation:
    """What a kernel returns, in the same form: of a `ScalarType` a dtype."""
    return _all_results(schema, _TYPES)


def _all_results(schema: FunctionSchema, types: Annotations) -> Annotation:
    if schema.is_varret:
        return ANY
    return returned([types.returned(r.type) for r in schema.returns])


def parameters(schema: FunctionSchema) -> list[Parameter]:
    """The parameters with `/`, `*` and defaults.

    Python has no keyword arguments called `from`: everything up to such a name goes by position,
    and a keyword-only one can be passed by `**`. Python also has no required positional parameters
    after one with a default, as a few schemas do; the default is then `...`, also for the later
    ones, and the operator rejects calls without them.
    """
    arguments = _distinct(schema.arguments)
    names = names_of(arguments)
    made = [Parameter(lengthened("_op", names))]
    by_keyword = []
    by_position = 1
    default = None
    for argument in arguments:
        if argument.kwarg_only:
            by_keyword.append(argument)
            continue
        default = "..." if argument.default is not None else default
        made.append(_parameter(argument, default))
        if is_reserved(argument.name):
            by_position = len(made)
    made.insert(by_position, SLASH)
    named = [_parameter(a) for a in by_keyword if not is_reserved(a.name)]
    if schema.is_vararg:
        made.append(Parameter(lengthened("args", names), ANY, stars="*"))
    elif named:
        made.append(STAR)
    made += named
    if len(named) < len(by_keyword):
        made.append(Parameter(lengthened("kwargs", names), ANY, stars="**"))
    return made


def _distinct(arguments: Sequence[Argument]) -> list[Argument]:
    """A repeated name gets an underscore: PyTorch's parser allows `posinf` twice."""
    names: set[str] = set()
    renamed: list[Argument] = []
    for argument in arguments:
        name = lengthened(argument.name, names)
        names.add(name)
        renamed.append(argument if name == argument.name else argument._replace(name=name))
    return renamed


def _parameter(argument: Argument, default: str | None = None) -> Parameter:
    """The parameter, with this default if the schema has none."""
    if argument.default is not None:
        default = default_text(argument)
    return Parameter(identifier(argument.name), argument_type(argument.type), default)


def value_of(argument: Argument) -> object:
    """The value of a default. Where an integer is wanted, PyTorch takes a name such as `float` for a number."""
    value = python.default(argument)
    if ENUMERATORS.keys().isdisjoint(map(bare_type, walk_type(argument.type))):
        if isinstance(value, list):
            return [*map(_numbered, value)]
        return _numbered(value)
    return value


def _numbered(value: object) -> object:
    if isinstance(value, NamedConstant):
        return NUMBER_NAMES.get(value.name, value)
    return value


def default(argument: Argument) -> object:
    """A default that a caller may pass: `(2, 2)` for `SymInt[2] a=2`, as PyTorch repeats no such number."""
    value = value_of(argument)
    list_ = sized_list(argument.type)
    is_repeated = list_ is not None and str(list_.elem) in BROADCASTING
    if is_repeated:
        return value
    return as_received(argument.type, value)


def default_text(argument: Argument) -> str:
    """The default as a literal; `...` for a constant that is not a literal, such as `contiguous_format`."""
    text = python.default_text(default(argument))
    if text[0] in "\"'(-0123456789" or text in ("None", "True", "False"):
        return text
    return "..."


def overload_attribute(schema: FunctionSchema) -> str:
    """The attribute of the packet: the overload's name, or `default`."""
    return schema.overload_name or "default"
