"""Values that formulas share: equal parts of them, each of which backward computes once.

    self: grad * (self * scale).cos() * scale       shared0 = grad * (self * scale).cos()
    scale: grad * (self * scale).cos() * self       self: shared0 * scale
                                                    scale: shared0 * self

A part is shared where a formula computes it in any case, not in one side of a condition. A function of the author's
may draw random numbers or write to what it is given, so neither its value is shared nor what it is called with.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.kinds import TENSOR, TENSORS
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.schema.grouped import names_of

# PyTorch's functions that give something else each time, or that write.
_UNEQUAL = re.compile(
    r"bernoulli|dropout|exponential|multinomial|normal$|normal_|poisson|rand|rrelu|_(outf?)?$"
)


class Shared(NamedTuple):
    """A value that is used more than once, its name, and the positions of the formulas that compute it."""

    name: str
    tree: Typed
    users: tuple[int, ...]


class Formulas(NamedTuple):
    """The formulas of an entry, in which the names of `shared` stand for values; each of these comes before those that
    use it."""

    shared: tuple[Shared, ...]
    trees: tuple[Typed, ...]


def with_shared(info: DifferentiabilityInfo) -> Formulas:
    """The formulas of an entry, with names for the parts that are equal."""
    trees = [derivative.tree for derivative in info.derivatives]
    counts: Counter[nodes.Expression] = Counter()
    for tree in trees:
        _count(tree, counts)
    users: dict[nodes.Expression, list[int]] = {}
    for index, tree in enumerate(trees):
        for node in dict.fromkeys(part.node for part in _computed(tree)):
            users.setdefault(node, []).append(index)
    prefix = "shared"
    taken = {*info.mentioned, *names_of(info.schema.arguments)}
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    names: dict[nodes.Expression, str] = {}

    def named(tree: Typed) -> Typed:
        """The tree with names for shared parts."""
        if tree.node in names and _is_shareable(tree):
            return Typed(nodes.Name(names[tree.node]), tree.kind)
        strict = _strict(tree)
        return tree._replace(parts=(*map(named, strict), *tree.parts[len(strict) :]))

    shared = []
    for tree in trees:
        for part in reversed(_computed(tree)):
            if counts[part.node] > 1 and part.node not in names:
                value = named(part)
                names[part.node] = f"{prefix}{len(names)}"
                shared.append(Shared(names[part.node], value, tuple(users[part.node])))
    return Formulas(tuple(shared), tuple(map(named, trees)))


def _count(tree: Typed, counts: Counter[nodes.Expression]) -> None:
    """Count the parts that may be shared. Those of one that has been counted are used through it."""
    if _is_shareable(tree):
        counts[tree.node] += 1
        if counts[tree.node] > 1:
            return
    for part in _strict(tree):
        _count(part, counts)


def _computed(tree: Typed) -> list[Typed]:
    """The parts that a formula computes in any case, each before its own."""
    parts = [tree]
    for part in _strict(tree):
        parts += _computed(part)
    return parts


def _strict(tree: Typed) -> tuple[Typed, ...]:
    """The operands that are computed whenever the node is."""
    if tree.saved is not None or _is_opaque(tree):
        return ()
    match tree.node:
        case nodes.Conditional() | nodes.Binary("&&" | "||"):
            return tree.parts[:1]
    return tree.parts


def _is_shareable(tree: Typed) -> bool:
    is_made = isinstance(tree.node, (nodes.Binary, nodes.Call, nodes.Unary)) and tree.saved is None
    return is_made and tree.kind in (TENSOR, TENSORS) and _is_repeatable(tree)


def _is_repeatable(tree: Typed) -> bool:
    """Whether it gives the same each time."""
    if tree.saved is not None:
        return True
    return not _is_opaque(tree) and all(map(_is_repeatable, tree.parts))


def _is_opaque(tree: Typed) -> bool:
    """Whether nothing is known of what it does, or it does not do the same each time."""
    node = tree.node
    if not isinstance(node, nodes.Call):
        # Each formula has a mask of its own.
        is_own = isinstance(node, nodes.Name) and node.text == "grad_input_mask"
        return is_own or isinstance(node, nodes.Lambda)
    if tree.operator is not None:
        return not tree.operator.is_repeatable
    name = _known_function(node, tree)
    return not name or _UNEQUAL.search(name) is not None or "out" in dict(node.keywords)


def _known_function(call: nodes.Call, tree: Typed) -> str:
    """The function or method of PyTorch that is called; empty for one of the author's, which may do anything."""
    if isinstance(call.function, nodes.Member):
        return call.function.name if tree.parts[0].kind.is_known else ""
    torch = functions_of_torch()
    name = nodes.called_name(call) or ""
    return name if name in torch.at or name in torch.torch else ""
