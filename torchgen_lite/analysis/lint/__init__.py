"""Lint: small rules over whole programs. Each rule is one function, listed here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from torchgen_lite.analysis.checks.releases import empty_range
from torchgen_lite.analysis.finding import Diagnostics
from torchgen_lite.analysis.lint import aliasing, autogen, dispatch, kernels, traced, variants
from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic

Rule = Callable[[Resolved], Diagnostics]
# Rules about kernels and the author's own fields.
KERNEL_RULES: tuple[Rule, ...] = (
    dispatch.unreachable_kernel,
    dispatch.shadowed_composite,
    dispatch.ambiguous_autograd_other,
    dispatch.composite_with_autograd,
    dispatch.composite_without_gradient,
    empty_range,
    kernels.kernel_with_two_schemas,
)
# Rules about schemas, apart because the author can't fix PyTorch's.
SCHEMA_RULES: tuple[Rule, ...] = (
    aliasing.mutated_value,
    aliasing.inplace_name_without_write,
    aliasing.write_without_inplace_name,
    aliasing.positional_out,
    aliasing.unknown_returned_alias,
    variants.indistinguishable_overloads,
    variants.misspelled_namespace,
    aliasing.inplace_without_return,
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
    own = resolved.without_lent()
    found: list[Diagnostic] = []
    for rule in KERNEL_RULES:
        found += rule(resolved)
    for rule in SCHEMA_RULES:
        found += rule(own)
    found += dispatch.backend_without_meta(program, policies)
    found += traced.traced_rules(program, policies)
    found += kernels.samples_without_tests(program, tested)
    found += empty_range(Resolved(program.elsewhere))
    return program.with_findings(program.wanted(found))
