"""What targets register, by name: the data of `table`, `why` and the operator pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from torchgen_lite.analysis.comparison.sides import Side
from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin, Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.analysis.served import Served
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES, NativeFunction
from torchgen_lite.loader.formats.earlier import adopt
from torchgen_lite.loader.torch.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.schema.grouped import grouped
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.generation import generation_of, is_configured
from torchgen_lite.targets.options import default_namespace, default_package
from torchgen_lite.targets.output import ByHand, Selection, Target


def side_of(
    program: Program,
    selections: Sequence[Selection],
    lent: Sequence[Operator] = (),
    beneath: Beneath = MappingProxyType({}),
) -> Side:
    """One side of a comparison, over what PyTorch has. `lent` are those of `lent_operators`."""
    from torchgen_lite.targets.terms import terms_of
    from torchgen_lite.targets.witnesses import witness_writer

    served = []
    for selection in selections:
        policy = selection.policy
        by_name = {}
        for of_operator in served_by(program, selection, beneath):
            by_name[of_operator.table.name] = of_operator
        if adds_to_pytorch(program, policy):
            for operator in lent:
                by_name[operator.name] = Served(policy, {}, beneath[operator.name])
        served.append(by_name)
    called = None
    generation = generation_of(program, None if is_configured(program) else ())
    if is_configured(program):
        taken = {selection.policy.target: selection.functions for selection in selections}
        called = {}
        for target in generation.targets:
            if target.signatures:
                functions = taken.get(target.name, program.functions)
                called[target.name] = _caller(target, program, functions)
    in_pytorch = any(target.policy.in_pytorch for target in generation.targets)
    releases = program.config.torch if in_pytorch else ""
    operators = program.resolved.operators
    terms = terms_of(program, generation)
    write = witness_writer(program, generation)
    return Side(operators, served, called, lent, terms, releases, ranges_of(program), write)


def ranges_of(program: Program) -> dict[str, list[str]]:
    """The ranges of releases of each operator that has several entries."""
    entries = grouped([*program.functions, *program.elsewhere], lambda function: function.name)
    ranges = {}
    for name, its_entries in entries.items():
        if len(its_entries) > 1:
            ranges[name] = [function.torch or "" for function in its_entries]
    return ranges


def lent_operators(program: Program, other: Program, beneath: Beneath) -> tuple[Operator, ...]:
    """The operators of PyTorch that only the other program has an entry for, without it."""
    names = program.resolved.by_name
    lacking = [o for o in other.resolved.operators if o.name in beneath and o.name not in names]
    return tuple([Operator(adopt(o.function, None), program.resolved, True) for o in lacking])


# The options that say where callers find what a target generates, and what each is by default.
_PLACES: Mapping[str, Callable[[Sequence[NativeFunction]], str]] = {
    "package": default_package,
    "namespace": default_namespace,
    "module": lambda functions: "",
    "framework": lambda functions: "",
}


def _caller(
    target: Target, program: Program, functions: Sequence[NativeFunction]
) -> Callable[[NativeFunction], list[str]]:
    """How a target calls an operator, and before that where; `functions` are those that it takes."""
    options, _ = target.read_options(program.config)
    places = [
        f"{name} {getattr(options, name) or default(functions)}"
        for name, default in _PLACES.items()
        if hasattr(options, name)
    ]

    def calls(function: NativeFunction) -> list[str]:
        signatures = target.signatures_of(program, function)
        if signatures is not None:
            return [*places, *signatures.lines]
        return []

    return calls


def why_absent(program: Program, selection: Selection, name: str) -> str:
    """Why a target does not have an operator of the program; empty if there is none of that name."""
    operator = program.resolved.find(name)
    if operator is None:
        return ""
    whose = f"{selection.policy.speaks_of} does not have `{operator.name}`"
    if operator.is_derived:
        return f"{whose}: it is derived, and PyTorch alone has kernels for derived operators"
    refused = selection.refused.get(operator.name)
    if refused:
        return f"{whose}: it {refused}"
    return f"{whose}: `skip` names it"


def adds_to_pytorch(program: Program, policy: Policy) -> bool:
    """Whether what is registered is added to what PyTorch has for its own operators."""
    if not policy.in_pytorch or policy.is_pytorch:
        return False
    namespaces = (function.namespace for function in program.functions)
    return bool(program.resolved.context) or not TORCH_NAMESPACES.isdisjoint(namespaces)


# What PyTorch has registered, by operator.
Beneath = Mapping[str, Registrations]


def served_by(
    program: Program, selection: Selection, beneath: Beneath = MappingProxyType({})
) -> Iterator[Served]:
    """The kernels that the schema files name, and those that a target's policy adds, over PyTorch's.

    A target whose options are wrong takes no operator, and serves none.
    """
    policy = selection.policy
    if not selection.operators:
        return
    fallbacks, by_hand = _beside(program, policy)
    registered: dict[str, dict[str, Registration]] = {o.name: {} for o in selection.operators}
    for registration in selection.registrations(program):
        registered[registration.operator.name].setdefault(registration.key, registration)
    for name, its_own in registered.items():
        pytorchs = beneath.get(name)
        shown = its_own if pytorchs is None else over(its_own)
        labels = {key: _label(registration) for key, registration in shown.items()}
        table = Registrations(name, {**by_hand.get(name, {}), **labels}, fallbacks)
        if pytorchs is not None:
            kernels = {**pytorchs.kernels, **labels}
            added = frozenset({*(pytorchs.own or ()), *labels})
            table = pytorchs._replace(kernels=kernels, own=added)
        yield Served(policy, its_own, table)


def over(registered: Mapping[str, Registration]) -> dict[str, Registration]:
    """What is registered over what PyTorch has, without what it derives: that is among its own."""
    return {
        key: registration
        for key, registration in registered.items()
        if registration.origin is not Origin.derived
    }


def registrations_of_program(
    program: Program, selection: Selection, beneath: Beneath = MappingProxyType({})
) -> Iterator[Registrations]:
    """What is registered for each operator, by name, over what PyTorch has."""
    return (served.table for served in served_by(program, selection, beneath))


def known_registrations(program: Program, selection: Selection) -> Iterator[Registrations]:
    """The same for whoever cannot ask PyTorch: of its operators, nothing but what is registered over them."""
    unknown = unknown_beneath(program) if adds_to_pytorch(program, selection.policy) else {}
    return registrations_of_program(program, selection, unknown)


def with_fallbacks(beneath: Beneath, keys: Iterable[str]) -> dict[str, Registrations]:
    """The same where an author's code has fallbacks for these keys; one for autocast lets calls pass."""
    labels = dict.fromkeys(keys, "the fallback of your backend")
    labels |= {key: "fallthrough" for key in labels if key.startswith("Autocast")}
    return {
        name: registrations._replace(
            fallbacks={**registrations.fallbacks, **labels},
            own=(registrations.own or frozenset()) | (labels.keys() - registrations.kernels.keys()),
        )
        for name, registrations in beneath.items()
    }


def unknown_beneath(*programs: Program) -> Beneath:
    """PyTorch's operators, with nothing of what it has for them."""
    operators = [operator for program in programs for operator in program.resolved.operators]
    names = [operator.name for operator in operators if operator.function.is_pytorchs]
    return {name: Registrations(name, {}, {}, own=frozenset()) for name in names}


def _label(registration: Registration) -> str:
    """What a table shows: the kernel that is named, or what the generated one does."""
    kernel = registration.kernel
    origin = registration.origin
    if kernel is None:
        return origin.value
    if origin is Origin.copied:
        return f"copies what {kernel.kernel} gives"
    if kernel.is_structured:
        return f"structured {kernel.kernel}"
    if kernel.rows:
        names = dict.fromkeys([row.kernel for row in kernel.rows])
        return f"{'one of ' if len(names) > 1 else ''}{', '.join(names)}"
    return kernel.kernel


def _beside(program: Program, policy: Policy) -> ByHand:
    """The backend fallbacks, and the kernels of operators, that no schema file names."""
    if policy.in_pytorch:
        return STOCK_FALLBACKS, {}
    return TARGETS[policy.target].registered_by_framework(program.config)
