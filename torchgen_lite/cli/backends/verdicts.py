"""What a backend covers: how each PyTorch operator handles a tensor with the backend's key.

Note [Where a call ends]
A kernel that PyTorch derives from a variant is only as good as that variant's. If a backend has
`add.out`, its `add_.Tensor` runs that through the default kernel of structured operators;
without `add.out`, that default kernel ends wherever a call of `add.out` does. So the verdict is
that of the operator called last, not that of the first slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import BOXED, PYTORCH, Origin, Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration, registrations
from torchgen_lite.analysis.resolve import resolve
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.runtime.table import choose
from torchgen_lite.schema import SchemaKind


class Verdict(Enum):
    """What serves an operator for a key, best first."""

    own = "a kernel of its own"
    through = "the kernel of a variant"
    composite = "composed of other operators"
    fallback = "the fallback of the backend"
    nothing = "nothing"


ORDER = {verdict: position for position, verdict in enumerate(Verdict)}


class Covered(NamedTuple):
    """An operator with its verdict; `by` is the kernel or the operator that serves it."""

    operator: Operator
    verdict: Verdict
    by: str = ""


class Kernel(NamedTuple):
    """What a table shows of a kernel, the variant that it is derived from, and the operator that a kernel made by
    PyTorch calls to do the work; each may be empty."""

    label: str = ""
    variant: str = ""
    calls: str = ""


class Kernels(NamedTuple):
    """Kernels by operator and key, and the keys with a fallback."""

    of: Mapping[str, Mapping[str, Kernel]]
    fallbacks: frozenset[str] = frozenset()


def program_kernels(program: Program, policy: Policy) -> Kernels:
    """The kernels that the target of a program registers."""
    of: dict[str, dict[str, Kernel]] = {}
    for one in registrations(program, policy):
        label = one.kernel.kernel if one.kernel else one.origin.value
        variant = one.source.name if one.source not in (None, one.operator) else ""
        of.setdefault(one.operator.name, {})[one.key] = Kernel(label, variant, _called(one))
    return Kernels(of)


def coverage(native: Program, key: str, kernels: Kernels) -> list[Covered]:
    """The verdicts on all operators of PyTorch for one key.

    `native` is PyTorch as a program; `kernels` are those of the backend, or all that a loaded PyTorch has.
    """
    sets, has_fallback = key_sets(), key in kernels.fallbacks
    lent = program_kernels(native, PYTORCH).of
    found: dict[str, Covered] = {}

    def cover(name: str) -> Covered:
        if name not in found:
            operator = native.resolved.by_name[name]
            # A call that leads back to the same operator would never end.
            found[name] = Covered(operator, Verdict.nothing)
            found[name] = decide(operator)
        return found[name]

    def decide(operator: Operator) -> Covered:
        own, others = kernels.of.get(operator.name, {}), lent.get(operator.name, {})
        # The key whose kernel fills the slot under the rules of the dispatch table.
        source = choose(sets, key, frozenset({*own, *others}), has_fallback).source
        if source is None:
            return Covered(operator, Verdict.fallback if has_fallback else Verdict.nothing)
        mine, theirs = own.get(source, Kernel()), others.get(source, Kernel())
        if BOXED.get(mine.label) is Origin.cpu_fallback:
            return Covered(operator, Verdict.fallback, mine.label)
        if source == key:
            if variant := mine.variant or theirs.variant:
                return Covered(operator, Verdict.through, variant)
            return Covered(operator, Verdict.own, mine.label or theirs.label)
        if not theirs.calls:
            label = mine.label or theirs.label
            return Covered(operator, Verdict.composite, f"{source}: {label}")
        end = cover(theirs.calls).verdict
        return Covered(operator, Verdict.through if end is Verdict.own else end, theirs.calls)

    return [cover(operator.name) for operator in native.resolved.operators]


def _called(registration: Registration) -> str:
    """The operator that a kernel made by PyTorch calls to do the work."""
    if registration.origin is Origin.default and registration.source is not None:
        return registration.source.name
    operator, group = registration.operator, registration.operator.group
    if operator.function.is_written or group is None:
        return ""
    functional = group.functional if operator.kind is not SchemaKind.functional else None
    variants = (functional, group.inplace, group.mutable, group.out)
    return next(variant.name for variant in variants if variant is not None)


def native_program(
    config: Config, context: Sequence[NativeFunction], tags: Mapping[str, str]
) -> Program:
    """PyTorch's own operators as a program."""
    return Program(resolve(context, tags), config, tags=tags)
