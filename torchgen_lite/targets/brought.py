"""What targets in C++ leave to the package of another target: fields of entries, of which nothing is registered here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.targets.generation import generation_beside
from torchgen_lite.targets.output import Selection

BRINGS = "torch-python"
# Fields that no registration of a kernel comes from.
PLAIN = ("effects", "checkpoint", "decompose", "triton", "flops")
# What is registered from a field, and the key at which an author's kernel takes its place.
_BROUGHT = {
    "derivatives": (Origin.formulas, "Autograd"),
    "autocast": (Origin.autocast, "Autocast"),
    "vmap": (Origin.vmap, "FuncTorchBatched"),
    "axes": (Origin.axes, "FuncTorchBatched"),
}


def check_brought(
    program: Program, target: str, operators: Sequence[Operator], fields: Sequence[str]
) -> Iterator[Diagnostic]:
    """TG535: what entries say in `fields`, for which no target of the project has a kernel."""
    python = generation_beside(program).python
    brought = _brought_by(program, python) if python is not None else set()
    help_ = f"add the target `{BRINGS}`, whose package registers it"
    if python is not None:
        help_ = f"see what target `{BRINGS}` leaves out: `skip`, `autograd`"
    for field in fields:
        for operator in operators:
            place = operator.function.place(field)
            is_brought = (operator.name, field) in brought or _is_by_hand(operator, field)
            if place is not None and not is_brought:
                message = f"target `{target}` registers nothing for `{field}`"
                yield finding(operator.function, "TG535", message, place, "not used", help_)


def _brought_by(program: Program, python: Selection) -> set[tuple[str, str]]:
    """The operators, each with a field of which the package in Python registers something."""
    found = {(operator.name, field) for operator in python.operators for field in PLAIN}
    field_of = {origin: field for field, (origin, _) in _BROUGHT.items()}
    for one in python.registrations(program):
        if one.origin in field_of:
            found.add((one.operator.name, field_of[one.origin]))
    return found


def _is_by_hand(operator: Operator, field: str) -> bool:
    """Whether a kernel of the author's does what the field says."""
    if field not in _BROUGHT:
        return False
    _, key = _BROUGHT[field]
    return any(kernel.key.startswith(key) for kernel in operator.own_kernels)
