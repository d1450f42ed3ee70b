"""The rule for `torch.vmap` of an operator with axes: one call with one more dimension in `*b`, or a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils import _pytree as pytree

from ._axes import Axes, bare, places_of, ranks_of
from ._library import Function, handle
from ._loops import Leaf, check_written, leaf_names, stacked
from ._writes import returned, written_arguments


def rule(line: Axes) -> Function:
    """What `register_vmap` takes: it returns the results, and the dimensions of each that were mapped over."""

    def vmap(info: Any, in_dims: Any, /, *args: Any, **kwargs: Any) -> Any:
        op = handle(line.operator)
        returns = op._schema.returns
        results, dims = _mapped(line, op, info.batch_size, in_dims, args, kwargs)
        if not returns:
            return None, None
        if any(declared.alias_info is not None for declared in returns):
            results = _written(op, args)
        if len(returns) == 1:
            return results, dims[0]
        return results, tuple(dims)

    return vmap


def _written(op: Any, args: Sequence[Any]) -> Any:
    """The results of a call that returns what it writes: they stay the arguments that they are."""
    by_position = [place for place in written_arguments(op) if isinstance(place, int)]
    return returned([args[place] for place in by_position])


class _Leaf(Leaf):
    """One with what axes are compared with."""

    @property
    def is_tensor(self) -> bool:
        return hasattr(self.value, "shape")

    @property
    def rank(self) -> int:
        """How many dimensions it has beside that one."""
        if not self.is_tensor:
            return 0
        dimensions: int = self.value.dim()
        return dimensions if self.dim is None else dimensions - 1

    def in_front(self) -> Any:
        """The value with the dimension that is mapped over in front."""
        if self.dim is None:
            return self.value
        return self.value.movedim(self.dim, 0)


def _mapped(
    line: Axes, op: Any, size: int, in_dims: Any, args: Any, kwargs: Any
) -> tuple[Any, list[int]]:
    """The results, and their dimensions that were mapped over."""
    arguments = [argument.name for argument in op._schema.arguments]
    names = leaf_names(zip(arguments, args))
    values, spec = pytree.tree_flatten(args)
    dims = pytree.tree_leaves(in_dims)
    leaves = []
    for name, value, dim in zip(names, values, dims):
        leaves.append(_Leaf(name, value, dim))
    check_written(op, leaves)
    star = _common_star(line, leaves)
    if star is None or _changes_promotion(leaves):
        stacked_in_front = [0 for _ in line.results]
        return _looped(op, size, leaves, spec, kwargs), stacked_in_front
    tensors = [_axes_of(leaf) for leaf in leaves]
    ranks, most = ranks_of(line, tensors)
    # The new dimension stands in front of those that the star has.
    batch = f"{star}.{most[star]}"
    one_more = {star: most[star] + 1}
    inputs = []
    for leaf, its_ranks in zip(leaves, ranks):
        if star not in its_ranks:
            inputs.append(leaf.in_front())
            continue
        axes = line.tensors[leaf.name]
        has = [batch, *places_of(axes, its_ranks)]
        wanted = places_of(axes, its_ranks | one_more)
        inputs.append(_arranged(leaf, size, has, wanted))
    batched_args = pytree.tree_unflatten(inputs, spec)
    results = op(*batched_args, **kwargs)
    result_dims = []
    for axes in line.results.values():
        places = places_of(axes, most | one_more)
        result_dims.append(places.index(batch))
    return results, result_dims


def _axes_of(leaf: _Leaf) -> tuple[str, int]:
    """The argument whose axes a value has, and how many dimensions are to be those; a number has no axes."""
    name = leaf.name if leaf.is_tensor else ""
    return name, leaf.rank


def _common_star(line: Axes, leaves: Sequence[_Leaf]) -> str | None:
    """The first `*` that everything has that is mapped over, and every result: the new dimension goes there."""
    mapped_over = [leaf for leaf in leaves if leaf.dim is not None]
    everything = [line.tensors.get(leaf.name, ()) for leaf in mapped_over]
    everything += line.results.values()
    for axis in everything[0]:
        is_star = axis[0] == "*" and bare(axis) == axis
        if is_star and all(axis in axes for axes in everything):
            return axis
    return None


def _arranged(leaf: _Leaf, size: int, has: list[str], wanted: list[str]) -> Any:
    """A tensor with a dimension at each place that is wanted; `has` are its own.

    What is not mapped over is expanded without a copy, so that the kernel broadcasts as in a single call.
    """
    value = leaf.in_front()
    shape = value.shape
    if leaf.dim is not None:
        shape = shape[1:]
    missing = [place for place in wanted if place not in has]
    expanded = value.expand(size, *shape)
    # What is missing comes last, with size 1.
    at_the_end = (None,) * len(missing)
    complete = expanded[(...,) + at_the_end]
    places = [*has, *missing]
    order = [places.index(place) for place in wanted]
    return complete.permute(order)


def _changes_promotion(leaves: Sequence[_Leaf]) -> bool:
    """Whether one more dimension could change the dtype of results: tensors without any have a smaller part in it."""
    dtypes = set()
    have_dimensions = set()
    for leaf in leaves:
        if leaf.is_tensor:
            dtypes.add(leaf.value.dtype)
            have_dimensions.add(leaf.rank > 0)
    return len(dtypes) > 1 and len(have_dimensions) > 1


def _looped(op: Any, size: int, leaves: Sequence[_Leaf], spec: Any, kwargs: Any) -> Any:
    """One call for each item; their results are stacked."""
    rows = []
    for index in range(size):
        row_args = pytree.tree_unflatten([leaf.item(index) for leaf in leaves], spec)
        rows.append(op(*row_args, **kwargs))
    if not op._schema.returns:
        return None
    return stacked(op, rows)
