"""What `table` and `why` look at: registrations by name, from the schema files or from an installed torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from torchgen_lite.cli.tables.explain import Registrations
from torchgen_lite.cli.tables.stock_fallbacks import STOCK_FALLBACKS

if TYPE_CHECKING:
    from torchgen_lite.analysis.policy import Policy
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.analysis.registrations import Registration

_LINE = re.compile(r"^(?P<key>\w+)(?:\[alias\])?: (?P<debug>.*) :: .* \[ (?P<how>[\w ]+) \]$")


def policy_of(program: Program, target: str | None, *, is_foreign: bool = False) -> Policy:
    """Whose registrations are meant: those of the target named, or of the first that is configured.

    Without a configuration, and for schema files that it does not name, they are PyTorch's.
    """
    from torchgen_lite.analysis.policy import PYTORCH
    from torchgen_lite.targets import DEFAULT_TARGETS, TARGETS

    if target is None and (is_foreign or program.config.path is None):
        return PYTORCH
    chosen: Policy = TARGETS[target or (program.config.targets or DEFAULT_TARGETS)[0]].policy
    return chosen


def registrations_of_program(program: Program, policy: Policy) -> Iterator[Registrations]:
    """The kernels that the schema files name, and those that follow by the policy of a target."""
    from torchgen_lite.analysis.registrations import registrations

    fallbacks, by_hand = _beside(program, policy)
    declared = program.resolved.declared
    kernels: dict[str, dict[str, str]] = {operator.name: {} for operator in declared}
    for one in (*registrations(program, policy), *_derived_by_torch(program, policy)):
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
    kernel, origin = registration.kernel, registration.origin
    if kernel is None:
        return origin.value
    return f"structured {kernel.kernel}" if kernel.is_structured else kernel.kernel


def _beside(
    program: Program, policy: Policy
) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """The backend fallbacks, and the kernels of operators, that no schema file names.

    PyTorch has its own; the framework of target `python` says in two constants what it registers.
    """
    if policy.in_pytorch:
        return STOCK_FALLBACKS, {}
    if policy.target != "python":
        return {}, {}
    from torchgen_lite.loader.kernel_modules import read_constants
    from torchgen_lite.targets import TARGETS

    options, wrong = TARGETS[policy.target].read_options(program.config)
    if wrong:
        return {}, {}  # `generate` reports it.
    found = read_constants(options.framework, program.config.root, ("FALLBACKS", "KERNELS"))
    return found.get("FALLBACKS", {}), found.get("KERNELS", {})


def registrations_of_torch(
    only: str | None = None, modules: Iterable[str] = ()
) -> Iterator[Registrations]:
    """What an installed torch has registered, from its own dumps. Raises ImportError without torch.

    `modules` are imported before, for the operators that they register.
    """
    import torch

    for module in modules:
        try:
            import_module(module)
        except Exception as error:  # Whatever somebody's module raises is a word to its author.
            raise ImportError(f"Cannot import `{module}`: {error}") from error
    fallbacks = _fallbacks_of_torch()
    names = sorted(torch._C._dispatch_get_all_op_names()) if only is None else [only]
    for name in names:
        kernels = {}
        for line in torch._C._dispatch_dump(name).splitlines():
            match = _LINE.match(line)
            if match is not None:
                passes = "fallthrough " if "fallthrough" in match["how"] else ""
                kernels[match["key"]] = passes + match["debug"]
        yield Registrations(name, kernels, fallbacks)


def _fallbacks_of_torch() -> dict[str, str]:
    """The computed table of an operator without kernels is the table of fallbacks."""
    import torch

    library = torch.library.Library("torchgen_lite_table", "DEF")  # type: ignore[no-untyped-call]
    library.define("nothing() -> ()")  # type: ignore[no-untyped-call]
    cells = torch._C._dispatch_dump_table("torchgen_lite_table::nothing").splitlines()
    return {key: cell.rpartition(" [")[0] for key, cell in (line.split(": ", 1) for line in cells)}
