"""The registrations of `_operators.py`: each operator with what is registered for it, as data.

_library.Operator(
    _places.muladd__func,
    "torch_ops::muladd",
    "muladd(Tensor a, Tensor b, float s) -> Tensor",
    {
        "CPU": muladd__CPU,
        "fake": muladd__fake,
    },
),
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torchgen_lite.analysis import operators as resolution
from torchgen_lite.analysis.fakes import results_of
from torchgen_lite.dialects import torch_library
from torchgen_lite.dialects.text import quote, tuple_display
from torchgen_lite.schema import BaseType, SchemaKind
from torchgen_lite.targets.torch_python.fakes import fake_of, is_view, takes_fake
from torchgen_lite.targets.torch_python.kernels import kernels_of
from torchgen_lite.targets.torch_python.model import Operator, Package


@dataclass(frozen=True, slots=True)
class RuleView:
    """What is registered: a dispatch key, `fake` and so on, and the expression for the function."""

    what: str
    function: str


@dataclass(frozen=True, slots=True)
class OperatorView:
    """One operator: the name of its place, its schema as a literal, tags and versions as displays or empty."""

    place: str
    name: str
    schema: str
    rules: tuple[RuleView, ...]
    tags: str
    versions: str
    is_torchs: bool


def build_registrations(package: Package, autograd: Collection[str]) -> tuple[OperatorView, ...]:
    """Every operator; `autograd` names those that have formulas."""
    return tuple(
        OperatorView(
            operator.named("func"),
            operator.name,
            quote(operator.bare_schema),
            tuple(_rules(package, operator, operator.name in autograd)),
            _tags(operator),
            torch_library.version_clauses(operator.function.torch),
            operator.is_torchs,
        )
        for operator in package.operators
    )


def _tags(operator: Operator) -> str:
    tags = [*operator.function.tags, *_kind_tags(operator)]
    return "" if operator.is_torchs or not tags else tuple_display(list(map(quote, tags)))


def _kind_tags(operator: Operator) -> list[str]:
    """`inplace` and `out` where PyTorch allows them: with these such operators can be compiled."""
    results = results_of(operator.schema)
    written = [a for a in operator.schema.arguments if a.is_write]
    kind = operator.kind
    if not written or any(not isinstance(a.type, BaseType) for a in written):
        return []
    same = [r.argument.name if r.argument else "" for r in results] == [a.name for a in written]
    tags = operator.function.tags
    if kind is SchemaKind.out and same and "out" not in tags:
        return ["out"] if all(a.kwarg_only for a in written) else []
    first = operator.schema.arguments[0]
    alone = len(written) == 1 and written[0] is first and not first.kwarg_only
    return ["inplace"] if same and alone and "inplace" not in tags else []


def _rules(package: Package, operator: Operator, has_formulas: bool) -> Iterator[RuleView]:
    """Kernels, and what is registered beside them for operators that PyTorch doesn't have."""
    for kernel in kernels_of(package, operator):
        yield RuleView(kernel.key, kernel.name)
    if operator.is_torchs:
        return
    fake = _fake(package, operator)
    if fake:
        yield RuleView("fake", fake)
        if is_view(operator):
            yield RuleView("view", fake)
    sibling = _functional(package, operator)
    if sibling is not None:
        yield RuleView("functionalize", f"_library.functional({quote(sibling.name)})")
    if has_formulas:
        yield RuleView("setup_context", operator.named("setup_context"))
        yield RuleView("backward", operator.named("backward"))
    vmap = _named(package, operator, "vmap")
    if vmap:
        yield RuleView("vmap", vmap)
    if operator.function.autocast:
        yield RuleView("autocast", f"_library.{operator.function.autocast}")


def _fake(package: Package, operator: Operator) -> str:
    made = fake_of(operator)
    if made is not None:
        return made.name
    return _named(package, operator, "fake") if takes_fake(operator) else ""


def _named(package: Package, operator: Operator, field: str) -> str:
    """`_library.named(_places.nonzero__fake, "my_fakes", "nonzero_fake")`: imported at its first call."""
    found = package.named_function(operator, field)
    if found is None:
        return ""
    place = f"_places.{operator.named(field)}"
    return f"_library.named({place}, {quote(found[0])}, {quote(found[1])})"


def _functional(package: Package, operator: Operator) -> resolution.Operator | None:
    """For an operator that gives back what it writes, the one that computes it: `scale` for `scale_`."""
    if operator.kind not in (SchemaKind.inplace, SchemaKind.out):
        return None
    results = [r.argument.name if r.argument else "" for r in results_of(operator.schema)]
    if results != [a.name for a in operator.schema.arguments if a.is_write]:
        return None
    found = package.resolved.functional_of(operator.facts)
    return found if found is not None and len(found.schema.returns) == len(results) else None
