"""The facts about the derivatives of one operator, in PyTorch's words (torchgen `DifferentiabilityInfo`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torchgen_lite.loader.derivatives import Formula
from torchgen_lite.loader.entry import NativeFunction


@dataclass(frozen=True, slots=True)
class SavedAttribute:
    """Something that forward keeps for backward: a whole value, or a fact about a tensor.

    `self.sym_sizes()` in a formula saves `self_sym_sizes` and not the tensor; `source` is `self` then.
    `expression` is how it is read, as C++ writes it.
    """

    name: str
    expression: str
    source: str

    @property
    def is_whole(self) -> bool:
        """Whether the value itself is kept."""
        return self.name == self.source


@dataclass(frozen=True, slots=True)
class Derivative:
    """One formula for the gradients of one or several arguments."""

    names: tuple[str, ...]
    formula: Formula
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]
    named_gradients: frozenset[str]


@dataclass(frozen=True, slots=True)
class DifferentiabilityInfo:
    """Everything the formulas of one entry say, for one autograd key.

    `function` is the operator that the formulas were written for. `node_name` is the name of its
    backward node, `AddBackward0`, and empty where nothing is differentiable. `arguments` are those with
    formulas, in schema order.
    """

    function: NativeFunction
    key: str
    node_name: str
    derivatives: tuple[Derivative, ...]
    arguments: tuple[str, ...]
    not_differentiable: tuple[str, ...]
    available_gradients: tuple[str, ...]
    output_differentiability: tuple[bool, ...] | None
    output_condition: str | None = None

    @property
    def saved_inputs(self) -> tuple[SavedAttribute, ...]:
        """What the formulas together keep of the inputs, each once."""
        return _once(s for d in self.derivatives for s in d.saved_inputs)

    @property
    def saved_outputs(self) -> tuple[SavedAttribute, ...]:
        return _once(s for d in self.derivatives for s in d.saved_outputs)

    @property
    def used_gradients(self) -> frozenset[str]:
        """The `grad_NAME` that the formulas mention."""
        return frozenset().union(*(d.named_gradients for d in self.derivatives))


def _once(saved: Iterable[SavedAttribute]) -> tuple[SavedAttribute, ...]:
    # An argument may be called `self_shape`, beside what is kept of `self`.
    kept: dict[tuple[str, str], SavedAttribute] = {}
    for attribute in saved:
        kept.setdefault((attribute.name, attribute.source), attribute)
    return tuple(kept.values())
