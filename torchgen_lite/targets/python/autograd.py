"""The names and expressions in the kernels of `autograd.py` and `adinplaceorview.py`, by operator.

The kernels themselves are in `templates/python/autograd.py.j2` and `adinplaceorview.py.j2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.linear import refuses_forward
from torchgen_lite.analysis.differentiability.model import (
    DifferentiabilityInfo,
    TensorArgument,
    forward_refusal,
    refusal,
)
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote, tuple_display
from torchgen_lite.loader.entry.derivatives import AUTO_LINEAR, DEFAULT
from torchgen_lite.schema import BaseType, ListType, OptionalType, SchemaKind, Type
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.python.nodes import (
    SavedView,
    counted,
    kept,
    reads,
    saved_input,
    saved_result,
)
from torchgen_lite.targets.python.package import Overload


class AutogradView(NamedTuple):
    """A kernel for Autograd: it records the call as a `node`, unless that is empty, refuses calls that would have
    to record the tensors `refused`, or runs without recording under the local state `guard`.

    The node has an edge for each of the `slots`; an `undifferentiable` one has the error message
    for calls in which it needs a gradient. `saved` and `kept` are what the node keeps of arguments
    and of results. `results` is the `result` or, if it `has_several`,
    a tuple of its parts that have gradients. A kernel that `is_composed` of other operators runs
    below ADInplaceOrView even if nothing is recorded, so that its result doesn't count as a view of
    a tensor that only they know.

    A kernel that `carries` tangents to results has a `rule` unless they follow from the node: a word, or else a formula
    of `values`, which is in the node. Calls with tangents raise the error `without_tangents`, if there is one.
    """

    overload: Overload
    guard: str
    refused: str = ""
    node: str = ""
    slots: Sequence[TensorArgument] = ()
    undifferentiable: Sequence[tuple[TensorArgument, str]] = ()
    saved: Sequence[SavedView] = ()
    kept: Sequence[SavedView] = ()
    result: str = ""
    results: str = ""
    is_composed: bool = False
    has_several: bool = False
    carries: bool = False
    rule: str = ""
    values: Sequence[str] = ()
    without_tangents: str = ""


class TrackingView(NamedTuple):
    """A kernel for ADInplaceOrView: increments the versions of the `written` tensors, and of those
    in the `written_lists`, which may contain None; `as_view` makes views of the tensor `viewed`,
    and the overload's stub remakes them from another tensor."""

    overload: Overload
    written: Sequence[str]
    written_lists: Sequence[str]
    as_view: str
    viewed: str


def autograd_view(
    overload: Overload, plan: AutogradPlan, info: DifferentiabilityInfo
) -> AutogradView:
    """The kernel of an operator whose calls are recorded, refused, or passed through."""
    origin = plan.origins[DEFAULT]
    if origin is Origin.autograd:
        guarded = bool(overload.schema.is_aliasing or overload.schema.written)
    else:
        # A non-differentiable operator must not record the operators that it calls.
        guarded = bool(plan.written)
    view = AutogradView(overload, "_below_autograd" if guarded else "_below_adinplaceorview")
    if origin is Origin.autograd:
        return _recording(view, plan, info)
    if origin is not Origin.refuses_out:
        return view
    out = set(names_of(overload.schema.out))
    tensors = [*info.slots, *(tensor for tensor in plan.tensors if tensor.name in out)]
    refused = tuple_display(
        [f"{'*' * tensor.is_list}{identifier(tensor.name)}" for tensor in tensors]
    )
    return view._replace(refused=refused)


def _rule_of(info: DifferentiabilityInfo) -> str:
    """The word of the rule for forward mode, if there is one."""
    return info.forward[0].formula.word if info.forward else ""


def _recording(view: AutogradView, plan: AutogradPlan, info: DifferentiabilityInfo) -> AutogradView:
    kind = view.overload.kind
    schema = view.overload.schema
    result = "_result"
    if kind is SchemaKind.inplace:
        result = "self"
    parts = [result]
    if kind is not SchemaKind.inplace and len(schema.returns) != 1:
        parts = [f"_result[{index}]" for index in range(len(schema.returns))]
    is_tuple = len(parts) > 1
    values = kept(info)
    return view._replace(
        node=info.node_name,
        slots=[*map(_slot, info.slots)],
        undifferentiable=[
            (_slot(argument), quote(refusal(view.overload.function.name, argument.name)))
            for argument in info.without_formula
        ],
        saved=[
            *[SavedView(f"len({identifier(name)})", "") for name in counted(info)],
            *[saved_input(saved, info, kind) for saved in values if saved.result is None],
        ],
        kept=[
            saved_result(saved, info, parts[saved.result])
            for saved in values
            if saved.result is not None
        ],
        result=result,
        results=tuple_display([parts[index] for index in info.outputs]) if is_tuple else result,
        is_composed=plan.is_composed and kind is SchemaKind.functional and not schema.is_aliasing,
        has_several=is_tuple or isinstance(schema.returns[0].type, ListType),
        rule=AUTO_LINEAR if schema.is_aliasing else _rule_of(info),
        values=[value for _, value in reads(info, parts)],
    )


def carrying(view: AutogradView, info: DifferentiabilityInfo) -> AutogradView:
    """The kernel in a package whose framework has tangents."""
    reason = refuses_forward(info) if view.node else ""
    message = ""
    if reason:
        message = quote(forward_refusal(view.overload.function.name, reason))
    return view._replace(carries=bool(view.node) and not reason, without_tangents=message)


def _slot(tensor: TensorArgument) -> TensorArgument:
    """An argument that may need a gradient, under its name in Python."""
    return tensor._replace(name=identifier(tensor.name))


def tracking_view(overload: Overload, plan: AutogradPlan) -> TrackingView:
    """The kernel of an operator that writes, or makes a view, which is tracked only if the operator
    has a derivative."""
    is_view = plan.tracking is Origin.view and any(info.slots for info in plan.infos.values())
    as_view = ""
    if is_view:
        returns_list = isinstance(overload.schema.returns[0].type, ListType)
        as_view = "as_views" if returns_list else "as_view"
    written = {
        identifier(a.name): a.type for a in overload.schema.written if a.name in plan.written
    }
    return TrackingView(
        overload=overload,
        written=[name for name, type_ in written.items() if isinstance(type_, BaseType)],
        written_lists=[
            _tensors_of(name, type_)
            for name, type_ in written.items()
            if not isinstance(type_, BaseType)
        ],
        as_view=as_view,
        viewed=identifier(overload.schema.arguments[0].name) if is_view else "",
    )


def _tensors_of(name: str, type_: Type) -> str:
    """The tensors of an optional one, of a list, or of a list that may be absent; some of them None."""
    if isinstance(type_, ListType):
        return name
    is_list = isinstance(type_, OptionalType) and isinstance(type_.elem, ListType)
    return f"{name} or ()" if is_list else f"({name},)"
