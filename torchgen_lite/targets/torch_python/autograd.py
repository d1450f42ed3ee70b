"""`_autograd.py`: for each operator with formulas what forward keeps, and the gradients.

def muladd_setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a, b, s = inputs
    ctx.save_for_backward(a if ctx.needs_input_grad[1] else None, b if ctx.needs_input_grad[0] else None)

def muladd_backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    grad = grads[0]
    ...
    return grad_a, grad_b, None
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.derive.views import is_aliasing
from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    plan_autograd,
    return_names,
)
from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_formula import Words, in_python, statements, write
from torchgen_lite.dialects.text import bracketed, docstring, quote, tuple_display, tuple_text
from torchgen_lite.schema import ListType, SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.formula import Call, Expression, Member
from torchgen_lite.schema.formula.kinds import SCALAR, Kind
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.fakes import is_view
from torchgen_lite.targets.torch_python.model import Operator, Package
from torchgen_lite.targets.torch_python.saved import Keeper, build_keeper, local, needs_line


@dataclass(frozen=True, slots=True)
class AutogradView:
    """The two functions of one operator: the parameters of the first, and both bodies."""

    name: str
    doc: str
    parameters: str
    setup: tuple[str, ...]
    backward: tuple[str, ...]


def build_autograd(
    package: Package,
) -> tuple[list[OutputFile], dict[str, DifferentiabilityInfo]]:
    """The file, and for each operator whose formulas are in it what these say."""
    infos = differentiable(package)
    if not infos:
        return [], {}
    functions = _Functions(package)
    views = [_view(operator, info, functions) for operator, info in infos]
    context = {
        "helpers": list(functions.helpers.values()),
        "calls": tuple_text(
            [tuple_display([quote(p), quote(n)]) for n, p in functions.calls.items()], tail=" " * 38
        ),
        "operators": views,
    }
    path = f"{package.root}/_autograd.py"
    by_name = {operator.name: info for operator, info in infos}
    return [OutputFile(path, "torch_python/autograd.py.j2", context)], by_name


def differentiable(package: Package) -> list[tuple[Operator, DifferentiabilityInfo]]:
    """The operators that formulas are registered for, with what these say."""
    if not package.options.autograd:
        return []
    functions = [o.function for o in package.operators]
    if all(function.derivatives is None for function in functions):
        return []
    plans = plan_autograd(functions)
    found = []
    for operator in package.own:
        info = plans[operator.function.name].info
        if info is None or refusal(operator, info) is not None:
            continue
        if info.slots or info.output_differentiability:
            if not info.outputs:
                # The results are marked, and nothing else is done: there is no gradient to begin with.
                info = replace(info, derivatives=(), slots=(), saved=())
            found.append((operator, info))
    return found


def refusal(operator: Operator, info: DifferentiabilityInfo | None) -> str | None:
    """Why `torch.library` can't differentiate an operator that has formulas, or None."""
    schema, name = operator.schema, operator.schema.full_name
    if is_view(operator):
        return f"`{name}` is a view, which differentiates itself"
    if is_aliasing(schema):
        return f"`{name}` shares memory with an argument: give it a fake with `view`"
    if any(a.kwarg_only and is_tensor_like(a.type) for a in schema.arguments):
        return f"`{name}` has tensors that are given by keyword"
    if any(dispatch_kind(a.type) == "P" for a in schema.arguments):
        return f"`{name}` has a list of optional tensors"
    if operator.kind is SchemaKind.functional:
        return None
    if operator.kind is not SchemaKind.inplace or len(schema.returns) != 1:
        return f"`{name}` writes to its arguments"
    if sum(argument.is_write for argument in schema.arguments) != 1:
        return f"`{name}` writes to several arguments"
    if not schema.arguments[0].is_write:
        return f"`{name}` does not write to its first argument"
    if info is not None and any(s.name == "self" for s in info.saved):
        return f"the formulas of `{name}` need `self` as it was before"
    return None


class _Functions:
    """What formulas call: helper modules first, then operators of the package, then torch."""

    def __init__(self, package: Package) -> None:
        self.index = package.modules.get("formulas")
        self.operators = {o.schema.base_name: o for o in reversed(package.own)}
        self.place = ""
        self.helpers: dict[str, str] = {}
        self.calls: dict[str, str] = {}

    def expression(self, name: str) -> str:
        found = self.index.find(name) if self.index is not None else None
        if found is not None:
            items = [quote(self.place), quote(found[0]), quote(name)]
            head = f"_helper_{name} = _library.named("
            self.helpers.setdefault(name, bracketed(head, items))
            return f"_helper_{name}"
        operator = self.operators.get(name)
        if operator is not None:
            return operator.packet
        if name == "not_implemented":
            return f"_support.{name}"
        self.calls.setdefault(name, self.place)
        return f"torch.{name}"


