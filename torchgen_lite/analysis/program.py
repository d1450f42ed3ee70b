"""A program: all input, and all facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from torchgen_lite.analysis.checks import check_functions
from torchgen_lite.analysis.checks.releases import check_releases
from torchgen_lite.analysis.native import follow_native
from torchgen_lite.analysis.overlay import merge_overlays
from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.resolve import Resolved, resolve
from torchgen_lite.analysis.suppress import filter_diagnostics, unknown_codes
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors, sort_diagnostics
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.loader.known_tags import KNOWN_TAGS
from torchgen_lite.loader.torch_operators import InstalledTorch
from torchgen_lite.loader.versions import Version


@dataclass(frozen=True)
class Program:
    """The input of every target: the operators, with overlays merged in, and all derived facts.

    `modules` are the functions in the modules that options name, by target and option. `installed`
    is what the installed PyTorch has, if it was queried.
    """

    resolved: Resolved
    config: Config
    diagnostics: tuple[Diagnostic, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    modules: Mapping[str, Mapping[str, KernelIndex]] = field(default_factory=dict)
    installed: InstalledTorch | None = None

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


def build_program(
    functions: Sequence[NativeFunction],
    config: Config,
    *,
    diagnostics: Iterable[Diagnostic] = (),
    tags: Mapping[str, str] | None = None,
    sources: Sequence[Source] = (),
    lint: bool = False,
    policies: Sequence[Policy] | None = None,
    formulas: KernelIndex | None = None,
    modules: Mapping[str, Mapping[str, KernelIndex]] | None = None,
    context: Sequence[NativeFunction] = (),
    release: Version | None = None,
) -> Program:
    """Put the pieces together and check across entries; with `lint`, run the lint rules too.

    `policies` are those of the targets in use; None stands for any target. With `formulas`,
    derivative formulas may call only those functions and operators. `context` are a PyTorch's
    operators, see `Resolved`; with its `release` (empty if unknown), entries must agree with them.
    """
    merged, found = merge_overlays(functions)
    if context:
        merged = follow_native(merged, context)
    resolved = resolve(merged, tags or {}, context)
    found = [
        *diagnostics,
        *found,
        *check_functions(resolved, KNOWN_TAGS if tags is None else tags, release),
    ]
    if config.torch:
        found += check_releases(resolved, config.torch)
    if any(function.derivatives is not None for function in merged):
        # Imported here: PyTorch's own entries have no formulas.
        from torchgen_lite.analysis.differentiability.check import check_derivatives

        helpers = None if formulas is None else frozenset(formulas.names())
        wrong = list(check_derivatives(merged, helpers))
        if not has_errors(wrong):
            from torchgen_lite.analysis.differentiability.integers import check_integers
            from torchgen_lite.analysis.differentiability.kinds import check_kinds

            wrong += [*check_kinds(resolved), *check_integers(resolved)]
        found += wrong
    if any(function.fake is not None or function.samples for function in merged):
        from torchgen_lite.analysis.fakes.check import check_fakes
        from torchgen_lite.analysis.samples import check_samples

        found += [*check_fakes(resolved), *check_samples(merged)]
    if any(function.autocast is not None for function in merged):
        from torchgen_lite.analysis.autocast import check_autocast

        found += check_autocast(resolved)
    if lint:
        # Imported here: most runs do not lint.
        from torchgen_lite.analysis.lint import run_lint

        found += run_lint(resolved, policies)
    kept = [*filter_diagnostics(found, config, functions, sources)]
    kept += [one for source in sources for one in unknown_codes(source)]
    return Program(
        resolved,
        config,
        sort_diagnostics(kept),
        dict(tags or {}),
        tuple(sources),
        dict(modules or {}),
    )
