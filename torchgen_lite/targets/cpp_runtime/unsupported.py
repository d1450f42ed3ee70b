"""Entries that the C++ runtime does not support."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.targets.cpp.selection import check_structured
from torchgen_lite.targets.cpp_runtime.kernels import ABOVE_BACKENDS


def check_types(operator: Operator, types: Types) -> Iterator[Diagnostic]:
    """TG560 for schema types that the options map to no C++ type."""
    function, schema = operator.function, operator.schema
    arguments = [(a.type, f"argument `{a.name}`", a.type_span) for a in schema.arguments]
    returns = [(r.type, "result", r.span) for r in schema.returns]
    for type_, what, span in (*arguments, *returns):
        part = runtime.missing(type_, types)
        if part is not None:
            yield finding(
                function,
                "TG560",
                f"there is no C++ type for `{part}`",
                span,
                f"the type of {what}",
                f"name one under `types` of target `cpp-runtime`, or `skip` `{schema.full_name}`",
            )


def check_kernels(operator: Operator) -> Iterator[Diagnostic]:
    """TG561 for structured kernels, and TG562 for formulas if there is no handwritten autograd
    kernel."""
    function = operator.function
    message = "target `cpp-runtime` has no structured kernels"
    yield from check_structured(operator, "TG561", message)
    keys = ABOVE_BACKENDS.intersection([entry.key for entry in operator.own_kernels])
    if (
        function.derivatives is not None
        and not operator.is_composed
        and not any(key.startswith("Autograd") for key in keys)
    ):
        yield finding(
            function,
            "TG562",
            "target `cpp-runtime` generates no kernels from `derivatives`",
            function.place("derivatives"),
            "not used",
            "write one, and add it to `dispatch` under `Autograd`",
        )
