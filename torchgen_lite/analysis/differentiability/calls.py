"""Calls in formulas of what PyTorch does not have, or does not take: TG322, TG323 and TG341.

Note [One formula, two languages]
A formula is written once, and runs in Python and in C++. What neither language has is a mistake in the file, whichever
target is configured: `check_formula_calls`. What one language has and the other lacks is a mistake for the targets in
that language alone, which ask `check_calls` with a `Speech` of their own. Functions of the author's are in modules and
headers that options name, so only a target that generates from formulas knows that nobody has a function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.vocabulary import (
    TENSOR_METHODS,
    Language,
    misused,
    not_a_method,
)
from torchgen_lite.analysis.finding import Findings, Found, Reported, findings
from torchgen_lite.analysis.python_names import BUILTINS
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Help, misspelled
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.kinds import TENSOR
from torchgen_lite.formulas.model import Call, Member, Name, name_called
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.torch.functions import functions_of_torch, in_at


class Missing(NamedTuple):
    """What is said of a function that nobody has: who does not have it, what it is assumed to be, and what to do; the
    names that may be meant instead, in the order in which they are tried."""

    who: str
    assumed: str
    advice: str
    similar: tuple[Callable[[], Collection[str]], ...] = ()

    def help(self, name: str) -> Help | None:
        """What is written instead of a builtin of Python, the name that is misspelled, or else the advice."""
        if name in BUILTINS:
            return BUILTINS[name]
        for names in self.similar:
            near = misspelled(name, names())
            if near is not None:
                return near
        return self.advice or None


class Speech(NamedTuple):
    """What formulas may call where they are written in these languages.

    Tensors have the `methods`, and PyTorch `has` functions. `known` are those of the author's. Where others `may_have`
    more functions, nothing is said of plain names. `skips` are the names of which other rules speak. `missing` says what
    a function is that nobody has, as it is written in a call, or None where that cannot be known.
    """

    languages: tuple[Language, ...]
    methods: Collection[str]
    has: Callable[[str], bool]
    known: Collection[str] = ()
    may_have: bool = False
    skips: Callable[[str], bool] = lambda name: False
    missing: Callable[[str, Call], Missing | None] = lambda written, call: None


def anywhere(known: Collection[str], *, may_have: bool) -> Speech:
    """What formulas may call in one language or the other."""
    torch = functions_of_torch()
    return Speech(
        ("C++", "Python"),
        torch.cpp_methods | torch.python_methods | TENSOR_METHODS,
        lambda name: name in torch.torch or in_at(name),
        known,
        may_have,
    )


def check_formula_calls(resolved: Resolved, speech: Speech) -> Reported:
    """The mistakes in the formulas of a file, of which PyTorch's own call more than PyTorch exports."""
    for operator, info in resolved.formulas:
        function = operator.function
        # What `auto` calls is checked with references.
        if not function.is_pytorchs and not function.is_auto:
            yield from check_calls(function, info.trees, speech)


def check_calls(function: NativeFunction, trees: Iterable[Typed], speech: Speech) -> Reported:
    """The mistakes in these formulas of an entry."""
    for tree in trees:
        yield from findings(function, wrong_calls(tree, speech))


def wrong_calls(tree: Typed, speech: Speech) -> Findings:
    """Calls of functions or methods that nobody has, or with arguments that they do not take."""
    for part in every_part(tree):
        node = part.node
        if not isinstance(node, Call):
            continue
        lacks = not_a_method(part, " or ".join(speech.languages), speech.methods)
        if lacks is not None and not speech.skips(name_called(node)):
            yield lacks
        elif part.operator is None and part.saved is None:
            yield from _check_call(part, node, speech)


def _check_call(part: Typed, node: Call, speech: Speech) -> Findings:
    """A call of what is no operator of the file."""
    if isinstance(node.function, Member):
        if part.parts[0].kind.present == TENSOR:
            yield from _misused(part, node, node.function.name, speech)
        return
    function = node.function
    written = function.text if isinstance(function, Name) else ""
    name = written.removeprefix("at::")
    is_torchs = name != written or (isinstance(function, Name) and function.is_torchs)
    if not name or speech.skips(written) or (not is_torchs and name in speech.known):
        return
    if not is_torchs and speech.may_have:
        return
    if speech.has(name):
        yield from _misused(part, node, name, speech)
        return
    missing = speech.missing(written, node) if name not in BROUGHT else None
    if missing is not None:
        yield Found(
            "TG341",
            f"the formula calls `{name}`, which {missing.who}",
            node.span,
            f"assumed to be `{missing.assumed}{name}`",
            missing.help(name),
        )


def _misused(part: Typed, node: Call, name: str, speech: Speech) -> Findings:
    """TG323: arguments that PyTorch's function or method does not take in any of the languages."""
    in_each = [list(misused(part, node, name, language)) for language in speech.languages]
    if all(in_each):
        yield from in_each[0]
