"""What forward keeps for backward: tensors by `save_for_backward`, the rest as attributes of `ctx`.

    ctx.save_for_backward(a if ctx.needs_input_grad[1] else None)
    ctx.b_shape = b.shape

A tensor is kept where the gradient that uses it is wanted. A formula that asks only for a shape or a
dtype keeps that and lets the memory go.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    SavedAttribute,
    return_names,
)
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.dispatch_kind import dispatch_kind

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
    "args_scalartypes": "[_t.dtype for _t in {0}]",
    "args_sizes": "[_t.shape for _t in {0}]",
    "device": "{0}.device",
    "dim": "{0}.ndim",
    "dtype": "{0}.dtype",
    "info": "_support.info_of({0})",
    "layout": "{0}.layout",
    "ndim": "{0}.ndim",
    "numel": "{0}.numel()",
    "scalar_type": "{0}.dtype",
    "shape": "{0}.shape",
    "sym_numel": "{0}.numel()",
    "sym_sizes": "{0}.shape",
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


def display(items: Sequence[str]) -> str:
    """`(a,)` or `(a, b)`."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


@dataclass(frozen=True, slots=True)
class Kept:
    """One tensor, list or number that is kept whole. `needed` is the condition, empty for always."""

    name: str
    kind: str
    needed: str


@dataclass(frozen=True, slots=True)
class Keeper:
    """What is kept for one operator."""

    whole: tuple[Kept, ...]
    facts: tuple[SavedAttribute, ...]
    kinds: dict[str, str]
    result_names: tuple[str, ...]

    def inputs(self) -> set[str]:
        """The arguments that something is kept of."""
        return self._sources() - set(self.result_names)

    def results(self) -> set[str]:
        return self._sources() & set(self.result_names)

    def _sources(self) -> set[str]:
        return {k.name for k in self.whole} | {f.source for f in self.facts}

    def fact(self, attribute: SavedAttribute) -> str | None:
        """The local that a fact is in, or None where the tensor is kept."""
        if attribute not in self.facts:
            return None
        name = self._fact_name(attribute)
        return f"_support.zeros({name})" if attribute.name.endswith("_info") else name

    def _fact_name(self, attribute: SavedAttribute) -> str:
        """`x_shape`, unless that is an argument; no local of an argument looks like `_x_shape`."""
        return f"_{attribute.name}" if attribute.name in self.kinds else local(attribute.name)

    def asks_needs(self) -> bool:
        """Whether it depends on the gradients that are wanted what is kept."""
        return any(kept.needed and kept.kind in ("T", "O") for kept in self.whole)

    def save_lines(self) -> Iterator[str]:
        items = []
        for kept in self.whole:
            name = local(kept.name)
            if kept.kind == "L":
                items.append(f"*{name}")
                yield f"ctx._{name}_length = len({name})"
            elif kept.kind in ("T", "O"):
                items.append(f"{name} if {kept.needed} else None" if kept.needed else name)
            else:
                yield f"ctx.{name} = {name}"
        for fact in self.facts:
            value = local(fact.source)
            text = _read(fact).format(value)
            if self.kinds.get(fact.source) == "O":
                text = f"{text} if {value} is not None else None"
            yield f"ctx.{self._fact_name(fact)} = {text}"
        if items:
            yield from bracketed("ctx.save_for_backward(", items, indent=4).split("\n    ")

    def load_lines(self) -> Iterator[str]:
        """The same things as locals of backward."""
        tensors = [kept for kept in self.whole if kept.kind in ("T", "O", "L")]
        if any(kept.kind == "L" for kept in tensors):
            yield "saved = list(ctx.saved_tensors)"
            for kept in tensors:
                name = local(kept.name)
                if kept.kind == "L":
                    yield f"{name} = saved[: ctx._{name}_length]"
                    yield f"del saved[: ctx._{name}_length]"
                else:
                    yield f"{name} = saved.pop(0)"
        elif tensors:
            names = [local(kept.name) for kept in tensors]
            left = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
            yield f"{left} = ctx.saved_tensors"
        for kept in self.whole:
            if kept not in tensors:
                yield f"{local(kept.name)} = ctx.{local(kept.name)}"
        for fact in self.facts:
            yield f"{self._fact_name(fact)} = ctx.{self._fact_name(fact)}"


def build_keeper(schema: FunctionSchema, info: DifferentiabilityInfo) -> Keeper:
    """Everything that the formulas together use."""
    kinds = {a.name: dispatch_kind(a.type) for a in schema.arguments}
    results = return_names(schema)
    kinds |= {name: dispatch_kind(r.type) for name, r in zip(results, schema.returns)}
    whole: dict[str, Kept] = {}
    facts: dict[SavedAttribute, None] = {}
    # torch.library flattens lists before it calls setup_context, so positions are off there.
    has_lists = any(kinds[a.name] == "L" for a in schema.arguments)
    for attribute in (*info.saved_inputs, *info.saved_outputs):
        if not attribute.is_whole and _read(attribute):
            facts[attribute] = None
        else:
            source = attribute.source
            needed = "" if has_lists else _needed(schema, info, source)
            whole[source] = Kept(source, kinds[source], needed)
    return Keeper(tuple(whole.values()), tuple(facts), kinds, results)


def _read(attribute: SavedAttribute) -> str:
    suffix = attribute.name.removeprefix(f"{attribute.source}_")
    if suffix.startswith("sym_argsize_"):
        index = suffix.removeprefix("sym_argsize_").replace("minus_", "-")
        return f"{{0}}.shape[{index}]"
    return _READ.get(suffix.removesuffix("_symint"), "")


def _needed(schema: FunctionSchema, info: DifferentiabilityInfo, source: str) -> str:
    """The condition under which some gradient uses a value; empty if all do."""
    positions = {a.name: i for i, a in enumerate(schema.positional)}
    using = [
        name
        for derivative in info.derivatives
        for saved in (*derivative.saved_inputs, *derivative.saved_outputs)
        if saved.source == source and not (_read(saved) and not saved.is_whole)
        for name in derivative.names
    ]
    names = sorted(set(using), key=lambda name: positions[name])
    if len(names) == len(info.arguments):
        return ""
    return " or ".join(f"needs[{positions[name]}]" for name in names)


def needs_line(schema: FunctionSchema) -> str:
    """Which inputs want a gradient. PyTorch leaves out arguments that equal their default."""
    if any(a.default is not None and dispatch_kind(a.type) in "TOL" for a in schema.positional):
        return f"needs = _support.padded(ctx.needs_input_grad, {len(schema.positional)})"
    return "needs = ctx.needs_input_grad"
