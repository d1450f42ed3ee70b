"""Formulas to facts: `read_info` (torchgen `create_differentiability_info`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.differentiability.model import (
    Derivative,
    DifferentiabilityInfo,
)
from torchgen_lite.analysis.differentiability.saved import find_saved
from torchgen_lite.loader.derivatives import (
    DEFAULT,
    NOT_DIFFERENTIABLE,
    Derivatives,
    Formula,
)
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import (
    Argument,
    BaseType,
    FunctionSchema,
    ListType,
    OptionalType,
    SchemaKind,
    Type,
)
from torchgen_lite.schema.formula import Expression, Name, walk


def is_tensor_like(type_: Type) -> bool:
    """Tensor, Tensor?, Tensor[] and Tensor?[]: what can have a derivative."""
    while isinstance(type_, (OptionalType, ListType)):
        type_ = type_.elem
    return isinstance(type_, BaseType) and type_.name == "Tensor"


def input_arguments(schema: FunctionSchema) -> tuple[Argument, ...]:
    """The arguments that are no out arguments."""
    return tuple(argument for argument in schema.arguments if not argument.is_out)


def return_names(schema: FunctionSchema) -> tuple[str, ...]:
    """What formulas call the results: `result`, `result0` and on, or their names (torchgen `return_names`).

    A result named as an argument is called `NAME_return`; one without a name is `result_return` beside an
    argument `result`.
    """
    taken = {argument.name for argument in schema.arguments}
    names: list[str] = []
    for index, value in enumerate(schema.returns):
        if schema.kind() is SchemaKind.inplace and index == 0:
            name = "result"
        elif value.name is not None:
            name = value.name
            if schema.kind() is SchemaKind.out:
                names.append(name)
                continue
        else:
            name = "result" if len(schema.returns) == 1 else f"result{index}"
        names.append(f"{name}_return" if name in taken else name)
    return tuple(names)


def names_in(expression: Expression) -> frozenset[str]:
    """Every unqualified name of a formula."""
    return frozenset(node.text for node in walk(expression) if isinstance(node, Name))


def read_info(
    function: NativeFunction, derivatives: Derivatives, counter: Counter[str] | None = None
) -> dict[str, DifferentiabilityInfo]:
    """The facts by autograd key. `counter` numbers the nodes of operators with the same base name.

    Mistakes are not looked for here: `check_derivatives` finds them.
    """
    counter = Counter() if counter is None else counter
    return {
        key: _read_variant(function, derivatives, key, formulas, counter)
        for key, formulas in derivatives.variants
    }


def _read_variant(
    function: NativeFunction,
    derivatives: Derivatives,
    key: str,
    formulas: Sequence[Formula],
    counter: Counter[str],
) -> DifferentiabilityInfo:
    schema = function.func
    inputs = [argument.name for argument in input_arguments(schema)]
    if argument_layout(schema).options is not None:
        # C++ has one argument for the four, and PyTorch's formulas name it so.
        inputs.append("options")
    differentiability, condition = _differentiability(derivatives)
    available = _available_gradients(schema, differentiability)
    backward: list[Derivative] = []
    refused: list[str] = []
    for formula in formulas:
        if formula.names[0] not in inputs:
            continue  # A formula for forward mode, which no target makes use of.
        if formula.word == NOT_DIFFERENTIABLE:
            refused += formula.names
        else:
            backward.append(_derivative(schema, formula, inputs, available))
    named = {name for derivative in backward for name in derivative.names}
    arguments = tuple(a.name for a in input_arguments(schema) if a.name in named)
    node_name = _node_name(schema.base_name, key, counter) if arguments else ""
    return DifferentiabilityInfo(
        function,
        key,
        node_name,
        tuple(backward),
        arguments,
        tuple(refused),
        available,
        differentiability,
        condition,
    )


def _differentiability(derivatives: Derivatives) -> tuple[tuple[bool, ...] | None, str | None]:
    given = derivatives.output_differentiability
    if not given:
        return None, None
    condition = next((value for value in given if isinstance(value, str)), None)
    return tuple(value if isinstance(value, bool) else True for value in given), condition


def _available_gradients(
    schema: FunctionSchema, differentiability: Sequence[bool] | None
) -> tuple[str, ...]:
    """`grad_NAME` for each result that has a name and a derivative."""
    flags = differentiability or [True] * len(schema.returns)
    return tuple(
        f"grad_{value.name}"
        for value, flag in zip(schema.returns, flags)
        if flag and value.name is not None and is_tensor_like(value.type)
    )


def _derivative(
    schema: FunctionSchema, formula: Formula, inputs: Sequence[str], available: Sequence[str]
) -> Derivative:
    expression = formula.expression
    if expression is None:
        return Derivative(formula.names, formula, (), (), frozenset())
    return Derivative(
        formula.names,
        formula,
        find_saved(expression, inputs),
        find_saved(expression, return_names(schema)),
        names_in(expression).intersection(available),
    )


def _node_name(base_name: str, key: str, counter: Counter[str]) -> str:
    """`AddBackward0`, the next time `AddBackward1`."""
    words = "".join(part.title() for part in base_name.split("_"))
    prefix = f"{words}Backward".replace("ForwardBackward", "Backward")
    if key != DEFAULT:
        prefix += key
    number = counter[prefix]
    counter[prefix] += 1
    return f"{prefix}{number}"


def differentiable_outputs(schema: FunctionSchema, info: DifferentiabilityInfo | None) -> list[int]:
    """The results that get gradients (torchgen `gen_differentiable_outputs`).

    What the entry says; else every tensor, but only the first where formulas speak of `grad` alone.
    """
    if info is not None and info.output_differentiability is not None:
        return [index for index, flag in enumerate(info.output_differentiability) if flag]
    refused = info.not_differentiable if info is not None else ()
    tensors = [
        index
        for index, (name, value) in enumerate(zip(return_names(schema), schema.returns))
        if is_tensor_like(value.type) and name not in refused
    ]
    return tensors[:1] if info is not None and "grad" in set(_used(info)) else tensors


def _used(info: DifferentiabilityInfo) -> Iterator[str]:
    for derivative in info.derivatives:
        if derivative.formula.expression is not None:
            yield from names_in(derivative.formula.expression)
