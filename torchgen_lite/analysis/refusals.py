"""Formulas that a library of PyTorch's cannot make a kernel of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen_lite.schema import SchemaKind

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
    from torchgen_lite.analysis.differentiability.plan import AutogradPlan
    from torchgen_lite.analysis.operators import Operator


def nothing(operator: Operator, plan: AutogradPlan, info: DifferentiabilityInfo) -> str:
    """Every formula is used."""
    return ""


def by_libtorch(operator: Operator, plan: AutogradPlan, info: DifferentiabilityInfo) -> str:
    """What a kernel with these formulas can't do; empty if it can be."""
    if not info.slots or operator.kind is SchemaKind.out:
        return ""
    if operator.kind is not SchemaKind.functional and plan.written != ("self",):
        return "writes to more than `self`"
    if operator.kind is not SchemaKind.functional and plan.tensors[0].is_list:
        return "writes to a list of tensors"
    # libtorch collects no edges of a `Tensor[]?`, as it collects no keys.
    known = {tensor.name for tensor in plan.tensors}
    absent = [name for name in info.arguments if name not in known]
    return f"has a list of tensors that may be absent, `{absent[0]}`" if absent else ""
