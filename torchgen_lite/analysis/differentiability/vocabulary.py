"""What formulas may say: operators as functions or methods, helper functions, and names that no schema declares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Literal

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.diagnostics import did_you_mean, write_instead
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas.callees import Callee, Operators, nearest, takes
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.kinds import BOOL, TENSOR, UNKNOWN, Kind, Sort, kind_of_type
from torchgen_lite.formulas.language import GRADIENTS
from torchgen_lite.formulas.model import (
    Binary,
    Call,
    Expression,
    ListDisplay,
    Member,
    Name,
    called_name,
    name_called,
    walk,
)
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.torch.functions import functions_of_torch, taken
from torchgen_lite.loader.torch.schemas import schemas_of
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
    names = node_names(function)
    if names:
        return CPP_CONSTANTS | _OF_HELPERS | names
    return CPP_CONSTANTS


def node_names(function: NativeFunction) -> frozenset[str]:
    """The names that this operator's formulas may use only in PyTorch's own node."""
    if not function.is_pytorchs:
        return frozenset()
    is_foreach = function.func.base_name.startswith("_foreach_")
    return frozenset({_RETAIN, _INDEX} if is_foreach else {_RETAIN})


def callee(function: NativeFunction) -> Callee:
    """An operator as formulas call it."""
    is_own = not function.is_pytorchs
    is_function = "function" in function.variants and not function.manual_cpp_binding
    does_more = "nondeterministic_seeded" in function.tags or function.effects is not None
    is_repeatable = not does_more and not function.func.written
    positions, whole = _positions(function.func, is_own=is_own)
    if spreads(function.func):
        positions = whole = function.func.positional
    return Callee(
        function.name, function.func, positions, whole, is_own, is_function, is_repeatable
    )


def _positions(
    schema: FunctionSchema, *, is_own: bool
) -> tuple[tuple[Argument | None, ...], tuple[Argument, ...]]:
    """`Callee.positions` and `Callee.whole`."""
    layout = argument_layout(schema)
    if layout.options is None:
        return layout.inputs, layout.inputs
    positions = layout.positional + layout.before_options
    return positions + (() if is_own else (None, *layout.after_options)), layout.inputs


@cache
def torch_operators(name: str) -> tuple[Callee, ...]:
    """PyTorch's overloads of a function, which no file has to declare."""
    overloads = []
    for schema in schemas_of(name.removesuffix("_symint")):
        positions, whole = _positions(schema, is_own=False)
        overloads.append(
            Callee(f"aten::{schema.full_name}", schema, positions, whole, False, True, False)
        )
    return tuple(overloads)


def called_in_torch(call: Typed) -> Callee | None:
    """The overload of PyTorch that a call means, where it is one, and no operator of the file."""
    node = call.node
    kinds = call.kinds
    if not isinstance(node, Call) or call.saved is not None or call.calls_own:
        return None
    if call.operator is not None:
        return call.operator
    if isinstance(node.function, Member) and kinds[0].present != TENSOR:
        return None
    return nearest(node, kinds, torch_operators(name_called(node)))


def is_other(call: Typed) -> bool:
    """Whether a function of PyTorch is given, by position, a number, or a list of one, that C++ takes for a truth:
    in Python it is another argument, or none."""
    node = call.node
    if not isinstance(node, Call) or call.operator is not None:
        return False
    parts = call.parts[: len(call.parts) - len(node.keywords)]
    for callee in torch_operators(name_called(node)):
        places = callee.by_position(len(parts))[: len(parts)]
        pairs = list(zip(places, parts))
        truths = [_is_truth(place) and _is_number(part) for place, part in pairs]
        fits = [is_truth or takes(pair[0], pair[1].kind) for is_truth, pair in zip(truths, pairs)]
        if len(places) == len(parts) and any(truths) and all(fits):
            return True
    return False


def _is_truth(argument: Argument | None) -> bool:
    return argument is not None and str(argument.type) == "bool"


def _is_number(part: Typed) -> bool:
    items = part.parts if isinstance(part.node, ListDisplay) else (part,)
    return len(items) == 1 and items[0].kind.is_number and items[0].kind != BOOL


def spreads(schema: FunctionSchema) -> bool:
    """Whether the last positional argument is a list of numbers, which Python callers may spread;
    only keywords follow one."""
    last = schema.positional[-1:]
    return bool(last) and str(last[0].type) in ("int[]", "SymInt[]")


def callable_operators(functions: Sequence[NativeFunction]) -> Operators:
    """The operators that formulas may call, by base name. The project's own hide PyTorch's."""
    declared: dict[str, list[NativeFunction]] = {}
    torch: dict[str, list[NativeFunction]] = {}
    for function in functions:
        if function.func.kind() is not SchemaKind.out:
            group = torch if function.is_pytorchs else declared
            group.setdefault(function.func.base_name, []).append(function)
    named = torch | declared

    @cache
    def overloads(name: str) -> tuple[Callee, ...]:
        return tuple(map(callee, named.get(name, ())))

    return overloads


