"""Turns the text of a schema into a signature: the only place where the runtime needs `schema/`.

`Library.define` imports it when it is first called. Generated code contains signatures, so a package that contains the
runtime has no parser, and a module in place of this one that raises an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic, Label
from ..schema import FunctionSchema, SchemaError
from ..schema.defaults import as_received, default_value
from ..schema.dispatch_kind import dispatch_kind
from ..schema.model import sized_list
from .signature import NOTHING, Signature


def read_schema(text: str, namespace: str, tags: tuple[str, ...]) -> Signature:
    """The signature of a schema in a namespace; an own namespace of the schema wins.

    Raises `SchemaError` if it does not parse or no call could fit it.
    """
    schema = FunctionSchema.parse(text)
    signature = Signature(
        str(schema) if schema.namespace else f"{namespace}::{schema}",
        tuple(argument.name for argument in schema.arguments),
        "".join(dispatch_kind(argument.type).value for argument in schema.arguments),
        len(schema.positional),
        tuple(
            (argument.name, as_received(argument.type, default_value(argument)))
            for argument in schema.arguments
            if argument.default is not None
        ),
        tags,
        len(schema.returns),
        (
            *(str(argument.type) for argument in schema.arguments),
            *(str(result.type) for result in schema.returns),
        ),
        {i: str(a.type) for i, a in enumerate(schema.arguments) if sized_list(a.type)} or NOTHING,
    )
    _check_call(schema, signature.parameters)
    return signature


def _check_call(schema: FunctionSchema, parameters: Sequence[str]) -> None:
    """Raise SchemaError if no call could fit; `parameters` are the names that callers use.

    The rules are those of c10's `checkSchema`; in addition, no two names may be the same.
    """
    faults = [
        Diagnostic(
            "TG220",
            f"`{argument.name}` has no default, and `{earlier.name}` before it has one",
            Label(argument.span, "no default") if argument.span else None,
        )
        for argument, earlier in schema.behind_defaults()
    ]
    for index, argument in enumerate(schema.arguments):
        if parameters[index] in parameters[:index]:
            label = Label(argument.span, "named again here") if argument.span else None
            message = f"duplicate argument `{parameters[index]}`"
            faults.append(Diagnostic("TG203", message, label))
    if faults:
        raise SchemaError(tuple(faults))
