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
    overload: Overload, plan: AutogradPlan, info: DifferentiabilityInfo, *, has_tangents: bool
) -> AutogradView:
    """The kernel of an operator whose calls are recorded, refused, or passed through. `has_tangents` says that the
    framework has forward mode."""
    origin = plan.origins[DEFAULT]
    if origin is Origin.autograd:
        guarded = bool(overload.schema.is_aliasing or overload.schema.written)
    else:
        # A non-differentiable operator must not record the operators that it calls.
        guarded = bool(plan.written)
    view = AutogradView(overload, "_below_autograd" if guarded else "_below_adinplaceorview")
    if origin is Origin.autograd:
        refused_forward = refuses_forward(info) if has_tangents else ""
        if refused_forward:
            message = quote(forward_refusal(overload.name, refused_forward))
            view = view._replace(without_tangents=message)
        carries = has_tangents and not refused_forward
        return _recording(view._replace(carries=carries), plan, info)
    if origin is not Origin.refuses_out:
        return view
    out = names_of(overload.schema.out)
    refused = []
    for tensor in [*info.slots, *[tensor for tensor in plan.tensors if tensor.name in out]]:
        refused.append(f"{'*' * tensor.is_list}{identifier(tensor.name)}")
    return view._replace(refused=tuple_display(refused))


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
    # The word of the rule for forward mode, if there is one.
    rule = AUTO_LINEAR if schema.is_aliasing else ""
    if info.forward and not rule:
        rule = info.forward[0].formula.word
    undifferentiable = []
    for argument in info.without_formula:
        message = quote(refusal(view.overload.name, argument.name))
        undifferentiable.append((_slot(argument), message))
    of_arguments = [SavedView(f"len({identifier(name)})", "") for name in counted(info)]
    of_results = []
    for saved in kept(info):
        if saved.result is None:
            of_arguments.append(saved_input(saved, info, kind))
        else:
            of_results.append(saved_result(saved, info, parts[saved.result]))
    return view._replace(
        node=info.node_name,
        slots=[*map(_slot, info.slots)],
        undifferentiable=undifferentiable,
        saved=of_arguments,
        kept=of_results,
        result=result,
        results=tuple_display([parts[index] for index in info.outputs]) if is_tuple else result,
        is_composed=plan.is_composed and kind is SchemaKind.functional and not schema.is_aliasing,
        has_several=is_tuple or isinstance(schema.returns[0].type, ListType),
        rule=rule,
        values=list(reads(info, parts).values()),
    )


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
    written = []
    written_lists = []
    for argument in overload.schema.written:
        name = identifier(argument.name)
        if argument.name in plan.written and isinstance(argument.type, BaseType):
            written.append(name)
        elif argument.name in plan.written:
            written_lists.append(_tensors_of(name, argument.type))
    return TrackingView(
        overload=overload,
        written=written,
        written_lists=written_lists,
        as_view=as_view,
        viewed=identifier(overload.schema.arguments[0].name) if is_view else "",
    )


def _tensors_of(name: str, type_: Type) -> str:
    """The tensors of an optional one, of a list, or of a list that may be absent; some of them None."""
    if isinstance(type_, ListType):
        return name
    is_list = isinstance(type_, OptionalType) and isinstance(type_.elem, ListType)
    return f"{name} or ()" if is_list else f"({name},)"
