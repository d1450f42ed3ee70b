"""Calls: what a program does first."""

from __future__ import annotations

import torch

from tests.compose.probe import holds, printed, row, same

tlc = torch.ops.tlc
X, Y = torch.tensor([1.0, -2.0, 0.5]), torch.tensor([0.5, 3.0, -1.0])


def rms(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """What the first result of the operator is."""
    return x * torch.rsqrt(x.square().mean(-1, True) + eps) * weight


@row("a call")
def call() -> None:
    same(tlc.muladd(X, Y, 2.0), X * Y + 2)
    same(tlc.mm(X.outer(Y), Y.outer(X)), X.outer(Y) @ Y.outer(X))


@row("several results")
def several() -> None:
    out, rstd = tlc.row_norm(X, Y)
    same(out, rms(X, Y))
    holds(rstd.shape == (), "another shape")


@row("a list of tensors, an optional one")
def lists() -> None:
    same(tlc.weighted_sum([X, Y]), X + Y)
    same(tlc.weighted_sum([X, Y], Y), (X + Y) * Y)


def blended(x: torch.Tensor, *masks: torch.Tensor, s: float = 0.5) -> torch.Tensor:
    """What the operator gives for the tensors that are not left out."""
    return x * (1 + s * sum(masks))


@row("a list in which tensors are left out")
def gaps() -> None:
    same(tlc.blend(X, [None, Y, None, X]), blended(X, Y, X))
    same(tlc.blend(X, [None], s=2.0), X)
    same(tlc.blend(X, []), X)


@row("in place, returns its argument")
def in_place() -> None:
    y = X.clone()
    holds(tlc.scale_(y, 3.0) is y, "returns another tensor")
    same(y, X * 3)


@row("in place, returns nothing")
def returns_nothing() -> None:
    y = X.clone()
    holds(tlc.axpy(y, Y, 2.0) is None, "returns something")
    same(y, X + 2 * Y)


@row("`out=`")
def out() -> None:
    y = torch.empty(3)
    holds(tlc.scale(X, 3.0, out=y) is y, "returns another tensor")
    same(y, X * 3)


@row("a size that depends on data")
def data_dependent() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    same(tlc.rows(x), x[:1])


@row("no input, only an effect")
def effect() -> None:
    holds(printed(lambda: tlc.log(X, "a")) == "a", "does not print")


@row("inference mode")
def inference() -> None:
    with torch.inference_mode():
        same(tlc.muladd(X, Y, 2.0), X * Y + 2)
        y = X.clone()
        tlc.axpy(y, tlc.scale_(Y.clone(), 2.0), 1.0)
        same(y, X + 2 * Y)


@row("autocast")
def autocast() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        holds(tlc.muladd(X, Y, 2.0).dtype == torch.bfloat16, "not cast")


@row("a seed")
def seed() -> None:
    p = torch.full((100,), 0.5)
    torch.manual_seed(1)
    first, other = tlc.drawn(p), tlc.drawn(p)
    torch.manual_seed(1)
    same(tlc.drawn(p), first)
    holds(not torch.equal(first, other), "draws the same again")


@row("a generator")
def generator() -> None:
    p = torch.full((100,), 0.5)
    first = tlc.drawn(p, generator=torch.Generator().manual_seed(3))
    same(tlc.drawn(p, generator=torch.Generator().manual_seed(3)), first)
