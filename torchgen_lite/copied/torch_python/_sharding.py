"""How `DTensor` places the tensors of an operator with axes: every way to cut a call along one place is a strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from ._axes import Axes, Tensors, bare, leaves, named_arguments, places_in, sizes_at
from ._library import handle
from ._writes import written_arguments

# Parts of torch have no annotations.
_torch: Any = torch
# Of a result to which every piece of a call adds.
SUMMED = "summed"
# Of a tensor that the pieces of a call add once: their own are terms of it.
ADDED = "added"


def cuts(line: Axes, tensors: Tensors) -> Iterator[tuple[list[Any], list[Any]]]:
    """Every way to cut a call along one place: where its results are cut, and where its tensors.

    That is a dimension, None for what every piece of the call has whole, `SUMMED` or `ADDED`.
    """
    places, results = places_in(line, tensors)
    sizes = sizes_at(line, tensors, places)
    whole = {bare(axis) for axes in line.tensors.values() for axis in axes if axis.endswith("!")}
    for place, size in sizes.items():
        if place.partition(".")[0] in whole:
            continue
        cut_results = [own.index(place) if place in own else SUMMED for own in results]
        # A sum into what is written would be added in every piece.
        summed = [name for name, cut in zip(line.results, cut_results) if cut == SUMMED]
        if not any(name in line.tensors for name in summed):
            cut_tensors: list[Any] = []
            for (name, tensor), own in zip(tensors, places):
                is_term = bool(summed) and name in line.added and place not in own
                cut_tensors.append(ADDED if is_term else _cut(tensor, own, place, size))
            yield cut_results, cut_tensors


def _cut(tensor: Any, places: list[str], place: str, size: Any) -> int | None:
    """The dimension of a tensor at a place; what is broadcast is in every piece."""
    if place not in places:
        return None
    dim = places.index(place)
    return None if tensor.shape[dim] == 1 != size else dim


def register(line_of: Callable[[str], Axes], operator: str) -> None:
    """A strategy, unless there is one by hand."""
    from torch.distributed import tensor
    from torch.distributed.tensor.experimental import register_sharding

    op = handle(operator)
    propagator = tensor.DTensor._op_dispatcher.sharding_propagator
    strategies = propagator.op_strategy_funcs
    if op in strategies:
        return

    def placed(cut: Any) -> Any:
        if cut is None:
            return tensor.Replicate()
        return tensor.Partial() if cut in (SUMMED, ADDED) else tensor.Shard(cut)

    def sharded(*args: Any, **kwargs: Any) -> Any:
        tensors = leaves(named_arguments(op, args, kwargs))
        returns = op._schema.returns
        whole = [None for _ in returns], [None for _ in tensors]
        found = []
        for results, dims in (whole, *cuts(line_of(operator), tensors)):
            # What is written and not returned has no placement.
            placements = [placed(cut) for cut in results][: len(returns)]
            found.append((placements, [placed(dim) for dim in dims]))
        return found

    register_sharding(op)(sharded)
    strategies[op] = _fitted(op, strategies[op])
    # A strategy is kept for other calls, which may have other tensors by keyword.
    by_keyword = [a.name for a in op._schema.arguments if a.kwarg_only]
    propagator.op_to_schema_info[op].static_kwargkey = by_keyword or None


def _fitted(op: Any, strategy: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A strategy that never writes to a redistributed copy, and has a placement for each item of a list result.

    DTensor redistributes what is given by position alone, so what is given by keyword has to stay as it is placed, too.
    """
    returns = op._schema.returns
    by_keyword = [argument.name for argument in op._schema.arguments if argument.kwarg_only]
    fixed = {*written_arguments(op), *by_keyword}
    is_list = len(returns) == 1 and isinstance(returns[0].type, _torch.ListType)

    def fitted(schema: Any) -> Any:
        found = strategy(schema)
        values = [*enumerate(schema.args_schema), *schema.kwargs_schema.items()]
        kept = _placed_now(values, fixed)
        found.strategies = [way for way in found.strategies if _keeps(way, kept)]
        if not found.strategies:
            what = "neither what is written nor what is given by keyword"
            raise RuntimeError(
                f"{op} can't take tensors that are placed like this: DTensor moves {what}"
            )
        if is_list:
            counts = [len(value.children) for _, value in values if hasattr(value, "children")]
            for way in found.strategies:
                way.output_specs = (way.output_specs,) * (counts[0] if counts else 1)
        return found

    return fitted


def _placed_now(values: Any, fixed: set[Any]) -> dict[int, Any]:
    """The placements of the tensors that have to stay as they are, by their index among all tensors."""
    found: dict[int, Any] = {}
    count = 0
    for place, value in values:
        for item in getattr(value, "children", (value,)):
            if not hasattr(item, "strategies"):
                continue
            if place in fixed:
                found[count] = item.strategies[0].output_spec.placements
            count += 1
    return found


def _keeps(way: Any, kept: dict[int, Any]) -> bool:
    return all(way.input_specs[index].placements == own for index, own in kept.items())
