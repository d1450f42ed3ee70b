"""torch.compile: whole graphs, `fullgraph=True`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from tests.compose.probe import Wrong, holds, printed, row, same
from tests.compose.rows.calls import X, Y, blended, rms, tlc
from tests.compose.rows.gradients import block, leaf, selective, twice

whole: Any = partial(torch.compile, backend="aot_eager", fullgraph=True)


def mutated(f: Callable[[Tensor], Tensor | None], wanted: Tensor) -> None:
    """Call a compiled function that writes to its argument."""
    y = X.clone()
    whole(f)(y)
    same(y, wanted)


@row("one graph")
def one_graph() -> None:
    same(whole(lambda x: tlc.row_norm(tlc.muladd(x, x, 2.0), Y)[0])(X), rms(X * X + 2, Y))


@row("dynamic shapes, one graph")
def dynamic() -> None:
    graphs: list[object] = []

    def backend(graph: torch.fx.GraphModule, inputs: object) -> object:
        graphs.append(graph)
        return graph.forward

    f = torch.compile(lambda a, b: tlc.mm(a, b), backend=backend, fullgraph=True, dynamic=True)
    for m, k, n in ((2, 3, 4), (5, 6, 7)):
        a, b = torch.ones(m, k), torch.ones(k, n)
        same(f(a, b), a @ b)
    holds(len(graphs) == 1, f"{len(graphs)} graphs")


@row("gradients")
def gradients() -> None:
    x = leaf()
    whole(lambda x: tlc.muladd(tlc.scale(x, 2.0), x, 2.0))(x).sum().backward()
    same(x.grad, 4 * X)


@row("gradients of the tensors of a list")
def gradients_of_lists() -> None:
    x = leaf()
    whole(lambda x: tlc.weighted_sum([x, x], Y))(x).sum().backward()
    same(x.grad, 2 * Y)


@row("gradients of a list in which tensors are left out")
def gradients_of_gaps() -> None:
    f = whole(lambda x, y: tlc.blend(x, [None, y, x]))
    x, y = leaf(), leaf(Y)
    found = torch.autograd.grad(f(x, y).sin().sum(), [x, y])
    same(found, torch.autograd.grad(blended(x, y, x).sin().sum(), [x, y]))


@row("gradients of a call that writes to a buffer")
def gradients_of_noted() -> None:
    x, seen = leaf(), Y.clone()
    f = whole(lambda x, seen: tlc.tally(x.sin(), seen).sin() * seen)
    for time in (1, 2):
        (found,) = torch.autograd.grad(f(x, seen).sum(), x)
        wanted = leaf()
        (twice(wanted.sin()).sin() * (Y + time * X.sin())).sum().backward()
        same(found, wanted.grad)
        same(seen, Y + time * X.sin())
    with torch.no_grad():
        f(x, seen)
    same(seen, Y + 3 * X.sin())


@row("inductor")
def inductor() -> None:
    f = torch.compile(lambda x: tlc.muladd(x.sin(), x, 2.0).cos(), fullgraph=True)
    same(f(X), (X.sin() * X + 2).cos())


@row("in place, returns its argument")
def in_place() -> None:
    mutated(lambda y: tlc.scale_(y, 3.0) + 1, X * 3)


@row("in place, returns nothing")
def nothing() -> None:
    mutated(lambda y: tlc.axpy(y, Y, 2.0), X + 2 * Y)


@row("in place, on a view")
def of_view() -> None:
    mutated(lambda y: tlc.axpy(y[1:], Y[1:], 2.0), torch.cat([X[:1], X[1:] + 2 * Y[1:]]))


@row("`out=`")
def out() -> None:
    same(whole(lambda x: tlc.scale(x, 3.0, out=torch.empty(3)) + 1)(X), X * 3 + 1)


@row("a size that depends on data")
def data_dependent() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    same(whole(lambda x: tlc.muladd(tlc.rows(x), x.new_ones(()), 1.0))(x), x[:1] + 1)


@row("random numbers")
def draws() -> None:
    p = torch.full((100,), 0.5)
    f = whole(lambda p: (tlc.drawn(p), tlc.drawn(p)))
    one, other = f(p)
    holds(not torch.equal(one, other), "two calls became one")


@row("a generator as an argument")
def generator() -> None:
    p = torch.full((100,), 0.5)
    f = whole(lambda p, generator: tlc.drawn(p, generator=generator))
    wanted = tlc.drawn(p, generator=torch.Generator().manual_seed(3))
    same(f(p, torch.Generator().manual_seed(3)), wanted)


@row("an effect")
def effect() -> None:
    def f(x: Tensor) -> Tensor:
        tlc.log(x, "a")
        y = x * 2
        tlc.log(y, "b")
        return y

    text = printed(lambda: whole(f)(X))
    holds(text == "ab", f"prints {text!r}")


@row("selective checkpoint")
def checkpointed() -> None:
    x, other = leaf(), leaf()
    whole(lambda x: checkpoint(block, x, use_reentrant=False, context_fn=selective()))(
        x
    ).sum().backward()
    (rms(other, Y) * other + 1).sum().backward()
    same(x.grad, other.grad)


@row("compiled autograd")
def compiled_autograd() -> None:
    x = leaf()
    out = tlc.muladd(x, x, 2.0).sum()
    with torch._dynamo.compiled_autograd._enable(whole):
        out.backward()
    same(x.grad, 2 * X)


@row("autocast")
def autocast() -> None:
    def f(x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return tlc.muladd(x, x, 2.0)

    holds(whole(f)(X).dtype == torch.bfloat16, "not cast")


@row("a wrong shape is found while tracing")
def wrong_shape() -> None:
    try:
        whole(lambda a: tlc.mm(a, a))(torch.ones(2, 3))
    except RuntimeError:
        return
    raise Wrong("is traced")
