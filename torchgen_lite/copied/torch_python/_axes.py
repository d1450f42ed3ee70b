"""What a line of `axes:` says about the arguments and results of an operator.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import _prims_common
from torch.utils import _pytree as pytree

from . import _library, _support

# The axes of a tensor as they are written: `("*b", "d!")`.
Names = tuple[str, ...]
# The tensors of a call, or what has their shapes, each with the argument that it is, or is an item of.
Tensors = Sequence[tuple[str, Any]]
# The places of the dimensions of each tensor, and of each result.
Places = Sequence[list[str]]

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
    shapes: Sequence[list[int]]
    strides: Sequence[Sequence[int] | None]
    dtypes: Sequence[Sequence[torch.dtype]]
    names: Sequence[str]

    def dtype(self, index: int) -> torch.dtype:
        """The dtype of the result at this place. See Note [Dtypes of derived results]."""
        possible = self.dtypes[index]
        if len(possible) > 1:
            choices = " or ".join(map(str, possible)).replace("torch.", "")
            raise RuntimeError(
                f"{self.names[index]} is {choices}, as the tensors of this call have several dtypes: "
                "the entry has to say which with `dtype` under `fake:`"
            )
        return possible[0]

    def new(
        self, index: int, *, dtype: torch.dtype | None = None, device: Any = None
    ) -> torch.Tensor:
        """The result at this place, without strides contiguous; a rule may give it another dtype or device."""
        shape = self.shapes[index]
        strides = self.strides[index]
        dtype = self.dtype(index) if dtype is None else dtype
        device = self.like.device if device is None else device
        if strides is None:
            return self.like.new_empty(shape, dtype=dtype, device=device)
        return torch.empty_strided(shape, strides, dtype=dtype, device=device)


@dataclass(frozen=True)
class Axes:
    """A line of `axes:`. Results that are arguments have the name of the argument.

    The tensors that are `added` are terms of the sums over the axes that they do not have.
    """

    operator: str
    tensors: Mapping[str, Names]
    results: Mapping[str, Names]
    is_pointwise: bool = False
    added: Names = ()

    def __call__(self, values: Mapping[str, Any]) -> Given:
        """Check the shapes of these arguments, and compute what the results are.

        Numbers among them count for the dtype, as in `torch.result_type`.
        """
        given = leaves(values.items())
        places, results = places_in(self, given)
        sizes = sizes_at(self, given, places)
        shapes: list[list[int]] = []
        for result in results:
            shapes.append([sizes[place] for place in result])
        _check_written(self, given, shapes)
        tensors = [tensor for _, tensor in given]
        numbers = [value for value in values.values() if isinstance(value, _NUMBERS)]
        dtypes: list[tuple[torch.dtype, ...]] = []
        strides: list[Sequence[int] | None] = []
        for shape, result in zip(shapes, results):
            dtypes.append(_dtypes(self, given, places, result, numbers))
            if self.is_pointwise:
                strides.append(_elementwise_strides(shape, tensors, places, result))
            else:
                strides.append(None)
        names = [f"{self.operator}: result {name}" for name in self.results]
        return Given(_leading(tensors), shapes, strides, dtypes, names)

    def shown(self, name: str) -> str:
        """An argument with its axes, for a message."""
        axes = self.tensors.get(name, ("?",))
        return f"{self.operator}: {name}[{', '.join(axes)}]"


def leaves(values: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The tensors in arguments, each with the name of its argument."""
    tensors: list[tuple[str, Any]] = []
    for name, value in values:
        for leaf in pytree.tree_leaves(value):
            if hasattr(leaf, "shape"):
                tensors.append((name, leaf))
    return tensors


def _check_written(line: Axes, given: Tensors, shapes: Sequence[list[int]]) -> None:
    """Check that what is written has the shape of the result."""
    shape_of = dict(zip(line.results, shapes))
    for name, tensor in given:
        if name not in shape_of:
            continue
        shape = shape_of[name]
        given_shape = tuple(tensor.shape)
        has = f"{line.shown(name)} has shape {given_shape}"
        message = f"{has}, but the result has {tuple(shape)}"
        _must_be(tensor.dim() == len(shape), message)
        for size, wanted in zip(tensor.shape, shape):
            _must_be(size == wanted, message)


