"""torch.func: transforms of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from tests.compose.probe import holds, row, same
from tests.compose.rows.calls import X, Y, blended, rms, tlc
from tests.compose.rows.gradients import twice

Function = Callable[[Tensor], Tensor]
PAIRS: tuple[tuple[Function, Function], ...] = (
    (lambda x: tlc.muladd(x, x, 2.0), lambda x: x * x + 2),
    (lambda x: tlc.row_norm(x, Y)[0], lambda x: rms(x, Y)),
    (lambda x: tlc.weighted_sum([x, x * x, Y], Y), lambda x: (x + x * x + Y) * Y),
    (lambda x: tlc.blend(x, [None, x * x, Y]), lambda x: blended(x, x * x, Y)),
)


def compare(transform: Callable[[Function], Any]) -> None:
    for ours, theirs in PAIRS:
        same(transform(ours), transform(theirs))


def total(f: Function) -> Function:
    return lambda x: (f(x) * x).sin().sum()


@row("`grad`")
def gradient() -> None:
    compare(lambda f: grad(total(f))(X))


@row("`vjp`")
def reverse() -> None:
    compare(lambda f: vjp(f, X)[1](Y))
    (of_reference,) = vjp(tlc.cube, X)[1](Y)
    same(of_reference, 3 * X * X * Y)
    holds(not of_reference.requires_grad, "a gradient has a history that nothing asked for")


@row("`jacrev`")
def jacobian() -> None:
    compare(lambda f: jacrev(f)(X))


@row("`jvp`")
def forward() -> None:
    compare(lambda f: jvp(f, (X,), (Y,)))


@row("`jacfwd`")
def forward_jacobian() -> None:
    compare(lambda f: jacfwd(f)(X))


@row("`hessian`")
def second() -> None:
    compare(lambda f: hessian(total(f))(X))


@row("gradients of samples, `vmap(grad(f))`")
def samples() -> None:
    compare(lambda f: vmap(grad(total(f)))(torch.stack([X, Y])))


@row("`grad` of an in-place call")
def in_place() -> None:
    same(grad(lambda x: (tlc.scale_(x * 1, 3.0) * x).sum())(X), 6 * X)


@row("`grad` of a call that writes to a buffer")
def noted() -> None:
    seen = Y.clone()
    compare_noted = total(lambda x: tlc.tally(x, seen))
    same(grad(compare_noted)(X), grad(total(twice))(X))
    same(seen, Y + X)
    same(hessian(compare_noted)(X), hessian(total(twice))(X))
    seen = Y.clone()
    same(grad(lambda x, seen: tlc.tally(x, seen).sum())(X, seen), torch.full((3,), 2.0))
    same(seen, Y + X)


@row("gradients of samples, each with a buffer")
def noted_of_samples() -> None:
    xs, seen = torch.stack([X, Y]), torch.stack([Y, X])
    found = vmap(grad(lambda x, seen: tlc.tally(x, seen).sin().sum()))(xs, seen)
    same(found, vmap(grad(lambda x: twice(x).sin().sum()))(xs))
    same(seen, torch.stack([X + Y, X + Y]))


@row("`linearize`")
def linearized() -> None:
    def transform(f: Function) -> Any:
        value, tangent = torch.func.linearize(f, X)
        return value, tangent(Y)

    compare(transform)


@row("`vmap(jvp(f))`, `jvp(vmap(f))`")
def batches_of_tangents() -> None:
    xs = torch.stack([X, Y])
    compare(lambda f: vmap(lambda x: jvp(f, (x,), (Y,)))(xs))
    compare(lambda f: jvp(vmap(f), (xs,), (xs * 2,)))


@row("`grad`, compiled")
def compiled() -> None:
    f, g = PAIRS[0]
    found = torch.compile(lambda x: grad(total(f))(x), backend="aot_eager", fullgraph=True)(X)
    same(found, grad(total(g))(X))


@row("`jvp`, compiled")
def compiled_forward() -> None:
    f, g = PAIRS[0]
    found = torch.compile(lambda x: jvp(f, (x,), (Y,)), backend="aot_eager", fullgraph=True)(X)
    same(found, jvp(g, (X,), (Y,)))


@row("gradients of samples, compiled")
def compiled_samples() -> None:
    f, g = PAIRS[0]
    xs = torch.stack([X, Y])
    found = torch.compile(vmap(grad(total(f))), backend="aot_eager", fullgraph=True)(xs)
    same(found, vmap(grad(total(g)))(xs))


@row("`functionalize`")
def functionalized() -> None:
    same(torch.func.functionalize(PAIRS[0][0])(X), X * X + 2)


@row("`functionalize` of an in-place call")
def functionalized_in_place() -> None:
    same(torch.func.functionalize(lambda x: tlc.scale_(x * 1, 3.0))(X), X * 3)


@row("`functionalize` of a call that writes to a buffer, with `grad`")
def functionalized_notes() -> None:
    def f(x: Tensor) -> Tensor:
        seen = x.detach() * 1
        return tlc.tally(x, seen).sin().sum() + seen.sum()

    same(grad(torch.func.functionalize(f))(X), grad(lambda x: twice(x).sin().sum())(X))
    same(torch.func.functionalize(grad(f))(X), grad(lambda x: twice(x).sin().sum())(X))


@row("`functionalize` of `out=`")
def functionalized_out() -> None:
    same(torch.func.functionalize(lambda x: tlc.scale(x, 3.0, out=torch.zeros(3)))(X), X * 3)


@row("`functionalize` of a call that returns nothing")
def functionalized_nothing() -> None:
    def f(x: Tensor) -> Tensor:
        y = x * 1
        tlc.axpy(y, x, 2.0)
        return y

    same(torch.func.functionalize(f)(X), X * 3)
