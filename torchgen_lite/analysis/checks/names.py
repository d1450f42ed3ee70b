"""Duplicate names."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction


def check_names(resolved: Resolved) -> Iterator[Diagnostic]:
    """Two operators must not have the same name in generated code."""
    seen: dict[str, NativeFunction] = {}
    for function in resolved.functions:
        name = function.flat_name("aten")
        first = seen.setdefault(name, function)
        if first is not function:
            message = f"`{function.func.local_name}` and `{first.func.local_name}` are both called `{name}`"
            other = (first.func.name_span, "the other one")
            yield finding(function, "TG306", message, None, "here", None, other)


def check_autogen(resolved: Resolved) -> Iterator[Diagnostic]:
    """`autogen` must not list a declared operator."""
    for function in resolved.functions:
        for name in function.autogen:
            declared = f"{function.namespace}::{name.rpartition('::')[2]}"
            found = resolved.declared_by_name.get(declared)
            if found is not None and found.function.is_written:
                span = function.place("autogen")
                other = (found.schema.name_span, "declared here")
                message = f"autogen names `{name}`, which is declared"
                hint = "leave it out of `autogen`"
                yield finding(function, "TG308", message, span, "here", hint, other)
