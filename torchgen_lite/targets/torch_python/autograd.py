"""The derivatives in `_operators.py`: what forward keeps, and the gradients.

def setup_context_muladd(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a = inputs[0]
    b = inputs[1]
    needs = ctx.needs_input_grad
    ctx.save_for_backward(a if needs[1] else None, b if needs[0] else None)


def backward_muladd(ctx: Any, *grads: Any) -> tuple[Any, ...]:
    needs = ctx.needs_input_grad
    a, b = ctx.saved_tensors
    grad = grads[0]
    ...
    return (grad_a_, grad_b_, None)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability.info import used_gradients
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, refusal
from torchgen_lite.analysis.differentiability.nodes import (
    Backward,
    Gradients,
    SharedValue,
    plan_backward,
)
from torchgen_lite.analysis.differentiability.vocabulary import called_in_torch
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.formulas.callees import Callee
from torchgen_lite.formulas.facts import Fact
from torchgen_lite.formulas.kinds import SCALAR, Kind
from torchgen_lite.formulas.model import Call, Expression, Member, called_name
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.python.formula import FormulaNames, in_python, write
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote, tuple_display
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS
from torchgen_lite.schema import FunctionSchema, ListType
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import names_of, places_of
from torchgen_lite.targets.output import Named
from torchgen_lite.targets.torch_python import saved
from torchgen_lite.targets.torch_python.forward import tangents_of
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


class AutogradView(NamedTuple):
    """The functions of one operator: two, which keep `tensors`, and `attributes` of `ctx`, and one for `tangents` if the
    entry has them. `inputs` are the locals of the first, `grads` and `tangent_locals` those of the others; `shared` are
    those that several `formulas` use. `positions` are those of the arguments in `needs`.
    """

    operator: PackagedOperator
    tensors: Sequence[saved.Tensors]
    attributes: Sequence[Named]
    inputs: Sequence[Named]
    needs: str
    undifferentiable: Sequence[Named]
    without_gradient: Sequence[str]
    grads: Sequence[Named]
    positions: Mapping[str, int]
    shared: Sequence[SharedValue]
    formulas: Sequence[Gradients]
    returned: str
    tangent_locals: Sequence[Named]
    tangents: Sequence[str]

    @property
    def saved(self) -> str:
        """The names of what is kept, as the left side of an assignment."""
        names = names_of(self.tensors)
        if len(names) == 1:
            return f"({names[0]},)"
        return ", ".join(names)

    @property
    def uses_needs(self) -> bool:
        """Whether backward asks which inputs need a gradient."""
        return bool(self.formulas or "needs" in self.returned)


class Autograd(NamedTuple):
    """The derivatives of a package: the formulas by operator, the views, and the functions that the formulas call,
    each with the author's module that has it, or empty for torch, and the place of the first use. `calculates` says
    whether they call those of `_arithmetic`, too, and `calls_zeros` whether the functions call those of `_zeros`.
    """

    infos: Mapping[str, DifferentiabilityInfo]
    operators: Sequence[AutogradView]
    functions: Mapping[str, tuple[str, str]]
    calculates: bool
    calls_zeros: bool


def build_autograd(package: Package) -> Autograd:
    """The derivatives of every operator whose formulas are registered."""
    functions = _Functions(package)
    infos: dict[str, DifferentiabilityInfo] = {}
    views = []
    for operator in package.own:
        if package.registration(operator, Origin.formulas):
            info = operator.facts.info
            assert info is not None
            if not info.outputs:
                # The results are only marked as non-differentiable: there is no gradient.
                info = replace(info, derivatives=(), slots=(), saved=())
            infos[operator.name] = info
            views.append(_view(operator, info, functions))
            functions.calls_zeros |= _calls_zeros(operator, info)
    called = dict(sorted(functions.found.items()))
    return Autograd(infos, views, called, functions.calculates, functions.calls_zeros)


def _calls_zeros(operator: PackagedOperator, info: DifferentiabilityInfo) -> bool:
    """Whether the functions pad what inputs need, or make zeros of what is kept or for tangents that there are not."""
    makes_zeros = Fact.info in [kept.fact for kept in saved.kept(info)]
    return is_padded(operator.schema) or bool(info.forward) or makes_zeros


class _Functions:
    """What formulas call: operators of the package first, then helper modules, then torch."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.index = package.modules.get("formulas", NO_FUNCTIONS)
        self.operators = {o.schema.base_name: o for o in reversed(package.own)}
        self.place = ""
        self.found: dict[str, tuple[str, str]] = {}
        self.calculates = False
        self.calls_zeros = False

    def arithmetic(self, name: str) -> str:
        self.calculates = True
        return f"_arithmetic.{name}"

    def expression(self, name: str) -> str:
        if name in self.operators:
            return self.operators[name].packet
        helper = self.index.find(name)
        if helper is None and name == "not_implemented":
            self.calls_zeros = True
            return f"_zeros.{name}"
        module = self.package.imported(helper[0]) if helper is not None else ""
        self.found.setdefault(name, (module, self.place))
        if module:
            return f"_helper_{name}"
        return f"torch.{name}"

    def callee(self, call: Typed) -> Callee | None:
        """The operator that a call means, if it is no function of the author's."""
        name = called_name(call.node)
        is_helper = name is not None and bool(self.index.find(name))
        if is_helper:
            return call.operator
        return call.operator or called_in_torch(call)