# Places and sizes.


def bare(axis: str) -> str:
    return axis.rstrip("!+")


def _must_be(same: Any, message: str) -> None:
    _library.check(same, lambda: message)


def places_of(axes: Names, ranks: Mapping[str, int]) -> list[str]:
    """The places of a tensor's dimensions, given how many each `*` has."""
    places: list[str] = []
    for axis in map(bare, axes):
        if axis not in ranks:
            places.append(axis)
            continue
        from_the_last = reversed(range(ranks[axis]))
        places += [f"{axis}.{index}" for index in from_the_last]
    return places


Ranks = dict[str, int]


def ranks_of(line: Axes, tensors: Sequence[tuple[str, int]]) -> tuple[list[Ranks], Ranks]:
    """How many dimensions each `*` has in each tensor, given how many the tensor has, and at most.

    Of several in one tensor, all but one are in other tensors, too, and have as many dimensions as there.
    """
    most: Ranks = {}
    ranks_of_each: list[Ranks] = [{} for _ in tensors]

    def count_of_stars(index: int) -> int:
        name, _ = tensors[index]
        return len(_stars(line.tensors.get(name, ())))

    for index in sorted(range(len(tensors)), key=count_of_stars):
        name, dimensions = tensors[index]
        if name not in line.tensors:
            continue
        ranks = _ranks_in(line, name, dimensions, most)
        ranks_of_each[index] = ranks
        for star, rank in ranks.items():
            most[star] = max(most.get(star, 0), rank)
    return ranks_of_each, most


def _ranks_in(line: Axes, name: str, dimensions: int, most: Ranks) -> Ranks:
    """How many dimensions each `*` has in one tensor, given how many it has in those with fewer of them."""
    axes = line.tensors[name]
    stars = _stars(axes)
    ranks: Ranks = {}
    unknown = []
    for star in stars:
        if len(stars) > 1 and star in most:
            ranks[star] = most[star]
        else:
            unknown.append(star)
    rest = dimensions - (len(axes) - len(stars)) - sum(ranks.values())
    if unknown:
        ranks[unknown[0]] = rest
    is_too_many = rest > 0 and not unknown
    if rest < 0 or is_too_many:
        plural = "" if dimensions == 1 else "s"
        raise RuntimeError(f"{line.shown(name)} has {dimensions} dimension{plural}")
    return ranks


def ranks_of_tensors(line: Axes, tensors: Tensors) -> tuple[list[Ranks], Ranks]:
    """The same for tensors all of whose dimensions are the operator's."""
    return ranks_of(line, [(name, len(tensor.shape)) for name, tensor in tensors])


def _stars(axes: Names) -> list[str]:
    return [bare(axis) for axis in axes if axis[0] == "*"]


def places_in(line: Axes, tensors: Tensors) -> tuple[list[list[str]], list[list[str]]]:
    """The places of the tensors, and of the results; those of what the line does not name are nowhere."""
    ranks, most = ranks_of_tensors(line, tensors)
    places: list[list[str]] = []
    for (name, _), its_ranks in zip(tensors, ranks):
        axes = line.tensors.get(name, ())
        places.append(places_of(axes, its_ranks))
    results = [places_of(axes, most) for axes in line.results.values()]
    wanted = set[str]().union(*results)
    lost = wanted.difference(*places)
    if lost:
        raise RuntimeError(f"{line.operator}: no tensor is given that has axis {min(lost)}")
    return places, results


