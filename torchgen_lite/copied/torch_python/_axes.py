"""What a line of `axes:` says about the calls of an operator: shapes, `vmap`, sharding and flops.

Note [Places of axes]
A tensor may have fewer dimensions in `*b` than another one, as in broadcasting. So those of `*b` are counted from the
last: `*b.0`, and `*b.1` before it. These names, and those of other axes, are the places of dimensions: the same place
in two tensors of a call is the same thing.

Note [Layouts of derived results]
The results of a pointwise operator have the strides that PyTorch's own pointwise operators give for tensors in this
order: of the tensors, those in front decide. All other results are contiguous. Compiled programs rely on it.

Note [Dtypes of derived results]
The dtype of a result is that of `torch.result_type` for all tensors and numbers of the call. A kernel need not compute
it so: it may leave out what it only writes to, and a tensor that has no axis of this result (a mean of `x` does not
depend on a weight). Where it is pointwise, numbers may be combined with one tensor before the others are: for `a` of
integers and `b` of float16, `a * 2.5 + b` is float32, and `(a + b) * 2.5` is float16. And where it is not, it may compute
in float32 for tensors of bfloat16 beside it. So if the tensors of a call have dtypes for which that makes a difference,
no dtype is promised, and the fake asks for a rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import torch
from torch import _prims_common
from torch.utils import _pytree as pytree

from . import _compiled, _library, _support

# The axes of a tensor as they are written: `("*b", "d!")`.
Names = tuple[str, ...]
# The tensors of a call, or what has their shapes, each with the argument that it is, or is an item of.
Tensors = Sequence[tuple[str, Any]]
# Of a result to which every piece of a call adds.
SUMMED = "summed"

# Parts of torch have no annotations.
_torch: Any = torch
_prims: Any = _prims_common
# What counts as a number of a call.
_NUMBERS = (bool, int, float, complex, torch.SymBool, torch.SymFloat, torch.SymInt)


class Given(NamedTuple):
    """What a fake makes results of: their shapes and strides, the dtypes that they may have, and a tensor on their device.

    `names` are those of the results, for messages.
    """

    like: torch.Tensor
    shapes: tuple[list[int], ...]
    strides: tuple[Sequence[int] | None, ...]
    dtypes: tuple[tuple[torch.dtype, ...], ...]
    names: tuple[str, ...]

    def dtype(self, index: int) -> torch.dtype:
        """The dtype of the result at this place. See Note [Dtypes of derived results]."""
        possible = self.dtypes[index]
        if len(possible) > 1:
            choices = " or ".join(str(dtype).removeprefix("torch.") for dtype in possible)
            raise RuntimeError(
                f"{self.names[index]} is {choices}, as the tensors of this call have several dtypes: "
                "the entry has to say which with `dtype` under `fake:`"
            )
        return possible[0]

    def new(
        self, index: int, *, dtype: torch.dtype | None = None, device: Any = None
    ) -> torch.Tensor:
        """The result at this place, without strides contiguous; a rule may give it another dtype or device."""
        shape, strides = self.shapes[index], self.strides[index]
        dtype = self.dtype(index) if dtype is None else dtype
        device = self.like.device if device is None else device
        if strides is None:
            return self.like.new_empty(shape, dtype=dtype, device=device)
        return torch.empty_strided(shape, strides, dtype=dtype, device=device)


@dataclass(frozen=True)
class Axes:
    """A line of `axes:`. Results that are arguments have the name of the argument."""

    operator: str
    tensors: Mapping[str, Names]
    results: Mapping[str, Names]
    is_pointwise: bool = False

    def __call__(self, values: Mapping[str, Any]) -> Given:
        """Check the shapes of these arguments, and compute what the results are.

        Numbers among them count for the dtype, as in `torch.result_type`.
        """
        given = leaves(values.items())
        tensors, results = _places(self, given)
        sizes = _sizes(self, given, tensors)
        shapes = tuple([sizes[place] for place in places] for places in results)
        for name, one in given:
            if name in self.results:
                shape = shapes[[*self.results].index(name)]
                text = f"{self.shown(name)} has shape {tuple(one.shape)}"
                for same in (one.dim() == len(shape), *(a == b for a, b in zip(one.shape, shape))):
                    _must_be(same, f"{text}, but the result has {tuple(shape)}")
        every = [one for _, one in given]
        numbers = [value for value in values.values() if isinstance(value, _NUMBERS)]
        names = tuple(f"{self.operator}: result {name}" for name in self.results)
        dtypes = tuple(_dtypes(self, given, tensors, places, numbers) for places in results)
        strides: list[Sequence[int] | None] = [None for _ in shapes]
        if self.is_pointwise:
            strides = [
                _elementwise_strides(shape, every, tensors, places)
                for shape, places in zip(shapes, results)
            ]
        return Given(_leading(every), shapes, tuple(strides), dtypes, names)

    def vmap(self, info: Any, in_dims: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The rule for `torch.vmap`: one call with one more dimension in `*b`, or a loop."""
        op = _library._handle(self.operator)
        names = [argument.name for argument in op._schema.arguments]
        written = [place for place in _library.written_arguments(op) if isinstance(place, int)]
        for place in written:
            # Optional tensors may be left out.
            given = pytree.tree_leaves(args[place : place + 1])
            dims = pytree.tree_leaves(in_dims[place : place + 1])
            if any(one is not None and dim is None for one, dim in zip(given, dims)):
                message = f"vmap can't write to {names[place]}, which it does not map over"
                raise RuntimeError(f"{self.operator}: {message}")
        found, out = _mapped(self, op, info.batch_size, in_dims, args, kwargs)
        returns = op._schema.returns
        if any(value.alias_info is not None for value in returns):
            # Results that are arguments stay those arguments.
            results = [args[place] for place in written]
            found = results[0] if len(results) == 1 else tuple(results)
        return (found, out[0] if len(returns) == 1 else tuple(out)) if returns else (None, None)

    def shown(self, name: str) -> str:
        """An argument with its axes, for a message."""
        return f"{self.operator}: {name}[{', '.join(self.tensors.get(name, ('?',)))}]"


