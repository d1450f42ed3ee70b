"""What a backend covers: how each PyTorch operator handles a tensor with the backend's key.

Note [Where a call ends]
A kernel that PyTorch derives from a variant is only as good as that variant's. If a backend has
`add.out`, its `add_.Tensor` runs that through the default kernel of structured operators;
without `add.out`, that default kernel ends wherever a call of `add.out` does. So the verdict is
that of the operator called last, not that of the first slot. A fallback calls the operator once
more, with tensors of the CPU, and ends where that call does. What a kernel calls that PyTorch
has written by hand no file says; a run does (`calls.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple

from torchgen_lite.analysis.comparison.lost_calls import returns_view
from torchgen_lite.analysis.computed_table import Cell, Registrations, cell_of
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import BOXED, PYTORCH, Origin, Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.runtime.table import FALLBACK
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import over, served_by, with_fallbacks
from torchgen_lite_tools.backends.results import is_refused, made_below


class Verdict(Enum):
    """What serves an operator for a key, best first: what fails is seen, and what is wrong is not."""

    own = "a kernel of its own"
    through = "the kernel of a variant"
    composite = "composed of other operators"
    fallback = "the fallback of the backend, on the CPU"
    nothing = "nothing: a call raises an error"
    wrong = "a copy in place of a view: what is written to it is lost"


ORDER = {verdict: position for position, verdict in enumerate(Verdict)}
SERVED = frozenset({Verdict.own, Verdict.through, Verdict.composite})
FAILED = frozenset({Verdict.nothing, Verdict.wrong})


class Covered(NamedTuple):
    """An operator with its verdict; `by` is the kernel or the operator that serves it."""

    operator: Operator
    verdict: Verdict
    by: str = ""


class Overlay(NamedTuple):
    """PyTorch as a program, the table of each of its operators under a backend's kernels, and why kernels are in it."""

    native: Program
    tables: Mapping[str, Registrations]
    made: Mapping[str, Mapping[str, Registration]]

    def with_fallback(self, key: str) -> Overlay:
        """The same with a fallback of the backend."""
        return self._replace(tables=with_fallbacks(self.tables, [key]))

    def with_program(self, program: Program, policy: Policy) -> Overlay:
        """The same with the kernels that the target of a program registers."""
        resolved = program.resolved
        selection = Selection((*resolved.declared, *resolved.copying), policy)
        tables = {**self.tables}
        made = {**self.made}
        for served in served_by(program, selection, self.tables):
            name = served.table.name
            if name in tables:
                tables[name] = served.table
                made[name] = {**made[name], **over(served.registered)}
        return self._replace(tables=tables, made=made)

    def with_kernels(self, kernels: Mapping[str, Mapping[str, str]]) -> Overlay:
        """The same with kernels of which the places are known: by operator and key."""
        tables = {**self.tables}
        for name in kernels.keys() & tables.keys():
            table = tables[name]
            given = kernels[name]
            keys = (table.own or frozenset()) | given.keys()
            tables[name] = table._replace(kernels={**table.kernels, **given}, own=keys)
        return self._replace(tables=tables)

    def cell(self, name: str, key: str) -> Cell:
        return cell_of(self.tables[name], key)


def pytorchs(
    config: Config, context: Collection[NativeFunction], tags: Mapping[str, str]
) -> Overlay:
    """PyTorch's own operators, under nothing."""
    native = Program(Resolved(tuple(context), tags), config, tags=tags)
    selection = Selection(native.resolved.operators, PYTORCH)
    tables = {}
    made = {}
    for served in served_by(native, selection):
        name = served.table.name
        tables[name] = served.table
        made[name] = served.registered
    return Overlay(native, tables, made)


def coverage(overlay: Overlay, key: str) -> list[Covered]:
    """The verdicts on all operators of PyTorch for one key."""
    verdicts: dict[tuple[str, str], Covered] = {}
    operators = overlay.native.resolved.by_name

    def cover(name: str, key: str) -> Covered:
        if (name, key) not in verdicts:
            # A call that leads back to the same operator would never end.
            verdicts[name, key] = Covered(operators[name], Verdict.nothing)
            verdicts[name, key] = with_result(decide(operators[name], key), key)
        return verdicts[name, key]

    def with_result(covered: Covered, key: str) -> Covered:
        """See Note [Results that are not dense]: the verdict, if a backend can have such a result."""
        if covered.verdict not in (Verdict.composite, Verdict.fallback):
            return covered
        name = covered.operator.name
        if is_refused(name, key):
            return covered._replace(verdict=Verdict.nothing)
        view = view_of(covered.operator)
        if view in operators and cover(view, key).verdict in FAILED:
            return Covered(covered.operator, Verdict.nothing, view)
        for made_by, beside in made_below(name, key):
            if cover(made_by, beside).verdict in FAILED:
                return Covered(covered.operator, Verdict.nothing, f"{made_by} at {beside}")
        return covered

    def decide(operator: Operator, key: str) -> Covered:
        cell = overlay.cell(operator.name, key)
        made = overlay.made[operator.name].get(cell.source)
        if not cell.source or cell.falls_through:
            return Covered(operator, Verdict.nothing)
        if cell.origin == FALLBACK or BOXED.get(cell.label) is Origin.cpu_fallback:
            return Covered(operator, fallen(operator, key))
        if cell.source == key:
            variant = made.source if made is not None else None
            if variant is not None and variant.name != operator.name:
                return Covered(operator, Verdict.through, variant.name)
            return Covered(operator, Verdict.own, cell.label)
        called = _called(made) if made is not None else ""
        if not called:
            return Covered(operator, Verdict.composite, f"{cell.source}: {cell.label}")
        end = cover(called, key).verdict
        return Covered(operator, Verdict.through if end is Verdict.own else end, called)

    def fallen(operator: Operator, key: str) -> Verdict:
        """A fallback copies to the CPU what it is given, and back what it gets."""
        if key == "CPU" or cover(operator.name, "CPU").verdict not in SERVED:
            return Verdict.nothing
        if returns_view(operator):
            return Verdict.wrong
        return Verdict.fallback

    return [cover(operator.name, key) for operator in overlay.native.resolved.operators]


def view_of(operator: Operator) -> str:
    """The operator that a copy of a view calls to make the view: `aten::t` of `aten::t_copy`."""
    before, copy, overload = operator.name.partition("_copy")
    is_copy = copy and "view_copy" in operator.tags
    return before + overload if is_copy else ""


def kernels_of(native: Program, key: str) -> dict[str, Verdict]:
    """The operators that PyTorch itself has kernels of a key for, or of a variant."""
    alone = pytorchs(native.config, native.functions, native.tags)
    verdicts = dict[str, Verdict]()
    for covered in coverage(alone, key):
        if covered.verdict in (Verdict.own, Verdict.through):
            verdicts[covered.operator.name] = covered.verdict
    return verdicts


def _called(registration: Registration) -> str:
    """The operator that a kernel made by PyTorch calls to do the work."""
    if registration.origin is Origin.default and registration.source is not None:
        return registration.source.name
    operator = registration.operator
    group = operator.group
    if operator.function.is_written or group is None:
        return ""
    if operator.kind is not SchemaKind.functional:
        functional = group.functional
    else:
        functional = None
    variants = (functional, group.inplace, group.mutable, group.out)
    return next(variant.name for variant in variants if variant is not None)
