"""A program: all input, and all facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from torchgen_lite.analysis.checks import check_functions
from torchgen_lite.analysis.checks.releases import check_releases
from torchgen_lite.analysis.finding import findings
from torchgen_lite.analysis.native import NO_NATIVE, NativeOperators, follow_native
from torchgen_lite.analysis.overlay import by_range, entries_for, merge_overlays
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.analysis.suppress import filter_diagnostics, leave_out, unknown_codes
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors, sort_diagnostics
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.python.kernel_modules import KernelIndex
from torchgen_lite.loader.torch.files import InstalledTorch
from torchgen_lite.loader.versions import Version, parse_version

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.calls import Speech

Modules = Mapping[str, Mapping[str, KernelIndex]]
"""The functions in the modules that options name, by target and option."""


@dataclass(frozen=True)
class Program:
    """The input of every target: the operators, with overlays merged in, and all derived facts.

    They are those for `release`, the PyTorch that entries refer to, if known. `written` are all of them, as
    `by_range` has them. `installed` is what the installed PyTorch has, if it was queried. `entries` are as written,
    each overlay an entry of its own.
    """

    resolved: Resolved
    config: Config
    diagnostics: tuple[Diagnostic, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    modules: Modules = field(default_factory=dict)
    installed: InstalledTorch | None = None
    entries: tuple[NativeFunction, ...] = ()
    release: Version = ()
    written: Mapping[str, Resolved] = field(default_factory=dict)
    # What layers above compute of it once.
    memo: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def functions(self) -> tuple[NativeFunction, ...]:
        """The entries in source order."""
        return self.resolved.functions

    @property
    def by_range(self) -> Mapping[str, Program]:
        """All entries, as targets take them whose code serves every release; the first is under `""`."""
        if all(one is self.resolved for one in self.written.values()):
            return {"": self}
        return {text: replace(self, resolved=one) for text, one in self.written.items()}

    @property
    def elsewhere(self) -> tuple[NativeFunction, ...]:
        """The entries for other releases."""
        found = {id(f): f for one in self.written.values() for f in one.functions}
        for function in self.functions:
            found.pop(id(function), None)
        return tuple(found.values())

    @property
    def has_errors(self) -> bool:
        return has_errors(self.diagnostics)

    def module_functions(self, target: str, option: str) -> KernelIndex | None:
        """The functions of the modules that an option of a target names; None if it names none."""
        return self.modules.get(target, {}).get(option)

    @property
    def indexes(self) -> Iterator[KernelIndex]:
        """The functions of every module that an option names."""
        return (index for options in self.modules.values() for index in options.values())

    def wanted(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The findings that neither the configuration nor a comment excludes."""
        return filter_diagnostics(found, self.config, self.entries, self.sources)

    def with_findings(self, found: Iterable[Diagnostic]) -> Program:
        return replace(self, diagnostics=sort_diagnostics([*self.diagnostics, *found]))


# The functions that check fields against the schema, in modules of `analysis`.
_CHECKS = {
    "fake": "fakes.check.check",
    "flops": "compiled.check_flops",
    "samples": "samples.check",
    "decompose": "compiled.check_decompose",
    "checkpoint": "compiled.check_checkpoint",
    "triton": "compiled.check_triton",
    "axes": "axes.check",
    "autocast": "autocast.check",
}


def build_program(
    functions: Sequence[NativeFunction],
    config: Config,
    *,
    diagnostics: Sequence[Diagnostic] = (),
    tags: Mapping[str, str] | None = None,
    sources: Sequence[Source] = (),
    formulas: KernelIndex | None = None,
    speech: Speech | None = None,
    modules: Modules | None = None,
    native: NativeOperators = NO_NATIVE,
) -> Program:
    """Put the pieces together and check across entries.

    With `formulas`, derivative formulas may call only those functions and operators; `speech` is what they may call of
    PyTorch, if their tensors are PyTorch's. `native` is the context, see `Resolved`; if it is found, entries must agree
    with it.
    """
    merged, found = merge_overlays(functions)
    if any(one.is_auto for one in merged):
        from torchgen_lite.analysis.differentiability.info import with_formula

        merged = tuple(map(with_formula, merged))
    context = tuple(native.functions.values())
    if context:
        merged = follow_native(merged, context)
    written = {text: Resolved(own, tags or {}, context) for text, own in by_range(merged)}
    release = parse_version(config.for_torch) or native.version
    own = entries_for(merged, release)
    resolved = written[""] if own == merged else Resolved(own, tags or {}, context)
    known = KNOWN_TAGS if tags is None else tags
    beside = {native.version, release} if native.is_found else None
    for one in written.values():
        found += [*check_functions(one, known, beside), *_check_fields(one, formulas, speech)]
        if config.torch:
            found += check_releases(one, config.torch)
    # An entry may be among those of several ranges.
    found = list(dict.fromkeys([*diagnostics, *found]))
    program = Program(
        resolved,
        config,
        tags=dict(tags or {}),
        sources=tuple(sources),
        modules=dict(modules or {}),
        entries=tuple(functions),
        release=release,
        written=written,
    )
    wanted = program.wanted(found)
    rest, left_out = leave_out(found, wanted, functions)
    if left_out is not None:
        read = {id(one) for one in diagnostics}
        found = [left_out, *[one for one in wanted if id(one) in read]]
        again = partial(build_program, tags=tags, sources=sources, formulas=formulas, speech=speech)
        return again(rest, config, diagnostics=found, modules=modules, native=native)
    unknown = [one for source in sources for one in unknown_codes(source)]
    return program.with_findings([*wanted, *unknown])


def _check_fields(
    resolved: Resolved, formulas: KernelIndex | None, speech: Speech | None
) -> Iterator[Diagnostic]:
    """The findings in fields of this project. What checks them is imported if an entry has one."""
    if [one for one in resolved.functions if one.derivatives is not None]:
        # Imported here: PyTorch's own entries have no formulas.
        from torchgen_lite.analysis.differentiability.check import check_derivatives

        helpers = None if formulas is None else frozenset(formulas.names())
        wrong = list(check_derivatives(resolved.functions, helpers))
        yield from wrong
        if not has_errors(wrong):
            from torchgen_lite.analysis.differentiability.kinds import check_kinds
            from torchgen_lite.analysis.differentiability.results import check_results

            yield from (*check_kinds(resolved), *check_results(resolved))
            if speech is not None:
                from torchgen_lite.analysis.differentiability.calls import check_formula_calls

                yield from check_formula_calls(resolved, speech)
    for name, check in _CHECKS.items():
        for operator in resolved.declared:
            value = getattr(operator.function, name)
            if value is not None and value != ():
                module, _, function = check.rpartition(".")
                home = import_module(f"torchgen_lite.analysis.{module}")
                found = getattr(home, function)(operator, value)
                yield from findings(operator.function, found, getattr(value, "span", None))
