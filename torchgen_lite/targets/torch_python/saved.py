"""What forward keeps for backward: tensors by `save_for_backward`, the rest as attributes of `ctx`.

    ctx.save_for_backward(a if ctx.needs_input_grad[1] else None)
    ctx.b_shape = b.shape

A tensor is kept where the gradient that uses it is wanted. A formula that asks only for a shape or a
dtype keeps that and lets the memory go.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    Fact,
    Saved,
    return_names,
)
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.formula import Call, Expression, Name

# Names that the generated functions use themselves, and attributes that `ctx` has already.
_TAKEN = frozenset(
    "CALLS any ctx grad_input_mask grads inputs keyword_only_inputs len list needs output saved torch "
    "apply apply_boxed apply_jvp backward boxed_grads_call clear_saved_tensors_on_access dirty_tensors "
    "forward generate_vmap_rule jvp mark_dirty mark_non_differentiable mark_shared_storage "
    "materialize_grads maybe_clear_saved_tensors metadata name needs_input_grad next_functions "
    "non_differentiable register_hook register_prehook requires_grad save_for_backward "
    "save_for_forward saved_for_forward saved_tensors saved_variables set_materialize_grads "
    "setup_context to_save vjp vmap".split()
)

# How a fact is read when the call is recorded; what is not here keeps the tensor.
_READ = {
    Fact.args_scalartypes: "[_t.dtype for _t in {0}]",
    Fact.args_sizes: "[_t.shape for _t in {0}]",
    Fact.args_sizes_symint: "[_t.shape for _t in {0}]",
    Fact.device: "{0}.device",
    Fact.dim: "{0}.ndim",
    Fact.dtype: "{0}.dtype",
    Fact.info: "_support.info_of({0})",
    Fact.layout: "{0}.layout",
    Fact.ndim: "{0}.ndim",
    Fact.numel: "{0}.numel()",
    Fact.scalar_type: "{0}.dtype",
    Fact.shape: "{0}.shape",
    Fact.size: "{0}.shape[{1}]",
    Fact.sym_numel: "{0}.numel()",
    Fact.sym_sizes: "{0}.shape",
}


def local(name: str) -> str:
    """The local variable for an argument or a result; what is taken gets an underscore.

    So does a name that looks like that, or no two names would be sure to stay two.
    """
    bare = name.rstrip("_")
    is_taken = bare in _TAKEN or keyword.iskeyword(bare) or name.startswith("_")
    # `grad_x_` is where the gradient of `x` goes.
    is_gradient = name.startswith("grad_") and name.endswith("_")
    return f"{name}_" if is_taken or is_gradient else identifier(name)


@dataclass(frozen=True, slots=True)
class Keeper:
    """What is kept for one operator: whole values, and facts about tensors."""

    schema: FunctionSchema
    whole: tuple[Saved, ...]
    facts: tuple[Saved, ...]

    def sources(self) -> set[str]:
        """The arguments and results that something is kept of."""
        return {saved.source for saved in (*self.whole, *self.facts)}

    def local(self, saved: Saved) -> Expression | None:
        """What stands for a value or a fact in formulas; None where the tensor is kept for the fact."""
        if saved.is_whole:
            return Name(local(saved.source))
        if saved.fact not in _READ:
            return None
        name = Name(self._fact_name(saved))
        return Call(Name("_support.zeros"), (name,)) if saved.fact is Fact.info else name

    def _fact_name(self, saved: Saved) -> str:
        """`x_shape`, unless that is an argument; no local of an argument looks like `_x_shape`."""
        names = {*(a.name for a in self.schema.arguments), *return_names(self.schema)}
        return f"_{saved.name}" if saved.name in names else local(saved.name)

    def needed(self, saved: Saved) -> str:
        """The condition under which some gradient uses a tensor; empty if all do."""
        # torch.library flattens lists before it calls setup_context, so positions are off there.
        if any(dispatch_kind(a.type) == "L" for a in self.schema.arguments):
            return ""
        return " or ".join(f"needs[{position}]" for position in saved.needed_by)

    def asks_needs(self) -> bool:
        """Whether it depends on the gradients that are wanted what is kept."""
        return any(saved.carries in "TO" and self.needed(saved) for saved in self.whole)

    def save_lines(self) -> Iterator[str]:
        items = []
        for saved in self.whole:
            name = local(saved.source)
            if saved.carries == "L":
                items.append(f"*{name}")
                yield f"ctx._{name}_length = len({name})"
            elif saved.carries in "TO":
                needed = self.needed(saved)
                items.append(f"{name} if {needed} else None" if needed else name)
            else:
                yield f"ctx.{name} = {name}"
        for fact in self.facts:
            value = local(fact.source)
            text = _READ[fact.fact].format(value, fact.dim)
            if fact.carries == "O":
                text = f"{text} if {value} is not None else None"
            yield f"ctx.{self._fact_name(fact)} = {text}"
        if items:
            yield from bracketed("ctx.save_for_backward(", items, indent=4).split("\n    ")

    def load_lines(self) -> Iterator[str]:
        """The same things as locals of backward."""
        tensors = [saved for saved in self.whole if saved.carries in "TOL"]
        if any(saved.carries == "L" for saved in tensors):
            yield "saved = list(ctx.saved_tensors)"
            for saved in tensors:
                name = local(saved.source)
                if saved.carries == "L":
                    yield f"{name} = saved[: ctx._{name}_length]"
                    yield f"del saved[: ctx._{name}_length]"
                else:
                    yield f"{name} = saved.pop(0)"
        elif tensors:
            names = [local(saved.source) for saved in tensors]
            left = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
            yield f"{left} = ctx.saved_tensors"
        for saved in self.whole:
            if saved not in tensors:
                yield f"{local(saved.source)} = ctx.{local(saved.source)}"
        for fact in self.facts:
            yield f"{self._fact_name(fact)} = ctx.{self._fact_name(fact)}"


def build_keeper(schema: FunctionSchema, info: DifferentiabilityInfo) -> Keeper:
    """Everything that the formulas together use. Gradients are counted as `needs_input_grad` does."""
    positions = {a.name: i for i, a in enumerate(schema.positional)}
    places = [positions[name] for name in info.arguments]
    kept = [
        replace(saved, needed_by=tuple(sorted(places[index] for index in saved.needed_by)))
        for saved in info.kept(_READ)
    ]
    whole = tuple(saved for saved in kept if saved.is_whole)
    return Keeper(schema, whole, tuple(saved for saved in kept if not saved.is_whole))


def needs_line(schema: FunctionSchema) -> str:
    """Which inputs want a gradient. PyTorch leaves out arguments that equal their default."""
    if any(a.default is not None and dispatch_kind(a.type) in "TOL" for a in schema.positional):
        return f"needs = _support.padded(ctx.needs_input_grad, {len(schema.positional)})"
    return "needs = ctx.needs_input_grad"
