"""Check formulas against the schema and the known operators, before anything fails in backward."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from torchgen_lite.analysis.derive.layout import is_tensor_like, tensors_in
from torchgen_lite.analysis.differentiability.model import noted_arguments
from torchgen_lite.analysis.differentiability.vocabulary import Vocabulary, check_calls, cpp_names
from torchgen_lite.analysis.finding import Findings, Found, Reported, findings
from torchgen_lite.analysis.python_names import instead_in_a_formula
from torchgen_lite.diagnostics import Help, Span, did_you_mean, meant
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas.model import CONSTANTS, Expression, Literal, Name, Subscript, walk
from torchgen_lite.loader.entry.derivatives import (
    AUTO_ELEMENT_WISE,
    AUTO_LINEAR,
    NOT_DIFFERENTIABLE,
    Formula,
)
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.schema import FunctionSchema, SchemaKind, return_names
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.model import ListType, bare_type

_FLAGS = frozenset({"grad_input_mask"})
# What functions of `torch.autograd.Function` and of other frameworks call the gradient of a result.
_GRADIENTS = frozenset({"dout", "dy", "grad_out", "grad_output", "grad_outputs", "gradient"})


def check_derivatives(
    functions: Sequence[NativeFunction], helpers: Collection[str] | None = None
) -> Reported:
    """Every mistake in the `derivatives:` of these functions.

    `helpers` are the functions that formulas may call besides operators. If None, calls are checked
    only where they name an operator.
    """
    with_formulas = [f for f in functions if f.derivatives is not None]
    if not with_formulas:
        return
    vocabulary = Vocabulary(functions, helpers)
    for function in with_formulas:
        yield from findings(function, _check(function, vocabulary))


def _check(function: NativeFunction, vocabulary: Vocabulary) -> Findings:
    schema = function.func
    derivatives = function.derivatives
    assert derivatives is not None
    refusal = _refusal(function)
    if refusal is not None:
        reason, instead = refusal
        yield Found(
            "TG325",
            reason,
            function.place("derivatives") or derivatives.span,
            "no formulas here",
            instead,
        )
        return
    flags = derivatives.output_differentiability
    count = len(schema.returns)
    if flags is not None and len(flags) != count:
        yield Found(
            "TG328",
            f"{len(flags)} flags for {count} results",
            derivatives.differentiability_span,
            f"`{schema.full_name}` has {count} results",
        )
    values: set[str] = set()
    for let in derivatives.let:
        known = _known_names(function, let, in_cpp=True)
        yield from check_let(zip(let.names, let.name_spans), known)
        values.update(let.names)
    gives = flags is None or any(flags)
    for _, formulas in derivatives.variants:
        yield from _check_results(schema, formulas, flags)
        yield from _check_keys(schema, formulas, gives, derivatives.span)
        yield from _check_gradients(schema, formulas)
        for formula in formulas:
            if formula.expression is not None and not formula.word:
                known = _known_names(function, formula, in_cpp=not vocabulary.closed)
                yield from _check_names(formula, formula.expression, known | values)
                yield from check_calls(formula.expression, vocabulary)


def check_let(let: Iterable[tuple[str, Span]], known: Collection[str]) -> Findings:
    """A name of `let:` means nothing else."""
    for name, span in let:
        if name in known:
            yield Found(
                "TG385",
                f"`{name}` means something else in this entry",
                span,
                "already a name",
                "choose another name",
            )


def _only_notes(function: NativeFunction) -> bool:
    """Whether an operator writes, and says of each of its tensors that it is not differentiable, as statistics are."""
    tensors = set(names_of(tensors_in(function.func.arguments)))
    if function.derivatives is None or not function.func.written:
        return False
    for _, formulas in function.derivatives.variants:
        noted: set[str] = set()
        for formula in formulas:
            if formula.word != NOT_DIFFERENTIABLE:
                return False
            noted.update(formula.names)
        if noted != tensors:
            return False
    return True


def _refusal(function: NativeFunction) -> tuple[str, str] | None:
    """Why an operator cannot have formulas, and what its author may do instead."""
    name = function.func.full_name
    leave = "leave the formulas out"
    if function.func.kind() is SchemaKind.out:
        return f"`{name}` is an out variant, which is never differentiable", leave
    tensors = [v.type for v in tensors_in(function.func.returns)]
    is_noted = _only_notes(function)
    if not (tensors or is_noted):
        return f"`{name}` has no result that is a tensor", leave
    if any(bare_type(type_).count("[") > 1 for type_ in tensors):
        return (
            f"`{name}` has a result that is a list of lists, which cannot have a gradient",
            leave,
        )
    if not is_noted and not function.is_pytorchs:
        reason = _unwritable(function.func)
        if reason is not None:
            return reason, f"{leave}, or return a new tensor"
    # Without any entry in `dispatch` the kernel may be registered elsewhere, by hand.
    if function.keys == {"CompositeImplicitAutograd"}:
        return (
            f"`{name}` is differentiated through its CompositeImplicitAutograd kernel",
            f"{leave}, or make the kernel CompositeExplicitAutograd",
        )
    return _refusal_of_auto(function) if function.is_auto else None


def _refusal_of_auto(function: NativeFunction) -> tuple[str, str] | None:
    """Why the reference of an operator does not give its gradients, and what does."""
    name = function.func.full_name
    write = "write a formula for each argument"
    if function.samples is None or function.samples.reference is None:
        return (
            f"`{name}` has no `reference` in `samples`, which `auto` differentiates",
            "write there what the operator computes, as in `reference: a * b`, or here a formula for each argument",
        )
    if function.func.written or function.func.is_aliasing:
        return f"`auto` of `{name}`, which writes to an argument or returns one", write
    if "nondeterministic_seeded" in function.tags:
        return (
            f"`auto` of `{name}`, which draws random numbers, so that a reference has others",
            write,
        )
    return None


def _unwritable(schema: FunctionSchema) -> str | None:
    """Why an operator that writes what this one does cannot have formulas."""
    name = schema.full_name
    if schema.kind() is SchemaKind.mutable:
        returned = [value for value in schema.returns if value.annotation is not None]
        absent = [a.name for a in schema.written if bare_type(a.type) == "Tensor[]?"]
        if returned:
            return f"`{name}` returns what it is given, and formulas are for results that are new"
        if absent:
            return f"`{name}` writes to a list that may be absent, `{absent[0]}`"
        return None
    others = [a.name for a in schema.written if a.name != "self"]
    if others:
        return f"`{name}` writes to `{others[0]}`, and formulas of operators in place are for those that write to `self` alone"
    return None


def _check_results(
    schema: FunctionSchema, formulas: Sequence[Formula], flags: Sequence[bool | str] | None
) -> Findings:
    """Formulas need a differentiable result (torchgen `emit_body`: "derivative ignored")."""
    inputs = set(names_of(schema.inputs))
    given = []
    without: set[str] = set()
    for formula in formulas:
        if formula.expression is not None and inputs.issuperset(formula.names):
            given.append(formula)
        if formula.word == NOT_DIFFERENTIABLE:
            without.update(name for name in formula.names if name not in inputs)
    results = zip(return_names(schema), schema.returns, flags or [True] * len(schema.returns))
    gives = [
        name for name, value, flag in results if flag is not False and is_tensor_like(value.type)
    ]
    if given and without.issuperset(gives):
        yield Found(
            "TG326",
            f"formulas of `{schema.full_name}`, whose results have no gradient",
            given[0].name_spans[0],
            "gradient of nothing",
            "leave the formulas out, or say which result is differentiable",
        )


def _check_keys(
    schema: FunctionSchema, formulas: Sequence[Formula], gives: bool, place: Span | None
) -> Findings:
    """Keys are results or tensor arguments, with every tensor argument exactly once.

    `gives`: a result is differentiable as far as `output_differentiability` says.
    """
    tensors = names_of(tensors_in(schema.inputs))
    known = names_of(schema.inputs)
    noted = names_of(noted_arguments(schema))
    results = return_names(schema)
    given = []
    for formula in formulas:
        if formula.word != NOT_DIFFERENTIABLE:
            given += [name for name in formula.names if name in tensors]
    seen = set()
    for formula in formulas:
        for name, span in zip(formula.names, formula.name_spans):
            if name in seen:
                yield Found("TG105", f"`{name}` has two formulas", span, "again here")
            seen.add(name)
            if name in known and name not in tensors:
                if formula.word != NOT_DIFFERENTIABLE:
                    yield Found(
                        "TG321",
                        f"argument `{name}` is not a tensor",
                        span,
                        "has no derivative",
                    )
            elif name not in known and name not in results:
                yield Found(
                    "TG321",
                    f"`{schema.full_name}` has no argument or result `{name}`",
                    span,
                    "not a tensor of this operator",
                    _indented_too_far(name) or did_you_mean(name, [*tensors, *results]),
                )
            elif name in results and name not in known:
                yield from _check_forward(formula, given, span)
    missing = [name for name in tensors if name not in seen and name != "output"]
    if given:
        # No gradient of what is written is asked for, or lost: calls refuse it.
        yield from _check_missing(schema, [n for n in missing if n not in noted], place)
    elif missing and gives and seen.intersection(tensors) and seen.isdisjoint(results):
        yield Found(
            "TG324",
            f"nothing is said of `{missing[0]}`, whose gradient is refused or lost",
            place,
            "missing here",
            f"give a formula, or write `{missing[0]}: not_differentiable`",
        )


def _check_missing(schema: FunctionSchema, missing: Sequence[str], place: Span | None) -> Findings:
    """Tensors without a formula. Calls reject them, except in lists; see `without_formula`."""
    lists = {a.name for a in schema.arguments if dispatch_kind(a.type).is_list}
    refused = [name for name in missing if name not in lists]
    lost = [name for name in missing if name in lists]
    for names, text in (
        (refused, "{}: a call raises an error if {} a gradient"),
        (lost, "{}: if {} a gradient, it is lost"),
    ):
        if names:
            listed = quoted(names)
            which = "one of them requires" if len(names) > 1 else "it requires"
            yield Found(
                "TG324",
                f"no formula for {text.format(listed, which)}",
                place,
                "missing here",
                f"give a formula, or write `{names[0]}: not_differentiable`",
            )


def _check_forward(formula: Formula, given: Sequence[str], span: Span) -> Findings:
    """`given` are the arguments with formulas."""
    if formula.word == AUTO_ELEMENT_WISE and (len(given) != 1 or len(formula.names) != 1):
        yield Found(
            "TG329",
            f"`{AUTO_ELEMENT_WISE}` with {len(given)} differentiable arguments",
            span,
            "needs exactly one with a formula",
        )
    if formula.word == AUTO_LINEAR and (not given or len(formula.names) != 1):
        yield Found(
            "TG329",
            f"`{AUTO_LINEAR}` needs a differentiable argument and a single result",
            span,
            "here",
        )


def _indented_too_far(name: str) -> str | None:
    if name not in FIELDS:
        return None
    return f"`{name}` is a field of the entry: indent it as `func` is"


def _known_names(function: NativeFunction, formula: Formula, *, in_cpp: bool) -> set[str]:
    """The names a formula may use; `in_cpp` says that it may be a C++ formula."""
    schema = function.func
    arguments = set(names_of(schema.inputs))
    known = {*arguments, *return_names(schema), *CONSTANTS, *_FLAGS, "grad", "grads"}
    known |= {f"grad_{value.name}" for value in schema.returns if value.name}
    if not set(formula.names) <= arguments:
        for name in arguments:
            known |= {f"{name}_p", f"{name}_t"}
        if schema.kind() is SchemaKind.inplace:
            # `self` before the call (torchgen `emit_original_self_definition`).
            known |= {"original_self_p", "original_self_t"}
    if in_cpp:
        known |= cpp_names(function)
    return known


def _check_names(formula: Formula, tree: Expression, known: Collection[str]) -> Findings:
    """Every name in a formula must be defined."""
    for node in walk(tree):
        if isinstance(node, Name) and "::" not in node.text and node.text not in known:
            instead = None
            if node.span is not None:
                instead = instead_in_a_formula(node.span)
            yield Found(
                "TG320",
                f"unknown name `{node.text}` in the formula of `{', '.join(formula.names)}`",
                node.span,
                "not known here",
                instead or _name_meant(node.text, known),
            )


def _name_meant(name: str, known: Collection[str]) -> Help | None:
    if name in _GRADIENTS:
        return meant(name, "grad")
    return did_you_mean(name, sorted(known))


def _check_gradients(schema: FunctionSchema, formulas: Sequence[Formula]) -> Findings:
    """`grad`, `grads[i]` and `grad_NAME` are not mixed, and indices are results (torchgen `check_grad_usage`)."""
    count = len(schema.returns)
    # For a list, the number of gradients is known only at run time.
    is_counted = not any(isinstance(value.type, ListType) for value in schema.returns)
    named = {f"grad_{value.name}" for value in schema.returns if value.name}
    ways: dict[str, Span | None] = {}
    ambiguous: dict[str, Span | None] = {}
    for node in chain.from_iterable(walk(f.expression) for f in formulas if f.expression):
        if isinstance(node, Name):
            way = "grad_NAME" if node.text in named else node.text
            if way in ("grad", "grads", "grad_NAME"):
                ways.setdefault(way, node.span)
                ambiguous.setdefault(node.text, node.span)
        if is_counted and isinstance(node, Subscript) and node.value == Name("grads"):
            index = node.index
            if isinstance(index, Literal) and index.text.isdigit() and int(index.text) >= count:
                yield Found(
                    "TG327",
                    f"`{node}` of an operator with {count} result{'s' * (count != 1)}",
                    node.span,
                    "out of range",
                )
    for argument in schema.arguments:
        if argument.name in ambiguous:
            yield Found(
                "TG327",
                f"`{argument.name}` is both a gradient and an argument",
                ambiguous[argument.name],
                "which one?",
                "rename the argument",
            )
    if len(ways) > 1:
        used = quoted(ways, " and ")
        yield Found(
            "TG327",
            f"formulas of `{schema.full_name}` mix {used}",
            list(ways.values())[1],
            "use one way",
        )