def leaves(values: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The tensors in arguments, each with the name of its argument."""
    found = [(name, one) for name, value in values for one in pytree.tree_leaves(value)]
    return [(name, one) for name, one in found if hasattr(one, "shape")]


# Places and sizes.


def _bare(axis: str) -> str:
    return axis.rstrip("!+")


def _must_be(same: Any, message: str) -> None:
    _library.check(same, lambda: message)


def _of_axes(axes: Names, ranks: Mapping[str, int]) -> list[str]:
    """The places of a tensor's dimensions, given how many each `*` has."""
    found: list[str] = []
    for axis in map(_bare, axes):
        is_star = axis in ranks
        found += [f"{axis}.{i}" for i in reversed(range(ranks[axis]))] if is_star else [axis]
    return found


def _ranks(line: Axes, tensors: Tensors) -> tuple[list[dict[str, int]], dict[str, int]]:
    """How many dimensions each `*` has in each tensor, and at most.

    Of several in one tensor, all but one are in other tensors, too, and have as many dimensions as there.
    """
    most: dict[str, int] = {}
    found: list[dict[str, int]] = [{} for _ in tensors]
    stars = [[_bare(a) for a in line.tensors.get(name, ()) if a[0] == "*"] for name, _ in tensors]
    for index in sorted(range(len(tensors)), key=lambda i: len(stars[i])):
        (name, tensor), own = tensors[index], stars[index]
        if name not in line.tensors:
            continue
        left = len(tensor.shape) - len(line.tensors[name]) + len(own)
        known = {star: most[star] for star in own if star in most and len(own) > 1}
        rest = dict.fromkeys([s for s in own if s not in known][:1], left - sum(known.values()))
        found[index] = known | rest
        if sum(found[index].values()) != left or min(rest.values(), default=0) < 0:
            dimensions = f"{len(tensor.shape)} dimension{'' if len(tensor.shape) == 1 else 's'}"
            raise RuntimeError(f"{line.shown(name)} has {dimensions}")
        most.update({s: max(most.get(s, 0), rank) for s, rank in found[index].items()})
    return found, most


def _places(line: Axes, tensors: Tensors) -> tuple[list[list[str]], list[list[str]]]:
    """The places of the tensors, and of the results; those of what the line does not name are nowhere."""
    ranks, most = _ranks(line, tensors)
    own = [_of_axes(line.tensors.get(name, ()), ranks[i]) for i, (name, _) in enumerate(tensors)]
    results = [_of_axes(axes, most) for axes in line.results.values()]
    lost = {place for places in results for place in places}.difference(*own)
    if lost:
        raise RuntimeError(f"{line.operator}: no tensor is given that has axis {min(lost)}")
    return own, results


def _sizes(line: Axes, tensors: Tensors, places: list[list[str]]) -> dict[str, Any]:
    """The size at each place; in `*`, tensors may have size 1 there, and are broadcast."""
    found: dict[str, tuple[Any, str]] = {}
    for (name, tensor), own in zip(tensors, places):
        for place, size in zip(own, tensor.shape):
            before, at = found.setdefault(place, (size, name))
            joined, same = size, before == size
            if place[0] == "*":
                try:
                    (joined,), same = _torch.broadcast_shapes((before,), (size,)), True
                except RuntimeError:
                    same = False
            text = f"axis {place.partition('.')[0]} is {before} in {at} and {size} in {name}"
            _must_be(same, f"{line.operator}: {text}")
            found[place] = joined, at if joined is before else name
    return {place: size for place, (size, _) in found.items()}


# Dtypes, devices and layouts of results.


def _dtypes(
    line: Axes,
    given: Tensors,
    places: Sequence[list[str]],
    result: list[str],
    numbers: Sequence[Any],
) -> tuple[torch.dtype, ...]:
    """The dtypes that a result may have. See Note [Dtypes of derived results]."""
    every = [tensor for _, tensor in given]
    choices = [every, [tensor for name, tensor in given if name not in line.results]]
    if not line.is_pointwise:
        choices += _apart(every, places, result)
    kept: list[torch.dtype] = []
    for chosen in choices:
        if chosen:
            kept.append(_support.promote(*chosen, *numbers))
        if line.is_pointwise:
            kept += _in_other_orders(chosen, numbers)
    return tuple(dict.fromkeys(kept))


def _in_other_orders(tensors: list[torch.Tensor], numbers: Sequence[Any]) -> Iterator[torch.dtype]:
    """The dtypes where the numbers are combined with one of the tensors before the others are."""
    # One without dimensions counts as a number does, unless all are without.
    have_dimensions = any(tensor.dim() for tensor in tensors)
    counting = [
        tensor.dtype if tensor.dim() or not have_dimensions else tensor for tensor in tensors
    ]
    for index, one in enumerate(counting):
        if isinstance(one, torch.dtype):
            first = _support.promote(tensors[index], *numbers)
            yield _support.promote(first, *counting[:index], *counting[index + 1 :])


def _apart(
    every: list[torch.Tensor], places: Sequence[list[str]], result: list[str]
) -> Iterator[list[torch.Tensor]]:
    """The tensors that alone may decide a dtype: those with an axis of the result, and each of the highest kind."""
    if result:
        # A tensor without dimensions counts as a number does.
        counts = [not own or not set(own).isdisjoint(result) for own in places]
        yield [tensor for tensor, is_counted in zip(every, counts) if is_counted]
    highest = _kind(_support.promote(*every))
    for tensor in every:
        if tensor.dim() and _kind(tensor.dtype) == highest:
            yield [tensor]


def _kind(dtype: torch.dtype) -> tuple[bool, bool]:
    """Complex, floating-point or neither: integers beside floating-point numbers never decide."""
    return dtype.is_complex, dtype.is_floating_point


def _leading(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The first tensor whose device decides: a number on the CPU may stand beside tensors of another device."""
    deciding = [one for one in tensors if one.dim() or one.device.type != "cpu"]
    return deciding[0] if deciding else tensors[0]


def _elementwise_strides(
    shape: list[int],
    tensors: Sequence[torch.Tensor],
    places: Sequence[list[str]],
    result: list[str],
) -> Sequence[int]:
    """See Note [Layouts of derived results]."""
    expanded = []
    for tensor, own in zip(tensors, places):
        # A tensor without dimensions has no layout.
        if not own:
            continue
        order = [own.index(place) for place in result if place in own]
        holes = [slice(None) if place in own else None for place in result]
        expanded.append(tensor.permute(order)[tuple(holes)].expand(shape))
    strides: Sequence[int] = ()
    if expanded:
        strides = _prims.compute_elementwise_output_strides(*expanded)
    return strides


# Pieces of a call, which is what sharding makes of it.


def cuts(line: Axes, tensors: Tensors) -> Iterator[tuple[list[Any], list[Any]]]:
    """Every way to cut a call along one place: where its results are cut, and where its tensors.

    That is a dimension, None for what every piece of the call has whole, or `SUMMED`.
    """
    own, results = _places(line, tensors)
    sizes = _sizes(line, tensors, own)
    whole = {_bare(a) for axes in line.tensors.values() for a in axes if a.endswith("!")}
    for place in [place for place in sizes if place.partition(".")[0] not in whole]:
        found = [places.index(place) if place in places else SUMMED for places in results]
        # A sum into what is written would be added in every piece.
        if any(cut == SUMMED and name in line.tensors for cut, name in zip(found, line.results)):
            continue
        dims = [places.index(place) if place in places else None for places in own]
        yield found, [
            # What is broadcast is in every piece.
            None if dim is None or one.shape[dim] == 1 != sizes[place] else dim
            for dim, (_, one) in zip(dims, tensors)
        ]


# `torch.vmap`.


def _mapped(
    line: Axes, op: Any, size: int, in_dims: Any, args: Any, kwargs: Any
) -> tuple[Any, list[int]]:
    """The results, and their dimensions that were mapped over.

    What has a `*` and is not mapped over is expanded without a copy, so that the kernel broadcasts as in a single call.
    """
    values, spec = pytree.tree_flatten(args)
    dims = pytree.tree_leaves(in_dims)
    every = [a.name for a, v in zip(op._schema.arguments, args) for _ in pytree.tree_leaves(v)]
    names = [name if hasattr(v, "shape") else "" for name, v in zip(every, values)]
    axes = [line.tensors.get(name, ()) for name, dim in zip(names, dims) if dim is not None]
    axes += line.results.values()
    stars = [a for a in axes[0] if a[0] == "*" and _bare(a) == a and all(a in own for own in axes)]
    if not stars or _changes_promotion(values, dims):
        return _looped(op, size, dims, (values, spec), kwargs), [0 for _ in line.results]
    values = [v if dim is None else v.movedim(dim, 0) for v, dim in zip(values, dims)]
    shapes = [getattr(v, "shape", ())[dim is not None :] for v, dim in zip(values, dims)]
    ranks, most = _ranks(line, [(n, SimpleNamespace(shape=s)) for n, s in zip(names, shapes)])
    batch, more = f"{stars[0]}.{most[stars[0]]}", {stars[0]: most[stars[0]] + 1}
    for index, (name, own) in enumerate(zip(names, ranks)):
        if stars[0] in own:
            has = [batch, *_of_axes(line.tensors[name], own)]
            wanted = _of_axes(line.tensors[name], own | more)
            missing = [place for place in wanted if place not in has]
            whole = values[index].expand(size, *shapes[index])[(...,) + (None,) * len(missing)]
            values[index] = whole.permute([[*has, *missing].index(place) for place in wanted])
    found = op(*pytree.tree_unflatten(values, spec), **kwargs)
    return found, [_of_axes(own, most | more).index(batch) for own in line.results.values()]


def _changes_promotion(values: Sequence[Any], dims: Sequence[int | None]) -> bool:
    """Whether one more dimension could change the dtype of results: tensors without any have a smaller part in it."""
    ranks = [
        (v.dim() - (dim is not None), v.dtype) for v, dim in zip(values, dims) if hasattr(v, "dim")
    ]
    dtypes = {dtype for _, dtype in ranks}
    return len(dtypes) > 1 and len({rank > 0 for rank, _ in ranks}) > 1


def _looped(op: Any, size: int, dims: Any, flat: Any, kwargs: Any) -> Any:
    """One call for each item; their results are stacked."""
    values, spec = flat
    rows = []
    for i in range(size):
        row = [v if dim is None else v.select(dim, i) for v, dim in zip(values, dims)]
        rows.append(op(*pytree.tree_unflatten(row, spec), **kwargs))
    if not rows:
        raise RuntimeError(f"{op}: vmap over no items, one by one, has no results")
    columns = zip(*map(pytree.tree_leaves, rows))
    stacked = [torch.stack(column) if op._schema.returns else None for column in columns]
    return pytree.tree_unflatten(stacked, pytree.tree_structure(rows[0]))


# What is registered in modules of torch that the package does not import.

_lines: dict[str, Axes] = {}


def register(*lines: Axes) -> None:
    """Give DTensor the strategies of these operators, and the flop counter the formulas, once they are imported.

    A reload of the package replaces the lines.
    """
    new = [line.operator for line in lines if line.operator not in _lines]
    _lines.update({line.operator: line for line in lines})
    _compiled.when_imported("torch.distributed.tensor", _register_sharding, new)
    _compiled.when_imported("torch.utils.flop_counter", _register_flops, new)
    _compiled.when_imported("torch.nested._internal.ops", _register_jagged, new)


def _arguments(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [*zip((a.name for a in op._schema.arguments), args), *kwargs.items()]


def _register_sharding(operator: str) -> None:
    """A strategy for `DTensor`, unless there is one by hand."""
    from torch.distributed import tensor
    from torch.distributed.tensor.experimental import register_sharding

    op = _library._handle(operator)
    strategies = tensor.DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
    placements = {None: tensor.Replicate(), SUMMED: tensor.Partial()}

    def placed(cut: Any) -> Any:
        return placements[cut] if cut in placements else tensor.Shard(cut)

    def sharded(*args: Any, **kwargs: Any) -> Any:
        line, tensors = _lines[operator], leaves(_arguments(op, args, kwargs))
        returns = op._schema.returns
        ways = [([None for _ in returns], [None for _ in tensors]), *cuts(line, tensors)]
        return [([*map(placed, r)][: len(returns)], [*map(placed, t)]) for r, t in ways]

    if op not in strategies:
        register_sharding(op)(sharded)
        strategies[op] = _fitted(op, strategies[op])
        # A strategy is kept for other calls, which may have other tensors by keyword.
        info = tensor.DTensor._op_dispatcher.sharding_propagator.op_to_schema_info[op]
        info.static_kwargkey = [a.name for a in op._schema.arguments if a.kwarg_only] or None


def _fitted(op: Any, strategy: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A strategy that never writes to a redistributed copy, and has a placement for each item of a list result.

    DTensor redistributes what is given by position alone, so what is given by keyword has to stay as it is placed, too.
    """
    written, returns = _library.written_arguments(op), op._schema.returns
    by_keyword = [argument.name for argument in op._schema.arguments if argument.kwarg_only]
    is_list = len(returns) == 1 and isinstance(returns[0].type, _torch.ListType)

    def fitted(schema: Any) -> Any:
        found = strategy(schema)
        values = [*enumerate(schema.args_schema), *schema.kwargs_schema.items()]
        every = [(key, one) for key, v in values for one in getattr(v, "children", (v,))]
        given = [(key, one.strategies[0]) for key, one in every if hasattr(one, "strategies")]
        fixed = {*written, *by_keyword}
        kept = [(i, one.output_spec) for i, (key, one) in enumerate(given) if key in fixed]
        found.strategies = [
            way
            for way in found.strategies
            if all(way.input_specs[i].placements == one.placements for i, one in kept)
        ]
        if not found.strategies:
            what = "neither what is written nor what is given by keyword"
            raise RuntimeError(
                f"{op} can't take tensors that are placed like this: DTensor moves {what}"
            )
        count = next((len(v.children) for _, v in values if hasattr(v, "children")), 1)
        for way in found.strategies if is_list else ():
            way.output_specs = (way.output_specs,) * count
        return found

    return fitted


def _register_jagged(operator: str) -> None:
    """Calls on NestedTensors with one jagged dimension, unless there is something by hand."""
    from torch.nested._internal import ops

    op: Any = _library._handle(operator)
    ops.JAGGED_OPS_TABLE.setdefault(op, lambda *args, **kwargs: _jagged(op, args, kwargs))


def _jagged(op: Any, args: Any, kwargs: Any) -> Any:
    """One call on their values, where the two dimensions in front, the items and the jagged one, are a single one of `*b`."""
    from torch.nested._internal import nested_tensor, ops

    NestedTensor: Any = nested_tensor.NestedTensor
    line, given = _lines[op.name()], leaves(_arguments(op, args, kwargs))
    first = next(one for _, one in given if isinstance(one, NestedTensor))
    ranks, most = _ranks(line, given)
    for (name, one), own in zip(given, ranks):
        axes = line.tensors.get(name, ())
        star = _bare(axes[0]) if axes and axes[0][0] == "*" and axes[0][-1] != "!" else ""
        if isinstance(one, NestedTensor):
            is_packed = one._ragged_idx == 1 and one.lengths() is None
            is_like = is_packed and one.shape[:2] == first.shape[:2]
            can = bool(star) and list(most) == [star] and own[star] == most[star] > 1 and is_like
        else:
            can = own.get(star, 0) + 2 <= most.get(star, 2)
        if not can:
            raise NotImplementedError(f"{line.shown(name)}: not with these jagged tensors")
    returns, is_mutable = op._schema.returns, op._schema.is_mutable
    mixed = len({(name, isinstance(one, NestedTensor)) for name, one in given}) > len(dict(given))
    inner = any(axis[0] == "*" for axes in line.results.values() for axis in axes[1:])
    if mixed or inner or (is_mutable and any(v.alias_info is None for v in returns)):
        raise NotImplementedError(f"{line.operator}: not with jagged tensors")

    def of_values(value: Any) -> Any:
        return value._values if isinstance(value, NestedTensor) else value

    found = op(*pytree.tree_map(of_values, args), **pytree.tree_map(of_values, kwargs))
    if is_mutable:
        written = _library.values_at(_library.written_arguments(op), args, kwargs)
        return (written[0] if len(written) == 1 else tuple(written)) if returns else None

    def nested(value: Any, axes: Names) -> Any:
        more: Any = cast("Any", ops).extract_kwargs(first)
        has_items = bool(axes) and axes[0][0] == "*"
        return pytree.tree_map(lambda v: NestedTensor(v, **more), value) if has_items else value

    lines = [*line.results.values()]
    if len(lines) == 1:
        return nested(found, lines[0])
    return tuple(nested(one, axes) for one, axes in zip(found, lines))


def _register_flops(operator: str) -> None:
    """Twice the product of all sizes, for a sum over an axis that several tensors have."""
    from torch.utils import flop_counter

    op = _library._handle(operator)
    summed = [a for axes in _lines[operator].tensors.values() for a in axes if a.endswith("+")]

    def flops(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        line, tensors = _lines[operator], leaves(_arguments(op, args, kwargs))
        count: int = 2 * math.prod(_sizes(line, tensors, _places(line, tensors)[0]).values())
        return count

    if op.overloadpacket not in flop_counter.flop_registry and len(summed) > len(set(summed)):
        flop_counter.register_flop_formula(op.overloadpacket, get_raw=True)(flops)
