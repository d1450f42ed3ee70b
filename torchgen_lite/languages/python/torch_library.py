"""One operator as `torch.library` and mypy see it: annotations, defaults and version ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python import torch_ops
from torchgen_lite.languages.python.names import free_name, identifier
from torchgen_lite.languages.python.signature import (
    Import,
    Parameter,
    imported_names,
    imports,
    is_class,
)
from torchgen_lite.languages.text import literal, quote, tuple_display
from torchgen_lite.loader.versions import clauses_of
from torchgen_lite.schema import (
    Argument,
    FunctionSchema,
    ListType,
    NamedConstant,
    OptionalType,
    Type,
)
from torchgen_lite.schema.defaults import as_received
from torchgen_lite.schema.model import bare_type

# Module names in generated functions. An argument with such a name would hide the module.
MODULES = frozenset({"_library", "_places", "_rows", "_support", "torch"})


def parameter_name(argument: Argument) -> str:
    """The name of a parameter in a generated function; a positional `torch` becomes `torch_`."""
    name = identifier(argument.name)
    if name in MODULES and not argument.kwarg_only:
        return f"{name}_"
    return name


def forwarded(schema: FunctionSchema) -> list[str]:
    """The arguments of a call that passes everything on."""
    return [f"{a.name}={a.name}" if a.kwarg_only else parameter_name(a) for a in schema.arguments]


def default_text(argument: Argument, value_of: Callable[[Argument], object]) -> str | None:
    """A default as spelled in a signature: `torch.contiguous_format`, `torch.device("cpu")`."""
    if argument.default is None:
        return None
    value = value_of(argument)
    if isinstance(value, NamedConstant):
        return f"torch.{value.name}"
    text = literal(value)
    if bare_type(argument.type) == "Device":
        return f"torch.device({text})"
    return text


def received_default(argument: Argument) -> object:
    """The value where PyTorch has made a list of one number."""
    return as_received(argument.type, torch_ops.value_of(argument))


def _as_received(type_: Type) -> Type:
    """`int[]` for `int[2]`: callers may pass one number, which PyTorch passes on as a list."""
    if isinstance(type_, OptionalType):
        return replace(type_, elem=_as_received(type_.elem))
    if isinstance(type_, ListType):
        return replace(type_, size=None)
    return type_


def parameters(schema: FunctionSchema, *, is_called: bool = False) -> list[Parameter]:
    """The parameters of a function for the operator, or of one that PyTorch calls (`is_called`): a kernel, a fake.
    PyTorch leaves out arguments that equal their defaults, so there the default of `int[2] k=1` has to be a sequence.
    """
    value_of = received_default if is_called else torch_ops.default

    def parameter(argument: Argument) -> Parameter:
        type_ = _as_received(argument.type) if is_called else argument.type
        default = default_text(argument, value_of)
        return Parameter(parameter_name(argument), torch_ops.argument_type(type_), default)

    return python.parameters(schema, parameter)


def type_imports(
    schemas: Iterable[FunctionSchema],
    more: Sequence[str] = (),
    shadowed: frozenset[str] = frozenset(),
) -> dict[str, list[Import]]:
    """What annotations import, from the `standard` library, from `torch`, and from modules with `classes` of the
    project; types that the module hides get an alias with a leading underscore."""
    names = set(more)
    for schema in schemas:
        names.update(*[torch_ops.argument_type(a.type).names for a in schema.arguments])
        names |= torch_ops.returns_type(schema).names
    names |= {"TYPE_CHECKING" for name in names if is_class(name)}
    parts: dict[str, list[Import]] = {"standard": [], "torch": [], "classes": []}
    for imported in imports(imported_names(names, shadowed), torch_ops.TYPE_MODULES):
        part = "standard"
        if imported.module.startswith("torch"):
            part = "torch"
        if imported.module not in torch_ops.TYPE_MODULES.values():
            part = "classes"
        parts[part].append(imported)
    return parts


def version_clauses(text: str | None) -> str:
    """A range as data: `((">=", (2, 6)), ("<", (2, 9)))`; `!=2.9.*` is `!=*` of (2, 9)."""
    items = [
        f"({quote(clause.operator + '*' * clause.wildcard)}, {literal(clause.version)})"
        for clause in clauses_of(text)
    ]
    return tuple_display(items) if items else ""


def dictionary(settings: Iterable[tuple[str, float | str]]) -> str:
    """Settings of samples as a dictionary: `{"eps": 0.001}`."""
    items = [
        f"{quote(name)}: {f'torch.{value}' if isinstance(value, str) else literal(value)}"
        for name, value in settings
    ]
    return f"{{{', '.join(items)}}}"


def reference(schema: FunctionSchema, text: str) -> str:
    """A function of the operator's arguments, which is an expression: `lambda x: torch.exp(x)`."""
    return _received(schema, text, lambda argument: identifier(argument.name))


def calling(schema: FunctionSchema, before: Sequence[str] = ()) -> str:
    """What calls a function with `before` and every argument, though PyTorch leaves out those that equal their default:
    `lambda _call, x, n=2: _call(x, n)`. Empty if there is no default."""
    names = [*map(parameter_name, schema.arguments)]
    first = [free_name(name, names) for name in ("_call", *before)]
    call = f"{first[0]}({', '.join([*first[1:], *forwarded(schema)])})"
    if _has_defaults(schema):
        return _received(schema, call, parameter_name, first)
    return ""


def given(schema: FunctionSchema) -> str:
    """What gives every argument of a call: `lambda x, n=2, *, k=1: ((x, n), {"k": k})`. Empty if there is no default."""
    positional = tuple_display([*map(parameter_name, schema.positional)])
    keywords = ", ".join([f"{quote(a.name)}: {a.name}" for a in schema.kwarg_only])
    text = f"({positional}, {{{keywords}}})"
    if _has_defaults(schema):
        return _received(schema, text, parameter_name)
    return ""


def _has_defaults(schema: FunctionSchema) -> bool:
    return any(argument.default is not None for argument in schema.arguments)


def _received(
    schema: FunctionSchema,
    text: str,
    name: Callable[[Argument], str],
    first: Sequence[str] = (),
) -> str:
    def parameter(argument: Argument) -> Parameter:
        return Parameter(name(argument), default=default_text(argument, received_default))

    parameters = [*first, *map(str, python.parameters(schema, parameter))]
    return f"lambda {', '.join(parameters)}: {text}"
