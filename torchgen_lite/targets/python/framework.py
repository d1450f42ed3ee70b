"""What generated code imports from the framework, and whether the module's source defines it."""

from __future__ import annotations

from collections.abc import Iterable

from torchgen_lite.analysis.policy import AUTHORS, Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.languages.python.names import FRAMEWORK_TYPES
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.python.kernel_modules import read_constants
from torchgen_lite.loader.sources import words_beside
from torchgen_lite.targets.output import ByHand, Findings, wrong_option
from torchgen_lite.targets.python.options import NO_FRAMEWORK, TARGET, PythonOptions
from torchgen_lite.targets.python.package import Package, used_constants, used_types

# Kernels that call no framework functions, and the constants that `runtime.framework` defines.
_PLAIN = AUTHORS | {Origin.fallthrough, Origin.falls_through}
_CONSTANTS = frozenset({"contiguous_format", "preserve_format"})
_WORDS = words_beside(__file__)
CALLED = _WORDS["called"]
FORWARD = _WORDS["forward"]


def known_names(program: Program) -> frozenset[str] | None:
    """The names that the framework has; None if its source doesn't show them all."""
    index = program.module_functions(TARGET, "framework")
    if index is None or not index.modules or index.modules[0].is_open:
        return None
    module = index.modules[0]
    return module.imported.union(module.names)


def framework_names(package: Package) -> dict[str, str]:
    """The types and constants that are imported from the framework, each with what uses it."""
    used = dict.fromkeys(sorted(used_types(package.overloads) & FRAMEWORK_TYPES), "annotations")
    return used | dict.fromkeys(used_constants(package.overloads), "defaults")


def check_framework(
    program: Program, package: Package, registered: Iterable[Registration]
) -> Findings:
    """TG510 for types and constants that the package would import but cannot. What its kernels
    call is checked where a template calls it."""
    if package.options.framework == NO_FRAMEWORK:
        yield from _lacking(program, package, registered)
        return
    index = program.module_functions(TARGET, "framework")
    if index is None or package.known is None:
        return
    path = index.modules[0].source.path
    for name, use in framework_names(package).items():
        if name not in package.known:
            message = f"`{package.framework}` has no `{name}`, which {use} need"
            help_ = did_you_mean(name, package.known) or f"define or import it in `{path}`"
            yield wrong_option(program.config, TARGET, "framework", message, help_)


def _lacking(program: Program, package: Package, registered: Iterable[Registration]) -> Findings:
    """What the package would import from a framework, if none is configured."""
    help_ = f"name the module of your tensors with `framework` of target `{TARGET}`"
    made = next(
        (registration for registration in registered if registration.origin not in _PLAIN), None
    )
    if made is not None:
        message = f"the generated kernel of `{made.operator.name}` for {made.key} needs functions of a `framework`"
        yield wrong_option(program.config, TARGET, "kernels", message, help_)
    for name in used_constants(package.overloads):
        if name not in _CONSTANTS:
            message = f"the default `{name}` is a constant of a `framework`"
            yield wrong_option(program.config, TARGET, "kernels", message, help_)


def registered_by_framework(config: Config, options: PythonOptions) -> ByHand:
    """What the framework itself registers, according to its constants `FALLBACKS` and `KERNELS`,
    which are read from its source without importing it."""
    constants = read_constants(
        options.framework, config.root, config.source_roots, ("FALLBACKS", "KERNELS")
    )
    return constants.get("FALLBACKS", {}), constants.get("KERNELS", {})