def sizes_at(line: Axes, tensors: Tensors, places: list[list[str]]) -> dict[str, Any]:
    """The size at each place; in `*`, tensors may have size 1 there, and are broadcast."""
    sizes: dict[str, Any] = {}
    # The tensor that has the size, for messages.
    tensor_with: dict[str, str] = {}
    for (name, tensor), its_places in zip(tensors, places):
        for place, size in zip(its_places, tensor.shape):
            before = sizes.setdefault(place, size)
            at = tensor_with.setdefault(place, name)
            joined, same = _joined(place, before, size)
            axis = place.partition(".")[0]
            text = f"axis {axis} is {before} in {at} and {size} in {name}"
            _must_be(same, f"{line.operator}: {text}")
            sizes[place] = joined
            if joined is not before:
                tensor_with[place] = name
    return sizes


def _joined(place: str, before: Any, size: Any) -> tuple[Any, Any]:
    """The size of two tensors at a place together, and whether they go together there."""
    if place[0] != "*":
        return size, before == size
    try:
        (broadcast,) = _torch.broadcast_shapes((before,), (size,))
    except RuntimeError:
        return size, False
    return broadcast, True


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
    not_written = [tensor for name, tensor in given if name not in line.results]
    choices = [every, not_written]
    if not line.is_pointwise:
        choices += _apart(every, places, result)
    dtypes: list[torch.dtype] = []
    for tensors in choices:
        if tensors:
            dtypes.append(_support.promote(*tensors, *numbers))
        if line.is_pointwise:
            dtypes += _in_other_orders(tensors, numbers)
    without_doubles = dict.fromkeys(dtypes)
    return tuple(without_doubles)


def _in_other_orders(tensors: list[torch.Tensor], numbers: Sequence[Any]) -> Iterator[torch.dtype]:
    """The dtypes where the numbers are combined with one of the tensors before the others are."""
    # One without dimensions counts as a number does, unless all are without.
    have_dimensions = any(tensor.dim() for tensor in tensors)
    dtypes: list[Any] = []
    for tensor in tensors:
        counts_as_number = have_dimensions and not tensor.dim()
        dtypes.append(tensor if counts_as_number else tensor.dtype)
    for index, tensor in enumerate(tensors):
        if dtypes[index] is not tensor:
            others = dtypes[:index] + dtypes[index + 1 :]
            with_numbers = _support.promote(tensor, *numbers)
            yield _support.promote(with_numbers, *others)


def _apart(
    every: list[torch.Tensor], places: Sequence[list[str]], result: list[str]
) -> Iterator[list[torch.Tensor]]:
    """The tensors that alone may decide a dtype: those with an axis of the result, and each of the highest kind."""
    if result:
        counted = []
        for tensor, its_places in zip(every, places):
            has_axis = not set(its_places).isdisjoint(result)
            # A tensor without dimensions counts as a number does.
            is_number = not its_places
            if has_axis or is_number:
                counted.append(tensor)
        yield counted
    highest = _kind(_support.promote(*every))
    for tensor in every:
        if tensor.dim() and _kind(tensor.dtype) == highest:
            yield [tensor]


def _kind(dtype: torch.dtype) -> tuple[bool, bool]:
    """Complex, floating-point or neither: integers beside floating-point numbers never decide."""
    return dtype.is_complex, dtype.is_floating_point


def _leading(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The first tensor whose device decides: a number on the CPU may stand beside tensors of another device."""
    for tensor in tensors:
        if tensor.dim() or tensor.device.type != "cpu":
            return tensor
    return tensors[0]


def _elementwise_strides(
    shape: list[int],
    tensors: Sequence[torch.Tensor],
    places: Sequence[list[str]],
    result: list[str],
) -> Sequence[int]:
    """See Note [Layouts of derived results]."""
    expanded = []
    for tensor, its_places in zip(tensors, places):
        # A tensor without dimensions has no layout.
        if not its_places:
            continue
        order = []
        # An index that adds a dimension at each place that the tensor does not have.
        holes: list[slice | None] = []
        for place in result:
            if place in its_places:
                order.append(its_places.index(place))
                holes.append(slice(None))
            else:
                holes.append(None)
        with_holes = tensor.permute(order)[tuple(holes)]
        expanded.append(with_holes.expand(shape))
    if not expanded:
        return ()
    strides: Sequence[int] = _prims.compute_elementwise_output_strides(*expanded)
    return strides
