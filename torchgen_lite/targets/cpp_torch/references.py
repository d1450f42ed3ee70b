"""Kernels that compute the reference of an operator, where `dispatch` says `reference`.

at::Tensor reference_Meta_silu(const at::Tensor& x, double scale) {
  return ::mylib::fallback::apart(at::Tensor(x * at::sigmoid(x) * scale), x, scale);
}
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from torchgen_lite.analysis.differentiability.info import kind_of_value
from torchgen_lite.analysis.differentiability.kinds import check_operands, check_writes
from torchgen_lite.analysis.differentiability.vocabulary import callable_operators
from torchgen_lite.analysis.finding import finding, findings
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.formulas.kinds import TENSORS
from torchgen_lite.formulas.model import Call, Member, Name
from torchgen_lite.formulas.python import KINDS, differs, in_formulas
from torchgen_lite.formulas.tree import Scope, Typed, every_part, fits
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.languages.cpp.formula import Functions, write
from torchgen_lite.languages.cpp.formula_needs import called_headers, unsayable
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.differentiation import check_trees
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall, wrapped
from torchgen_lite.targets.cpp_torch.wrappers import Wrapper

# A reference calls PyTorch alone, also where the library has an operator of that name.
_TORCH = Functions("")


def reference_registrations(
    by_facts: Mapping[Operator, CppOperator],
    registered: Sequence[Registration],
    layout: Layout,
) -> Iterator[TorchImplCall]:
    """The kernels, each a function of its own, which takes symbolic integers."""
    for one in registered:
        if one.origin is Origin.reference:
            operator, (let, trees) = by_facts[one.operator], _trees(one.operator)
            headers = {h for tree in trees for h in called_headers(tree, _TORCH)}
            headers |= {"ATen/TensorOperators.h", layout.own("reference.h").name}
            wrapper = Wrapper(
                operator,
                f"reference_{one.key}_{operator.flat}",
                operator.guard,
                types.signature(operator.function, classes=layout.classes),
                more_headers=tuple(sorted(headers)),
                reference=tuple([write(tree, _TORCH) for tree in trees[len(let) :]]),
                let=tuple([(name, write(tree, _TORCH)) for name, tree in let.items()]),
            )
            yield wrapped(one.key, wrapper)


def _trees(operator: Operator) -> tuple[dict[str, Typed], list[Typed]]:
    """The values of `let`; these and the results, as formulas. An absent optional tensor is one that is not defined."""
    samples, schema = operator.function.samples, operator.schema
    assert samples is not None and samples.reference is not None
    tree, place = samples.reference.tree, samples.reference.places.get
    names = {a: Name(a.name) for a in schema.arguments}
    none = Call(Name("at::Tensor"), ())
    given = {
        identifier(a.name): (
            Call(Member(name, "value_or"), (none,)) if bare_type(a.type) == "Tensor?" else name
        )
        for a, name in names.items()
    }
    parts = tree.elts if isinstance(tree, ast.Tuple) and len(schema.returns) > 1 else [tree]
    torchs = callable_operators([o.function for o in operator.others.lent.values()])
    kinds = KINDS | {a.name: kind_of_value(a.type) for a in names}
    scope, let = Scope(kinds, operators=torchs), dict[str, Typed]()
    for bound, part, _ in samples.reference.let:
        let[bound] = type_formula(in_formulas(part, given, place), scope)
        kinds[bound], given[bound] = let[bound].kind, Name(bound)
    results = [type_formula(in_formulas(part, given, place), scope) for part in parts]
    return let, [*let.values(), *results]


def check_references(registered: Sequence[Registration]) -> Iterator[Diagnostic]:
    """What the references that are kernels say, and C++ cannot, or says otherwise."""
    for one in {r.operator: r for r in registered if r.origin is Origin.reference}:
        function = one.function
        let, every = _trees(one)
        trees = every[len(let) :]
        yield from check_trees(function, every, _TORCH)
        parts = [part for tree in every for part in every_part(tree)]
        for part in parts:
            yield from findings(function, (*check_operands(part), *check_writes(part)))
        unsaid = [found for tree in every for found in unsayable(tree, _TORCH)]
        # A view of sizes may outlive its tensor, and neither a list in brackets nor `None` has a type.
        for tree in let.values():
            is_owned = (tree.kind, type(tree.node)) == (TENSORS, Call)
            if tree.is_none or (tree.kind.is_list and not is_owned):
                unsaid.append((tree.node, f"{tree.kind.words} is no variable in C++", ""))
        unsaid += [(part.node, problem, "") for part in parts if (problem := differs(part))]
        if 1 < len(trees) != len(one.schema.returns):
            unsaid.append((trees[0].node, f"the reference gives {len(trees)} results", ""))
        for tree, result in zip(trees, one.schema.returns):
            if not fits(tree.kind, frozenset({kind_of_value(result.type)})):
                given = f"the reference gives {tree.kind.words}, and not `{result.type}`"
                unsaid.append((tree.node, given, ""))
        for node, problem, hint in unsaid:
            hint = hint or "write what both languages have, or name a kernel"
            yield finding(function, "TG540", problem, node.span, "not in C++", hint)
