"""Entries that the C++ runtime does not support."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.dialects.cpp import runtime
from torchgen_lite.dialects.cpp.runtime import Types
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp_runtime.kernels import keys_above_backends


def check_types(function: NativeFunction, types: Types) -> Iterator[Diagnostic]:
    """Types without a C++ type in the options."""
    schema = function.func
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


def check_kernels(function: NativeFunction) -> Iterator[Diagnostic]:
    """Structured kernels, and formulas that no kernel is made from."""
    message = "target `cpp-runtime` has no structured kernels"
    for entry in own_kernels(function):
        if entry.is_structured:
            help_ = "write a plain kernel for each variant, or leave the operator out with `skip`"
            label = f"`{entry.kernel}` is the impl function of a structured kernel"
            yield finding(function, "TG561", message, entry.kernel_span, label, help_)
    if function.structured_delegate is not None and not function.dispatch:
        help_ = "write plain kernels under `dispatch:`, or leave the operator out with `skip`"
        span = function.place("structured_delegate")
        yield finding(function, "TG561", message, span, "there is no other kernel", help_)
    keys = {entry.key for entry in own_kernels(function)}
    is_composite = "CompositeImplicitAutograd" in keys
    if function.derivatives is not None and not is_composite and not keys & _autograd_keys():
        yield finding(
            function,
            "TG562",
            "target `cpp-runtime` makes no kernel from `derivatives`",
            function.place("derivatives"),
            "not used",
            "write one, and name it under `Autograd` in `dispatch`",
        )


def _autograd_keys() -> frozenset[str]:
    return frozenset(key for key in keys_above_backends() if key.startswith("Autograd"))
