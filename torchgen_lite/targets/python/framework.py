"""What generated code imports from the framework, and whether the module's source defines it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from torchgen_lite.analysis.policy import STRUCTURED, WRITTEN, Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.dialects.python_names import FRAMEWORK_TYPES
from torchgen_lite.loader.config import Config, locate_option
from torchgen_lite.loader.kernel_modules import read_constants
from torchgen_lite.targets.python.options import NO_FRAMEWORK, TARGET, PythonOptions
from torchgen_lite.targets.python.package import Package, used_constants
from torchgen_lite.targets.python.structured import USED_BY_VARIANT
from torchgen_lite.targets.python.views import used_types

# Kernels that call no framework functions, and the constants that `runtime.framework` defines.
_PLAIN = WRITTEN | {Origin.fallthrough}
_CONSTANTS = frozenset({"contiguous_format", "preserve_format"})

# The names that kernels and nodes of autograd may use. If the framework has all of them, there is
# no need to find out which ones are used.
OF_AUTOGRAD = frozenset("""
    Gradients Node after_adinplaceorview after_autograd as_view as_views bump_version check_inplace_history conj
    edge_of edges_of grad_enabled needs_grad original output_of rebase_history refuse_out save save_list
    save_optional save_result set_histories set_history zeros
    """.split())


def framework_names(package: Package, registered: Iterable[Registration]) -> dict[str, str]:
    """The names that are imported from the framework, each with what uses it; `OF_AUTOGRAD` has
    autograd's names."""
    found = dict.fromkeys(sorted(used_types(package.overloads) & FRAMEWORK_TYPES), "annotations")
    found |= dict.fromkeys(used_constants(package.overloads), "defaults")
    for one in registered:
        kernel = f"the kernel of `{one.operator.name}` for {one.key}"
        if one.origin in STRUCTURED:
            found.setdefault(USED_BY_VARIANT[one.operator.kind], kernel)
        elif one.origin is Origin.backend_select:
            found.setdefault("key_for_options", kernel)
    return found


def check_framework(
    program: Program,
    package: Package,
    registered: Iterable[Registration],
    differentiated: Callable[[], Mapping[str, str]],
) -> Iterator[Diagnostic]:
    """TG510 for names that the package would import but cannot."""
    if package.options.framework == NO_FRAMEWORK:
        yield from _lacking(program, package, registered)
        return
    index = program.module_functions(TARGET, "framework")
    if index is None or not index.modules or index.modules[0].is_open:
        return
    module = index.modules[0]
    known = {*module.names, *module.imported}
    place = locate_option(program.config, f"target.{TARGET}", "framework")
    names = framework_names(package, registered)
    if not known >= OF_AUTOGRAD:
        names |= differentiated()
    for name, use in names.items():
        if name not in known:
            message = f"`{module.name}` has no `{name}`, which {use} need{'s' * (use[:3] == 'the')}"
            help_ = did_you_mean(name, known) or f"define or import it in `{module.source.path}`"
            yield Diagnostic("TG510", message, place, help=help_)


def _lacking(
    program: Program, package: Package, registered: Iterable[Registration]
) -> Iterator[Diagnostic]:
    """What the package would import from a framework, if none is configured."""
    place = locate_option(program.config, f"target.{TARGET}", "kernels")
    help_ = f"name the module of your tensors with `framework` of target `{TARGET}`"
    made = next((one for one in registered if one.origin not in _PLAIN), None)
    if made is not None:
        message = f"the generated kernel of `{made.operator.name}` for {made.key} needs functions of a `framework`"
        yield Diagnostic("TG510", message, place, help=help_)
    for name in used_constants(package.overloads):
        if name not in _CONSTANTS:
            message = f"the default `{name}` is a constant of a `framework`"
            yield Diagnostic("TG510", message, place, help=help_)


def registered_by_framework(
    config: Config, options: PythonOptions
) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """What the framework itself registers, according to its constants `FALLBACKS` and `KERNELS`,
    which are read from its source without importing it."""
    found = read_constants(
        options.framework, config.root, config.source_roots, ("FALLBACKS", "KERNELS")
    )
    return found.get("FALLBACKS", {}), found.get("KERNELS", {})
