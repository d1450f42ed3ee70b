"""What formulas may call: the operators of the file, as functions or methods, and helper functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from torchgen_lite.analysis.differentiability.facts import FUNCTIONS, METHODS
from torchgen_lite.analysis.differentiability.typed import by_position, spreads
from torchgen_lite.analysis.finding import Found
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.formulas import Call, Expression, Member, Name, called_name, walk
from torchgen_lite.loader.entry import NativeFunction

TENSOR_METHODS = frozenset(
    {*METHODS, "conj", "defined", "size", "stride", "sym_size", "is_complex"}
)
"""Methods of a tensor that are not operators. Numbers have `conj` too."""

_WORDS = frozenset({"not_implemented", "zeros_like", *FUNCTIONS})


class Vocabulary:
    """Overloads by base name; `helpers` is None where the helper functions aren't known."""

    def __init__(
        self, functions: Sequence[NativeFunction], helpers: Collection[str] | None
    ) -> None:
        self.operators: dict[str, list[NativeFunction]] = {}
        self.methods: set[str] = set(TENSOR_METHODS)
        self.helpers = frozenset(helpers or ())
        self.closed = helpers is not None
        self.declares_methods = False
        for function in functions:
            name = function.func.base_name
            self.operators.setdefault(name, []).append(function)
            if "method" in function.variants:
                self.methods.add(name)
                # A library's own operators don't say which methods tensors have.
                self.declares_methods = self.declares_methods or function.namespace == "aten"


def check_calls(expression: Expression, vocabulary: Vocabulary) -> Iterator[Found]:
    """Calls of unknown functions, and calls with arguments that no overload takes."""
    for node in walk(expression):
        if not isinstance(node, Call):
            continue
        name = called_name(node)
        if name is not None and isinstance(node.function, Name):
            yield from _check_function(node, name, vocabulary)
        elif isinstance(node.function, Member):
            yield from _check_method(node, node.function, vocabulary)


def _check_function(node: Call, name: str, vocabulary: Vocabulary) -> Iterator[Found]:
    if name in vocabulary.helpers or name in _WORDS:
        return
    if name in vocabulary.operators:
        yield from _check_arity(node, name, len(node.arguments), vocabulary)
    elif vocabulary.closed:
        hint = did_you_mean(name, [*vocabulary.operators, *vocabulary.helpers])
        message = f"the formula calls `{name}`, which is neither an operator nor a helper function"
        yield Found("TG322", message, node.function.span, "no such operator", hint)


def _check_method(node: Call, method: Member, vocabulary: Vocabulary) -> Iterator[Found]:
    name = method.name
    if name in vocabulary.methods:
        if name in vocabulary.operators and name not in TENSOR_METHODS:
            yield from _check_arity(node, name, len(node.arguments) + 1, vocabulary)
    elif vocabulary.closed and vocabulary.declares_methods:
        hint = did_you_mean(name, vocabulary.methods)
        if hint is None and name in vocabulary.operators:
            hint = f"`{name}` is a function: write `{name}({method.value})`"
        message = f"tensors have no method `{name}`"
        yield Found("TG322", message, node.span, "no such method", hint)


def _check_arity(node: Call, name: str, count: int, vocabulary: Vocabulary) -> Iterator[Found]:
    overloads = vocabulary.operators[name]
    keywords = [key for key, _ in node.keywords]
    if any(_accepts(function, count, keywords) for function in overloads):
        return
    given = f"{count} argument{'s' if count != 1 else ''}"
    if keywords:
        given += f" and {', '.join(f'`{key}`' for key in keywords)}"
    message = f"no overload of `{name}` takes {given}"
    hint = f"it is declared as `{overloads[0].func}`"
    yield Found("TG323", message, node.span, "in this call", hint)


def _accepts(function: NativeFunction, count: int, keywords: Sequence[str]) -> bool:
    """Whether `count` positional arguments and these keywords bind. A list may be spread."""
    schema, positions = function.func, by_position(function, count)
    if count > len(positions) and not spreads(schema):
        return False
    bound = {argument.name for argument in positions[:count] if argument is not None}
    names = {argument.name for argument in schema.arguments}
    if any(key not in names or key in bound for key in keywords):
        return False
    required = {a.name for a in schema.arguments if a.default is None}
    return required <= bound | set(keywords)
