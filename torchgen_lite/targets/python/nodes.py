"""The nodes in `nodes.py`: what each one saves, and its formulas as expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.info import return_names
from torchgen_lite.analysis.differentiability.model import Derivative, DifferentiabilityInfo
from torchgen_lite.dialects.python_formula import FormulaNames, in_python, write
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import tuple_display
from torchgen_lite.formulas import Call, Conditional, Expression, Member, Name
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.kinds import SCALAR, Kind
from torchgen_lite.schema import ListType, SchemaKind
from torchgen_lite.schema.dispatch_kind import DispatchKind

# How a fact about a tensor is read when the call is recorded.
_READ = {
    Fact.args_scalartypes: "[_t._dtype for _t in {0}]",
    Fact.args_sizes: "[_t._shape for _t in {0}]",
    Fact.args_sizes_symint: "[_t._shape for _t in {0}]",
    Fact.device: "{0}._device",
    Fact.dim: "len({0}._shape)",
    Fact.dtype: "{0}._dtype",
    Fact.info: "_output_of({0})",
    Fact.layout: "{0}.layout",
    Fact.ndim: "len({0}._shape)",
    Fact.numel: "{0}.numel()",
    Fact.scalar_type: "{0}._dtype",
    Fact.shape: "{0}._shape",
    Fact.size: "{0}._shape[{1}]",
    Fact.sym_numel: "{0}.numel()",
    Fact.sym_sizes: "{0}._shape",
}
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


def _read(saved: Saved, value: str) -> str:
    if saved.is_whole:
        return f"_{_SAVE[saved.carries]}({value})" if saved.carries in _SAVE else value
    return _READ[saved.fact].format(value, saved.dim)


def saving(saved: Saved, info: DifferentiabilityInfo) -> Iterator[str]:
    """The framework functions that save a value of an input or a result."""
    if saved.fact is Fact.info and not saved.is_whole:
        yield "output_of"
    if not saved.is_whole:
        return
    if saved.result is not None and saved.result in info.outputs:
        yield "save_result"
    elif saved.carries in _SAVE:
        yield _SAVE[saved.carries]


def is_self(saved: Saved) -> bool:
    """Whether the whole of `self` is saved, of which an in-place call keeps the original."""
    return saved.is_whole and saved.result is None and identifier(saved.source) == "self"


def saved_input(saved: Saved, kind: SchemaKind) -> str:
    """The expression that saves a value of an input, before the call."""
    value = identifier(saved.source)
    if kind is SchemaKind.inplace and is_self(saved):
        value = "_original(self)"
    text = _read(saved, value)
    if not saved.needed_by or not saved.keeps_tensors:
        return text
    return f"{text} if {' or '.join(f'_needs[{i}]' for i in saved.needed_by)} else None"


def saved_result(saved: Saved, info: DifferentiabilityInfo, value: str) -> str:
    """The expression that saves a value of a result, after the call."""
    if saved.is_whole and saved.result in info.outputs:
        return f"_save_result({value}, {info.outputs.index(saved.result)})"
    return _read(saved, value)


class DerivativeView(NamedTuple):
    """One formula. `targets` are the gradients that it computes; `need` is the test for running it,
    or empty if it always runs; `mask` is the value of `grad_input_mask`, or empty if unused.
    """

    targets: str
    formula: str
    need: str
    mask: str
    is_single: bool


class NodeView(NamedTuple):
    """A node class, and the parts of its `apply`.

    `unpacked` are the locals for saved values, `gradients` the locals for gradients of results with
    their positions, and `result` is the tuple of gradients of the arguments. If `is_materialized`,
    missing gradients of results become zeros.
    """

    name: str
    operator: str
    unpacked: str
    is_materialized: bool
    gradients: Sequence[tuple[str, int]]
    derivatives: Sequence[DerivativeView]
    result: str


class Functions(NamedTuple):
    """Where the functions in formulas are: `helpers` maps helper functions to their modules; all
    others are operators. `called` are the framework functions that formulas have called so far."""

    helpers: dict[str, str]
    called: set[str]

    def expression(self, name: str) -> str:
        if name in self.helpers:
            return f"{_alias(self.helpers[name])}.{name}"
        return f"_functions.{identifier(name)}"

    def modules(self) -> dict[str, str]:
        """The helper modules, each with the name that it is imported as."""
        return {name: _alias(name) for name in self.helpers.values()}

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


def _alias(module: str) -> str:
    return f"_{module.rpartition('.')[2]}"


def node_view(info: DifferentiabilityInfo, functions: Functions) -> NodeView:
    """The class for one entry with formulas."""
    schema = info.function.func
    words = FormulaNames(functions.expression, functions.local, functions.conjugate)
    names = [identifier(saved.name) for saved in kept(info)]
    has_several = len(info.outputs) > 1 or any(isinstance(r.type, ListType) for r in schema.returns)
    return NodeView(
        name=info.node_name,
        operator=schema.full_name,
        unpacked=f"({names[0]},)" if len(names) == 1 else ", ".join(names),
        is_materialized=has_several and (bool(info.used_gradients) or "grads" in info.mentioned),
        gradients=list(_gradients(info)),
        derivatives=[_derivative(info, derivative, words) for derivative in info.derivatives],
        result=tuple_display([f"{'*' * s.is_list}grad_{identifier(s.name)}_" for s in info.slots]),
    )


def _gradients(info: DifferentiabilityInfo) -> Iterator[tuple[str, int]]:
    """`grad` and `grad_NAME`, whichever the formulas use, with the positions of their results."""
    if "grad" in info.mentioned:
        yield "grad", 0
    names = return_names(info.function.func)
    for position, index in enumerate(info.outputs):
        if f"grad_{names[index]}" in info.used_gradients:
            yield f"grad_{names[index]}", position


def _derivative(
    info: DifferentiabilityInfo, derivative: Derivative, words: FormulaNames
) -> DerivativeView:
    needs = [f"node.needs[{info.arguments.index(name)}]" for name in derivative.names]
    is_single = len(needs) == 1
    return DerivativeView(
        targets=", ".join(f"grad_{identifier(name)}_" for name in derivative.names),
        formula=write(in_python(derivative.tree, words)),
        need=needs[0] if is_single and len(info.slots) > 1 else "",
        mask=tuple_display(needs) if "grad_input_mask" in derivative.mentioned else "",
        is_single=is_single,
    )
