"""Turn formulas into facts: `read_info` (torchgen `create_differentiability_info`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchgen_lite.analysis.derive.layout import argument_layout, tensors_in
from torchgen_lite.analysis.differentiability.model import (
    Derivative,
    DifferentiabilityInfo,
    Tangent,
    TensorArgument,
    needed_by,
)
from torchgen_lite.analysis.differentiability.vocabulary import CPP_CONSTANTS
from torchgen_lite.formulas.callees import Operators
from torchgen_lite.formulas.facts import Saved
from torchgen_lite.formulas.kinds import BOOLS, FLOAT, TENSOR, TENSORS, UNKNOWN, Kind, kind_of_type
from torchgen_lite.formulas.model import Call, Name
from torchgen_lite.formulas.tree import Scope, Typed, saved_in
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.loader.entry.derivatives import DEFAULT, NOT_DIFFERENTIABLE, Derivatives, Formula
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema, ListType, Type, return_names
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import names_of

# What every formula may name.
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(sorted(CPP_CONSTANTS), FLOAT),
    "grad": TENSOR,
    "grads": TENSORS,
    "grad_input_mask": BOOLS,
}


def used_gradients(info: DifferentiabilityInfo) -> Iterator[tuple[str, int, int]]:
    """`grad` and `grad_NAME`, whichever the formulas use, each with its position among the gradients and the index
    of its result."""
    names = return_names(info.schema)
    for position, index in enumerate(info.outputs):
        if position == 0 and "grad" in info.mentioned:
            yield "grad", 0, index
        if f"grad_{names[index]}" in info.used_gradients:
            yield f"grad_{names[index]}", position, index


def with_formula(function: NativeFunction) -> NativeFunction:
    """The entry with the formula of `derivatives: auto`: one for all tensors, of everything that the reference takes."""
    written = function.derivatives
    samples = function.samples
    inputs = function.func.inputs
    if written is None or not written.is_auto or written.span is None:
        return function
    reference = samples.reference.text if samples is not None and samples.reference else ""
    names = tuple(names_of(tensors_in(inputs)))
    call = Call(Name("auto"), tuple([Name(a.name, span=written.span) for a in inputs]))
    word = f"auto ({reference})"
    spans = tuple([written.span] * len(names))
    formulas = list[Formula]()
    if names:
        formulas.append(Formula(names, word, call, word, spans, written.span))
    return function._replace(derivatives=replace(written, variants=((DEFAULT, tuple(formulas)),)))


def read_info(
    function: NativeFunction, derivatives: Derivatives, counter: Counter[str], operators: Operators
) -> dict[str, DifferentiabilityInfo]:
    """The facts by autograd key. `counter` numbers the nodes of operators with the same base name;
    `operators` are the operators that formulas may call.

    Mistakes are not reported here, but by `check_derivatives`.
    """
    scope = formula_scope(function.func, operators)
    return {
        key: _read_variant(function, derivatives, key, formulas, counter, scope)
        for key, formulas in derivatives.variants
    }


def formula_scope(schema: FunctionSchema, operators: Operators) -> Scope:
    """The kinds of the names in formulas."""
    kinds = {**_KINDS}
    values = {}
    if argument_layout(schema).options is not None:
        # C++ takes the four as one argument, and PyTorch's formulas use its name.
        kinds["options"] = UNKNOWN
        values["options"] = Saved("options")
    for argument in schema.inputs:
        values[argument.name] = Saved(argument.name, carries=dispatch_kind(argument.type))
        kinds[argument.name] = kind_of_value(argument.type)
    for index, (name, value) in enumerate(zip(return_names(schema), schema.returns)):
        values[name] = Saved(name, carries=dispatch_kind(value.type), result=index)
        kinds[name] = kind_of_value(value.type)
        is_list = isinstance(value.type, ListType)
        kinds.setdefault(f"grad_{name}", TENSORS if is_list else TENSOR)
        if is_list and index == 0:
            kinds["grad"] = TENSORS
    return Scope(kinds, values, operators)


def kind_of_value(type_: Type) -> Kind:
    """The kind of a value in formulas. An absent optional tensor counts as an undefined one."""
    carries = dispatch_kind(type_)
    if carries.has_tensors:
        return TENSORS if carries.is_list else TENSOR
    return kind_of_type(type_)


def _read_variant(
    function: NativeFunction,
    derivatives: Derivatives,
    key: str,
    formulas: Sequence[Formula],
    counter: Counter[str],
    scope: Scope,
) -> DifferentiabilityInfo:
    schema = function.func
    inputs = {name for name, saved in scope.values.items() if saved.result is None}
    given = derivatives.output_differentiability
    # If PyTorch decides by a condition at run time, the result counts as differentiable.
    differentiability = tuple([flag is not False for flag in given]) if given else None
    backward = []
    forward = []
    refused: list[str] = []
    for formula in formulas:
        if formula.word == NOT_DIFFERENTIABLE:
            refused += formula.names
        elif formula.names[0] not in inputs:
            forward += [Tangent(name, formula, _tangent(formula, scope)) for name in formula.names]
        elif formula.expression is not None:
            tree = type_formula(formula.expression, scope)
            saved = tuple(dict.fromkeys(saved_in(tree)))
            backward.append(Derivative(formula.names, formula, tree, saved))
    named = {name for derivative in backward for name in derivative.names}
    slots = tuple(
        TensorArgument(a.name, dispatch_kind(a.type)) for a in schema.inputs if a.name in named
    )
    return DifferentiabilityInfo(
        function,
        key,
        _node_name(schema.base_name, key, counter) if slots else "",
        tuple(backward),
        slots,
        _saved(backward, names_of(slots)),
        tuple(refused),
        differentiability,
        tuple(forward),
    )


def _tangent(formula: Formula, scope: Scope) -> Typed | None:
    """The tree of a forward formula, which has the values `x_p` and the tangents `x_t` of arguments."""
    if formula.expression is None:
        return None
    kinds = {**scope.kinds}
    for name, kind in scope.kinds.items():
        if name in scope.values and kind.sort is TENSOR.sort:
            starts = [name, "original_self"] if name == "self" else [name]
            for start in starts:
                kinds |= {f"{start}_p": kind, f"{start}_t": kind}
    return type_formula(formula.expression, replace(scope, kinds=kinds))


def _saved(derivatives: Sequence[Derivative], slots: Sequence[str]) -> tuple[Saved, ...]:
    """Everything the formulas save, each once, inputs first, with the gradients that need it."""
    using: dict[Saved, set[int]] = {}
    for derivative in derivatives:
        for saved in derivative.saved:
            using.setdefault(saved, set()).update(slots.index(name) for name in derivative.names)
    return tuple(sorted(needed_by(using, len(slots)), key=lambda saved: saved.result is not None))


def _node_name(base_name: str, key: str, counter: Counter[str]) -> str:
    """`AddBackward0`, then `AddBackward1`."""
    words = "".join(part.title() for part in base_name.split("_"))
    prefix = f"{words}Backward".replace("ForwardBackward", "Backward")
    prefix += key if key != DEFAULT else ""
    number = counter[prefix]
    counter[prefix] += 1
    return f"{prefix}{number}"
