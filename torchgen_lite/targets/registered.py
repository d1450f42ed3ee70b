"""What targets register, by name: the data of `table`, `why` and the operator pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.analysis.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.diagnostics import Diagnostic, did_you_mean

if TYPE_CHECKING:
    from torchgen_lite.analysis.policy import Policy
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.analysis.registrations import Registration
    from torchgen_lite.targets.output import Selection


def select_operators(
    program: Program, target: str | None, *, is_foreign: bool = False
) -> Selection:
    """The registrations to show: those of the named target, or of the first configured one.

    Without a configuration, and for schema files that it does not name, they are PyTorch's.
    """
    from torchgen_lite.analysis.policy import PYTORCH
    from torchgen_lite.targets import DEFAULT_TARGETS, TARGETS
    from torchgen_lite.targets.output import Selection

    registering = [name for name in TARGETS if TARGETS[name].selector]
    configured = program.config.targets or DEFAULT_TARGETS
    if target is None and not is_foreign and program.config.path is not None:
        target = next((name for name in configured if name in registering), None)
    if target is None:
        resolved = program.resolved
        return Selection((*resolved.operators, *resolved.copying), PYTORCH)
    if target in registering:
        return TARGETS[target].select(program)
    help_ = f"the targets are {', '.join(registering)}"
    if target not in TARGETS:
        near = did_you_mean(target, registering)
        found = Diagnostic("TG008", f"unknown target `{target}`", help=near or help_)
    else:
        found = Diagnostic("TG015", f"target `{target}` registers nothing", help=help_)
    return Selection(diagnostics=(found,))


def why_absent(program: Program, selection: Selection, name: str) -> str:
    """Why a target does not have an operator of the program; empty if there is none of that name."""
    operator = program.resolved.find(name)
    if operator is None:
        return ""
    whose = f"{selection.policy.speaks_of} does not have `{operator.name}`"
    if operator.is_derived:
        return f"{whose}: it is derived, and PyTorch alone has kernels for derived operators"
    refused = selection.refused.get(operator.name)
    return f"{whose}: it {refused}" if refused else f"{whose}: `skip` names it"


def registrations_of_program(program: Program, selection: Selection) -> Iterator[Registrations]:
    """The kernels that the schema files name, and those that a target's policy adds."""
    policy = selection.policy
    fallbacks, by_hand = _beside(program, policy)
    kernels: dict[str, dict[str, str]] = {operator.name: {} for operator in selection.operators}
    for one in (*selection.registrations(program), *_derived_by_torch(program, policy)):
        kernels.setdefault(one.operator.name, {}).setdefault(one.key, _label(one))
    for name, own in kernels.items():
        yield Registrations(name, {**by_hand.get(name, {}), **own}, fallbacks)


def _derived_by_torch(program: Program, policy: Policy) -> Iterator[Registration]:
    """The kernels of operators that PyTorch derives, which exist whatever a target generates."""
    from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
    from torchgen_lite.analysis.policy import PYTORCH, Origin
    from torchgen_lite.analysis.registrations import registrations

    if policy.in_pytorch:
        for one in registrations(program, PYTORCH):
            if one.origin is Origin.derived and one.operator.function.namespace in TORCH_NAMESPACES:
                yield one


def _label(registration: Registration) -> str:
    """What a table shows: the kernel that is named, or what the generated one does."""
    from torchgen_lite.analysis.policy import Origin

    kernel, origin = registration.kernel, registration.origin
    if kernel is None:
        return origin.value
    if origin is Origin.copied:
        return f"copies what {kernel.kernel} gives"
    return f"structured {kernel.kernel}" if kernel.is_structured else kernel.kernel


def _beside(
    program: Program, policy: Policy
) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """The backend fallbacks, and the kernels of operators, that no schema file names."""
    from torchgen_lite.targets import TARGETS

    if policy.in_pytorch:
        return STOCK_FALLBACKS, {}
    return TARGETS[policy.target].registered_by_framework(program.config)
