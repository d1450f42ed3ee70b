"""Formulas held against the schema and the operators there are: what would fail at backward, found now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability.info import (
    input_arguments,
    return_names,
)
from torchgen_lite.analysis.differentiability.vocabulary import Vocabulary, check_calls
from torchgen_lite.analysis.finding import finding
from torchgen_lite.diagnostics import Diagnostic, Span, did_you_mean
from torchgen_lite.loader.derivatives import (
    AUTO_ELEMENT_WISE,
    AUTO_LINEAR,
    NOT_DIFFERENTIABLE,
    Derivatives,
    Formula,
)
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.schema.formula import Expression, Literal, Name, Subscript, walk

_CONSTANTS = frozenset({"true", "false", "True", "False", "None"})
_FLAGS = frozenset({"grad_input_mask"})


@dataclass(frozen=True, slots=True)
class _Entry:
    """One operator with formulas, and how its diagnostics look."""

    function: NativeFunction
    derivatives: Derivatives

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    def report(
        self, code: str, message: str, span: Span | None, label: str, help: str | None = None
    ) -> Diagnostic:
        return finding(self.function, code, message, span, label, help)


def check_derivatives(
    functions: Sequence[NativeFunction], helpers: Collection[str] | None = None
) -> Iterator[Diagnostic]:
    """Every mistake in the `derivatives:` of these functions.

    `helpers` are the functions that formulas may call beside the operators; without it, nothing is known
    about what may be called, and calls are only checked where they name an operator.
    """
    with_formulas = [f for f in functions if f.derivatives is not None]
    if not with_formulas:
        return
    vocabulary = Vocabulary(functions, helpers)
    for function in with_formulas:
        assert function.derivatives is not None
        entry = _Entry(function, function.derivatives)
        refusal = _refusal(function)
        if refusal is not None:
            span = function.place("derivatives") or function.derivatives.span
            yield entry.report("TG325", refusal, span, "no formulas here")
            continue
        yield from _check_differentiability(entry)
        for _, formulas in function.derivatives.variants:
            yield from _check_keys(entry, formulas)
            yield from _check_gradients(entry, formulas)
            for formula in formulas:
                if formula.expression is not None:
                    yield from _check_names(entry, formula, formula.expression)
                    for code, message, place, label, hint in check_calls(
                        formula.expression, vocabulary
                    ):
                        yield entry.report(code, message, place, label, hint)


def _refusal(function: NativeFunction) -> str | None:
    """Why an operator can have no formulas."""
    name = function.func.full_name
    if function.func.kind() is SchemaKind.out:
        return f"`{name}` is an out variant, which is never differentiable"
    if not any(is_tensor_like(value.type) for value in function.func.returns):
        return f"`{name}` has no result that is a tensor"
    keys = {dispatch.key for dispatch in function.dispatch}
    # Without any entry in `dispatch` the kernel may be registered elsewhere, by hand.
    if keys == {"CompositeImplicitAutograd"}:
        return f"`{name}` is differentiated through its CompositeImplicitAutograd kernel"
    return None


def _check_differentiability(entry: _Entry) -> Iterator[Diagnostic]:
    given = entry.derivatives.output_differentiability
    count = len(entry.schema.returns)
    if given is None or len(given) == count:
        return
    message = f"{len(given)} flags for {count} results"
    span = entry.derivatives.differentiability_span
    yield entry.report("TG328", message, span, f"`{entry.schema.full_name}` has {count} results")


def _check_keys(entry: _Entry, formulas: Sequence[Formula]) -> Iterator[Diagnostic]:
    """Names on the left: arguments that are tensors, each once and all of them, or results."""
    schema = entry.schema
    tensors = [a.name for a in input_arguments(schema) if is_tensor_like(a.type)]
    known = [a.name for a in input_arguments(schema)]
    results = return_names(schema)
    seen: dict[str, Formula] = {}
    for formula in formulas:
        for name, span in zip(formula.names, formula.name_spans):
            if name in seen:
                yield entry.report("TG105", f"`{name}` has two formulas", span, "again here")
            seen[name] = formula
            if name in known and name not in tensors:
                message = f"argument `{name}` is no tensor"
                yield entry.report("TG321", message, span, "has no derivative")
            elif name not in known and name not in results:
                hint = did_you_mean(name, [*tensors, *results])
                message = f"`{schema.full_name}` has no argument or result `{name}`"
                yield entry.report("TG321", message, span, "not a tensor of this operator", hint)
            elif name in results and name not in known:
                yield from _check_forward(entry, formula, formulas, tensors, span)
    backward = [n for n, f in seen.items() if n in tensors and f.word != NOT_DIFFERENTIABLE]
    missing = [name for name in tensors if name not in seen]
    if backward and missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        message = f"no formula for {listed}"
        hint = f"give a formula, or write `{missing[0]}: not_differentiable`"
        yield entry.report("TG324", message, entry.derivatives.span, "missing here", hint)


def _check_forward(
    entry: _Entry, formula: Formula, formulas: Sequence[Formula], tensors: Sequence[str], span: Span
) -> Iterator[Diagnostic]:
    given = [
        name
        for other in formulas
        for name in other.names
        if name in tensors and other.word != NOT_DIFFERENTIABLE
    ]
    if formula.word == AUTO_ELEMENT_WISE and (len(given) != 1 or len(formula.names) != 1):
        message = f"`{AUTO_ELEMENT_WISE}` with {len(given)} differentiable arguments"
        yield entry.report("TG329", message, span, "needs exactly one with a formula")
    if formula.word == AUTO_LINEAR and (not given or len(formula.names) != 1):
        message = f"`{AUTO_LINEAR}` needs a differentiable argument and a single result"
        yield entry.report("TG329", message, span, "here")


def _check_names(entry: _Entry, formula: Formula, expression: Expression) -> Iterator[Diagnostic]:
    """Every name of a formula stands for something."""
    schema = entry.schema
    arguments = {a.name for a in input_arguments(schema)}
    results = return_names(schema)
    known = {*arguments, *results, *_CONSTANTS, *_FLAGS, "grad", "grads"}
    known |= {f"grad_{value.name}" for value in schema.returns if value.name}
    if not set(formula.names) <= arguments:
        known |= {f"{a}_{suffix}" for a in arguments for suffix in "pt"}
    for node in walk(expression):
        if isinstance(node, Name) and "::" not in node.text and node.text not in known:
            hint = did_you_mean(node.text, sorted(known))
            message = f"unknown name `{node.text}` in the formula of `{', '.join(formula.names)}`"
            yield entry.report("TG320", message, node.span, "not known here", hint)


def _check_gradients(entry: _Entry, formulas: Sequence[Formula]) -> Iterator[Diagnostic]:
    """`grad`, `grads[i]` and `grad_NAME` are not mixed, and indices are results (torchgen `check_grad_usage`)."""
    count = len(entry.schema.returns)
    named = {f"grad_{value.name}" for value in entry.schema.returns if value.name}
    ways: dict[str, Span | None] = {}
    ambiguous: dict[str, Span | None] = {}
    for formula in formulas:
        if formula.expression is None:
            continue
        for node in walk(formula.expression):
            if isinstance(node, Name):
                way = "grad_NAME" if node.text in named else node.text
                if way in ("grad", "grads", "grad_NAME"):
                    ways.setdefault(way, node.span)
                    ambiguous.setdefault(node.text, node.span)
            if isinstance(node, Subscript) and node.value == Name("grads"):
                index = node.index
                if isinstance(index, Literal) and index.text.isdigit() and int(index.text) >= count:
                    message = f"`{node}` of an operator with {count} results"
                    yield entry.report("TG327", message, node.span, "out of range")
    for argument in entry.schema.arguments:
        if argument.name in ambiguous:
            message = f"`{argument.name}` is a gradient, and an argument"
            hint = "rename the argument"
            yield entry.report("TG327", message, ambiguous[argument.name], "which one?", hint)
    if len(ways) > 1:
        used = " and ".join(f"`{way}`" for way in ways)
        message = f"formulas of `{entry.schema.full_name}` mix {used}"
        yield entry.report("TG327", message, list(ways.values())[1], "use one way")
