"""`places.h`: where the YAML declares what the library has. No other file knows a line number of it.

#define MYLIB_PLACE_muladd_func 3 "ops.yaml"
#define MYLIB_PLACE_muladd_CPU 5 "ops.yaml"

`#line MYLIB_PLACE_muladd_func` makes a compiler show the place. A macro is named after its operator and
what of it stands there: `func`, or the key of a kernel. A schema that is written over several lines has
`func2` and so on for the lines below. None of these has an underscore, so no two names are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.diagnostics import Span
from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.kernels import flat
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.output import OutputFile


class PlaceView(NamedTuple):
    """One place: the name of its macro, the line, and the file as a literal."""

    macro: str
    line: int
    path: str


def build_places(layout: Layout, operators: Sequence[Operator]) -> OutputFile:
    """`places.h`, with the places of every operator that has a kernel."""
    places = [place for operator in operators for place in _places(operator, layout.namespace)]
    return OutputFile(layout.header("places.h"), "cpp/places.h.j2", {"places": places})


def place(namespace: str, operator: Operator, role: str) -> str:
    """The macro of a place: `MYLIB_PLACE_muladd_CPU`."""
    return f"{flat(namespace).upper()}_PLACE_{operator.flat}_{role}"


def schema_role(operator: Operator, span: Span | None) -> str:
    """The role of the line of a schema on which one of its parts stands."""
    start = operator.schema.name_span
    below = span.line - start.line if span and start else 0
    return f"func{below + 1}" if below else "func"


def _places(operator: Operator, namespace: str) -> Iterator[PlaceView]:
    schema, kernels = operator.schema, operator.facts.own_kernels
    if not kernels:
        return
    parts = [*[a.span for a in schema.arguments], *[r.span for r in schema.returns]]
    spans = {schema_role(operator, span): span for span in (schema.name_span, *filter(None, parts))}
    for role, span in spans.items():
        yield _view(place(namespace, operator, role), span)
    for kernel in kernels:
        span = kernel.kernel_span or schema.name_span
        yield _view(place(namespace, operator, kernel.key), span)


def _view(macro: str, span: Span | None) -> PlaceView:
    """Without a span it is the top of the file that would have it."""
    line, path = (span.line, span.source.path) if span else (1, "native_functions.yaml")
    return PlaceView(macro, line, cpp_text.quote(path))
