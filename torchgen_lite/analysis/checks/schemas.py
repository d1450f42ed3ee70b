"""Mistakes that the schema parser accepts because PyTorch's parser or torchgen does."""

from __future__ import annotations

from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.diagnostics import Suggestion
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, BaseType, OptionalType, Type
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.type_names import is_type_variable


def check_schemas(function: NativeFunction) -> Findings:
    """TG215 for `_`, TG218 for `None`, TG220, TG221 and TG222."""
    if function.namespace == "_":
        yield Found(
            "TG215",
            "`_` cannot be the namespace of an operator",
            None,
            "stands for every namespace",
        )
    for argument in function.func.arguments:
        if argument.default == "None" and not _takes_none(argument.type):
            yield _none(argument)
        if argument.kwarg_only and argument.name.startswith("out"):
            yield from _check_out(argument)
    for argument, earlier in function.func.behind_defaults():
        # Rejected by c10 `FunctionSchema::checkSchema`, accepted by torchgen.
        yield Found(
            "TG220",
            f"`{argument.name}` has no default, and `{earlier.name}` before it has one",
            argument.span,
            "no default",
            f"give `{argument.name}` a default, or put `*` before it",
            (earlier.span, "has a default"),
        )


def _takes_none(type_: Type) -> bool:
    """Whether a type admits `None`: optionals, `None` itself, `Any`, and type variables."""
    if not isinstance(type_, BaseType):
        return isinstance(type_, OptionalType)
    return type_.name in ("Any", "None", "NoneType") or is_type_variable(type_.name)


def _none(argument: Argument) -> Found:
    """PyTorch's parser accepts `Tensor x=None`, but the kernel expects a tensor and gets none."""
    right = f"{argument.type}?"
    text = f"write `{right} {argument.name}=None`"
    return Found(
        "TG218",
        f"default `None` does not fit type `{argument.type}`",
        argument.default_span or argument.span,
        "not optional",
        Suggestion(text, argument.type_span, right, is_safe=False) if argument.type_span else text,
    )


def _check_out(argument: Argument) -> Findings:
    """Keyword-only tensors named like `out`, `out0`, `out_1`."""
    number = argument.name.removeprefix("out").removeprefix("_")
    if (number and not number.isdigit()) or not dispatch_kind(argument.type).has_tensors:
        return
    if not argument.is_write:
        written = str(argument.type).replace("Tensor", "Tensor(a!)", 1)
        yield Found(
            "TG221",
            f"out argument `{argument.name}` is not mutated",
            argument.span,
            "read only",
            f"write `{written} {argument.name}`, or give it another name",
        )
    elif argument.default is not None:
        yield Found(
            "TG222",
            f"out argument `{argument.name}` has a default",
            argument.default_span or argument.span,
            "a default",
            "leave the default out: a caller without an `out` calls the functional variant",
        )
