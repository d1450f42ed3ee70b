"""What autograd does for each operator: the one answer that every target reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.match import Infos, match_derivatives
from torchgen_lite.analysis.differentiability.model import (
    DifferentiabilityInfo,
    TensorArgument,
    tensor_arguments,
)
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind


class Category(Enum):
    """What a call does under an autograd key."""

    record = "the call becomes a node, and the formulas its gradients"
    refuse_out = "an out variant, which is refused where it would have to be recorded"
    pass_through = (
        "nothing is differentiable, and the operators that the kernel calls must not record"
    )
    fall_through = "nothing is differentiable"
    not_implemented = "a result aliases an argument, and there is no formula"


class Tracking(Enum):
    """What a call does under the key ADInplaceOrView."""

    nothing = "neither writes nor aliases"
    raise_versions = "what was written gets a new version"
    view = "the result learns its base"
    untracked_view = "a view without a derivative"
    unknown_view = "a view without formulas"


class AutogradPlan(NamedTuple):
    """What autograd does for one operator.

    `infos` are its formulas by autograd key, and `categories` say what happens under each key; both
    are empty if there is nothing to do. `viewed` is the tensor that the only result is a view of.
    `is_composed` means that the operator has a kernel made of other operators.
    """

    infos: Mapping[str, DifferentiabilityInfo]
    categories: Mapping[str, Category]
    tracking: Tracking
    tensors: tuple[TensorArgument, ...]
    written: tuple[str, ...]
    viewed: str | None
    is_view: bool
    is_composed: bool

    @property
    def info(self) -> DifferentiabilityInfo | None:
        """The formulas for every key without formulas of its own."""
        return self.infos.get(DEFAULT)


def plan_autograd(operators: Sequence[Operator]) -> Mapping[str, AutogradPlan]:
    """The plan of each operator that has formulas, writes or aliases, by name: `aten::add.Tensor`."""
    matched = match_derivatives(operators).of
    return {
        o.name: _plan(o, matched.get(o.name, {}))
        for o in operators
        if o.name in matched or o.schema.written or o.schema.is_aliasing
    }


def _plan(operator: Operator, infos: Infos) -> AutogradPlan:
    schema = operator.schema
    keys = {kernel.key for kernel in operator.own_kernels}
    tensors = tensor_arguments(schema.arguments)
    written = tuple([tensor.name for tensor in tensor_arguments(schema.written)])
    is_view = schema.is_aliasing
    is_composed = any(key.startswith("CompositeExplicit") for key in keys)
    categories: dict[str, Category] = {}
    tracking = Tracking.nothing
    # Autograd sees through CompositeImplicitAutograd kernels.
    if tensors and keys != {"CompositeImplicitAutograd"}:
        categories = {key: _category(schema, info, is_composed) for key, info in infos.items()}
        if is_view and not infos:
            categories[DEFAULT] = Category.not_implemented
        tracking = _tracking(infos, is_view, bool(written))
    viewed = _viewed(schema)
    return AutogradPlan(infos, categories, tracking, tensors, written, viewed, is_view, is_composed)


def _category(schema: FunctionSchema, info: DifferentiabilityInfo, is_composed: bool) -> Category:
    if not info.slots or not info.outputs:
        return Category.pass_through if is_composed else Category.fall_through
    return Category.refuse_out if schema.kind() is SchemaKind.out else Category.record


def _tracking(infos: Infos, is_view: bool, writes: bool) -> Tracking:
    if writes:
        return Tracking.raise_versions
    if not is_view:
        return Tracking.nothing
    if not infos:
        return Tracking.unknown_view
    return Tracking.view if any(info.slots for info in infos.values()) else Tracking.untracked_view


def _viewed(schema: FunctionSchema) -> str | None:
    """The only tensor that shares memory with the only result."""
    returned = schema.returns[0].annotation if len(schema.returns) == 1 else None
    if returned is None:
        return None
    shared = []
    for argument in schema.arguments:
        own, is_tensor = argument.annotation, dispatch_kind(argument.type) is DispatchKind.tensor
        if is_tensor and own is not None and not own.is_write:
            shared += [argument.name] if own.before == returned.before or "*" in own.after else []
    return shared[0] if len(shared) == 1 else None
