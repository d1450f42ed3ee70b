"""Turns the text of a schema into a signature: the only place where the runtime needs `schema/`.

`Library.define` imports it when it is first called. Generated code contains signatures, so a package that contains the
runtime has no parser, and a module in place of this one that raises an error.
"""

from __future__ import annotations

from ..schema import FunctionSchema
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
    schema.check_call(signature.parameters)
    return signature
