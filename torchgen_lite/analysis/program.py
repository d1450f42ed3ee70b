"""A program: all input, and all facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from torchgen_lite.analysis.checks import check_functions
from torchgen_lite.analysis.checks.releases import check_releases
from torchgen_lite.analysis.finding import Reported
from torchgen_lite.analysis.native import NO_NATIVE, NativeOperators, follow_native
from torchgen_lite.analysis.overlay import by_range, entries_for, merge_overlays
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.analysis.suppress import filter_diagnostics, leave_out, unknown_codes
from torchgen_lite.diagnostics import Diagnostic, Diagnostics, Source, has_errors, sort_diagnostics
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.python.kernel_modules import KernelIndex
from torchgen_lite.loader.torch.files import InstalledTorch
from torchgen_lite.loader.versions import Version

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
    diagnostics: Diagnostics = ()
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
        if all(resolved is self.resolved for resolved in self.written.values()):
            return {"": self}
        return {text: replace(self, resolved=resolved) for text, resolved in self.written.items()}

    @property
    def elsewhere(self) -> tuple[NativeFunction, ...]:
        """The entries for other releases."""
        by_id = {}
        for resolved in self.written.values():
            for f in resolved.functions:
                by_id[id(f)] = f
        for function in self.functions:
            by_id.pop(id(function), None)
        return tuple(by_id.values())

    @property
    def has_errors(self) -> bool:
        return has_errors(self.diagnostics)

    def module_functions(self, target: str, option: str) -> KernelIndex | None:
        """The functions of the modules that an option of a target names; None if it names none."""
        return self.modules.get(target, {}).get(option)

    @property
    def indexes(self) -> Iterator[KernelIndex]:
        """The functions of every module that an option names."""
        for options in self.modules.values():
            yield from options.values()

    def wanted(self, diagnostics: Iterable[Diagnostic]) -> Diagnostics:
        """The findings that neither the configuration nor a comment excludes."""
        return filter_diagnostics(diagnostics, self.config, self.entries, self.sources)

    def with_findings(self, diagnostics: Iterable[Diagnostic]) -> Program:
        return replace(self, diagnostics=sort_diagnostics([*self.diagnostics, *diagnostics]))


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
    known = KNOWN_TAGS if tags is None else tags
    release = native.release_for(config)
    beside = {native.version, release} if native.is_found else None
    entries = list(functions)
    read = list(diagnostics)
    while True:
        resolved, written, problems = _resolve(entries, tags or {}, native, release)
        for operators in written.values():
            problems += check_functions(operators, known, beside)
            problems += _check_fields(operators, formulas, speech)
            if config.torch:
                problems += check_releases(operators, config.torch)
        program = Program(
            resolved,
            config,
            tags=dict(tags or {}),
            sources=tuple(sources),
            modules=dict(modules or {}),
            entries=tuple(entries),
            release=release,
            written=written,
        )
        # An entry may be among those of several ranges.
        problems = list(dict.fromkeys([*read, *problems]))
        wanted = program.wanted(problems)
        entries, left_out = leave_out(problems, wanted, entries)
        if left_out is None:
            break
        # Without the entries that are left out, others may be wrong, or no longer.
        of_files = set(map(id, read))
        read = [left_out, *[finding for finding in wanted if id(finding) in of_files]]
    unknown = [finding for source in sources for finding in unknown_codes(source)]
    return program.with_findings([*wanted, *unknown])


def _resolve(
    functions: Sequence[NativeFunction],
    tags: Mapping[str, str],
    native: NativeOperators,
    release: Version,
) -> tuple[Resolved, dict[str, Resolved], list[Diagnostic]]:
    """The entries for a release, all of them as `by_range` has them, and what is wrong where several are for one operator."""
    merged, problems = merge_overlays(functions)
    if any(function.is_auto for function in merged):
        from torchgen_lite.analysis.differentiability.info import with_formula

        merged = tuple(map(with_formula, merged))
    context = tuple(native.functions.values())
    if context:
        merged = follow_native(merged, context)
    written = {text: Resolved(entries, tags, context) for text, entries in by_range(merged)}
    applying = entries_for(merged, release)
    if applying == merged:
        return written[""], written, problems
    return Resolved(applying, tags, context), written, problems


def _check_fields(
    resolved: Resolved, formulas: KernelIndex | None, speech: Speech | None
) -> Reported:
    """The findings in the fields that PyTorch's own entries do not have.

    Checks are imported here: they need the language of formulas, for which other programs have no use.
    """
    given = {name for name in _CHECKED if any(map(attrgetter(name), resolved.functions))}
    if "derivatives" in given:
        from torchgen_lite.analysis.differentiability.checks import check_formulas

        helpers = None if formulas is None else frozenset(formulas.names())
        yield from check_formulas(resolved, helpers, speech)
    if given - {"derivatives"}:
        from torchgen_lite.analysis.checks.fields import check_fields

        yield from check_fields(resolved)


_CHECKED = frozenset(field.attribute for field in FIELDS.values() if field.is_checked)
