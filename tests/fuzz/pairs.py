"""Random pairs of schemas: a call that the old one takes and the new one does not has to be a finding of `breaking`.

The oracle binds calls as Python does. It knows nothing of the comparison.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.comparison.compare import compare_schemas
from torchgen_lite.schema import FunctionSchema

_TYPES = ("int", "float", "str", "Tensor")
_DEFAULTS = {"int": ("0", "1"), "float": ("0.5", "2.0"), "str": ("'a'", "'b'"), "Tensor": ()}
_NAMES = "abcde"
_CALLS = 12
Argument = tuple[str, str, str]


def schema_of(arguments: Sequence[Argument], keywords: Sequence[Argument]) -> FunctionSchema:
    def text(argument: Argument) -> str:
        type_, name, default = argument
        return f"{type_} {name}={default}" if default else f"{type_} {name}"

    star = ["*"] if keywords else []
    parts = [*map(text, arguments), *star, *map(text, keywords)]
    return FunctionSchema.parse(f"m::f({', '.join(parts)}) -> Tensor")


def arguments(chooser: random.Random) -> tuple[list[Argument], list[Argument]]:
    """Positional and keyword-only arguments; those with a default are last."""
    names = chooser.sample(_NAMES, chooser.randint(1, 4))
    found: list[Argument] = []
    for name in names:
        type_ = chooser.choice(_TYPES)
        found.append((type_, name, chooser.choice(["", *_DEFAULTS[type_]])))
    split = chooser.randint(1, len(found))
    return sorted(found[:split], key=lambda one: bool(one[2])), found[split:]


def changed(
    chooser: random.Random, positional: list[Argument], keywords: list[Argument]
) -> tuple[list[Argument], list[Argument]]:
    """The arguments after one edit: dropped, added, renamed, moved, or with another default."""
    both = [[*positional], [*keywords]]
    side = chooser.choice([one for one in both if one])
    at = chooser.randrange(len(side))
    type_, name, default = side[at]
    free = [one for one in _NAMES if one not in {a[1] for a in (*positional, *keywords)}]
    edit = chooser.randrange(5)
    if edit == 0:
        del side[at]
    elif edit == 1:
        side.append(("int", chooser.choice(free), chooser.choice(["", "0"])))
    elif edit == 2:
        side[at] = type_, chooser.choice(free), default
    elif edit == 3:
        side[at] = type_, name, "" if default else chooser.choice(["", *_DEFAULTS[type_]])
    else:
        both[0 if side is both[1] else 1].append(side.pop(at))
    return sorted(both[0], key=lambda one: bool(one[2])), both[1]


def signature_of(schema: FunctionSchema) -> inspect.Signature:
    """What a Python function for the operator takes."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(a.name, kinds[a.kwarg_only], default=a.default or empty)
            for a in schema.arguments
        ]
    )


def calls(chooser: random.Random, schema: FunctionSchema) -> Iterator[tuple[list[str], list[str]]]:
    """Calls that a schema takes: what goes by position, and what by keyword; values are the names of arguments."""
    positional = [a.name for a in schema.arguments if not a.kwarg_only]
    for _ in range(_CALLS):
        by_position = positional[: chooser.randint(0, len(positional))]
        rest = [a for a in schema.arguments if a.name not in by_position]
        yield by_position, [a.name for a in rest if not a.default or chooser.random() < 0.5]


def lost(chooser: random.Random, old: FunctionSchema, new: FunctionSchema) -> str | None:
    """A call that binds otherwise than before, or not at all."""
    for by_position, by_keyword in calls(chooser, old):
        given = {name: name for name in by_keyword}
        try:
            bound = signature_of(new).bind(*by_position, **given).arguments
        except TypeError as error:
            return f"f(*{by_position}, **{by_keyword}): {error}"
        if any(name != value for name, value in bound.items()):
            return f"f(*{by_position}, **{by_keyword}) binds {bound}"
    return None


def run_pairs(count: int, seed: int, first: int = 0) -> list[str]:
    """The pairs that lose a call of which the comparison says nothing."""
    problems = []
    for number in range(first, first + count):
        chooser = random.Random(f"{seed} {number}")
        before = arguments(chooser)
        old, new = schema_of(*before), schema_of(*changed(chooser, *before))
        why = lost(chooser, old, new)
        if why is not None and not [*compare_schemas(old, new)]:
            problems.append(f"input {number}: {old} to {new}: {why}")
    return problems
