"""What `table` and `why` look at: registrations by name, from the schema files or from an installed torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from torchgen_lite.cli.tables.explain import Registrations
from torchgen_lite.cli.tables.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.diagnostics import Diagnostic, did_you_mean

if TYPE_CHECKING:
    from torchgen_lite.analysis.policy import Policy
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.analysis.registrations import Registration
    from torchgen_lite.targets.output import Selection


def select_operators(
    program: Program, target: str | None, *, is_foreign: bool = False
) -> Selection:
    """Whose registrations are meant: those of the target named, or of the first that is configured.

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
    refused = [d for d in selection.diagnostics if d.operator == operator.schema.full_name]
    reason = f"it {refused[0].message.partition('` ')[2]}" if refused else "`skip` names it"
    return f"{whose}: {reason}"


def registrations_of_program(program: Program, selection: Selection) -> Iterator[Registrations]:
    """The kernels that the schema files name, and those that follow by the policy of a target."""
    policy = selection.policy
    fallbacks, by_hand = _beside(program, policy)
    kernels: dict[str, dict[str, str]] = {operator.name: {} for operator in selection.operators}
    for one in (*selection.registrations(program), *_derived_by_torch(program, policy)):
        kernels.setdefault(one.operator.name, {}).setdefault(one.key, _label(one))
    for name, own in kernels.items():
        yield Registrations(name, {**by_hand.get(name, {}), **own}, fallbacks)


def _derived_by_torch(program: Program, policy: Policy) -> Iterator[Registration]:
    """The kernels of operators that PyTorch derives: they are there, whatever a target for PyTorch makes."""
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


def registrations_of_torch(
    only: str | None = None, modules: Iterable[str] = ()
) -> Iterator[Registrations]:
    """What an installed torch has registered, from its own dumps.

    `modules` are imported before, for the operators that they register. Raises ImportError without torch,
    for a module that cannot be imported, and for a torch with keys that no table has.
    """
    from torchgen_lite.key_tables import dispatch_keys, table_of
    from torchgen_lite.loader.importing.torch_registry import registered_kernels
    from torchgen_lite.loader.torch_files import import_torch
    from torchgen_lite.loader.versions import parse_version

    torch = import_torch()
    for module in modules:
        try:
            import_module(module)
        except Exception as error:  # Whatever somebody's module raises is a word to its author.
            raise ImportError(f"cannot import `{module}`: {error}") from error
    keys = table_of(parse_version(torch.__version__))
    known = dispatch_keys(keys)
    fallbacks = _fallbacks_of_torch()
    names = sorted(torch._C._dispatch_get_all_op_names()) if only is None else [only]
    for name in names:
        kernels = {}
        for one in registered_kernels(torch, name):
            kernels[one.key] = ("fallthrough " if one.is_fallthrough else "") + one.place
        for key in (*kernels, *fallbacks):
            if key not in known:
                release = f"PyTorch {torch.__version__}"
                raise ImportError(f"{release} has a dispatch key `{key}`, which no table here has")
        yield Registrations(name, kernels, fallbacks, keys)


def _fallbacks_of_torch() -> dict[str, str]:
    """The computed table of an operator without kernels is the table of fallbacks."""
    import torch

    library = torch.library.Library("torchgen_lite_table", "DEF")  # type: ignore[no-untyped-call]
    library.define("nothing() -> ()")  # type: ignore[no-untyped-call]
    cells = torch._C._dispatch_dump_table("torchgen_lite_table::nothing").splitlines()
    return {key: cell.rpartition(" [")[0] for key, cell in (line.split(": ", 1) for line in cells)}
