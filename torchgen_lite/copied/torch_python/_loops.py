"""`torch.vmap` by a loop: one call for each item, whose results are stacked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from ._library import Function, Registering, named
from ._writes import names_written, returned

# Parts of torch have no annotations.
_C: Any = torch._C
_HERE = _C.DispatchKeySet(_C.DispatchKey.FuncTorchBatched)


def register(registering: Registering) -> None:
    """The kernel for `torch.vmap` of an operator, unless another library has one."""
    if registering.has("loop") and not registering.has_kernel("FuncTorchBatched"):
        kernel = registering.table[registering.name, "loop"](registering.op)
        registering.impl("FuncTorchBatched", kernel)


class Leaf(NamedTuple):
    """A value in the arguments of a call, the argument that it is in, and the dimension that is mapped over, if one is."""

    name: str
    value: Any
    dim: int | None

    def item(self, index: int) -> Any:
        if self.dim is None:
            return self.value
        return self.value.select(self.dim, index)


def looping(op: Any) -> Function:
    """The kernel of an operator; unlike a rule that `register_vmap` takes, it has tensors by keyword, too."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        from torch._functorch import pyfunctorch

        vmap: Any = pyfunctorch.retrieve_current_functorch_interpreter()
        level = vmap.level()
        given = named(op._schema, args, kwargs)
        values, spec = pytree.tree_flatten((args, kwargs))
        leaves = []
        for name, value in zip(leaf_names(given.items()), values):
            leaves.append(_unwrapped(name, value, level))
        # What is called goes on to the transforms below this one.
        with _C._ExcludeDispatchKeyGuard(_HERE):
            if all(leaf.dim is None for leaf in leaves):
                return op(*args, **kwargs)
            check_written(op, leaves)
            copied = _copied(op, leaves)
            rows = []
            for index in range(vmap.batch_size()):
                rows.append(_of_item(op, leaves, index, spec, copied))
            return returned(list(_results(op, rows, given, level)))

    return kernel


def _of_item(
    op: Any, leaves: Sequence[Leaf], index: int, spec: Any, copied: Collection[str]
) -> Any:
    """What the call of one item gives. It writes to a copy of what is `copied`, which is written back."""
    row = []
    copies = []
    for leaf in leaves:
        value = leaf.item(index)
        if leaf.name in copied and leaf.dim is not None:
            value = value.clone()
            copies.append((leaf, value))
        row.append(value)
    args, kwargs = pytree.tree_unflatten(row, spec)
    result = op(*args, **kwargs)
    for leaf, value in copies:
        leaf.item(index).copy_(value)
    return result


def _copied(op: Any, leaves: Sequence[Leaf]) -> set[str]:
    """What a call in place that is recorded writes to: a formula may keep it, and the write to the next item would change
    the version of that, as all items share their memory."""
    if not torch.is_grad_enabled():
        return set()
    if not any(getattr(leaf.value, "requires_grad", False) for leaf in leaves):
        return set()
    names = set()
    for result in op._schema.returns:
        if result.alias_info is not None:
            names.add(_written_as(op, result))
    return names


def leaf_names(arguments: Iterable[tuple[str, Any]]) -> list[str]:
    """For each value in the arguments of a call, the name of the argument that it is in."""
    names: list[str] = []
    for name, value in arguments:
        count = len(pytree.tree_leaves(value))
        names += [name] * count
    return names


def _unwrapped(name: str, value: Any, level: int) -> Leaf:
    if not isinstance(value, torch.Tensor):
        return Leaf(name, value, None)
    below, dim = _C._functorch._unwrap_batched(value, level)
    return Leaf(name, below, dim)


def check_written(op: Any, leaves: Sequence[Leaf]) -> None:
    """Refuse to write the items of what is mapped over, one after the other, to what is not."""
    written = names_written(op._schema)
    for leaf in leaves:
        # Optional tensors may be left out.
        is_there = leaf.value is not None
        if leaf.name in written and is_there and leaf.dim is None:
            message = f"vmap can't write to {leaf.name}, which it does not map over"
            raise RuntimeError(f"{op.name()}: {message}")


def _results(op: Any, rows: Sequence[Any], given: Mapping[str, Any], level: int) -> Iterator[Any]:
    """Those that are written are the arguments that were given, and the others are stacked."""
    returns = op._schema.returns

    def mapped(value: torch.Tensor) -> Any:
        return _C._functorch._add_batch_dim(value, 0, level)

    for index, declared in enumerate(returns):
        if declared.alias_info is not None:
            yield given[_written_as(op, declared)]
            continue
        items = rows
        if len(returns) > 1:
            items = [row[index] for row in rows]
        result = stacked(op, items)
        yield pytree.tree_map_only(torch.Tensor, mapped, result)


def _written_as(op: Any, result: Any) -> str:
    """The argument that a result is."""
    letters = result.alias_info.before_set
    names = []
    for argument in op._schema.arguments:
        alias = argument.alias_info
        if alias is not None and alias.before_set & letters:
            names.append(str(argument.name))
    return names[0]


def stacked(op: Any, items: Sequence[Any]) -> Any:
    """A result of all items together: a tensor, or a list with as many tensors as each item has."""
    if not items:
        raise RuntimeError(f"{op.name()}: vmap over no items, one by one, has no results")
    structures = {str(pytree.tree_structure(item)) for item in items}
    if len(structures) > 1:
        raise RuntimeError(f"{op.name()}: vmap can't stack lists of several lengths")
    columns = []
    rows = map(pytree.tree_leaves, items)
    for column in zip(*rows):
        # A tensor may be there or not, but for all items alike.
        is_absent = all(value is None for value in column)
        columns.append(None if is_absent else torch.stack(column))
    structure = pytree.tree_structure(items[0])
    return pytree.tree_unflatten(columns, structure)
