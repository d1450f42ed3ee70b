"""Lint: small rules over whole programs. One function is one rule; this file lists them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torchgen_lite.analysis.lint import (
    aliasing,
    autogen,
    dispatch,
    kernels,
    overloads,
    variants,
    versions,
)
from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic

Rule = Callable[[Resolved], Iterator[Diagnostic]]
RULES: tuple[Rule, ...] = (
    aliasing.mutated_value,
    aliasing.inplace_name_without_write,
    aliasing.write_without_inplace_name,
    aliasing.positional_out,
    aliasing.unknown_returned_alias,
    dispatch.unreachable_kernel,
    dispatch.shadowed_composite,
    dispatch.ambiguous_autograd_other,
    dispatch.composite_with_autograd,
    overloads.indistinguishable_overloads,
    versions.empty_range,
    kernels.kernel_with_two_schemas,
    aliasing.inplace_without_return,
    autogen.autogen_disagrees,
    variants.variant_disagrees,
    variants.view_without_copy,
    autogen.autogen_of_composite,
)

__all__ = ["RULES", "run_lint"]


def run_lint(resolved: Resolved, policies: Sequence[Policy] | None = None) -> Iterator[Diagnostic]:
    """The findings of every rule, where operators are for targets with these policies; None: for any target.

    `analysis/suppress.py` applies selection and suppression.
    """
    for rule in RULES:
        yield from rule(resolved)
    yield from dispatch.backend_without_meta(resolved, policies)
