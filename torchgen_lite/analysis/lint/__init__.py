"""Lint: small rules over whole programs. Each rule is one function, listed here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from torchgen_lite.analysis.checks.releases import empty_range
from torchgen_lite.analysis.finding import Reported, Rule, of_each
from torchgen_lite.analysis.lint import (
    aliasing,
    autogen,
    dispatch,
    kernels,
    selection,
    traced,
    variants,
)
from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved

# Rules about kernels and the author's own fields: of one entry, and of all.
KERNEL_RULES: Sequence[Rule] = (
    dispatch.shadowed_composite,
    dispatch.ambiguous_autograd_other,
    dispatch.composite_with_autograd,
    empty_range,
    selection.uncovered_inputs,
)
ACROSS_KERNELS: Sequence[Callable[[Resolved], Reported]] = (
    dispatch.unreachable_kernel,
    dispatch.composite_without_gradient,
    kernels.kernel_with_two_schemas,
)
# Rules about schemas, apart because the author can't fix PyTorch's.
SCHEMA_RULES: Sequence[Rule] = (
    aliasing.mutated_value,
    aliasing.inplace_name_without_write,
    aliasing.write_without_inplace_name,
    aliasing.positional_out,
    aliasing.unknown_returned_alias,
    aliasing.inplace_without_return,
    aliasing.none_as_result,
)
ACROSS_SCHEMAS: Sequence[Callable[[Resolved], Reported]] = (
    variants.indistinguishable_overloads,
    variants.misspelled_namespace,
    autogen.autogen_disagrees,
    variants.variant_disagrees,
    variants.view_without_copy,
    autogen.autogen_of_composite,
)


def lint_program(
    program: Program, policies: Sequence[Policy] | None = None, tested: Collection[str] = ()
) -> Program:
    """The program, with what the rules find that neither the configuration nor a comment excludes.

    `policies` are those of the targets in use; None stands for any target. `tested` is whose operators they test.
    """
    resolved = program.resolved
    declared = resolved.without_lent()
    diagnostics = [
        *of_each(resolved.functions, KERNEL_RULES),
        *of_each(declared.functions, SCHEMA_RULES),
        *of_each(program.elsewhere, (empty_range,)),
    ]
    for rule in ACROSS_KERNELS:
        diagnostics += rule(resolved)
    for rule in ACROSS_SCHEMAS:
        diagnostics += rule(declared)
    diagnostics += dispatch.backend_without_meta(program, policies)
    diagnostics += traced.traced_rules(program, policies)
    diagnostics += kernels.samples_without_tests(program, tested)
    return program.with_findings(program.wanted(diagnostics))
