"""The plan of a node: which gradients backward computes, from which shared values and under which tests, and what the
names in formulas of tangents mean.

A language says how a test and a formula are written, a template where they stand; what is computed and when is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import (
    Derivative,
    DifferentiabilityInfo,
    TensorArgument,
)
from torchgen_lite.analysis.differentiability.shared import with_shared
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.schema import FunctionSchema, return_names


class Gradients(NamedTuple):
    """A formula, its `text` and what a language makes of it: it gives the gradients of these `arguments`, each of which
    is `wanted` if a test holds. It is computed only then if it `is_conditional`. `has_mask`: it asks which are wanted.
    """

    arguments: tuple[TensorArgument, ...]
    wanted: tuple[str, ...]
    is_conditional: bool
    has_mask: bool
    text: str
    value: str


class SharedValue(NamedTuple):
    """A value that several formulas use, its name, and the tests of which one has to hold; none if it is always needed."""

    name: str
    value: str
    wanted: tuple[str, ...]


class Backward(NamedTuple):
    """What backward computes, in this order."""

    shared: tuple[SharedValue, ...] = ()
    gradients: tuple[Gradients, ...] = ()


def plan_backward(
    info: DifferentiabilityInfo,
    test: Callable[[int], str],
    write: Callable[[Typed], str],
    is_conditional: Callable[[Derivative], bool] = lambda derivative: True,
) -> Backward:
    """What the formulas of an entry compute; `test` says in a language whether the gradient of a slot is wanted, and
    `write` writes a formula."""
    formulas = with_shared(info)
    computed = []
    for derivative, tree in zip(info.derivatives, formulas.trees):
        slots = [info.arguments.index(name) for name in derivative.names]
        gradients = Gradients(
            tuple([info.slots[slot] for slot in slots]),
            tuple(map(test, slots)),
            is_conditional(derivative),
            "grad_input_mask" in derivative.mentioned,
            derivative.formula.text,
            write(tree),
        )
        computed.append(gradients)
    shared = []
    for value in formulas.shared:
        users = [computed[position] for position in value.users]
        # Backward computes at least one gradient, so what all use is needed.
        is_always = len(users) == len(computed) or not all(user.is_conditional for user in users)
        tests = [] if is_always else [wanted for user in users for wanted in user.wanted]
        shared.append(SharedValue(value.name, write(value.tree), tuple(dict.fromkeys(tests))))
    return Backward(tuple(shared), tuple(computed))


class Read(NamedTuple):
    """A name in formulas of tangents, and the argument or result whose value it is, or whose tangent (`is_tangent`)."""

    name: str
    source: str
    is_tangent: bool = False


def reads_of(
    info: DifferentiabilityInfo, schema: FunctionSchema, used: Collection[str]
) -> Iterator[Read]:
    """What the names mean that formulas of tangents use, in an operator of this schema: an argument by its name, its
    value `x_p` and its tangent `x_t`, `original_x_p` before the call; then results; then `grad`, the tangent in place of
    a gradient."""
    for argument in schema.arguments:
        name = argument.name
        every = [Read(name, name)]
        for start in (name, f"original_{name}"):
            every += [Read(f"{start}_p", name), Read(f"{start}_t", name, True)]
        yield from [read for read in every if read.name in used]
    yield from [Read(name, name) for name in return_names(schema) if name in used]
    if "grad" in used:
        yield Read("grad", info.arguments[0], True)