class Vocabulary:
    """Overloads by base name; `helpers` is None where the helper functions aren't known. One that has the name of an
    operator of the project is not called."""

    def __init__(
        self, functions: Sequence[NativeFunction], helpers: Collection[str] | None
    ) -> None:
        self.operators: dict[str, list[NativeFunction]] = {}
        self.methods: set[str] = set(TENSOR_METHODS)
        names = [f.func.base_name for f in functions if not f.is_pytorchs]
        self.own = frozenset(names)
        self.helpers = frozenset(helpers or ()).difference(names)
        self.closed = helpers is not None
        self.declares_methods = False
        for function in functions:
            name = function.func.base_name
            self.operators.setdefault(name, []).append(function)
            if "method" in function.variants:
                self.methods.add(name)
                # A library's own operators don't say which methods tensors have.
                self.declares_methods = self.declares_methods or function.namespace == "aten"


def check_calls(expression: Expression, vocabulary: Vocabulary) -> Findings:
    """Calls of unknown functions, and calls with arguments that no overload takes."""
    for node in walk(expression):
        if not isinstance(node, Call):
            continue
        name = called_name(node)
        if name is not None and isinstance(node.function, Name):
            if node.function.is_torchs and name in vocabulary.own:
                yield _not_torchs(node, name)
            yield from _check_function(node, name, vocabulary)
        elif isinstance(node.function, Member):
            yield from _check_method(node, node.function, vocabulary)


def _not_torchs(node: Call, name: str) -> Found:
    """TG322: a function of PyTorch where formulas have an operator of the file by this name."""
    return Found(
        "TG322",
        f"`torch.{name}` is PyTorch's, and formulas have the operator `{name}` of this file",
        node.function.span,
        "not the operator",
        f"write `{name}` if you mean the operator, else call a function of yours",
    )


def _check_function(node: Call, name: str, vocabulary: Vocabulary) -> Findings:
    if name in vocabulary.helpers or name in BROUGHT:
        return
    if name in vocabulary.operators:
        yield from _check_arity(node, name, len(node.arguments), vocabulary)
    elif vocabulary.closed:
        yield Found(
            "TG322",
            f"the formula calls `{name}`, which is neither an operator nor a helper function",
            node.function.span,
            "no such operator",
            did_you_mean(name, [*vocabulary.operators, *vocabulary.helpers]),
        )


def _check_method(node: Call, method: Member, vocabulary: Vocabulary) -> Findings:
    name = method.name
    if name in vocabulary.methods:
        if name in vocabulary.operators and name not in TENSOR_METHODS:
            yield from _check_arity(node, name, len(node.arguments) + 1, vocabulary)
    elif vocabulary.closed and vocabulary.declares_methods:
        hint = did_you_mean(name, vocabulary.methods)
        if hint is None and name in vocabulary.operators:
            hint = f"`{name}` is a function: write `{name}({method.value})`"
        yield Found(
            "TG322",
            f"tensors have no method `{name}`",
            node.span,
            "no such method",
            hint,
        )


def _check_arity(node: Call, name: str, count: int, vocabulary: Vocabulary) -> Findings:
    overloads = vocabulary.operators[name]
    keywords = node.keyword_names
    if any(_accepts(callee(function), count, keywords) for function in overloads):
        return
    given = f"{count} argument{'s' if count != 1 else ''}"
    if keywords:
        given += f" and {quoted(keywords)}"
    yield Found(
        "TG323",
        f"no overload of `{name}` takes {given}",
        node.span,
        "in this call",
        f"it is declared as `{overloads[0].func}`",
    )


def _accepts(operator: Callee, count: int, keywords: Sequence[str]) -> bool:
    """Whether `count` positional arguments and these keywords bind. A list may be spread."""
    if count > len(operator.by_position(count)) and not spreads(operator.func):
        return False
    return operator.binds(count, keywords)


Language = Literal["Python", "C++"]


def misused(call: Typed, node: Call, name: str, language: Language) -> Findings:
    """TG323: arguments that the function or method of PyTorch with this name does not take, as far as is known.

    What keywords are is not looked at: in C++ the few that there are stand for tensor options, one argument.
    """
    spread = unfit = ""
    if not node.keywords:
        spread = spread_list(call, name)
        unfit = untaken(call, name, language)
    problem = lacks_tensor(name, call) or wrong_count(node, name, language) or spread or unfit
    if not problem:
        return
    ends_in_numbers = len(call.parts) > 1 and all(part.kind.is_number for part in call.parts[-2:])
    help_ = None
    if spread or ends_in_numbers:
        help_ = "a list is one argument: `[...]`"
    yield Found("TG323", problem, node.span, "in this call", help_)


def lacks_tensor(name: str, call: Typed) -> str:
    """The function takes a tensor, and none of the arguments may be one."""
    if not call.parts or name not in functions_of_torch().of_tensors:
        return ""
    for part in call.parts:
        may_be_tensor = part.kind.sort in (Sort.tensor, Sort.unknown)
        if may_be_tensor and not part.is_none:
            return ""
    return f"`{name}` takes a tensor, and none is given"


