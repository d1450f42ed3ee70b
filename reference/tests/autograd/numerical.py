"""Gradients by central differences, for any operator and the library-free samples of the reference set.

The result is weighted with random numbers, which are the gradients that backward begins with. First
derivatives are compared element by element. Second ones, of a weighted sum of the gradients in the inputs
and in those weights, are compared along a random direction for each tensor. In forward mode, results,
gradients and tangents are compared along one direction of all tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from operators.samples import Input, Named, Sample, Sparse, build

import torchgen_lite_reference as tl
from torchgen_lite.schema import FunctionSchema

STEP = 1e-6
RELATIVE, ABSOLUTE = 1e-5, 1e-6
HALVES = ("float16", "float32")
# Messages of operators that have a value but no derivative there.
NOT_COMPLEX = "does not support automatic differentiation for outputs with complex dtype"

Domain = tuple[float, float]


class Unsuitable(Exception):
    """A sample that says nothing about derivatives: infinite values, or arguments that are refused."""


@dataclass(slots=True)
class Case:
    """One sample with each tensor that may have a gradient as a leaf, by the name of its argument."""

    function: Callable[..., Any]
    item: Sample
    inplace: bool
    leaves: list[Input | Sparse] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def run(
        self, arrays: Sequence[Any], record: bool, directions: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        """The leaves as tensors, which have `directions` as tangents, and the floating tensors of the result."""
        tensors = [_tensor(leaf, array) for leaf, array in zip(self.leaves, arrays)]
        if record:
            tensors = [tensor.requires_grad_() for tensor in tensors]
        duals = tensors
        if directions:
            tangents = map(_tensor, self.leaves, directions)
            duals = [*map(tl.autograd.forward_ad.make_dual, tensors, tangents)]
        made = {id(leaf): tensor for leaf, tensor in zip(self.leaves, duals)}

        def make(value: Any) -> Any:
            return made[id(value)] if id(value) in made else _plain(value)

        args, kwargs = build(self.item.args, make), build(self.item.kwargs, make)
        if self.inplace:
            args[0] = args[0].clone()
        # Random operators draw the same numbers in each run.
        tl.manual_seed(0)
        result = self.function(*args, **kwargs)
        results = result if isinstance(result, (list, tuple)) else [result]
        kept = [r for r in results if isinstance(r, tl.Tensor)]
        kept = [r.to_dense() if r.is_sparse else r for r in kept]
        return tensors, [r for r in kept if r.dtype.is_floating_point or r.dtype.is_complex]

    def arrays(self) -> list[Any]:
        """What is varied: the values of each leaf, of a sparse one those that it holds."""
        return [_values(leaf).array() for leaf in self.leaves]


def _values(leaf: Input | Sparse) -> Input:
    return leaf.values if isinstance(leaf, Sparse) else leaf


def _tensor(leaf: Input | Sparse, array: Any) -> Any:
    tensor = tl.from_numpy(array)
    if isinstance(leaf, Sparse):
        return tl.sparse_coo_tensor(_plain(leaf.indices), tensor, list(leaf.size))
    return tensor


def _plain(value: Any) -> Any:
    if isinstance(value, Input):
        return tl.from_numpy(value.array())
    if isinstance(value, Sparse):
        return _tensor(value, value.values.array())
    if value.name in ("cpu", "meta"):
        return tl.device(value.name)
    return getattr(tl, "float64" if value.name in HALVES else value.name)


def case_of(
    function: Any,
    schema: FunctionSchema,
    formulas: Collection[str],
    item: Sample,
    domains: Sequence[Domain] | None = (),
) -> Case:
    """The sample in double precision, with values away from kinks and inside the operator's domain.

    Each floating value is moved by a different small amount, which removes ties and integral values. With a
    domain for an argument (the last is for all further ones) values are squeezed into it. `domains` is
    None for samples whose values are meant.
    """
    inplace = bool(schema.arguments) and schema.kind().name == "inplace"
    case = Case(function, item, inplace)
    names = [argument.name for argument in schema.arguments]
    seen = 0

    def prepare(value: Any, name: str) -> Any:
        nonlocal seen
        if isinstance(value, (list, tuple)):
            return [prepare(one, name) for one in value]
        values = value.values if isinstance(value, Sparse) else value
        if not isinstance(values, Input) or values.base.dtype.kind not in "fc":
            if isinstance(value, Named) and value.name == "meta":
                raise Unsuitable
            return value
        if domains is not None:
            domain = domains[min(seen, len(domains) - 1)] if domains else None
            seen += 1
            values = Input(_moved(values.base, seen, domain), values.view)
        leaf = Sparse(value.indices, values, value.size) if isinstance(value, Sparse) else values
        if name in formulas:
            case.leaves.append(leaf)
            case.names.append(name)
        return leaf

    args = [prepare(value, name) for value, name in zip(item.args, names)]
    kwargs = {name: prepare(value, name) for name, value in item.kwargs.items()}
    case.item = Sample(tuple(args), kwargs)
    return case


def _moved(base: Any, seed: int, domain: Domain | None) -> Any:
    if not np.all(np.isfinite(base)):
        raise Unsuitable
    stream = np.random.default_rng([seed, *base.shape])
    nudged = base.astype("complex128" if base.dtype.kind == "c" else "float64")
    nudged = nudged + stream.uniform(0.03, 0.12, base.shape)
    if domain is None or base.dtype.kind == "c":
        return np.asarray(nudged)
    low, high = domain
    return np.asarray(low + (high - low) / (1 + np.exp(-nudged)))


def weights_like(tensors: Sequence[Any], seed: int) -> list[Any]:
    """Random numbers for each tensor, complex where it is."""
    made = []
    for index, tensor in enumerate(tensors):
        stream = np.random.default_rng([seed, index])
        weight = stream.uniform(-1, 1, tuple(tensor.shape))
        if tensor.dtype.is_complex:
            weight = weight + 1j * stream.uniform(-1, 1, tuple(tensor.shape))
        made.append(np.asarray(weight))
    return made


def inner(arrays: Sequence[Any], others: Sequence[Any]) -> float:
    """The real scalar product; that of complex numbers as pairs of real ones."""
    return float(sum(np.sum((a * np.conj(b)).real) for a, b in zip(arrays, others)))


def check(case: Case, twice: bool) -> set[str]:
    """Compare the first derivatives and, if `twice`, the second ones; the names of the arguments that had something to compare."""
    arrays = case.arrays()
    if not arrays:
        return set()
    try:
        with tl.no_grad():
            results = case.run(arrays, False)[1]
    except (RuntimeError, IndexError, TypeError, ValueError) as refused:
        raise Unsuitable from refused
    if not all(np.all(np.isfinite(result.numpy())) for result in results):
        raise Unsuitable
    try:
        results = case.run(arrays, True)[1]
    except RuntimeError as refused:
        if NOT_COMPLEX in str(refused):
            raise Unsuitable from refused
        raise
    kept = [index for index, result in enumerate(results) if result.requires_grad]
    weights = weights_like([results[index] for index in kept], 1)

    def value(moved: Sequence[Any]) -> float:
        with tl.no_grad():
            found = case.run(moved, False)[1]
        return inner([found[index].numpy() for index in kept], weights)

    gradients, _ = _gradients(case, arrays, weights, kept, create_graph=False)
    for which, gradient in enumerate(gradients):
        wanted = _differences(value, arrays, which)
        _compare(case, f"gradient {which}", gradient, wanted)
    if twice:
        _check_twice(case, arrays, weights, kept)
    return {name for name, array in zip(case.names, arrays) if kept and array.size}


def check_forward(case: Case, twice: bool) -> set[str]:
    """Compare tangents and, if `twice`, the tangents of gradients and the gradients of tangents; the names of the
    arguments that had something to compare."""
    arrays = case.arrays()
    if not arrays:
        return set()
    try:
        with tl.no_grad():
            results = case.run(arrays, False)[1]
    except (RuntimeError, IndexError, TypeError, ValueError) as refused:
        raise Unsuitable from refused
    if not all(np.all(np.isfinite(result.numpy())) for result in results):
        raise Unsuitable
    directions = weights_like([tl.from_numpy(array) for array in arrays], 3)
    with tl.autograd.forward_ad.dual_level():
        results = case.run(arrays, False, directions)[1]
        tangents = [_tangent(result) for result in results]
    kept = [index for index, tangent in enumerate(tangents) if tangent is not None]

    def values() -> list[Any]:
        with tl.no_grad():
            results = case.run(arrays, False)[1]
        return [results[index].numpy() for index in kept]

    found = [_array(tangents[index], results[index]) for index in kept]
    _compare_along(case, "tangent", values, arrays, directions, found)
    if twice and kept:
        _check_mixed(case, arrays, directions)
    return {name for name, array in zip(case.names, arrays) if kept and array.size}


def _check_mixed(case: Case, arrays: Sequence[Any], directions: Sequence[Any]) -> None:
    """Forward mode over gradients, and gradients of tangents."""
    with tl.autograd.forward_ad.dual_level():
        try:
            leaves, results = case.run(arrays, True, directions)
        except RuntimeError as refused:
            if NOT_COMPLEX in str(refused):
                return
            raise
        kept = [index for index, result in enumerate(results) if result.requires_grad]
        if not kept:
            return
        outputs = [results[index] for index in kept]
        weights = weights_like(outputs, 1)
        cotangents = [tl.from_numpy(weight) for weight in weights]
        made = tl.autograd.grad(outputs, leaves, cotangents, retain_graph=True, allow_unused=True)
        gradients = [_at_values(leaf, one) for leaf, one in zip(case.leaves, made)]
        moving = [None if one is None else _tangent(one) for one in gradients]
        tangents = [(_tangent(one), weight) for one, weight in zip(outputs, cotangents)]
    present = [index for index, one in enumerate(gradients) if one is not None]

    def values() -> list[Any]:
        found = _gradients(case, arrays, weights, kept, create_graph=False)[0]
        return [found[index] for index in present]

    found = [_array(moving[index], arrays[index]) for index in present]
    _compare_along(case, "tangent of gradient", values, arrays, directions, found)
    roots = [(one, weight) for one, weight in tangents if one is not None and one.requires_grad]
    if not roots:
        return
    tensors, cotangents = [root for root, _ in roots], [weight for _, weight in roots]
    again = tl.autograd.grad(tensors, leaves, cotangents, allow_unused=True)
    others = weights_like([tl.from_numpy(array) for array in arrays], 4)
    found = [_array(_at_values(*one), array) for one, array in zip(zip(case.leaves, again), arrays)]

    def slopes() -> list[Any]:
        with tl.no_grad(), tl.autograd.forward_ad.dual_level():
            results = case.run(arrays, False, directions)[1]
            made = [_tangent(results[index]) for index in kept]
            parts = [(one.numpy(), w) for one, w in zip(made, weights) if one is not None]
        return [inner([one for one, _ in parts], [weight for _, weight in parts])]

    slope = inner(found, others)
    _compare_along(case, "gradient of tangent", slopes, arrays, others, [slope])


def _tangent(tensor: Any) -> Any:
    return tl.autograd.forward_ad.unpack_dual(tensor).tangent


def _compare_along(
    case: Case,
    what: str,
    values: Callable[[], Sequence[Any]],
    arrays: Sequence[Any],
    directions: Sequence[Any],
    found: Sequence[Any],
) -> None:
    """Compare with differences of values when the arrays, which keep their strides, are moved."""
    kept, ends = [array.copy() for array in arrays], []
    for sign in (1, -1):
        for array, before, direction in zip(arrays, kept, directions):
            array[...] = before + sign * STEP * direction
        # A view of an array moves with it.
        ends.append([np.copy(value) for value in values()])
    for array, before in zip(arrays, kept):
        array[...] = before
    for index, (one, high, low) in enumerate(zip(found, *ends)):
        _compare(case, f"{what} {index}", one, (high - low) / (2 * STEP))


def _gradients(
    case: Case, arrays: Sequence[Any], weights: Sequence[Any], kept: list[int], create_graph: bool
) -> tuple[list[Any], list[Any]]:
    """The gradients as arrays, or as tensors beside the tensors that they may be differentiated in."""
    leaves, results = case.run(arrays, True)
    cotangents = [tl.from_numpy(weight) for weight in weights]
    if create_graph:
        cotangents = [cotangent.requires_grad_() for cotangent in cotangents]
    if not kept:
        return [np.zeros(array.shape) for array in arrays], []
    found = tl.autograd.grad(
        [results[index] for index in kept],
        leaves,
        cotangents,
        create_graph=create_graph,
        allow_unused=True,
    )
    gradients = [_at_values(leaf, g) for leaf, g in zip(case.leaves, found)]
    if create_graph:
        return gradients, [*leaves, *cotangents]
    return [_array(g, a) for g, a in zip(gradients, arrays)], []


def _at_values(leaf: Input | Sparse, gradient: Any) -> Any:
    """The gradient of a sparse leaf at the places that it holds, in their order."""
    if gradient is None or not isinstance(leaf, Sparse):
        return gradient
    places = np.ravel_multi_index(tuple(leaf.indices.array()), leaf.size)
    dense = gradient.to_dense() if gradient.is_sparse else gradient
    return tl.take(dense, tl.from_numpy(np.asarray(places)))


def _array(gradient: Any, like: Any) -> Any:
    return np.zeros(like.shape) if gradient is None else gradient.detach().numpy()


def _differences(value: Callable[[Sequence[Any]], float], arrays: Sequence[Any], which: int) -> Any:
    gradient = np.zeros(arrays[which].shape, arrays[which].dtype)
    units = (1, 1j) if gradient.dtype.kind == "c" else (1,)
    for index in np.ndindex(*gradient.shape):
        for unit in units:
            step = np.zeros(gradient.shape, gradient.dtype)
            step[index] = STEP * unit
            gradient[index] += unit * _slope(value, arrays, which, step) / (2 * STEP)
    return gradient


def _slope(
    value: Callable[[Sequence[Any]], float], arrays: Sequence[Any], which: int, step: Any
) -> float:
    # The array keeps its strides, which `as_strided` looks at.
    kept = arrays[which].copy()
    ends = []
    for sign in (1, -1):
        arrays[which][...] = kept + sign * step
        ends.append(value(arrays))
    arrays[which][...] = kept
    return ends[0] - ends[1]


def _check_twice(case: Case, arrays: list[Any], weights: list[Any], kept: list[int]) -> None:
    found, inputs = _gradients(case, arrays, weights, kept, create_graph=True)
    present = [index for index, gradient in enumerate(found) if gradient is not None]
    if not kept or not present:
        return
    outer = weights_like([tl.from_numpy(array) for array in arrays], 2)
    roots = [index for index in present if found[index].requires_grad]
    again: list[Any] = [None] * len(inputs)
    if roots:
        again = list(
            tl.autograd.grad(
                [found[index] for index in roots],
                inputs,
                [tl.from_numpy(outer[index]) for index in roots],
                allow_unused=True,
            )
        )
    both = [*arrays, *weights]

    def value(moved: Sequence[Any]) -> float:
        parts = moved[: len(arrays)], moved[len(arrays) :]
        return inner(_gradients(case, parts[0], parts[1], kept, create_graph=False)[0], outer)

    directions = weights_like([tl.from_numpy(array) for array in both], 3)
    for which, direction in enumerate(directions):
        place = again[which]
        if which < len(arrays):
            place = _at_values(case.leaves[which], place)
        slope = inner([_array(place, both[which])], [direction])
        wanted = _slope(value, both, which, STEP * direction) / (2 * STEP)
        _compare(case, f"second derivative {which}", slope, wanted)


def _compare(case: Case, what: str, found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(
        found, wanted, rtol=RELATIVE, atol=ABSOLUTE, err_msg=f"{what} of {case.item}"
    )
