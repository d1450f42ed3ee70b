"""What autograd does for each operator: the one answer that every target reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import tensors_in
from torchgen_lite.analysis.differentiability.match import Infos, match_derivatives
from torchgen_lite.analysis.differentiability.model import (
    DifferentiabilityInfo,
    TensorArgument,
    tensor_arguments,
)
from torchgen_lite.analysis.kernels import Origin
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry.derivatives import DEFAULT
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.grouped import names_of


class AutogradPlan(NamedTuple):
    """What autograd does for one operator.

    `infos` are its formulas by autograd key, and `origins` say what happens under each key; both
    are empty if there is nothing to do. `tracking` is what happens under the key ADInplaceOrView, if anything: a view
    is tracked as one only if it has a derivative. `viewed` is the tensor that the only result is a view of.
    `is_composed` means that the operator has a kernel made of other operators.
    """

    infos: Mapping[str, DifferentiabilityInfo]
    origins: Mapping[str, Origin]
    tracking: Origin | None
    tensors: tuple[TensorArgument, ...]
    written: tuple[str, ...]
    viewed: str | None
    is_composed: bool

    @property
    def info(self) -> DifferentiabilityInfo | None:
        """The formulas for every key without formulas of its own."""
        return self.infos.get(DEFAULT)


def plan_autograd(operators: Sequence[Operator]) -> Mapping[str, AutogradPlan]:
    """The plan of each operator that has formulas, writes or aliases, by name: `aten::add.Tensor`."""
    matched = match_derivatives(operators).of
    return {
        o.name: _plan(o, _used_by(o, matched.get(o.name, {})))
        for o in operators
        if o.name in matched or o.schema.written or o.schema.is_aliasing
    }


def _used_by(operator: Operator, infos: Infos) -> Infos:
    """The formulas that can be used: one that writes to buffers shares none with a functional operator, which returns what
    that writes, and whose formulas may read it."""
    if operator.kind is not SchemaKind.mutable:
        return infos
    return {k: info for k, info in infos.items() if info.schema.kind() is SchemaKind.mutable}


def _plan(operator: Operator, infos: Infos) -> AutogradPlan:
    schema = operator.schema
    tensors = tensor_arguments(schema.arguments)
    # A `Tensor[]?` carries no keys, but what is written to is in it, too.
    written = tuple(names_of(tensors_in(schema.written)))
    is_composed = any(key.startswith("CompositeExplicit") for key in operator.keys)
    origins = {}
    tracking = None
    # Autograd sees through CompositeImplicitAutograd kernels.
    if (tensors or written) and operator.keys != {"CompositeImplicitAutograd"}:
        origins = {key: _origin(schema, info, is_composed) for key, info in infos.items()}
        if written:
            tracking = Origin.raises_versions
        elif schema.is_aliasing:
            tracking = Origin.view if infos else Origin.unknown_view
        if schema.is_aliasing and not infos:
            origins[DEFAULT] = Origin.not_implemented
    return AutogradPlan(infos, origins, tracking, tensors, written, _viewed(schema), is_composed)


def _origin(schema: FunctionSchema, info: DifferentiabilityInfo, is_composed: bool) -> Origin:
    if not info.slots or not info.outputs:
        if is_composed:
            return Origin.passes
        return Origin.fallthrough
    if schema.kind() is SchemaKind.out:
        return Origin.refuses_out
    return Origin.autograd


def _viewed(schema: FunctionSchema) -> str | None:
    """The only tensor that shares memory with the only result."""
    returned = schema.returns[0].annotation if len(schema.returns) == 1 else None
    if returned is None:
        return None
    shared = []
    for argument in schema.arguments:
        annotation = argument.annotation
        is_tensor = dispatch_kind(argument.type) is DispatchKind.tensor
        if not is_tensor or annotation is None or annotation.is_write:
            continue
        if annotation.before == returned.before or "*" in annotation.after:
            shared.append(argument.name)
    return shared[0] if len(shared) == 1 else None
