"""Calls of an operator with axes on NestedTensors with one jagged dimension: one call on their values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from torch.utils import _pytree as pytree

from ._axes import Axes, Names, Tensors, bare, leaves, ranks_of_tensors
from ._library import handle, named
from ._writes import returned, values_at, written_arguments


def register(line_of: Callable[[str], Axes], operator: str) -> None:
    """The calls, unless there is something by hand."""
    from torch.nested._internal import ops

    op = handle(operator)

    def jagged(*args: Any, **kwargs: Any) -> Any:
        return _jagged(line_of(operator), op, args, kwargs)

    table: Any = ops.JAGGED_OPS_TABLE
    table.setdefault(op, jagged)


def _jagged(line: Axes, op: Any, args: Any, kwargs: Any) -> Any:
    """The two dimensions in front, the items and the jagged one, are a single one of `*b` in their values."""
    from torch.nested._internal import nested_tensor, ops

    nested: Any = nested_tensor.NestedTensor
    # What makes a jagged tensor of values, beside those: where the items of another one begin and end.
    offsets_of: Any = ops.extract_kwargs
    given = leaves(named(op._schema, args, kwargs).items())
    first = next(tensor for _, tensor in given if isinstance(tensor, nested))
    _check_tensors(line, given, first)
    if not _can_be_one_call(line, op, given, nested):
        raise NotImplementedError(f"{line.operator}: not with jagged tensors")

    def values_of(argument: Any) -> Any:
        return argument._values if isinstance(argument, nested) else argument

    value_args, value_kwargs = pytree.tree_map(values_of, (args, kwargs))
    results = op(*value_args, **value_kwargs)
    if op._schema.is_mutable:
        written = values_at(written_arguments(op), args, kwargs)
        return returned(written) if op._schema.returns else None

    def with_items(values: Any) -> Any:
        return nested(values, **offsets_of(first))

    if len(line.results) == 1:
        results = [results]
    jagged_results = []
    for result, axes in zip(results, line.results.values()):
        has_items = bool(axes) and axes[0][0] == "*"
        jagged_results.append(pytree.tree_map(with_items, result) if has_items else result)
    return returned(jagged_results)


def _can_be_one_call(line: Axes, op: Any, given: Tensors, nested: Any) -> bool:
    """Whether a call on the values gives what calls on the items give."""
    kinds = {(name, isinstance(tensor, nested)) for name, tensor in given}
    # A list of tensors has jagged ones and others.
    is_mixed = len(kinds) > len(dict(given))
    inner_axes = chain.from_iterable([axes[1:] for axes in line.results.values()])
    has_star_inside = any(axis[0] == "*" for axis in inner_axes)
    schema = op._schema
    returns_new = any(declared.alias_info is None for declared in schema.returns)
    writes_and_returns_new = schema.is_mutable and returns_new
    return not (is_mixed or has_star_inside or writes_and_returns_new)


def _check_tensors(line: Axes, given: Tensors, first: Any) -> None:
    """Check that jagged tensors are like the first, and that others have neither items nor a jagged dimension."""
    ranks, most = ranks_of_tensors(line, given)
    for (name, tensor), its_ranks in zip(given, ranks):
        star = _star_in_front(line.tensors.get(name, ()))
        if isinstance(tensor, type(first)):
            is_only_star = bool(star) and list(most) == [star]
            has_both = is_only_star and its_ranks[star] == most[star] > 1
            can = has_both and _is_packed_like(tensor, first)
        else:
            # It is broadcast over the items and the jagged dimension.
            with_both = its_ranks.get(star, 0) + 2
            can = with_both <= most.get(star, 2)
        if not can:
            raise NotImplementedError(f"{line.shown(name)}: not with these jagged tensors")


def _star_in_front(axes: Names) -> str:
    """The `*` that a tensor begins with, if calls may be cut along it, and else nothing."""
    if not axes:
        return ""
    first = axes[0]
    is_star = first[0] == "*" and first[-1] != "!"
    return bare(first) if is_star else ""


def _is_packed_like(tensor: Any, first: Any) -> bool:
    is_packed = tensor._ragged_idx == 1 and tensor.lengths() is None
    # The number of items, and the size that stands for all of theirs.
    return is_packed and bool(tensor.shape[:2] == first.shape[:2])
