"""Names that are given twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.dispatch_index import unambiguous_name
from torchgen_lite.analysis.finding import finding, local_name
from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.loader.entry import NativeFunction


def check_names(functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """Two operators must not give the same name in generated code."""
    seen: dict[str, NativeFunction] = {}
    for function in functions:
        name = unambiguous_name(function)
        first = seen.setdefault(name, function)
        if first is not function:
            message = f"`{local_name(function)}` and `{local_name(first)}` are both called `{name}`"
            place = first.func.name_span
            secondary = (Label(place, "the other one"),) if place else ()
            span = function.func.name_span
            yield finding(function, "TG306", message, span, "here", None, secondary)


def check_autogen(functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """`autogen` must not list an operator that is declared."""
    by_name = {(f.namespace, local_name(f)): f for f in functions}
    for function in functions:
        for name in function.autogen:
            found = by_name.get((function.namespace, name.rpartition("::")[2]))
            if found is not None:
                span = dict(function.field_spans).get("autogen")
                place = found.func.name_span
                secondary = (Label(place, "declared here"),) if place else ()
                message = f"autogen names `{name}`, which is declared"
                hint = "leave it out of `autogen`"
                yield finding(function, "TG308", message, span, "here", hint, secondary)
