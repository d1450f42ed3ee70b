"""What a reference is in C++: a kernel, where `dispatch` says `reference`, and in a node of `derivatives: auto`.

at::Tensor reference_Meta_silu(const at::Tensor& x, double scale) {
  return ::mylib::fallback::apart(at::Tensor(x * at::sigmoid(x) * scale), x, scale);
}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from torchgen_lite.analysis.checks.references import Values, reference_trees, results_in_torch
from torchgen_lite.analysis.differentiability.calls import check_calls
from torchgen_lite.analysis.differentiability.kinds import check_operands
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.nodes import SharedValue
from torchgen_lite.analysis.differentiability.vocabulary import callable_operators
from torchgen_lite.analysis.finding import finding, findings
from torchgen_lite.analysis.operators import Operator, functions_of
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.formulas.kinds import INT, TENSORS
from torchgen_lite.formulas.model import Call, Conditional, Expression, Member, Name
from torchgen_lite.formulas.python import differs
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.languages.cpp.formula import Functions, write
from torchgen_lite.languages.cpp.formula_needs import Unsaid, called_headers, speech, unsayable
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.nodes import NodeView
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall, wrapped
from torchgen_lite.targets.cpp_torch.wrappers import Wrapper
from torchgen_lite.targets.output import Findings

# A reference calls PyTorch alone, also where the library has an operator of that name.
_TORCH = Functions("")


def reference_registrations(library: Library) -> Iterator[TorchImplCall]:
    """The kernels, each a function of its own, which takes symbolic integers."""
    layout = library.layout
    for registration in library.registered:
        if registration.origin is Origin.reference:
            operator = library.by_facts[registration.operator]
            let, trees = _trees(registration.operator, _present(registration.operator))
            headers = reference_headers(registration.operator)
            headers |= {"ATen/TensorOperators.h", layout.own("reference.h").name}
            wrapper = Wrapper(
                operator,
                f"reference_{registration.key}_{operator.flat}",
                operator.guard,
                types.signature(operator.function, classes=layout.classes),
                more_headers=sorted(headers),
                reference=[write(tree, _TORCH) for tree in trees],
                let=[(name, _variable(tree)) for name, tree in let.items()],
            )
            yield wrapped(registration.key, wrapper)


def with_reference(view: NodeView, info: DifferentiabilityInfo, operator: Operator) -> NodeView:
    """The node of an entry that says `auto`, with the results that have gradients."""
    let, every = _trees(operator)
    results = []
    used = set[str]()
    for index, tree in enumerate(every):
        if index in info.outputs:
            class_ = "autograd::variable_list" if tree.kind.is_list else "at::Tensor"
            results.append(f"{class_}({write(tree, _TORCH)})")
            used.update(str(part.node) for part in every_part(tree))
    shared: list[SharedValue] = []
    for name, tree in reversed(let.items()):
        if name in used:
            shared.insert(0, SharedValue(name, _variable(tree), ()))
            used.update(str(part.node) for part in every_part(tree))
    return view._replace(
        shared=tuple(shared), derivatives=(), inputs=info.arguments, reference=results
    )


def _variable(tree: Typed) -> str:
    """An integer is as wide as one of a schema."""
    if tree.kind == INT:
        return f"int64_t({write(tree, _TORCH)})"
    return write(tree, _TORCH)


def reference_headers(operator: Operator) -> set[str]:
    let, trees = _trees(operator)
    headers = set[str]()
    for tree in (*let.values(), *trees):
        headers.update(called_headers(tree, _TORCH))
    return headers


def _present(operator: Operator) -> list[tuple[str, Expression]]:
    """Optional tensors in a kernel: one that is absent is not defined."""
    none = Call(Name("at::Tensor"), ())
    names = [a.name for a in operator.schema.arguments if bare_type(a.type) == "Tensor?"]
    return [(identifier(name), Call(Member(Name(name), "value_or"), (none,))) for name in names]


def _trees(
    operator: Operator, more: Iterable[tuple[str, Expression]] = ()
) -> tuple[Values, list[Typed]]:
    """The values of `let` and the results of a reference, as C++ has them; `more` says what names stand for."""
    torchs = callable_operators(functions_of(operator.others.lent.values()))
    return reference_trees(operator, operators=torchs, more=more)


# Where references are computed, with what else to do.
_INSTEAD = {
    Origin.reference: "name a kernel",
    Origin.autograd: "have the target `torch-python`, with `autograd` on, register these gradients",
}


def check_references(registered: Sequence[Registration]) -> Findings:
    """What the references that are kernels or have gradients say, and C++ cannot, or says otherwise."""
    instead = {}
    for registration in registered:
        operator = registration.operator
        has_reference = registration.origin is Origin.reference or operator.function.is_auto
        if has_reference and registration.origin in _INSTEAD:
            instead[operator] = registration.origin
    for operator, origin in instead.items():
        yield from _check_reference(operator, origin)


def _check_reference(operator: Operator, origin: Origin) -> Findings:
    function = operator.function
    let, trees = _trees(operator)
    every = [*let.values(), *trees]
    parts = [*chain.from_iterable(map(every_part, every))]
    for part in parts:
        yield from findings(function, check_operands(part))
    unsaid = [*_unsaid_parts(let, every, parts)]
    spans = [node.span for node, *_ in unsaid]
    for diagnostic in check_calls(function, every, speech(_TORCH)):
        if diagnostic.label is None or diagnostic.label.span not in spans:
            yield diagnostic
    count = len(operator.schema.returns)
    if origin is Origin.autograd and len(trees) != count:
        # A node takes the results that have gradients one by one.
        unsaid.append((trees[0].node, "several results in one expression", ""))
    elif len(trees) == 1 and not unsaid:
        unsaid += _unsaid_form(trees[0], let, "tuple" if count > 1 else "list")
    for node, problem, hint in unsaid:
        hint = hint or f"write what both languages have, or {_INSTEAD[origin]}"
        yield finding(function, "TG540", problem, node.span, "not in C++", hint)


def _unsaid_parts(let: Values, every: Iterable[Typed], parts: Iterable[Typed]) -> Iterator[Unsaid]:
    for tree in every:
        yield from unsayable(tree, _TORCH)
    # A view of sizes may outlive its tensor, and neither a list in brackets nor `None` has a type.
    for tree in let.values():
        is_owned = (tree.kind, type(tree.node)) == (TENSORS, Call)
        if tree.is_none or (tree.kind.is_list and not is_owned):
            yield tree.node, f"{tree.kind.words} is no variable in C++", ""
    for part in parts:
        problem = differs(part)
        if problem:
            yield part.node, problem, ""


def _unsaid_form(tree: Typed, let: Values, wanted: str) -> Iterator[Unsaid]:
    """Where one expression gives several values, and C++ makes no `wanted` of them."""
    for form in sorted(_forms(tree, let) - {wanted}):
        yield tree.node, f"a {form} in C++, which makes no {wanted}", "write the results one by one"


def _forms(tree: Typed, let: Values) -> set[str]:
    """What several values are in C++, as far as that is certain: of a condition, what either branch gives."""
    node = tree.node
    if isinstance(node, Conditional):
        return _forms(tree.parts[1], let) | _forms(tree.parts[2], let)
    if isinstance(node, Name):
        if node.text in let:
            return _forms(let[node.text], let)
        # An argument is a view, which becomes no `std::vector` by itself.
        if tree.kind.is_list:
            return {"list of the caller's"}
        return set()
    if not isinstance(node, Call):
        return set()
    kinds = results_in_torch(node, tree.kinds)
    if len(kinds) > 1:
        return {"tuple"}
    if kinds and kinds[0].is_list:
        return {"list"}
    return set()
