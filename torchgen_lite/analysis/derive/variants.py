"""Variants that PyTorch derives: out from all other kinds, functional from mutating kinds.

    foo_(Tensor(a!) self, int n) -> Tensor(a!)         gives
    foo.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)
    foo(Tensor self, int n) -> Tensor

Each gets one CompositeExplicitAutograd kernel that PyTorch generates in terms of the declared
operator (torchgen `native_function_generation`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count, filterfalse, islice
from string import ascii_lowercase

from torchgen_lite.analysis.derive.layout import (
    annotate_type,
    argument_layout,
    has_symint,
    is_tensor_like,
    strip_type,
)
from torchgen_lite.analysis.derive.names import (
    FUNCTIONAL_SUFFIX,
    derived_tags,
    out_overload,
    root_of,
)
from torchgen_lite.analysis.derive.signature import unreturned_writes
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import AliasAnnotation, Argument, FunctionSchema, Return, SchemaKind
from torchgen_lite.schema.grouped import without_none
from torchgen_lite.schema.model import annotations_of


def out_schema(schema: FunctionSchema) -> FunctionSchema:
    """The schema of the out variant of a functional, in-place or mutable one."""
    make = _self_to_out if schema.kind() is SchemaKind.inplace else _returns_to_out
    arguments, returns = make(schema)
    overload = out_overload(schema.overload_name)
    return _schema(schema, root_of(schema.base_name), overload, arguments, returns)


def _schema(
    origin: FunctionSchema,
    base_name: str,
    overload_name: str,
    arguments: tuple[Argument, ...],
    returns: tuple[Return, ...],
) -> FunctionSchema:
    """A schema with the namespace and span of the one it is derived from."""
    prefix = f"{origin.namespace}::" if origin.namespace else ""
    return FunctionSchema(prefix + base_name, overload_name, arguments, returns, span=origin.span)


def _read_only(argument: Argument) -> Argument:
    """The argument without an annotation; the same object if it has none."""
    type_ = strip_type(argument.type)
    if type_ is argument.type:
        return argument
    return argument._replace(type=type_)


def _self_to_out(schema: FunctionSchema) -> tuple[tuple[Argument, ...], tuple[Return, ...]]:
    """Make `self` read-only; an out argument takes over its type, annotation and return."""
    arguments = list(schema.arguments)
    for index, argument in enumerate(arguments):
        if argument.name == "self" and not argument.kwarg_only:
            arguments[index] = _read_only(argument)
            arguments.append(Argument(argument.type, "out", kwarg_only=True))
            break
    return tuple(arguments), schema.returns


def _returns_to_out(schema: FunctionSchema) -> tuple[tuple[Argument, ...], tuple[Return, ...]]:
    """Turn every returned tensor into an out argument.

    If all are plain tensors they are also returned, as in other out variants; otherwise only
    non-tensors are.
    """
    inputs = argument_layout(schema).without_options
    letters = _free_letters(schema)
    plain = all(str(strip_type(r.type)) == "Tensor" for r in schema.returns)
    out = []
    returns = []
    for index, value in enumerate(schema.returns):
        if not is_tensor_like(value.type):
            returns.append(value)
            continue
        annotation = AliasAnnotation((letters[index],), is_write=True)
        type_ = annotate_type(strip_type(value.type), annotation)
        name = "out" if len(schema.returns) == 1 else f"out{index}"
        out.append(Argument(type_, name, kwarg_only=True))
        if plain:
            returns.append(Return(type_))
    if schema.kind() is SchemaKind.functional:
        inputs = tuple(map(_read_only, inputs))
    return inputs + tuple(out), tuple(returns)


def _free_letters(schema: FunctionSchema) -> list[str]:
    """An alias set name for each result: letters that no argument uses, and `a1` after `z`."""
    used: set[str] = set()
    for annotation in without_none(annotations_of(schema.annotated)):
        used.update(annotation.before)
    turns = chain([""], count(1))
    names = (f"{letter}{turn}" for turn in turns for letter in ascii_lowercase)
    return list(islice(filterfalse(used.__contains__, names), len(schema.returns)))


def functional_schema(schema: FunctionSchema) -> FunctionSchema:
    """The schema of the functional variant, which returns what was written after the old returns.

    Note [The suffix _functional]
    A mutable operator and its functional variant would be C++ overloads with indistinguishable
    arguments, so the latter is called `<name>_functional`.
    """
    layout = argument_layout(schema)
    returns = [Return(strip_type(r.type), r.name) for r in schema.returns]
    for argument in unreturned_writes(schema, layout):
        returns.append(Return(strip_type(argument.type), f"{argument.name}_out"))
    base = root_of(schema.base_name)
    if schema.kind() is SchemaKind.mutable:
        base += FUNCTIONAL_SUFFIX
    arguments = tuple(map(_read_only, layout.without_options))
    return _schema(schema, base, schema.overload_name, arguments, tuple(returns))


def derive(base: NativeFunction, kind: SchemaKind, tags: tuple[str, ...]) -> NativeFunction:
    """The out or the functional variant of `base`, whose tags are `tags`."""
    if kind is SchemaKind.out:
        schema = out_schema(base.func)
        # Include the overload name, since several overloads of one name may be derived.
        kernel = schema.flat_name
    else:
        schema = functional_schema(base.func)
        kernel = schema.base_name
    if has_symint(base.func):
        kernel += "_symint"
    return NativeFunction(
        schema,
        base.namespace,
        dispatch=(DispatchEntry("CompositeExplicitAutograd", kernel),),
        tags=derived_tags(kind, tags),
        device_check="NoCheck",
        device_guard=False,
        use_const_ref_for_mutable_tensors=base.use_const_ref_for_mutable_tensors,
        torch=base.torch,
        guard=base.guard,
        extra=base.extra,
        field_spans=replace(base.field_spans, names=(), others=()),
    )
