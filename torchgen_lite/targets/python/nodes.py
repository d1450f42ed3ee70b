"""The nodes in `nodes.py`: what each one saves, and its formulas as expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.info import used_gradients
from torchgen_lite.analysis.differentiability.linear import is_tried
from torchgen_lite.analysis.differentiability.model import Derivative, DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.nodes import (
    Gradients,
    SharedValue,
    plan_backward,
    reads_of,
)
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.kinds import SCALAR, Kind
from torchgen_lite.formulas.model import Call, Conditional, Expression, Member, Name
from torchgen_lite.languages.python.formula import FormulaNames, in_python, readings, write
from torchgen_lite.languages.python.names import identifier, identifiers
from torchgen_lite.languages.text import tuple_display
from torchgen_lite.schema import SchemaKind, return_names
from torchgen_lite.schema.dispatch_kind import DispatchKind
from torchgen_lite.schema.grouped import names_of

_READ = {**readings(prefix="_", ndim="_len({0}._shape)"), Fact.info: "{0}"}
# The framework functions that save a whole value.
_SAVE = {
    DispatchKind.tensor: "save",
    DispatchKind.optional_tensor: "save_optional",
    DispatchKind.tensor_list: "save_list",
    DispatchKind.optional_tensor_list: "save_list",
}


def kept(info: DifferentiabilityInfo) -> tuple[Saved, ...]:
    """What a node saves, in the order of the locals of `apply`."""
    return info.kept(_READ)


class SavedView(NamedTuple):
    """What a node keeps: a `value`, or what a `function` of the framework makes of it, under a
    `condition` unless that is empty. An in-place call saves the original of `self`."""

    value: str
    function: str
    condition: str = ""
    is_original: bool = False


def saved_input(saved: Saved, info: DifferentiabilityInfo, kind: SchemaKind) -> SavedView:
    """A value of an input, which is saved before the call. What every gradient needs is always saved: a call is
    recorded if some argument needs one."""
    name = identifier(saved.source)
    is_always = any(info.slots[slot].is_list for slot in saved.needed_by)
    needs = saved.needed_by if saved.keeps_tensors and not is_always else ()
    return _saved(saved, name)._replace(
        condition=" or ".join(f"_needs[{index}]" for index in needs),
        is_original=kind is SchemaKind.inplace and saved.is_whole and name == "self",
    )


def saved_result(saved: Saved, info: DifferentiabilityInfo, value: str) -> SavedView:
    """A value of a result, which is saved after the call."""
    if saved.is_whole and saved.result in info.outputs:
        return SavedView(f"{value}, {info.outputs.index(saved.result)}", "save_result")
    return _saved(saved, value)


def _saved(saved: Saved, value: str) -> SavedView:
    if saved.is_whole:
        return SavedView(value, _SAVE.get(saved.carries, ""))
    if saved.fact is Fact.info:
        return SavedView(value, "output_of")
    return SavedView(_READ[saved.fact].format(value, saved.dim), "")


class NodeView(NamedTuple):
    """A node class, and the parts of its `apply`.

    `unpacked` are the locals for saved values, `gradients` the locals for gradients of results with
    their positions, and `result` is the tuple of gradients of the arguments. If `is_materialized`,
    missing gradients of results become zeros. Forward mode has to try formulas that may not be linear (`is_tried`). The
    written formulas of `tangents` read those that are `given` of arguments, and `values`. The formulas have `called` these
    functions of the framework, and those of the runtime for `arithmetic`.
    """

    name: str
    operator: str
    unpacked: str
    is_materialized: bool
    is_tried: bool
    gradients: Sequence[tuple[str, int]]
    shared: Sequence[SharedValue]
    derivatives: Sequence[Gradients]
    result: str
    given: str
    values: Sequence[str]
    tangents: Sequence[str]
    called: Sequence[str]
    arithmetic: Sequence[str]


class Functions(NamedTuple):
    """Where the functions in a formula are: `helpers` maps helper functions to the names of their modules;
    all others are operators. `called` are the framework functions that it has called so far, `numeric` those of
    the runtime."""

    helpers: Mapping[str, str]
    called: set[str]
    numeric: set[str]

    def arithmetic(self, name: str) -> str:
        self.numeric.add(name)
        return f"_{name}"

    def expression(self, name: str) -> str:
        if name in self.helpers:
            return f"{self.helpers[name]}.{name}"
        return f"_functions.{identifier(name)}"

    def local(self, saved: Saved) -> Expression | None:
        """The expression for a saved value; None if it could not be saved."""
        if not saved.is_whole and saved.fact not in _READ:
            return None
        name = Name(identifier(saved.name))
        if saved.fact is Fact.info:
            return self._call("zeros", name)
        return name

    def conjugate(self, value: Expression, kind: Kind) -> Expression:
        """The conjugate of a number, or of a tensor by the framework's `conj`.

        For a name, the code tests the type first, so it costs next to nothing for real tensors.
        """
        if kind == SCALAR:
            return Call(Member(value, "conjugate"), ())
        conjugated = self._call("conj", value)
        if not isinstance(value, Name):
            return conjugated
        return Conditional(Member(Member(value, "_dtype"), "is_complex"), conjugated, value)

    def _call(self, name: str, value: Expression) -> Expression:
        self.called.add(name)
        return Call(Name(f"_{name}"), (value,))


def counted(info: DifferentiabilityInfo) -> list[str]:
    """The lists of which a node keeps the lengths, before all else: of several, nothing else says where one ends."""
    return list(info.lists) if len(info.lists) > 1 else []


def _count(name: str) -> str:
    return f"_count_{name}"


def _result(info: DifferentiabilityInfo) -> str:
    """The gradients of the arguments, one for each edge: also for each tensor of a list of which none is wanted."""
    others = len(info.slots) - 1
    gradients = []
    for slot in info.slots:
        gradient = f"_grad_{identifier(slot.name)}"
        if slot.is_list and slot.name in counted(info):
            gradient = f"({gradient} or [None] * {_count(slot.name)})"
        elif slot.is_list and others:
            gradient = f"({gradient} or [None] * (_len(_node.edges) - {others}))"
        gradients.append(f"*{gradient}" if slot.is_list else gradient)
    return tuple_display(gradients)


def node_view(info: DifferentiabilityInfo, helpers: Mapping[str, str]) -> NodeView:
    """The class for one entry with formulas."""
    functions = Functions(helpers, set(), set())
    names = [*map(_count, counted(info)), *identifiers(kept(info))]
    is_asked = bool(info.used_gradients) or "grads" in info.mentioned
    words = FormulaNames(
        functions.expression,
        functions.arithmetic,
        functions.local,
        functions.conjugate,
        length="_len",
    )
    shared, derivatives = plan_backward(
        info,
        "_node.needs[{}]".format,
        lambda tree: write(in_python(tree, words)),
        lambda derivative: _is_conditional(info, derivative),
    )
    whole = words._replace(saved=_whole)
    tangents = []
    for tangent in info.forward:
        if tangent.tree is not None:
            tangents.append(write(in_python(tangent.tree, whole)))
    return NodeView(
        name=info.node_name,
        operator=info.schema.full_name,
        unpacked=f"({names[0]},)" if len(names) == 1 else ", ".join(names),
        is_materialized=info.is_materialized and is_asked,
        is_tried=not info.forward and is_tried(info, helpers),
        gradients=[(name, position) for name, position, _ in used_gradients(info)],
        shared=shared,
        derivatives=derivatives,
        result=_result(info),
        given=tuple_display([f"{s.name}_t" for s in info.slots]),
        values=list(map(identifier, reads(info))),
        tangents=tangents,
        called=sorted(functions.called),
        arithmetic=sorted(functions.numeric),
    )


def _is_conditional(info: DifferentiabilityInfo, derivative: Derivative) -> bool:
    """Whether a gradient is computed only if it is wanted. That of the only argument is, as a call is recorded if some
    argument needs one; and how many gradients a list has is known from what its formula gives alone.
    """
    is_single = len(derivative.names) == 1 and len(info.slots) > 1
    return is_single and derivative.names[0] not in info.lists


def reads(info: DifferentiabilityInfo, results: Sequence[str] = ()) -> dict[str, str]:
    """What written formulas of tangents read, each with its value in a kernel of these results."""
    schema = info.schema
    used = frozenset().union(*[tangent.mentioned for tangent in info.forward])
    values = dict(zip(names_of(schema.arguments), identifiers(schema.arguments)))
    if [*results] == ["self"]:
        # What it was before the call.
        values["self"] = "_self"
    values |= zip(return_names(schema), results or return_names(schema))
    read = {}
    for name, source, is_tangent in reads_of(info, schema, used):
        if not is_tangent:
            read[name] = values[source]
    return read


def _whole(saved: Saved) -> Expression | None:
    if saved.is_whole:
        return Name(identifier(saved.source))
    return None
