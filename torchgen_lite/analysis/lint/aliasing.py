"""Rules about alias annotations, results, and what an operator's name promises."""

from __future__ import annotations

from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.diagnostics import Help, Suggestion
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import (
    AliasAnnotation,
    Argument,
    BaseType,
    FunctionSchema,
    Type,
    walk_type,
)
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.kind import is_inplace_name
from torchgen_lite.schema.model import annotations_of

# Types passed by value, so that a callee can't change the caller's.
_VALUE_TYPES = frozenset("""
    Device DeviceIndex Dimname Layout MemoryFormat QScheme Scalar ScalarType SymBool SymFloat SymInt
    bool complex float int number str
    """.split())


def _written_value(type_: Type) -> bool:
    is_value = isinstance(type_, BaseType) and type_.name in _VALUE_TYPES
    return is_value and type_.annotation is not None and type_.annotation.is_write


def mutated_value(function: NativeFunction) -> Findings:
    """TG401: `int(a!) x`."""
    for argument in function.func.written:
        if any(map(_written_value, walk_type(argument.type))):
            written = str(argument.type)
            yield Found(
                "TG401",
                f"`{argument.name}` is written, but `{argument.type}` is passed by value",
                argument.span,
                "not a tensor",
                Suggestion("remove the `!`", written, written.replace("!", "")),
            )


def _changed(schema: FunctionSchema) -> Argument | None:
    """The first argument, if the name says that it is changed in place."""
    if is_inplace_name(schema.base_name) and schema.arguments:
        return schema.arguments[0]
    return None


def inplace_name_without_write(function: NativeFunction) -> Findings:
    """TG402: `relu_(Tensor self)`."""
    first = _changed(function.func)
    if first is not None and not first.is_write:
        yield Found(
            "TG402",
            f"`{function.func.local_name}` has an in-place name but does not mutate `{first.name}`",
            first.span,
            "not mutated",
            f"write `{first.type}(a!) {first.name}`, or drop the underscore",
        )


def write_without_inplace_name(function: NativeFunction) -> Findings:
    """TG403: `relu(Tensor(a!) self) -> Tensor(a!)`."""
    schema = function.func
    if not schema.written or schema.out or is_inplace_name(schema.base_name):
        return
    first = schema.arguments[0]
    is_self = first.name == "self" and first.is_write
    if not is_self or dispatch_kind(first.type) is DispatchKind.nothing:
        return
    if first.annotation in annotations_of(schema.returns):
        yield Found(
            "TG403",
            f"`{function.func.local_name}` writes and returns `self`, but its name is not in-place",
            schema.name_span,
            "not in-place",
            f"call it `{schema.base_name}_`",
        )


def positional_out(function: NativeFunction) -> Findings:
    """TG404: `relu.out(Tensor self, Tensor(a!) out)`."""
    for argument in function.func.written:
        is_named_out = argument.name == "out" or argument.name.startswith("out_")
        if is_named_out and not argument.kwarg_only:
            message = f"out argument `{argument.name}` can be given by position"
            hint: Help = "put `*` before it"
            if at := argument.span:
                hint = Suggestion(str(hint), at._replace(end=at.start), "*, ", is_safe=False)
            yield Found("TG404", message, argument.span, "positional", hint)


def unknown_returned_alias(function: NativeFunction) -> Findings:
    """TG405: `view(Tensor(a) self) -> Tensor(b)`."""
    returned = [r for r in function.func.returns if r.annotation is not None]
    if not returned:
        return
    known = {"*"}
    for argument in function.func.annotated:
        for annotation in _annotations(argument.type):
            known.update(annotation.before, annotation.after)
    for value in returned:
        for annotation in _annotations(value.type):
            for name in annotation.before:
                if name not in known:
                    yield Found(
                        "TG405",
                        f"the return aliases set `{name}`, which no argument has",
                        value.span,
                        "no such set",
                    )


def _annotations(type_: Type) -> list[AliasAnnotation]:
    return [part.annotation for part in walk_type(type_) if part.annotation is not None]


def inplace_without_return(function: NativeFunction) -> Findings:
    """TG414: `relu_(Tensor(a!) self) -> Tensor`."""
    first = _changed(function.func)
    returns = function.func.returns
    if first is None or not first.is_write or not returns:
        return
    if first.annotation not in annotations_of(returns):
        yield Found(
            "TG414",
            f"in-place `{function.func.local_name}` does not return `{first.name}`",
            returns[0].span,
            "not the first argument",
            f"return `{first.type}`",
        )


def none_as_result(function: NativeFunction) -> Findings:
    """TG435: `print(Tensor x) -> None`."""
    for value in function.func.returns:
        if isinstance(value.type, BaseType) and value.type.name in ("None", "NoneType"):
            yield Found(
                "TG435",
                f"the result of `{function.func.local_name}` is the value `None`",
                value.span,
                "a result",
                Suggestion("write `()`: the operator returns nothing", value.type.name, "()"),
            )
