"""What formulas may say: operators as functions or methods, helper functions, and names that no schema declares."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.finding import Found
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.formulas.callees import Callee, Operators
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.kinds import Sort
from torchgen_lite.formulas.language import GRADIENTS
from torchgen_lite.formulas.model import Call, Expression, Member, Name, called_name, walk
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.torch_functions import functions_of_torch
from torchgen_lite.schema import Argument, FunctionSchema, SchemaKind

TENSOR_METHODS = frozenset({*GRADIENTS.methods, "conj"})
"""Methods of a tensor that are not operators. Numbers have `conj` too."""


CPP_CONSTANTS = frozenset("""
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2
    """.split())
"""Numbers of `<cmath>`."""

_OF_HELPERS = frozenset({"kCudnnDoubleBackwardMsg"})
"""Constants that the header of PyTorch's helper functions declares (FunctionsManual.h)."""

_RETAIN = "retain_variables"
"""A local variable in PyTorch's own nodes (torchgen `WILL_RELEASE_VARIABLES`)."""

_INDEX = "i"
"""In formulas of PyTorch's `_foreach_` operators, the index of the current tensor in each list."""


def cpp_names(function: NativeFunction) -> frozenset[str]:
    """The names that this operator's formulas may use in C++."""
    own = node_names(function)
    return CPP_CONSTANTS | _OF_HELPERS | own if own else CPP_CONSTANTS


def node_names(function: NativeFunction) -> frozenset[str]:
    """The names that this operator's formulas may use only in PyTorch's own node."""
    if function.namespace not in TORCH_NAMESPACES:
        return frozenset()
    is_foreach = function.func.base_name.startswith("_foreach_")
    return frozenset({_RETAIN, _INDEX} if is_foreach else {_RETAIN})


def callee(function: NativeFunction) -> Callee:
    """An operator as formulas call it."""
    layout = argument_layout(function.func)
    is_own = function.namespace not in TORCH_NAMESPACES
    positions: tuple[Argument | None, ...] = layout.inputs
    whole = layout.inputs
    if spreads(function.func):
        positions = whole = layout.positional
    elif layout.options is not None:
        positions = layout.positional + layout.before_options
        positions += () if is_own else (None, *layout.after_options)
    is_function = "function" in function.variants and not function.manual_cpp_binding
    does_more = "nondeterministic_seeded" in function.tags or function.effects is not None
    is_repeatable = not does_more and not function.func.written
    return Callee(
        function.name, function.func, positions, whole, is_own, is_function, is_repeatable
    )


def spreads(schema: FunctionSchema) -> bool:
    """Whether the last positional argument is a list of numbers, which Python callers may spread;
    only keywords follow one."""
    last = schema.positional[-1:]
    return bool(last) and str(last[0].type) in ("int[]", "SymInt[]")


def callable_operators(functions: Sequence[NativeFunction]) -> Operators:
    """The operators that formulas may call, by base name. The project's own hide PyTorch's."""
    own: dict[str, list[NativeFunction]] = {}
    torch: dict[str, list[NativeFunction]] = {}
    for function in functions:
        if function.func.kind() is not SchemaKind.out:
            found = torch if function.namespace in TORCH_NAMESPACES else own
            found.setdefault(function.func.base_name, []).append(function)
    named = torch | own

    @cache
    def overloads(name: str) -> tuple[Callee, ...]:
        return tuple(map(callee, named.get(name, ())))

    return overloads


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
    if name in vocabulary.helpers or name in BROUGHT:
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
    if any(_accepts(callee(function), count, keywords) for function in overloads):
        return
    given = f"{count} argument{'s' if count != 1 else ''}"
    if keywords:
        given += f" and {', '.join(f'`{key}`' for key in keywords)}"
    message = f"no overload of `{name}` takes {given}"
    hint = f"it is declared as `{overloads[0].func}`"
    yield Found("TG323", message, node.span, "in this call", hint)


def _accepts(operator: Callee, count: int, keywords: Sequence[str]) -> bool:
    """Whether `count` positional arguments and these keywords bind. A list may be spread."""
    schema, bound = operator.func, operator.bound(count, keywords)
    if count > len(operator.by_position(count)) and not spreads(schema):
        return False
    required = {a.name for a in schema.arguments if a.default is None}
    return bound is not None and required <= bound


def lacks_tensor(name: str, call: Typed) -> str:
    """What is wrong with a call of a function of PyTorch of that name: it takes a tensor, and none of the arguments
    may be one. Empty if nothing is.
    """
    may_be = [p.kind.sort in (Sort.tensor, Sort.unknown) and not p.is_none for p in call.parts]
    if any(may_be) or not may_be or name not in functions_of_torch().of_tensors:
        return ""
    return f"`{name}` takes a tensor, and none is given"
