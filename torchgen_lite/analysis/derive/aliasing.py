"""Whether the results of a schema share memory with its arguments."""

from __future__ import annotations

from torchgen_lite.schema import FunctionSchema, find_annotation


def is_aliasing(schema: FunctionSchema) -> bool:
    """Whether a result aliases an argument without being written, or is annotated `(a -> *)`."""
    for value in schema.returns:
        annotation = find_annotation(value.type)
        if annotation is not None and not annotation.is_write:
            return True
    return any(a.annotation is not None and "*" in a.annotation.after for a in schema.annotated)