def _view(
    operator: PackagedOperator, info: DifferentiabilityInfo, functions: _Functions
) -> AutogradView:
    schema = operator.schema
    functions.place = operator.place_of("derivatives")
    sources = {value.source for value in saved.kept(info)}
    others = [
        i for i, r in enumerate(schema.returns) if i not in info.outputs and is_tensor_like(r.type)
    ]
    words = FormulaNames(
        functions.expression,
        functions.arithmetic,
        saved.expression,
        _conjugate,
        functions.callee,
    )
    positions = places_of(names_of(schema.positional))
    backward = Backward()
    if not operator.function.is_auto:
        test = partial(_wanted, info, positions)
        backward = plan_backward(info, test, lambda tree: write(in_python(tree, words)))
    return AutogradView(
        operator,
        list(saved.kept_tensors(schema, info)),
        saved.attributes(info),
        [(saved.local(name), value) for name, value in saved.values_of(schema) if name in sources],
        _needs(schema),
        tuple(_undifferentiable(operator, info)),
        [saved.output(schema, index) for index in others],
        tuple(_grads(schema, info)),
        positions,
        *backward,
        _returned(operator, info, functions.package),
        *tangents_of(operator, info, words),
    )


def _conjugate(value: Expression, kind: Kind) -> Expression:
    """PyTorch tensors and Python numbers have a method for their conjugate."""
    return Call(Member(value, "conjugate" if kind == SCALAR else "conj"), ())


def _needs(schema: FunctionSchema) -> str:
    """Which inputs need a gradient. PyTorch leaves out arguments that equal their default."""
    if is_padded(schema):
        return f"_zeros.padded(ctx.needs_input_grad, {len(schema.positional)})"
    return "ctx.needs_input_grad"


def is_padded(schema: FunctionSchema) -> bool:
    """Whether a tensor may be left out of a call."""
    return any(
        a.default is not None and dispatch_kind(a.type).has_tensors for a in schema.positional
    )


def _undifferentiable(operator: PackagedOperator, info: DifferentiabilityInfo) -> Iterator[Named]:
    """The arguments without a formula: whether each requires a gradient, and what is raised then."""
    if not info.slots:
        return
    positions = places_of(names_of(operator.schema.positional))
    for argument in info.without_formula:
        name = argument.name
        if name in positions:
            yield f"needs[{positions[name]}]", quote(refusal(operator.name, name))


def _grads(schema: FunctionSchema, info: DifferentiabilityInfo) -> Iterator[Named]:
    """`grad`, `grads` or `grad_NAME`, whichever the formulas use."""
    outputs = info.outputs
    for name, _, index in used_gradients(info):
        yield name, f"grads[{index}]"
    if "grads" in info.mentioned:
        if len(schema.returns) == 1 and isinstance(schema.returns[0].type, ListType):
            yield "grads", "tuple(grads[0])"
        elif outputs != tuple(range(len(schema.returns))):
            yield "grads", tuple_display([f"grads[{i}]" for i in outputs])


def _wanted(info: DifferentiabilityInfo, positions: Mapping[str, int], slot: int) -> str:
    """Whether the gradient of an argument is wanted; of a list, whether that of some tensor is."""
    argument = info.slots[slot]
    need = f"needs[{positions[argument.name]}]"
    return f"any({need})" if argument.is_list else need


def _returned(operator: PackagedOperator, info: DifferentiabilityInfo, package: Package) -> str:
    """The gradients of all inputs, None for those that have no formula; or all those of the reference."""
    names = names_of(operator.schema.positional)
    values = []
    for name in names:
        values.append(f"grad_{name}_" if name in info.arguments else "None")
    result = tuple_display(values)
    if operator.function.is_auto:
        given = []
        for argument in operator.schema.arguments:
            value = saved.local(argument.name)
            if argument.kwarg_only:
                value = f"{identifier(argument.name)}={value}"
            given.append(value)
        result = f"_gradients.gradients(ctx, needs, grads, _gradients.under(_autocast, {package.reference(operator)}), {', '.join(given)})"
    return result
