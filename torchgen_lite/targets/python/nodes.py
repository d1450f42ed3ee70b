"""The nodes in `nodes.py`: what each one saves, and its formulas as expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.info import used_gradients
from torchgen_lite.analysis.differentiability.linear import is_tried
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.shared import with_shared
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.kinds import SCALAR, Kind
from torchgen_lite.formulas.model import Call, Conditional, Expression, Member, Name
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.python.formula import FormulaNames, in_python, readings, write
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import tuple_display
from torchgen_lite.schema import SchemaKind, return_names
from torchgen_lite.schema.dispatch_kind import DispatchKind

_READ = {**readings(prefix="_", ndim="len({0}._shape)"), Fact.info: "{0}"}
# How formulas of tangents name a value.
_SPELLED = (("", ""), ("", "_p"), ("original_", "_p"))
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
    """A value of an input, which is saved before the call. A call is recorded if some argument needs
    a gradient, so a value that serves the only one is always saved."""
    name = identifier(saved.source)
    needs = saved.needed_by if saved.keeps_tensors and len(info.slots) > 1 else ()
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


class DerivativeView(NamedTuple):
    """One formula, or a value that several share, and what it has `called` of the framework, and of the runtime for `arithmetic`.
    `targets` are the gradients that it computes; `need` is the test for running it, or empty if it
    always runs; `mask` is the value of `grad_input_mask`, or empty if unused."""

    targets: str
    formula: str
    called: Sequence[str]
    arithmetic: Sequence[str]
    need: str
    mask: str
    is_single: bool


class NodeView(NamedTuple):
    """A node class, and the parts of its `apply`.

    `unpacked` are the locals for saved values, `gradients` the locals for gradients of results with
    their positions, and `result` is the tuple of gradients of the arguments. If `is_materialized`,
    missing gradients of results become zeros. Forward mode has to try formulas that may not be linear (`is_tried`). The written formulas of `tangents` read those that are `given` of
    arguments, and `values`.
    """

    name: str
    operator: str
    unpacked: str
    is_materialized: bool
    is_tried: bool
    gradients: Sequence[tuple[str, int]]
    derivatives: Sequence[DerivativeView]
    result: str
    given: str
    values: Sequence[str]
    tangents: Sequence[DerivativeView]


class Functions(NamedTuple):
    """Where the functions in a formula are: `helpers` maps helper functions to their modules; all
    others are operators. `called` are the framework functions that it has called so far, `numeric` those of
    the runtime."""

    helpers: Mapping[str, str]
    called: set[str]
    numeric: set[str]

    def arithmetic(self, name: str) -> str:
        self.numeric.add(name)
        return f"_{name}"

    def expression(self, name: str) -> str:
        if name in self.helpers:
            return f"{_alias(self.helpers[name])}.{name}"
        return f"_functions.{identifier(name)}"

    def local(self, saved: Saved) -> Expression | None:
        """The expression for a saved value; None if it could not be saved."""
        if not saved.is_whole and saved.fact not in _READ:
            return None
        name = Name(identifier(saved.name))
        return self._call("zeros", name) if saved.fact is Fact.info else name

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


def helper_modules(helpers: Mapping[str, str]) -> dict[str, str]:
    """The helper modules, each with the name that it is imported as."""
    return {name: _alias(name) for name in helpers.values()}


def _alias(module: str) -> str:
    return f"_{module.rpartition('.')[2]}"


def node_view(info: DifferentiabilityInfo, helpers: Mapping[str, str]) -> NodeView:
    """The class for one entry with formulas."""
    schema = info.function.func
    names = [identifier(saved.name) for saved in kept(info)]
    return NodeView(
        name=info.node_name,
        operator=schema.full_name,
        unpacked=f"({names[0]},)" if len(names) == 1 else ", ".join(names),
        is_materialized=info.is_materialized
        and (bool(info.used_gradients) or "grads" in info.mentioned),
        is_tried=not info.forward and is_tried(info, helpers),
        gradients=[(name, position) for name, position, _ in used_gradients(info)],
        derivatives=_derivatives(info, helpers),
        result=tuple_display([f"{'*' * s.is_list}grad_{identifier(s.name)}_" for s in info.slots]),
        given=tuple_display([f"{s.name}_t" for s in info.slots]),
        values=[identifier(name) for name, _ in reads(info)],
        tangents=[
            _view(one.tree, helpers, targets="", need="", local=_whole)
            for one in info.forward
            if one.tree is not None
        ],
    )


def reads(info: DifferentiabilityInfo, results: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What written formulas of tangents read, each with its value in a kernel of these results."""
    schema, used = info.function.func, frozenset().union(*(one.mentioned for one in info.forward))
    values = {argument.name: identifier(argument.name) for argument in schema.arguments}
    if [*results] == ["self"]:
        # What it was before the call.
        values["self"] = "_self"
    values |= zip(return_names(schema), results or return_names(schema))
    names = ((f"{start}{name}{end}", name) for name in values for start, end in _SPELLED)
    return [(written, values[name]) for written, name in names if written in used]


def _whole(saved: Saved) -> Expression | None:
    return Name(identifier(saved.source)) if saved.is_whole else None


def _derivatives(info: DifferentiabilityInfo, helpers: Mapping[str, str]) -> list[DerivativeView]:
    """The formulas, after the values that they share."""
    formulas, found = with_shared(info), []
    for one, tree in zip(info.derivatives, formulas.trees):
        needs = [f"_node.needs[{info.arguments.index(name)}]" for name in one.names]
        is_single = len(needs) == 1
        view = _view(
            tree,
            helpers,
            targets=", ".join(f"grad_{identifier(name)}_" for name in one.names),
            need=needs[0] if is_single and len(info.slots) > 1 else "",
            mask=tuple_display(needs) if "grad_input_mask" in one.mentioned else "",
            is_single=is_single,
        )
        found.append(view)
    # What always runs wants whatever it uses.
    wanted = formulas.wanted([[one.need] for one in found])
    shared = [
        _view(tree, helpers, targets=name, need="" if "" in tests else " or ".join(tests))
        for name, tree, tests in wanted
    ]
    return [*shared, *found]


def _view(
    tree: Typed,
    helpers: Mapping[str, str],
    *,
    targets: str,
    need: str,
    mask: str = "",
    is_single: bool = True,
    local: Callable[[Saved], Expression | None] | None = None,
) -> DerivativeView:
    functions = Functions(helpers, set(), set())
    words = FormulaNames(
        functions.expression, functions.arithmetic, local or functions.local, functions.conjugate
    )
    formula = write(in_python(tree, words))
    called, numeric = sorted(functions.called), sorted(functions.numeric)
    return DerivativeView(targets, formula, called, numeric, need, mask, is_single)
