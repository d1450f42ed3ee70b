"""What a library registers in PyTorch: its operators, what compilers and autograd can do with them, and whether all that is
what the entries say.

Note [Computed from the registry]
`torch.compile` traces a call with the fake of an operator, or with the kernels of what it is composed of; autograd runs the
kernel for its key, or records what it is composed of. Both are registrations, so that what a build can do is read, and not
tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torchgen_lite.analysis.computed_table import is_fallthrough
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.key_sets import key_sets
from torchgen_lite.schema import parse_schema
from torchgen_lite.targets.options import home_namespace
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import known_registrations
from torchgen_lite_tools.importing.registered import Registered, read_registered
from torchgen_lite_tools.importing.torch_process import ask_torch

# What generated kernels for Autograd say that have no formulas.
_REFUSES = ("refuses derivatives", "_underived.py")


class Facts(NamedTuple):
    """An operator in PyTorch. `compiles` is `fake`, `composed` or `no`; `differentiates` is `formulas`, `composed`,
    `refused`, which says so, or `no`, which may pass for a constant."""

    schema: str
    keys: tuple[str, ...]
    tags: tuple[str, ...]
    compiles: str
    differentiates: str


def ask_registry(loads: Sequence[str], folder: Path) -> dict[str, Facts] | Diagnostic:
    """What PyTorch has once it has loaded these; a process of its own does that. TG011 without PyTorch, TG012 if it fails."""
    what = f"loading `{', '.join(Path(one).name for one in loads)}`"
    return ask_torch(_read, tuple(loads), what=what, folder=folder)


def _read(torch: Any, loads: Sequence[str]) -> dict[str, Facts]:
    registered = read_registered(torch, loads)
    refusing = _refusing()
    return {name: _facts(torch, name, one, refusing) for name, one in sorted(registered.items())}


def _refusing() -> frozenset[str]:
    """The operators whose kernel for Autograd only refuses, as packages of the target torch-python know."""
    import sys

    known = getattr(sys.modules.get("_torchgen_lite_registrations"), "refusing", ())
    return frozenset(known)


def _facts(torch: Any, name: str, registered: Registered, refusing: frozenset[str]) -> Facts:
    kernels = registered.table.kernels
    is_composed = "CompositeImplicitAutograd" in kernels
    has_fake = _has_fake(torch, name) or {"Meta", "CompositeExplicitAutograd"} & kernels.keys()
    compiles = "composed" if is_composed else "fake" if has_fake else "no"
    differentiates = "composed" if is_composed else "no"
    label = kernels.get("Autograd", "")
    autograd_keys = [
        key for key in kernels if key.startswith("Autograd") and not is_fallthrough(kernels[key])
    ]
    if autograd_keys:
        is_refused = name in refusing or any(word in label for word in _REFUSES)
        differentiates = "refused" if is_refused else "formulas"
    return Facts(
        registered.schema, tuple(sorted(kernels)), registered.tags, compiles, differentiates
    )


def _has_fake(torch: Any, name: str) -> bool:
    """Whether Python has one, which the dispatcher does not know, or PyTorch makes one: what returns nothing needs none."""
    base, _, overload = name.partition(".")
    namespace, _, base = base.partition("::")
    op = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    is_trivial = torch._library.utils.can_generate_trivial_fake_impl
    entry = torch._library.simple_registry.singleton.find(name)
    return bool(entry.fake_impl.kernel is not None or is_trivial(op))


# Held against the entries.


def check_registry(
    registered: Mapping[str, Facts], program: Program, selection: Selection, namespace: str
) -> tuple[list[Diagnostic], list[str]]:
    """TG622: operators and kernels that the selection registers and the library has not, and the other way around; and the
    keys that no operator of the library has, of devices that it was built without. `namespace` is what the build has given
    for that of the file, if it has.
    """
    tables = {table.name: table for table in known_registrations(program, selection)}
    wanted = {_named(operator, selection, namespace): operator for operator in selection.operators}
    built = {key for facts in registered.values() for key in facts.keys}
    problems: list[Diagnostic] = []
    unbuilt: set[str] = set()
    for name, operator in wanted.items():
        facts = registered.get(name)
        keys = tables[operator.name].kernels.keys() & computing()
        if facts is None:
            problems.append(
                _differs(name, f"`{name}` has an entry, and the library does not register it")
            )
            continue
        absent = {key for key in keys - built if key not in COMPOSITE_KEYS}
        unbuilt |= absent
        problems += _check_operator(name, operator, facts, keys - absent)
    for name in registered:
        if name not in wanted:
            problems.append(_differs(name, f"`{name}` is registered, and no entry declares it"))
    return problems, sorted(unbuilt)


def _named(operator: Operator, selection: Selection, namespace: str) -> str:
    home = home_namespace(selection.functions)
    if namespace and operator.function.namespace == home:
        return f"{namespace}::{operator.schema.local_name}"
    return operator.name


def _check_operator(
    name: str, operator: Operator, facts: Facts, keys: Collection[str]
) -> Iterator[Diagnostic]:
    schema = operator.schema.local_text
    registered, _ = parse_schema(facts.schema)
    is_pytorchs = operator.function.is_pytorchs
    if not is_pytorchs and (registered is None or registered.local_text != schema):
        yield _differs(
            name, f"`{name}` is registered as `{facts.schema}`, and its entry says `{schema}`"
        )
    for key in sorted({*keys} - {*facts.keys}):
        yield _differs(name, f"`{name}` has no kernel for {key}, and its entry asks for one")
    for key in sorted({*facts.keys} & computing() - {*keys}):
        if not is_pytorchs:
            yield _differs(name, f"`{name}` has a kernel for {key}, and its entry asks for none")


def computing() -> frozenset[str]:
    """The keys whose kernels compute: those of backends but for `Meta`, which fakes have, and composed ones."""
    return frozenset(key_sets().backends) - {"Meta"} | COMPOSITE_KEYS


def _differs(operator: str, message: str) -> Diagnostic:
    return Diagnostic("TG622", message, operator=operator)
