"""Rules about alias annotations and what an operator's name promises."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import Diagnostics, finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Help, Suggestion
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import AliasAnnotation, Argument, BaseType, Type, walk_type
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.kind import is_inplace_name

# Types passed by value, so that a callee can't change the caller's.
_VALUE_TYPES = frozenset("""
    Device DeviceIndex Dimname Layout MemoryFormat QScheme Scalar ScalarType SymBool SymFloat SymInt
    bool complex float int number str
    """.split())


def _written_value(type_: Type) -> bool:
    is_value = isinstance(type_, BaseType) and type_.name in _VALUE_TYPES
    return is_value and type_.annotation is not None and type_.annotation.is_write


def mutated_value(resolved: Resolved) -> Diagnostics:
    """TG401: `int(a!) x`."""
    for function in resolved.functions:
        for argument in function.func.written:
            if any(map(_written_value, walk_type(argument.type))):
                written = str(argument.type)
                yield finding(
                    function,
                    "TG401",
                    f"`{argument.name}` is written, but `{argument.type}` is passed by value",
                    argument.span,
                    "not a tensor",
                    Suggestion("remove the `!`", written, written.replace("!", "")),
                )


def _in_place(resolved: Resolved) -> Iterator[tuple[NativeFunction, Argument]]:
    """The functions with in-place names, each with its first argument."""
    for function in resolved.functions:
        if is_inplace_name(function.func.base_name) and function.func.arguments:
            yield function, function.func.arguments[0]


def inplace_name_without_write(resolved: Resolved) -> Diagnostics:
    """TG402: `relu_(Tensor self)`."""
    for function, first in _in_place(resolved):
        if not first.is_write:
            yield finding(
                function,
                "TG402",
                f"`{function.func.local_name}` has an in-place name but does not mutate `{first.name}`",
                first.span,
                "not mutated",
                f"write `{first.type}(a!) {first.name}`, or drop the underscore",
            )


def write_without_inplace_name(resolved: Resolved) -> Diagnostics:
    """TG403: `relu(Tensor(a!) self) -> Tensor(a!)`."""
    for function in resolved.functions:
        schema = function.func
        if not schema.written or schema.out or is_inplace_name(schema.base_name):
            continue
        first = schema.arguments[0]
        is_self = first.name == "self" and first.is_write
        if not is_self or dispatch_kind(first.type) is DispatchKind.nothing:
            continue
        if any(returned.annotation == first.annotation for returned in schema.returns):
            yield finding(
                function,
                "TG403",
                f"`{function.func.local_name}` writes and returns `self`, but its name is not in-place",
                schema.name_span,
                "not in-place",
                f"call it `{schema.base_name}_`",
            )


def positional_out(resolved: Resolved) -> Diagnostics:
    """TG404: `relu.out(Tensor self, Tensor(a!) out)`."""
    for function in resolved.functions:
        for argument in function.func.written:
            is_named_out = argument.name == "out" or argument.name.startswith("out_")
            if is_named_out and not argument.kwarg_only:
                message = f"out argument `{argument.name}` can be given by position"
                hint: Help = "put `*` before it"
                if at := argument.span:
                    hint = Suggestion(str(hint), at._replace(end=at.start), "*, ", is_safe=False)
                yield finding(function, "TG404", message, argument.span, "positional", hint)


def unknown_returned_alias(resolved: Resolved) -> Diagnostics:
    """TG405: `view(Tensor(a) self) -> Tensor(b)`."""
    for function in resolved.functions:
        returned = [r for r in function.func.returns if r.annotation is not None]
        if not returned:
            continue
        known = {"*"}
        for argument in function.func.annotated:
            for annotation in _annotations(argument.type):
                known.update(annotation.before, annotation.after)
        for value in returned:
            for annotation in _annotations(value.type):
                for name in annotation.before:
                    if name not in known:
                        yield finding(
                            function,
                            "TG405",
                            f"the return aliases set `{name}`, which no argument has",
                            value.span,
                            "no such set",
                        )


def _annotations(type_: Type) -> list[AliasAnnotation]:
    return [part.annotation for part in walk_type(type_) if part.annotation is not None]


def inplace_without_return(resolved: Resolved) -> Diagnostics:
    """TG414: `relu_(Tensor(a!) self) -> Tensor`."""
    for function, first in _in_place(resolved):
        returns = function.func.returns
        if not first.is_write or not returns:
            continue
        if all(value.annotation != first.annotation for value in returns):
            yield finding(
                function,
                "TG414",
                f"in-place `{function.func.local_name}` does not return `{first.name}`",
                returns[0].span,
                "not the first argument",
                f"return `{first.type}`",
            )
