"""What targets in C++ leave to the package of another target: fields of entries, and kernels that are Python's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry.entry import NativeFunction
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


def _bringing(program: Program) -> list[Selection]:
    """What the package in Python registers, if the project has one."""
    generation = generation_beside(program)
    return [generation.select(one.name) for one in generation.targets if one.name == BRINGS]


def refers(program: Program, target: str) -> set[str]:
    """The operators whose reference is a kernel that a target registers, if the project has the target."""
    generation = generation_beside(program)
    found = [generation.select(one.name) for one in generation.targets if one.name == target]
    made = [selection for selection in found if Origin.reference in selection.policy.makes]
    return {operator.name for selection in made for operator in selection.operators}


def derived(program: Program) -> frozenset[str]:
    """The operators with `derivatives: auto` whose gradients the package of torch-python registers."""
    autos = {one.name for one in program.functions if one.is_auto}
    brings = _bringing(program) if autos else []
    found = [one for selection in brings for one in selection.registrations(program)]
    return frozenset(one.operator.name for one in found if one.origin is Origin.formulas) & autos


def in_cpp(program: Program, selection: Selection) -> list[Registration]:
    """What a target in C++ generates: everything but those kernels."""
    in_python = generation_beside(program).in_python
    return list(selection._replace(elsewhere=in_python).generated(program))


def python_alone(program: Program, registered: Iterable[Registration]) -> list[str]:
    """Their names, without those of kernels that C++ has for other operators, as `registered` says."""
    names = {one.kernel.kernel for one in registered if one.kernel is not None}
    in_python = generation_beside(program).in_python
    return [*dict.fromkeys(name for _, name in in_python if name not in names)]


def check_brought(
    program: Program, target: str, operators: Sequence[Operator], fields: Sequence[str]
) -> Iterator[Diagnostic]:
    """TG535: what entries say in `fields`, for which no target of the project has a kernel."""
    given = [(o, field) for field in fields for o in operators if o.function.place(field)]
    selections = _bringing(program)
    if not selections:
        yield from chain.from_iterable(check_effects(o.function) for o in operators)
    named = {o.name for selection in selections for o in selection.operators}
    brought = {(name, field) for name in named for field in PLAIN}
    found = [one for selection in selections for one in selection.registrations(program)]
    brought |= {
        (one.operator.name, field)
        for field, (origin, _) in _BROUGHT.items()
        for one in found
        if one.origin is origin
    }
    for operator, field in given:
        key = _BROUGHT[field][1] if field in _BROUGHT else ""
        by_hand = key and any(one.key.startswith(key) for one in operator.own_kernels)
        if not by_hand and (operator.name, field) not in brought:
            message = f"target `{target}` registers nothing for `{field}`"
            help_ = f"add the target `{BRINGS}`, whose package registers it"
            if selections:
                help_ = f"see what target `{BRINGS}` leaves out: `skip`, `autograd`"
            place = operator.function.place(field)
            yield finding(operator.function, "TG535", message, place, "not used", help_)


def check_effects(function: NativeFunction) -> Iterator[Diagnostic]:
    """TG516 and TG517: where compilers drop calls, as PyTorch sees no effect or does not look for one."""
    schema = function.func
    has_class = any(str(a.type).startswith("__torch__") for a in schema.arguments)
    is_kept = function.namespace in TORCH_NAMESPACES or schema.written or has_class
    if function.effects is None and not schema.returns and not is_kept:
        message = f"`{schema.full_name}` returns nothing and writes to nothing, so `torch.compile` drops its calls"
        hint = "write `effects: ordered`"
        yield finding(function, "TG516", message, function.place("func"), "here", hint)
    if function.effects is not None and (schema.written or schema.is_aliasing):
        message = f"PyTorch knows no effects of `{schema.full_name}`, which writes to an argument or returns one"
        place, hint = function.place("effects"), "take it out, or return a copy"
        yield finding(function, "TG517", message, place, "has no effect", hint)
