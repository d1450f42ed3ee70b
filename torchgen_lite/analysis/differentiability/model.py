"""The facts about the derivatives of one operator, in PyTorch's words (torchgen `DifferentiabilityInfo`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.model import Call, name_called, texts_in, walk
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.loader.entry.derivatives import Formula
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema, ListType, SchemaKind, return_names
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.grouped import names_of, without_none
from torchgen_lite.schema.kept import keeping, kept


@keeping
@dataclass(frozen=True)
class Derivative:
    """One formula for the gradients of one or more arguments, and what must be saved for it."""

    names: tuple[str, ...]
    formula: Formula
    tree: Typed
    saved: tuple[Saved, ...]

    @kept
    def mentioned(self) -> frozenset[str]:
        """Every name in the formula."""
        return frozenset(texts_in(self.tree.node))


class Tangent(NamedTuple):
    """What is written for the tangent of a result: the `tree` of an expression, or the word of the formula."""

    name: str
    formula: Formula
    tree: Typed | None

    @property
    def mentioned(self) -> frozenset[str]:
        """Every name in the expression."""
        return frozenset() if self.tree is None else frozenset(texts_in(self.tree.node))


class TensorArgument(NamedTuple):
    """An argument that is or contains tensors, and which it `carries`."""

    name: str
    carries: DispatchKind

    @property
    def is_list(self) -> bool:
        return self.carries.is_list

    @property
    def is_optional(self) -> bool:
        return self.carries is DispatchKind.optional_tensor


def tensor_arguments(arguments: Sequence[Argument]) -> tuple[TensorArgument, ...]:
    """Those of the arguments that are or contain tensors."""
    kinds = ((argument.name, dispatch_kind(argument.type)) for argument in arguments)
    return tuple([TensorArgument(name, kind) for name, kind in kinds if kind.has_tensors])


def noted_arguments(schema: FunctionSchema) -> tuple[TensorArgument, ...]:
    """What an operator writes beside its results, which are new."""
    if schema.kind() is not SchemaKind.mutable:
        return ()
    return tensor_arguments(schema.written)


@keeping
@dataclass(frozen=True)
class DifferentiabilityInfo:
    """Everything the formulas of one entry say, for one autograd key.

    `function` is the operator that the formulas were written for. `node_name` is the name of its
    backward node, `AddBackward0`, or empty if nothing is differentiable. `slots` are the arguments
    with formulas, in schema order; `saved` is everything the formulas save, inputs first; `forward` is what is written
    for tangents of results.
    """

    function: NativeFunction
    key: str
    node_name: str
    derivatives: tuple[Derivative, ...]
    slots: tuple[TensorArgument, ...]
    saved: tuple[Saved, ...]
    not_differentiable: tuple[str, ...]
    output_differentiability: tuple[bool, ...] | None
    forward: tuple[Tangent, ...] = ()

    @kept
    def arguments(self) -> tuple[str, ...]:
        return tuple(names_of(self.slots))

    @kept
    def available_gradients(self) -> tuple[str, ...]:
        """`grad_NAME` for each result that has a name and a derivative."""
        names = []
        for index, value in enumerate(self.schema.returns):
            flags = self.output_differentiability
            if value.name and is_tensor_like(value.type) and (flags is None or flags[index]):
                names.append(f"grad_{value.name}")
        return tuple(names)

    @kept
    def outputs(self) -> tuple[int, ...]:
        """The results that get gradients (torchgen `gen_differentiable_outputs`).

        Those the entry names; by default every tensor, or only the first if formulas use just `grad`.
        """
        if self.output_differentiability is not None:
            return tuple(compress(count(), self.output_differentiability))
        names = return_names(self.schema)
        outputs = []
        for index, value in enumerate(self.schema.returns):
            if is_tensor_like(value.type) and names[index] not in self.not_differentiable:
                outputs.append(index)
        return tuple(outputs[:1] if "grad" in self.mentioned else outputs)

    @property
    def uses(self) -> frozenset[str]:
        """The arguments and results that have a formula, or that one keeps."""
        return frozenset([*self.arguments, *[saved.source for saved in self.saved]])

    @kept
    def noted(self) -> tuple[TensorArgument, ...]:
        """What calls write that are recorded, such as running statistics, and do not return: it has no derivative."""
        return noted_arguments(self.function.func) if self.slots else ()

    @kept
    def without_formula(self) -> tuple[TensorArgument, ...]:
        """The tensors that must not require a gradient, since they have no formula; all that is `noted` is among them.

        An argument named `output` is what forward returned, and is never checked (gen_variable_type
        `emit_check_no_requires_grad`). Lists are not checked either: PyTorch's check accepts every
        tensor of a list (VariableTypeUtils.h `check_no_requires_grad`, whose `check_grad_mode` is
        false there).
        """
        answered = {"output", *self.arguments, *self.not_differentiable}
        tensors = []
        for tensor in tensor_arguments(self.schema.inputs):
            is_unanswered = not tensor.is_list and tensor.name not in answered
            if is_unanswered or tensor in self.noted:
                tensors.append(tensor)
        return tuple(tensors)

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    @property
    def lists(self) -> tuple[str, ...]:
        """The list arguments with a gradient for each tensor; later slots have no fixed numbers."""
        return tuple([slot.name for slot in self.slots if slot.is_list])

    @property
    def trees(self) -> tuple[Typed, ...]:
        """The formulas of gradients and of tangents."""
        tangents = without_none(tangent.tree for tangent in self.forward)
        return (*(derivative.tree for derivative in self.derivatives), *tangents)

    @kept
    def mentioned(self) -> frozenset[str]:
        """Every name in the formulas."""
        return frozenset().union(*(derivative.mentioned for derivative in self.derivatives))

    @kept
    def gradients(self) -> frozenset[str]:
        """The names of the gradients of results."""
        return frozenset({"grad", "grads", *self.available_gradients})

    @kept
    def used_gradients(self) -> frozenset[str]:
        """The `grad_NAME` that the formulas mention."""
        return self.mentioned.intersection(self.available_gradients)

    @property
    def is_materialized(self) -> bool:
        """Whether gradients that nobody asked for become zeros: those of several results, if no formula asks
        which of them are defined."""
        returns = self.schema.returns
        is_several = len(self.outputs) > 1 or any(isinstance(r.type, ListType) for r in returns)
        return is_several and not self.tests_gradients

    @property
    def tests_gradients(self) -> bool:
        """Whether a formula asks if a gradient is defined."""
        for derivative in self.derivatives:
            for part in walk(derivative.tree.node):
                is_test = isinstance(part, Call) and name_called(part) == "defined"
                if is_test and not self.gradients.isdisjoint(texts_in(part)):
                    return True
        return False

    @property
    def reads_original(self) -> bool:
        """Whether the tangents of an in-place operator need the value that it overwrites."""
        names = {"self", "self_p", "original_self_p"}
        return any(not names.isdisjoint(tangent.mentioned) for tangent in self.forward)

    def kept(self, readable: Collection[Fact]) -> tuple[Saved, ...]:
        """What is saved if only these facts can be read: other facts save the whole value."""
        using: dict[Saved, set[int]] = {}
        for saved in self.saved:
            used = saved.needed_by or range(len(self.slots))
            is_read = saved.is_whole or saved.fact in readable
            key = saved if is_read else replace(saved, fact=Fact.whole, dim="", apart="")
            using.setdefault(key, set()).update(used)
        return tuple(needed_by(using, len(self.slots)))


def refusal(operator: str, argument: str) -> str:
    """The error message when a tensor without a formula requires a gradient."""
    return f"{operator} has no derivative with respect to {argument}"


def forward_refusal(operator: str, reason: str = "") -> str:
    """The error message when a tensor has a tangent that would be lost."""
    return f"{operator} has no formula for forward-mode{': ' * bool(reason)}{reason}"


def needed_by(using: Mapping[Saved, Collection[int]], slots: int) -> Iterator[Saved]:
    """The saved values with the gradients that need them, out of `slots` slots."""
    for saved, used in using.items():
        needed = tuple(sorted(used)) if len(used) < slots else ()
        yield saved if needed == saved.needed_by else replace(saved, needed_by=needed)
