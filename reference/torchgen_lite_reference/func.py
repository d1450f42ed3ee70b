"""Derivatives in forward mode, under the names of `torch.func`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.forward_ad import dual_level, make_dual, unpack_dual
from torchgen_lite_reference.window import Window

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

__all__ = ["jacfwd", "jvp"]

_JVP = "jvp(f, primals, tangents): "


def jvp(
    func: Callable[..., Any],
    primals: Sequence[Tensor],
    tangents: Sequence[Tensor],
    *,
    has_aux: bool = False,
) -> Any:
    """What `func` returns for `primals`, and its derivative along `tangents`; zeros for what does not depend on them.

    With `has_aux`, `func` returns a pair, whose second part is returned as a third one.
    """
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, (tuple, list)):
            raise RuntimeError(
                f"{_JVP}Expected {name} to be a tuple. E.g. it should be valid to call f(*primals)."
            )
    if len(primals) != len(tangents):
        raise RuntimeError(
            f"{_JVP}Expected primals and tangents to have the same python structure. For example, if primals"
            f" is a tuple of 3 tensors, tangents also must be. Got {len(primals)} and {len(tangents)} tensors"
        )
    with dual_level():
        found = func(*map(make_dual, primals, tangents))
        found, aux = found if has_aux else (found, None)
        values = _each(lambda one: unpack_dual(one).primal, found)
        derivatives = _each(_derivative, found)
        if not has_aux:
            return values, derivatives
        return values, derivatives, _each(lambda one: unpack_dual(one).primal, aux)


def _derivative(tensor: Tensor) -> Tensor:
    tangent = unpack_dual(tensor).tangent
    return operators.zeros_like(tensor) if tangent is None else tangent


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """The function of each tensor in a result."""
    if isinstance(value, (tuple, list)):
        return type(value)([_each(function, one) for one in value])
    if isinstance(value, dict):
        return {key: _each(function, one) for key, one in value.items()}
    if not isinstance(value, Window):
        raise RuntimeError(
            f"{_JVP}expected f(*primals) to return only tensors, got unsupported type {type(value)}"
        )
    return function(value)


def jacfwd(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The Jacobian of a function that returns one tensor, by the argument or arguments `argnums`: one call of the
    function for each element. Its shape is that of the result, followed by that of the argument."""

    def jacobian(*arguments: Any) -> Any:
        if isinstance(argnums, tuple):
            return tuple([_jacobian(func, arguments, place) for place in argnums])
        return _jacobian(func, arguments, argnums)

    return jacobian


def _jacobian(func: Callable[..., Any], arguments: Sequence[Any], place: int) -> Tensor:
    chosen = arguments[place]

    def of_one(one: Tensor) -> Any:
        given = list(arguments)
        given[place] = one
        return func(*given)

    columns = []
    for index in range(max(chosen.numel(), 1)):
        unit = operators.zeros(chosen.shape, dtype=chosen.dtype, device=chosen.device)
        if chosen.numel():
            operators.fill__Scalar(operators.select_int(operators.view(unit, [-1]), 0, index), 1)
        columns.append(jvp(of_one, (chosen,), (unit,))[1])
    stacked = operators.stack(columns[: chosen.numel()] or [columns[0]], -1)
    if not chosen.numel():
        stacked = operators.narrow(stacked, -1, 0, 0)
    return operators.reshape(stacked, [*columns[0].shape, *chosen.shape])
