"""What is known about each operator, before it becomes the text of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchgen_lite.analysis.computed_table import Cell, Registrations, are_alike, runs_of, table
from torchgen_lite.analysis.kernels import WORDS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.served import Served
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS
from torchgen_lite.loader.sources import portable_path
from torchgen_lite.runtime.table import FALLBACK, MISSING
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.grouped import by_name, grouped, names_of, without_none
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.generation import generation_of, is_configured
from torchgen_lite.targets.output import Selection, Signatures
from torchgen_lite.targets.registered import (
    known_registrations,
    served_by,
    why_absent,
)

# The target whose calls are shown if no target of the project has any.
_USUAL_SIGNATURES = ("python", "cpp-torch")


@dataclass(frozen=True, slots=True)
class Reference:
    """The operators with a page, and facts for pages that depend on other operators or on
    targets."""

    program: Program
    selection: Selection
    operators: tuple[Operator, ...]
    tables: Mapping[str, Registrations]
    overloads: Mapping[str, list[Operator]]
    variants: Mapping[str, list[Operator]]
    served: Mapping[str, Served]

    def absent(self, operator: Operator) -> str:
        """Why there is no table of an operator; empty if there is one."""
        if operator.name in self.tables:
            return ""
        return why_absent(self.program, self.selection, operator.name)

    def signatures(self, operator: Operator) -> Iterator[tuple[str, Signatures]]:
        """The calls of an operator, by target that has it."""
        named = self.program.config.targets
        generation = generation_of(self.program)
        configured = [name for name in named if name in TARGETS and TARGETS[name].signatures]
        for target in configured or _USUAL_SIGNATURES:
            signatures = TARGETS[target].signatures_of(self.program, operator.function)
            if signatures is not None and generation.has(target, operator):
                yield target, signatures

    def source(self, kernel: str) -> str:
        """The file of a kernel in Python; empty if no module that a target names has it."""
        if kernel in WORDS:
            return ""
        for modules in self.program.modules.values():
            place = modules.get("kernels", NO_FUNCTIONS).place(kernel)
            if place is not None:
                return portable_path(place.source.path)
        return ""


def reference(program: Program, selection: Selection) -> Reference:
    """The operators that are declared, and derived ones that the target has."""
    taken = by_name(selection.operators)
    operators = by_name(program.resolved.declared) | taken
    tables = by_name(known_registrations(program, selection))
    every = tuple(operators.values())
    overloads = grouped(every, base_of)
    variants = _variants(program, operators)
    return Reference(
        program, selection, every, tables, overloads, variants, _served(program, selection)
    )


def _served(program: Program, selection: Selection) -> Mapping[str, Served]:
    """What PyTorch has for each operator that is not its own after the package is loaded; nothing without a package."""
    packages = generation_of(program).packages if is_configured(program) else ()
    by_name = {}
    for package in (selection, *packages):
        if package.policy.in_pytorch and package.policy.target:
            for served in served_by(program, package):
                if served.table.name.partition("::")[0] not in TORCH_NAMESPACES:
                    by_name[served.table.name] = served
            break
    return by_name


def base_of(operator: Operator) -> str:
    """`mylib::add` of `mylib::add.Tensor`: what overloads share."""
    return operator.name.partition(".")[0]


def _variants(program: Program, operators: Mapping[str, Operator]) -> Mapping[str, list[Operator]]:
    """The operators that do the same in another way, by name: out and in-place variants, copies of views."""
    together: dict[str, set[str]] = {}
    for operator in operators.values():
        names = {operator.name}
        if operator.group is not None:
            names.update(names_of(operator.group.functions()))
        if operator.views is not None:
            names.update(names_of(operator.views.functions()))
        if operator.kind is not SchemaKind.functional:
            functional = program.resolved.functional_of(operator)
            names.update(names_of(without_none([functional])))
        for name in names:
            together.setdefault(name, set()).update(names)
    variants = {}
    for name, names in together.items():
        others = sorted(names - {name})
        variants[name] = [operators[other] for other in others if other in operators]
    return variants


def rows_of(registrations: Registrations) -> Iterator[tuple[tuple[tuple[str, str], ...], Cell]]:
    """A computed table without the slots that lack a kernel: of equal ones, the first and the last key of each run,
    and one of the cells. Fallbacks, which have no operator, come last."""
    alike: dict[tuple[str, ...], list[list[Cell]]] = {}
    for run in runs_of(table(registrations), are_alike):
        if run[0].origin != MISSING:
            source = "" if run[0].source == run[0].key else run[0].source
            alike.setdefault((run[0].origin, run[0].label, source), []).append(run)
    for runs in sorted(alike.values(), key=lambda runs: runs[0][0].origin == FALLBACK):
        keys = [(run[0].key, run[-1].key) for run in runs]
        yield tuple(keys), runs[0][0]
