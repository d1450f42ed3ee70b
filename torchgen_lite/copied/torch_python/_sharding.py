"""How `DTensor` places the tensors of an operator with axes: every way to cut a call along one place is a strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from ._axes import Axes, Tensors, bare, leaves, places_in, sizes_at
from ._library import handle, named
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
    places_of_each, places_of_results = places_in(line, tensors)
    sizes = sizes_at(line, tensors, places_of_each)
    whole = _whole_axes(line)
    for place, size in sizes.items():
        axis = place.partition(".")[0]
        if axis in whole:
            continue
        cut_results = [_cut_result(places, place) for places in places_of_results]
        summed = {name for name, cut in zip(line.results, cut_results) if cut == SUMMED}
        # A sum into what is written would be added in every piece.
        if not summed.isdisjoint(line.tensors):
            continue
        cut_tensors: list[Any] = []
        for (name, tensor), places in zip(tensors, places_of_each):
            is_added_once = name in line.added and place not in places
            if summed and is_added_once:
                cut_tensors.append(ADDED)
            else:
                cut_tensors.append(_cut(tensor, places, place, size))
        yield cut_results, cut_tensors


def _whole_axes(line: Axes) -> set[str]:
    """The axes that no call is cut along."""
    whole = set()
    for axes in line.tensors.values():
        whole |= {bare(axis) for axis in axes if axis.endswith("!")}
    return whole


def _cut_result(places: list[str], place: str) -> int | str:
    """The dimension of a result at a place; every piece of a call adds to one that does not have it."""
    return places.index(place) if place in places else SUMMED


def _cut(tensor: Any, places: list[str], place: str, size: Any) -> int | None:
    """The dimension of a tensor at a place; what is broadcast is in every piece."""
    if place not in places:
        return None
    dim = places.index(place)
    is_broadcast = tensor.shape[dim] == 1 != size
    return None if is_broadcast else dim


def register(line_of: Callable[[str], Axes], operator: str) -> None:
    """A strategy, unless there is one by hand."""
    from torch.distributed import tensor
    from torch.distributed.tensor.experimental import register_sharding

    op = handle(operator)
    propagator = tensor.DTensor._op_dispatcher.sharding_propagator
    registered = propagator.op_strategy_funcs
    if op in registered:
        return

    def placed(cut: Any) -> Any:
        if cut is None:
            return tensor.Replicate()
        if cut in (SUMMED, ADDED):
            return tensor.Partial()
        return tensor.Shard(cut)

    def sharded(*args: Any, **kwargs: Any) -> Any:
        tensors = leaves(named(op._schema, args, kwargs).items())
        returns = op._schema.returns
        uncut = [None] * len(returns), [None] * len(tensors)
        ways = [uncut, *cuts(line_of(operator), tensors)]
        strategies = []
        for cut_results, cut_tensors in ways:
            # What is written and not returned has no placement.
            cut_returns = cut_results[: len(returns)]
            of_results = list(map(placed, cut_returns))
            of_tensors = list(map(placed, cut_tensors))
            strategies.append((of_results, of_tensors))
        return strategies

    register_sharding(op)(sharded)
    registered[op] = _fitted(op, registered[op])
    # A strategy is kept for other calls, which may have other tensors by keyword.
    by_keyword = _by_keyword(op)
    propagator.op_to_schema_info[op].static_kwargkey = by_keyword or None


class NotPlaced(RuntimeError):
    """No way to cut a call takes its tensors as they are placed."""


def _by_keyword(op: Any) -> list[str]:
    return [argument.name for argument in op._schema.arguments if argument.kwarg_only]


def _fitted(op: Any, strategy: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A strategy that never writes to a redistributed copy, and has a placement for each item of a list result.

    DTensor redistributes what is given by position alone, so what is given by keyword has to stay as it is placed, too.
    """
    returns = op._schema.returns
    fixed = {*written_arguments(op), *_by_keyword(op)}
    is_one = len(returns) == 1
    is_list = is_one and isinstance(returns[0].type, _torch.ListType)

    def fitted(schema: Any) -> Any:
        try:
            ways = strategy(schema)
        except RuntimeError as error:
            if returns:
                raise
            # From 2.14 on, what is written by keyword is to be placed as results are, of which there are none.
            raise NotPlaced(str(error)) from error
        values = [*enumerate(schema.args_schema), *schema.kwargs_schema.items()]
        kept = _placed_now(values, fixed)
        ways.strategies = [way for way in ways.strategies if _keeps(way, kept)]
        if not ways.strategies:
            what = "neither what is written nor what is given by keyword"
            raise NotPlaced(
                f"{op} can't take tensors that are placed like this: DTensor moves {what}"
            )
        if is_list:
            lists = [value for _, value in values if hasattr(value, "children")]
            count = len(lists[0].children) if lists else 1
            for way in ways.strategies:
                way.output_specs = (way.output_specs,) * count
        return ways

    return fitted


def _placed_now(values: Any, fixed: set[Any]) -> dict[int, Any]:
    """The placements of the tensors that have to stay as they are, by their index among all tensors."""
    placements: dict[int, Any] = {}
    count = 0
    for place, value in values:
        items = getattr(value, "children", (value,))
        for item in items:
            if hasattr(item, "strategies"):
                if place in fixed:
                    placements[count] = item.strategies[0].output_spec.placements
                count += 1
    return placements


def _keeps(way: Any, kept: dict[int, Any]) -> bool:
    """Whether a way to place a call leaves these placements as they are."""
    for index, placements in kept.items():
        if way.input_specs[index].placements != placements:
            return False
    return True