def _view(operator: Operator, info: DifferentiabilityInfo, functions: _Functions) -> AutogradView:
    keeper = build_keeper(operator.schema, info)
    functions.place = operator.place_of("derivatives")
    has_keywords = any(a.kwarg_only for a in operator.schema.arguments)
    return AutogradView(
        operator.flat,
        docstring(f"{operator.name}, {operator.place_of('derivatives')}"),
        python.signature(
            [
                "ctx: Any",
                "inputs: tuple[Any, ...]",
                *(["keyword_only_inputs: dict[str, Any]"] if has_keywords else []),
                "output: Any",
            ]
        ),
        tuple(_setup(operator, info, keeper)),
        tuple(_backward(operator, info, keeper, functions)),
    )


def _conjugate(value: Expression, kind: Kind) -> Expression:
    """Tensors of PyTorch know their conjugate, and so do numbers of Python."""
    return Call(Member(value, "conjugate" if kind == SCALAR else "conj"), ())


def _setup(operator: Operator, info: DifferentiabilityInfo, keeper: Keeper) -> Iterator[str]:
    schema = operator.schema
    if operator.kind is SchemaKind.inplace:
        yield "ctx.mark_dirty(inputs[0])"
    needed = keeper.sources()
    for index, argument in enumerate(schema.positional):
        if argument.name in needed:
            yield f"{local(argument.name)} = inputs[{index}]"
    for argument in schema.kwarg_only:
        if argument.name in needed:
            yield f"{local(argument.name)} = keyword_only_inputs[{quote(argument.name)}]"
    names = return_names(schema)
    for index, name in enumerate(names):
        if name in needed:
            yield f"{local(name)} = output" + (f"[{index}]" if len(names) > 1 else "")
    if keeper.asks_needs():
        yield needs_line(schema)
    yield from keeper.save_lines()
    left = [
        f"output[{i}]" if len(names) > 1 else "output"
        for i, value in enumerate(schema.returns)
        if i not in info.outputs and is_tensor_like(value.type)
    ]
    if left:
        yield f"ctx.mark_non_differentiable({', '.join(left)})"


def _backward(
    operator: Operator,
    info: DifferentiabilityInfo,
    keeper: Keeper,
    functions: _Functions,
) -> Iterator[str]:
    schema = operator.schema
    yield needs_line(schema)
    yield from keeper.load_lines()
    yield from _gradients(operator, info)
    words = Words(functions.expression, keeper.local, _conjugate)
    positions = {a.name: i for i, a in enumerate(schema.positional)}
    lists = {a.name for a in schema.positional if isinstance(a.type, ListType)}
    for derivative in info.derivatives:
        names = derivative.names
        needs = [_need(positions[name], name in lists) for name in names]
        if "grad_input_mask" in derivative.mentioned:
            yield f"grad_input_mask = {tuple_display(needs)}"
        targets = [f"grad_{name}_" for name in names]
        for target, name in zip(targets, names):
            empty = f"[None] * len(needs[{positions[name]}])"
            yield f"{target}: Any = {empty if name in lists else 'None'}"
        yield f"if {' or '.join(needs)}:"
        written = write(in_python(derivative.tree, words))
        lines = statements(targets[0], written, indent=8, target=", ".join(targets))
        yield from (f"    {line}" for line in lines)
        for target, name in zip(targets, names):
            if name in lists:
                # torch.library compares the structure with that of the inputs.
                yield f"    {target} = list({target})"
    result = tuple_display(_returned(operator, info))
    if lists and any(a.default is not None for a in schema.positional):
        # torch.library wants exactly as many as there were inputs.
        result = f"{result}[: len(ctx.needs_input_grad)]"
    yield f"return {result}"


def _need(position: int, is_list: bool) -> str:
    flag = f"needs[{position}]"
    return f"any({flag})" if is_list else flag


def _returned(operator: Operator, info: DifferentiabilityInfo) -> Sequence[str]:
    items = []
    for index, argument in enumerate(operator.schema.positional):
        if argument.name in info.arguments:
            items.append(f"grad_{argument.name}_")
        elif dispatch_kind(argument.type) == "L":
            items.append(f"[None] * len(needs[{index}])")
        else:
            items.append("None")
    return items


def _gradients(operator: Operator, info: DifferentiabilityInfo) -> Iterator[str]:
    """`grad`, `grads` or `grad_NAME`, whichever the formulas use."""
    schema = operator.schema
    outputs = info.outputs
    names = return_names(schema)
    if "grad" in info.mentioned:
        yield f"grad = grads[{outputs[0]}]"
    for index in outputs:
        if f"grad_{names[index]}" in info.used_gradients:
            yield f"grad_{names[index]} = grads[{index}]"
    if "grads" in info.mentioned:
        if len(schema.returns) == 1 and isinstance(schema.returns[0].type, ListType):
            yield "grads = tuple(grads[0])"
        elif outputs != tuple(range(len(schema.returns))):
            yield f"grads = {tuple_display([f'grads[{i}]' for i in outputs])}"
