"""Whether the results of a schema share memory with its arguments."""

from __future__ import annotations

from torchgen_lite.schema import FunctionSchema, find_annotation


def is_aliasing(schema: FunctionSchema) -> bool:
    """Whether the schema says so: a result aliases an argument and isn't written, or `(a -> *)`."""
    if returns_alias(schema):
        return True
    annotations = [find_annotation(argument.type) for argument in schema.arguments]
    return any("*" in a.after for a in annotations if a is not None)


def returns_alias(schema: FunctionSchema) -> bool:
    """Whether a result aliases something that isn't written: `-> Tensor(a)`."""
    annotations = [find_annotation(value.type) for value in schema.returns]
    return any(a is not None and not a.is_write for a in annotations)
