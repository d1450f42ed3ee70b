"""Calls of an operator with axes on NestedTensors with one jagged dimension: one call on their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils import _pytree as pytree

from ._axes import Axes, Names, Tensors, bare, leaves, named_arguments, ranks_of
from ._library import handle
from ._writes import values_at, written_arguments


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
    more_of: Any = ops.extract_kwargs
    given = leaves(named_arguments(op, args, kwargs))
    first = next(tensor for _, tensor in given if isinstance(tensor, nested))
    _check_tensors(line, given, first)
    returns, is_mutable = op._schema.returns, op._schema.is_mutable
    kinds = {(name, isinstance(tensor, nested)) for name, tensor in given}
    is_mixed = len(kinds) > len(dict(given))
    is_inner = any(axis[0] == "*" for axes in line.results.values() for axis in axes[1:])
    returns_new = any(value.alias_info is None for value in returns)
    if is_mixed or is_inner or (is_mutable and returns_new):
        raise NotImplementedError(f"{line.operator}: not with jagged tensors")

    def of_values(value: Any) -> Any:
        return value._values if isinstance(value, nested) else value

    found = op(*pytree.tree_map(of_values, args), **pytree.tree_map(of_values, kwargs))
    if is_mutable:
        written = values_at(written_arguments(op), args, kwargs)
        if not returns:
            return None
        return written[0] if len(written) == 1 else tuple(written)

    def with_items(value: Any, axes: Names) -> Any:
        if not axes or axes[0][0] != "*":
            return value
        more = more_of(first)
        return pytree.tree_map(lambda values: nested(values, **more), value)

    lines = [*line.results.values()]
    if len(lines) == 1:
        return with_items(found, lines[0])
    return tuple(with_items(value, axes) for value, axes in zip(found, lines))


def _check_tensors(line: Axes, given: Tensors, first: Any) -> None:
    """Check that jagged tensors are like the first, and that others have neither items nor a jagged dimension."""
    ranks, most = ranks_of(line, [(name, len(tensor.shape)) for name, tensor in given])
    for (name, tensor), own in zip(given, ranks):
        axes = line.tensors.get(name, ())
        star = bare(axes[0]) if axes and axes[0][0] == "*" and axes[0][-1] != "!" else ""
        if isinstance(tensor, type(first)):
            is_only = bool(star) and list(most) == [star]
            can = is_only and own[star] == most[star] > 1 and _is_packed_like(tensor, first)
        else:
            can = own.get(star, 0) + 2 <= most.get(star, 2)
        if not can:
            raise NotImplementedError(f"{line.shown(name)}: not with these jagged tensors")


def _is_packed_like(tensor: Any, first: Any) -> bool:
    is_packed = tensor._ragged_idx == 1 and tensor.lengths() is None
    return is_packed and bool(tensor.shape[:2] == first.shape[:2])
