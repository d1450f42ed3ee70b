"""The rule for `torch.vmap` of an operator with axes: one call with one more dimension in `*b`, or a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils import _pytree as pytree

from ._axes import Axes, bare, places_of, ranks_of
from ._library import Function, handle
from ._loops import Leaf, check_written, stacked
from ._writes import written_arguments


def rule(line: Axes) -> Function:
    """What `register_vmap` takes: it returns the results, and the dimensions of each that were mapped over."""

    def vmap(info: Any, in_dims: Any, /, *args: Any, **kwargs: Any) -> Any:
        op = handle(line.operator)
        returns = op._schema.returns
        found, dims = _mapped(line, op, info.batch_size, in_dims, args, kwargs)
        if not returns:
            return None, None
        if any(value.alias_info is not None for value in returns):
            # Results that are arguments stay those arguments.
            written = [place for place in written_arguments(op) if isinstance(place, int)]
            results = [args[place] for place in written]
            found = results[0] if len(results) == 1 else tuple(results)
        return found, dims[0] if len(returns) == 1 else tuple(dims)

    return vmap


class _Leaf(Leaf):
    """One with what axes are compared with."""

    @property
    def is_tensor(self) -> bool:
        return hasattr(self.value, "shape")

    @property
    def rank(self) -> int:
        """How many dimensions it has beside that one."""
        return self.value.dim() - (self.dim is not None) if self.is_tensor else 0

    def in_front(self) -> Any:
        """The value with the dimension that is mapped over in front."""
        return self.value if self.dim is None else self.value.movedim(self.dim, 0)


def _mapped(
    line: Axes, op: Any, size: int, in_dims: Any, args: Any, kwargs: Any
) -> tuple[Any, list[int]]:
    """The results, and their dimensions that were mapped over."""
    arguments = [argument.name for argument in op._schema.arguments]
    names = [name for name, value in zip(arguments, args) for _ in pytree.tree_leaves(value)]
    values, spec = pytree.tree_flatten(args)
    leaves = list(map(_Leaf, names, values, pytree.tree_leaves(in_dims)))
    check_written(op, leaves)
    star = _common_star(line, leaves)
    if star is None or _changes_promotion(leaves):
        return _looped(op, size, leaves, spec, kwargs), [0 for _ in line.results]
    tensors = [(leaf.name if leaf.is_tensor else "", leaf.rank) for leaf in leaves]
    ranks, most = ranks_of(line, tensors)
    batch, more = f"{star}.{most[star]}", {star: most[star] + 1}
    inputs = []
    for leaf, own in zip(leaves, ranks):
        value = leaf.in_front()
        if star in own:
            axes = line.tensors[leaf.name]
            has = [batch, *places_of(axes, own)]
            value = _arranged(leaf, size, has, places_of(axes, own | more))
        inputs.append(value)
    found = op(*pytree.tree_unflatten(inputs, spec), **kwargs)
    return found, [places_of(axes, most | more).index(batch) for axes in line.results.values()]


def _common_star(line: Axes, leaves: Sequence[_Leaf]) -> str | None:
    """The first `*` that everything has that is mapped over, and every result: the new dimension goes there."""
    axes = [line.tensors.get(leaf.name, ()) for leaf in leaves if leaf.dim is not None]
    axes += line.results.values()
    for axis in axes[0]:
        if axis[0] == "*" and bare(axis) == axis and all(axis in own for own in axes):
            return axis
    return None


def _arranged(leaf: _Leaf, size: int, has: list[str], wanted: list[str]) -> Any:
    """A tensor with a dimension at each place that is wanted; `has` are its own.

    What is not mapped over is expanded without a copy, so that the kernel broadcasts as in a single call.
    """
    value = leaf.in_front()
    shape = value.shape if leaf.dim is None else value.shape[1:]
    missing = [place for place in wanted if place not in has]
    whole = value.expand(size, *shape)[(...,) + (None,) * len(missing)]
    places = [*has, *missing]
    return whole.permute([places.index(place) for place in wanted])


def _changes_promotion(leaves: Sequence[_Leaf]) -> bool:
    """Whether one more dimension could change the dtype of results: tensors without any have a smaller part in it."""
    tensors = [leaf for leaf in leaves if leaf.is_tensor]
    dtypes = {leaf.value.dtype for leaf in tensors}
    return len(dtypes) > 1 and len({leaf.rank > 0 for leaf in tensors}) > 1


def _looped(op: Any, size: int, leaves: Sequence[_Leaf], spec: Any, kwargs: Any) -> Any:
    """One call for each item; their results are stacked."""
    rows = []
    for index in range(size):
        row = [leaf.item(index) for leaf in leaves]
        rows.append(op(*pytree.tree_unflatten(row, spec), **kwargs))
    return stacked(op, rows) if op._schema.returns else None
