"""A program: all input, and all facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.analysis.checks import check_functions
from torchgen_lite.analysis.checks.releases import check_releases
from torchgen_lite.analysis.native import NO_NATIVE, NativeOperators, follow_native
from torchgen_lite.analysis.overlay import merge_overlays
from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.resolve import Resolved, resolve
from torchgen_lite.analysis.suppress import filter_diagnostics, leave_out, unknown_codes
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors, sort_diagnostics
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.loader.known_tags import KNOWN_TAGS
from torchgen_lite.loader.torch_operators import InstalledTorch
from torchgen_lite.loader.versions import Version, parse_version

Modules = Mapping[str, Mapping[str, KernelIndex]]
"""The functions in the modules that options name, by target and option."""


@dataclass(frozen=True)
class Program:
    """The input of every target: the operators, with overlays merged in, and all derived facts.

    `installed` is what the installed PyTorch has, if it was queried. `entries` are as written, each overlay an
    entry of its own. `release` is the PyTorch that they refer to, if known.
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

    @property
    def functions(self) -> tuple[NativeFunction, ...]:
        """The entries in source order."""
        return self.resolved.functions

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
        """The program with more diagnostics."""
        return replace(self, diagnostics=sort_diagnostics([*self.diagnostics, *found]))


_CHECKED = ("derivatives", "fake", "samples", "autocast")


def _check_fields(resolved: Resolved, formulas: KernelIndex | None) -> Iterator[Diagnostic]:
    """The fields that are ours. Their checks are imported if an entry has them: PyTorch's have none."""
    functions = resolved.functions
    used = {name for function in functions for name in _CHECKED if getattr(function, name)}
    if "derivatives" in used:
        from torchgen_lite.analysis.differentiability.check import check_derivatives

        helpers = None if formulas is None else frozenset(formulas.names())
        wrong = list(check_derivatives(functions, helpers))
        yield from wrong
        if not has_errors(wrong):
            from torchgen_lite.analysis.differentiability.integers import check_integers
            from torchgen_lite.analysis.differentiability.kinds import check_kinds

            yield from check_kinds(resolved)
            yield from check_integers(resolved)
    if not used.isdisjoint(("fake", "samples")):
        from torchgen_lite.analysis.fakes.check import check_fakes
        from torchgen_lite.analysis.samples import check_samples

        yield from check_fakes(resolved)
        yield from check_samples(functions)
    if "autocast" in used:
        from torchgen_lite.analysis.autocast import check_autocast

        yield from check_autocast(resolved)


def build_program(
    functions: Sequence[NativeFunction],
    config: Config,
    *,
    diagnostics: Sequence[Diagnostic] = (),
    tags: Mapping[str, str] | None = None,
    sources: Sequence[Source] = (),
    formulas: KernelIndex | None = None,
    modules: Modules | None = None,
    native: NativeOperators = NO_NATIVE,
) -> Program:
    """Put the pieces together and check across entries.

    With `formulas`, derivative formulas may call only those functions and operators. `native` is
    the context, see `Resolved`; if it is found, entries must agree with it.
    """
    merged, found = merge_overlays(functions)
    context = tuple(native.functions.values())
    if context:
        merged = follow_native(merged, context)
    resolved, known = resolve(merged, tags or {}, context), KNOWN_TAGS if tags is None else tags
    release = native.version if native.is_found else None
    found = [*diagnostics, *found, *check_functions(resolved, known, release)]
    if config.torch:
        found += check_releases(resolved, config.torch)
    found += _check_fields(resolved, formulas)
    program = Program(
        resolved,
        config,
        tags=dict(tags or {}),
        sources=tuple(sources),
        modules=dict(modules or {}),
        entries=tuple(functions),
        release=parse_version(config.for_torch) or native.version,
    )
    wanted = program.wanted(found)
    rest, left_out = leave_out(found, wanted, functions)
    if left_out is not None:
        read = {id(one) for one in diagnostics}
        return build_program(
            rest,
            config,
            diagnostics=[left_out, *[one for one in wanted if id(one) in read]],
            tags=tags,
            sources=sources,
            formulas=formulas,
            modules=modules,
            native=native,
        )
    unknown = [one for source in sources for one in unknown_codes(source)]
    return program.with_findings([*wanted, *unknown])


def lint_program(program: Program, policies: Sequence[Policy] | None = None) -> Program:
    """The program, with what the lint rules find.

    `policies` are those of the targets in use; None stands for any target.
    """
    # Imported here: most runs do not lint.
    from torchgen_lite.analysis.lint import run_lint

    return program.with_findings(program.wanted(run_lint(program.resolved, policies)))