def wrong_count(node: Call, name: str, language: Language) -> str:
    """Fewer or more arguments are given than any overload takes."""
    counts = taken(name)
    if counts is None or (node.keywords and language == "Python"):
        return ""
    # A method's tensor is counted, and is not among the arguments.
    is_method = isinstance(node.function, Member)
    fewest = counts[0] - is_method
    most = counts[1] - is_method
    count = len(node.arguments) + bool(node.keywords)
    if fewest <= count <= most:
        return ""
    called = f"`Tensor.{name}`" if is_method else f"`{name}`"
    expected = f"{fewest} to {most}" if fewest < most else str(most or "no")
    noun = "argument" if most == 1 else "arguments"
    verb = "are" if count > 1 else "is"
    return f"{called} takes {expected} {noun}, and {count or 'none'} {verb} given"


def spread_list(call: Typed, name: str) -> str:
    """Several arguments stand for a list, as Python allows for some functions and C++ for none."""
    overloads = torch_operators(name)
    is_method = isinstance(call.node, Call) and isinstance(call.node.function, Member)
    if is_method and call.parts[0].kind.present != TENSOR:
        return ""
    if any(_binds(overload.by_position(len(call.parts)), call.parts) for overload in overloads):
        return ""
    for overload in overloads:
        for index, argument in enumerate(overload.func.positional):
            items = call.parts[index:]
            if len(items) > 1 and all(_is_item(argument, item) for item in items):
                return (
                    f"`{name}` takes a list as `{argument.name}`, and several arguments are given"
                )
    return ""


def untaken(call: Typed, name: str, language: Language) -> str:
    """No overload takes arguments of these kinds, or all that have to be given are given to none."""
    overloads = torch_operators(name)
    if not overloads or name in TENSOR_METHODS:
        return ""
    kinds = [_certain(part) for part in call.parts]
    if any(_fits(overload, kinds, language) for overload in overloads):
        return ""
    return f"no overload of `{name}` takes these arguments, such as `{overloads[0].func}`"


def _fits(overload: Callee, kinds: Sequence[Kind], language: Language) -> bool:
    """Whether an overload takes values of these kinds by position, and needs no others."""
    places = overload.by_position(len(kinds))[: len(kinds)]
    if len(places) != len(kinds) or not overload.binds(len(kinds), ()):
        return False
    return all(_may_be(place, kind, language) for place, kind in zip(places, kinds))


def _may_be(place: Argument | None, kind: Kind, language: Language) -> bool:
    """In Python a tensor without dimensions is a number, too."""
    is_number = place is not None and kind_of_type(place.type).is_number
    return takes(place, kind) or (language == "Python" and is_number and kind == TENSOR)


def _certain(part: Typed) -> Kind:
    """The kind of a value, as far as it is more than assumed. PyTorch's formulas for lists compare one tensor of each."""
    is_assumed = part.kind == TENSOR and not isinstance(part.node, Name)
    is_of_lists = isinstance(part.node, Binary) and any(p.kind.is_list for p in part.parts)
    if is_assumed or is_of_lists:
        return UNKNOWN
    return part.kind


def _binds(places: Sequence[Argument | None], parts: Sequence[Typed]) -> bool:
    """Whether there is a place for each of the values, as far as is known, and none is a number where a generator is
    expected."""
    pairs = list(zip(places, parts))
    is_each = len(pairs) == len(parts) and all(takes(place, part.kind) for place, part in pairs)
    return is_each and not any(
        place is not None and str(place.type) == "Generator?" and part.kind.is_number
        for place, part in pairs
    )


def _is_item(argument: Argument, part: Typed) -> bool:
    """Whether a value, which is no list, is an item of the list that the argument is."""
    wanted = kind_of_type(argument.type)
    is_single = not part.kind.is_list and not part.is_none
    return is_single and wanted.is_list and takes(argument, part.kind)


def not_a_method(call: Typed, language: str, methods: Collection[str]) -> Found | None:
    """What is wrong with a call of a method, where tensors have these in a language."""
    node = call.node
    if not isinstance(node, Call) or not isinstance(node.function, Member):
        return None
    name = node.function.name
    value = node.function.value
    is_known = name.removesuffix("_symint") in methods or name[0] == "_"
    if call.calls_own or is_known or node.function.arrow or not _is_tensor(call.parts[0]):
        return None
    torch = functions_of_torch()
    missing = Found(
        "TG322",
        f"tensors have no method `{name}` in {language}",
        node.span,
        "no such method",
    )
    if name in torch.python_methods | torch.cpp_methods:
        return missing._replace(code="TG540")
    if name not in torch.at:
        return missing._replace(help=did_you_mean(name, methods))
    function = Call(Name(name), (value, *node.arguments), node.keywords)
    return missing._replace(help=write_instead(str(node), str(function)))


def _is_tensor(part: Typed) -> bool:
    """Whether a value is a tensor for sure: what the author's functions give may be anything."""
    name = called_name(part.node)
    is_known = name is None or part.operator is not None or bool(torch_operators(name))
    return is_known and part.kind.present == TENSOR
