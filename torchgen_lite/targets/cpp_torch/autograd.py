"""`register_autograd.cpp`: a node for each entry with formulas, and a kernel for each operator that uses it.

at::Tensor autograd_mul(c10::DispatchKeySet _keys, const at::Tensor& self, const at::Tensor& other) {
  const autograd::Call _call(self, other);
  if (!_call) {
    return autograd::below<ops::mul, at::AutoDispatchBelowADInplaceOrView>(_keys, self, other);
  }
  auto _node = autograd::make_node<MulBackward0>(_call, self, other);
  ...
}

Forward mode needs nothing more: Note [Forward mode is transposed] in `copied/cpp_torch/autograd_kernels.h`.

Note [Versions and views in C++]
A tensor that an operator writes gets a new version, and a view its base, at the key
ADInplaceOrView, below autograd. libtorch does neither for custom operators, so every operator that
writes has a kernel there, with or without formulas. It is the same for all of them, a template.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.linear import is_tried, refuses_forward
from torchgen_lite.analysis.differentiability.model import (
    DifferentiabilityInfo,
    forward_refusal,
    refusal,
    tensor_arguments,
)
from torchgen_lite.analysis.differentiability.nodes import reads_of
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import BACKEND_SELECT, Registration
from torchgen_lite.formulas.model import Name
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.cpp.formula import Functions, write
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.loader.entry.derivatives import AUTO_LINEAR
from torchgen_lite.schema import ListType, return_names
from torchgen_lite.schema.grouped import by_name, names_of, places_of
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.nodes import counted_results
from torchgen_lite.targets.cpp_torch.saved import count_of, members
from torchgen_lite.targets.output import Named

_BELOW_AUTOGRAD = "at::AutoDispatchBelowAutograd"
_BELOW_VIEWS = "at::AutoDispatchBelowADInplaceOrView"
_ORIGINAL = "_original"


class AutogradKernel(NamedTuple):
    """The kernel of an operator whose calls are recorded under a key, by the names of arguments.

    `guard` excludes the keys above. If there is a `forward_refusal`, no `tensors` may have tangents; nor may
    `undifferentiable`, each with its message, which may not require gradients either.

    A call has a `node`, and `arguments` with gradients. `saved` and `kept` are members with their values, before the
    call and after it; one that is saved may be kept only for the gradients at the positions in the third item.
    `counts` are members for numbers of tensors, each with its list. `results` have a history; the second item of each
    is the member with its number of tensors, if there is one. Their `tangents`, if these have formulas, use locals with
    values; they may need what an in-place operator overwrites (`reads_original`). Those that follow from formulas may
    have to be tried (`is_tried`).
    """

    operator: CppOperator
    name: str
    guard: str
    forward_refusal: str
    tensors: Sequence[str]
    undifferentiable: Sequence[Named]
    node: str
    arguments: Sequence[str]
    counts: Sequence[Named]
    saved: Sequence[tuple[str, str, tuple[int, ...]]]
    kept: Sequence[Named]
    results: Sequence[Named]
    reads_original: bool
    is_tried: bool
    tangent_locals: Sequence[Named]
    tangents: Sequence[str]


def shared_kernel(
    operator: CppOperator,
    registration: Registration,
    plan: AutogradPlan,
    info: DifferentiabilityInfo | None,
) -> str:
    """The kernel that is registered if it records nothing, a member of a template of the positions of arguments;
    empty if it does."""
    struct = f"ops::{operator.flat}"
    positions = places_of(names_of(operator.schema.arguments))

    def at(name: str) -> str:
        return str(positions[name])

    if registration.origin is Origin.view and plan.viewed is not None:
        return f"autograd::View<{struct}, {at(plan.viewed)}>::kernel"
    kernels = ", ".join([struct, *map(at, plan.written)])
    if registration.origin is Origin.raises_versions:
        when = ""
        if registration.key == BACKEND_SELECT:
            when = "_in_inference"
        return f"autograd::Kernels<{kernels}>::raise_versions{when}"
    if registration.origin is Origin.passes or info is None:
        # The operators that the author's kernel calls must not record anything.
        guard = _BELOW_VIEWS
        if plan.tracking:
            guard = _BELOW_AUTOGRAD
        return f"autograd::Kernels<{kernels}>::pass<{guard}>"
    if registration.origin is not Origin.refuses_out:
        return ""
    refused = ", ".join(map(at, [*info.arguments, *names_of(operator.schema.out)]))
    tensors = ", ".join(map(at, names_of(plan.tensors)))
    return f"autograd::Kernels<{struct}, {refused}>::refuse_out<{tensors}>"


def autograd_kernel(
    operator: CppOperator, key: str, info: DifferentiabilityInfo, functions: Functions
) -> AutogradKernel:
    """The kernel that records calls; `info` are the formulas under its key, which call `functions`."""
    name = operator.function.name
    reason = refuses_forward(info)
    tensors = names_of(tensor_arguments(operator.schema.arguments))
    tangents = []
    used = set[str]()
    if not reason:
        for tangent, names in _tangents(operator, info, tensors, functions):
            tangents.append(tangent)
            used |= names
    needed = _locals(operator, info, tensors, used)
    counted = counted_results(info)
    results = []
    for index in info.outputs:
        count = count_of(info, index) if index in counted else ""
        results.append((_result(operator, index), count))
    tracks = bool(operator.schema.is_aliasing or operator.schema.written)
    return AutogradKernel(
        operator,
        f"{key.lower()}_{operator.flat}",
        guard=_BELOW_AUTOGRAD if tracks else _BELOW_VIEWS,
        forward_refusal=forward_refusal(name, reason) if reason else "",
        tensors=tensors,
        undifferentiable=[(t.name, refusal(name, t.name)) for t in info.without_formula],
        node=info.node_name,
        arguments=info.arguments,
        counts=[(count_of(info, name), name) for name in info.lists],
        saved=list(_saved(operator, info)),
        kept=list(_kept(operator, info)),
        results=results,
        reads_original=_ORIGINAL in needed.values(),
        is_tried=is_tried(info, ()),
        tangent_locals=list(needed.items()),
        tangents=tangents,
    )


def _tangents(
    operator: CppOperator,
    info: DifferentiabilityInfo,
    tensors: Collection[str],
    functions: Functions,
) -> Iterator[tuple[str, frozenset[str]]]:
    """The tangents of the results if they have formulas, each with the names in it."""
    written = by_name(info.forward)
    if not written:
        return
    names = return_names(operator.schema)
    for index in info.outputs:
        tangent = written[names[index]]
        returned = operator.schema.returns[index]
        if tangent.tree is not None:
            text = write(_of_primals(tangent.tree, tensors), functions)
            used = tangent.mentioned
        elif tangent.formula.word == AUTO_LINEAR:
            # The operator itself, of the tangents.
            tangents: dict[str, str] = {}
            for slot in info.slots:
                tangent_name = identifier(f"{slot.name}_t")
                if slot.is_optional:
                    tangent_name = f"autograd::optional({tangent_name})"
                tangents[identifier(slot.name)] = tangent_name
            items = ", ".join([tangents.get(name, name) for name in operator.names])
            text = f"ops::{operator.flat}::call({items})"
            used = frozenset([f"{slot.name}_t" for slot in info.slots])
        else:
            # Each element depends on one alone: the derivative is its own transpose, but for the conjugate.
            (derivative,) = info.derivatives
            text = write(_of_primals(derivative.tree, tensors), functions, "conj")
            used = derivative.mentioned
        is_list = isinstance(returned.type, ListType)
        yield f"autograd::variable_list({text})" if is_list else text, used


def _of_primals(tree: Typed, tensors: Collection[str]) -> Typed:
    """A formula that is computed during the call, where nothing has been kept: `self` is the value `self_p`."""
    node = tree.node
    if isinstance(node, Name) and node.text in tensors:
        node = replace(node, text=f"{node.text}_p")
    parts = tuple([_of_primals(part, tensors) for part in tree.parts])
    return tree._replace(node=node, parts=parts, saved=None)


def _locals(
    operator: CppOperator,
    info: DifferentiabilityInfo,
    tensors: Collection[str],
    used: Collection[str],
) -> dict[str, str]:
    """What formulas of tangents use, with the value: values and tangents of arguments, and values of results."""
    results = return_names(operator.schema)
    values: dict[str, str] = {}
    for name, source, is_tangent in reads_of(info, operator.schema, used):
        value = identifier(source)
        # What an in-place operator writes changes the tangent, too.
        is_written = operator.is_inplace and source == "self"
        if name == "grad":
            values[name] = f"autograd::tangent({value}).conj()"
        elif is_tangent:
            copied = ".clone()" if is_written else ""
            values[identifier(name)] = f"autograd::tangent({value}){copied}"
        elif source in tensors:
            primal = name
            if name == source:
                primal = f"{name}_p"
            values[identifier(primal)] = _ORIGINAL if is_written else f"autograd::primal({value})"
        elif source in results:
            kept = _result(operator, results.index(source))
            values[value] = f"autograd::primal({kept})"
    return values


def _saved(
    operator: CppOperator, info: DifferentiabilityInfo
) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """What a node keeps of the arguments."""
    for member in members(info):
        saved = member.saved
        value = identifier(saved.source)
        if saved.result is not None:
            continue
        if operator.is_inplace and value == "self" and saved.keeps_tensors:
            # The formulas refer to the tensor's old value.
            value = "self.clone()"
        # If lists have gradients, the number of gradients is not known here.
        is_conditional = saved.keeps_tensors and not info.lists
        yield member.name, member.input(value), saved.needed_by if is_conditional else ()


def _kept(operator: CppOperator, info: DifferentiabilityInfo) -> Iterator[Named]:
    """What a node keeps of the results."""
    for member in members(info):
        if member.saved.result is not None:
            is_view = ""
            if operator.is_inplace:
                # What has a tangent alone has no history that its base shares.
                is_view = "_call.is_recorded && self.is_view()"
            yield member.name, member.result(_result(operator, member.saved.result), is_view)


def _result(operator: CppOperator, index: int) -> str:
    if operator.is_inplace:
        return "self"
    if len(operator.schema.returns) == 1:
        return "_result"
    return f"std::get<{index}>(_result)"
