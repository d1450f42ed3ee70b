"""A program: everything that was read, and everything that was found about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from torchgen_lite.analysis.checks import check_functions
from torchgen_lite.analysis.lint import run_lint
from torchgen_lite.analysis.lint.suppress import filter_diagnostics
from torchgen_lite.analysis.overlay import merge_overlays
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors, sort_diagnostics
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.schema import FunctionSchema


@dataclass(frozen=True, slots=True)
class Program:
    """The input of every target. `functions` are in source order; overlays are merged in.

    `formulas` are the functions that derivative formulas may call beside the operators. `modules` are
    the functions in the modules that options name, by target and option.
    `registered` are the schemas that the installed PyTorch has registered, if they were asked for, and
    `torch_stubs` the stub files that it carries: path below `torch/`, and text.
    """

    functions: tuple[NativeFunction, ...]
    config: Config
    diagnostics: tuple[Diagnostic, ...] = ()
    kernels: KernelIndex | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    formulas: KernelIndex | None = None
    modules: Mapping[str, Mapping[str, KernelIndex]] = field(default_factory=dict)
    registered: tuple[FunctionSchema, ...] = ()
    torch_stubs: tuple[tuple[str, str], ...] = ()

    @property
    def has_errors(self) -> bool:
        return has_errors(self.diagnostics)

    def find(self, name: str) -> NativeFunction | None:
        """The entry of an operator: `add.Tensor`, `aten::add.Tensor`, `mylib::op`."""
        namespace, _, rest = name.rpartition("::")
        for function in self.functions:
            schema = function.func
            own = schema.local_name
            if own == rest and function.namespace == (namespace or function.namespace):
                return function
        return None

    def operator_names(self) -> tuple[str, ...]:
        """Full names with namespace, in source order: `aten::add.Tensor`."""
        return tuple(f.name for f in self.functions)


def build_program(
    functions: Sequence[NativeFunction],
    config: Config,
    *,
    diagnostics: Iterable[Diagnostic] = (),
    kernels: KernelIndex | None = None,
    tags: Mapping[str, str] | None = None,
    sources: Sequence[Source] = (),
    lint: bool = False,
    formulas: KernelIndex | None = None,
    modules: Mapping[str, Mapping[str, KernelIndex]] | None = None,
) -> Program:
    """Put the pieces together and check across entries; with `lint`, run the lint rules too."""
    merged, found = merge_overlays(functions)
    found = [*diagnostics, *found, *check_functions(merged, kernels)]
    if any(function.derivatives is not None for function in merged):
        # Imported here: PyTorch's own entries have no formulas.
        from torchgen_lite.analysis.differentiability.check import check_derivatives

        helpers = None if formulas is None else frozenset(formulas.names())
        found += check_derivatives(merged, helpers)
    if any(function.fake is not None or function.samples for function in merged):
        from torchgen_lite.analysis.fakes import check_fakes
        from torchgen_lite.analysis.samples import check_samples

        found += [*check_fakes(merged), *check_samples(merged)]
    if lint:
        found += run_lint(merged)
    kept = filter_diagnostics(found, config, functions, sources)
    return Program(
        merged,
        config,
        sort_diagnostics(kept),
        kernels,
        dict(tags or {}),
        tuple(sources),
        formulas,
        dict(modules or {}),
    )
