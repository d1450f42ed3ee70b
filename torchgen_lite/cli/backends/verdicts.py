"""What a backend covers: how each PyTorch operator handles a tensor with the backend's key.

Note [Where a call ends]
A kernel that PyTorch derives from a variant is only as good as that variant's. If a backend has
`add.out`, its `add_.Tensor` runs that through the default kernel of structured operators;
without `add.out`, that default kernel ends wherever a call of `add.out` does. So the verdict is
that of the operator called last, not that of the first slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import PYTORCH, Origin, Policy
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


@dataclass(frozen=True)
class Kernels:
    """Kernels by operator and key, and the keys with a fallback.

    `through` has the variants that kernels are derived from, by operator and key.
    """

    of: Mapping[str, Mapping[str, str]]
    fallbacks: frozenset[str] = frozenset()
    through: Mapping[tuple[str, str], str] = field(default_factory=dict)


def program_kernels(program: Program, policy: Policy) -> Kernels:
    """The kernels that the target of a program registers."""
    of: dict[str, dict[str, str]] = {}
    through: dict[tuple[str, str], str] = {}
    for one in registrations(program, policy):
        name, variant = one.operator.name, _variant(one)
        of.setdefault(name, {})[one.key] = _label(one)
        if variant is not None:
            through[name, one.key] = variant
    return Kernels(of, through=through)


def coverage(native: Program, key: str, kernels: Kernels) -> list[Covered]:
    """The verdicts on all operators of PyTorch for one key.

    `native` is PyTorch as a program; `kernels` are those of the backend, or all that a loaded PyTorch has.
    """
    sets, has_fallback = key_sets(), key in kernels.fallbacks
    registered: dict[str, dict[str, Registration]] = {}
    for one in registrations(native, PYTORCH):
        registered.setdefault(one.operator.name, {})[one.key] = one
    found: dict[str, Covered] = {}

    def cover(name: str) -> Covered:
        if name not in found:
            operator = native.resolved.by_name[name]
            # A call that leads back to the same operator would never end.
            found[name] = Covered(operator, Verdict.nothing)
            found[name] = decide(operator, kernels.of.get(name, {}), registered.get(name, {}))
        return found[name]

    def decide(
        operator: Operator, own: Mapping[str, str], lent: Mapping[str, Registration]
    ) -> Covered:
        # The key whose kernel fills the slot under the rules of the dispatch table.
        source = choose(sets, key, frozenset({*own, *lent}), has_fallback).source
        if source is None:
            return Covered(operator, Verdict.fallback if has_fallback else Verdict.nothing)
        label = own.get(source) or _label(lent.get(source))
        if source == key:
            variant = kernels.through.get((operator.name, source))
            if variant is None and source in lent:
                variant = _variant(lent[source])
            if variant is not None:
                return Covered(operator, Verdict.through, variant)
            return Covered(operator, Verdict.own, label)
        called = _called(lent.get(source))
        if called is None:
            return Covered(operator, Verdict.composite, f"{source}: {label}")
        end = cover(called).verdict
        return Covered(operator, Verdict.through if end is Verdict.own else end, called)

    return [cover(operator.name) for operator in native.resolved.operators]


def _label(registration: Registration | None) -> str:
    if registration is None:
        return ""
    return registration.kernel.kernel if registration.kernel else registration.origin.value


def _variant(registration: Registration) -> str | None:
    """The variant whose kernel is also registered for this operator."""
    source = registration.source
    return source.name if source is not None and source is not registration.operator else None


def _called(registration: Registration | None) -> str | None:
    """The operator that a kernel made by PyTorch calls to do the work."""
    if registration is None:
        return None
    if registration.origin is Origin.default and registration.source is not None:
        return registration.source.name
    operator = registration.operator
    if operator.function.is_written or operator.group is None:
        return None
    group = operator.group
    functional = group.functional if operator.kind is not SchemaKind.functional else None
    variants = (functional, group.inplace, group.mutable, group.out)
    return next(variant.name for variant in variants if variant is not None)


def native_program(
    config: Config, context: Sequence[NativeFunction], tags: Mapping[str, str]
) -> Program:
    """PyTorch's own operators as a program."""
    return Program(resolve(context, tags), config, tags=tags)
