"""vmap: a function of one item becomes one of many."""

from __future__ import annotations

import torch
from torch import Tensor, vmap

from tests.compose.probe import Looped, Wrong, holds, printed, row, same
from tests.compose.rows.calls import X, Y, blended, rms, tlc

BATCH = torch.stack([X, Y, X * Y, X + Y])


@row("pointwise")
def pointwise() -> None:
    same(vmap(lambda x: tlc.muladd(x, Y, 2.0))(BATCH), BATCH * Y + 2)


@row("a normalization")
def normalization() -> None:
    same(vmap(lambda x: tlc.row_norm(x, Y)[0])(BATCH), rms(BATCH, Y))


@row("a matrix product")
def product() -> None:
    other = Y.outer(X)
    found = vmap(lambda x: tlc.mm(x[None], other))(BATCH)
    same(found, (BATCH @ other)[:, None])


@row("a list of tensors")
def lists() -> None:
    same(vmap(lambda x: tlc.weighted_sum([x, Y], x))(BATCH), (BATCH + Y) * BATCH)


@row("a list in which tensors are left out")
def gaps() -> None:
    same(vmap(lambda x: tlc.blend(Y, [None, x, Y, None]))(BATCH), blended(Y, BATCH, Y))
    same(vmap(lambda x: tlc.blend(x, [None]))(BATCH), BATCH)


@row("a normalization with a weight for each item")
def weights() -> None:
    same(vmap(lambda x, w: tlc.row_norm(x, w)[0])(BATCH, BATCH * 2), rms(BATCH, BATCH * 2))


@row("random numbers are refused by default")
def random() -> None:
    p = torch.full((4, 100), 0.5)
    try:
        vmap(tlc.drawn)(p)
    except RuntimeError as error:
        holds("random" in str(error), "another error")
        return
    raise Wrong("draws them")


@row("random numbers are refused by an outer `vmap`, too")
def random_nested() -> None:
    inner = vmap(tlc.drawn, randomness="different")
    try:
        vmap(inner)(torch.full((2, 4, 100), 0.5))
    except RuntimeError as error:
        holds("random" in str(error), "another error")
        return
    raise Wrong("draws them")


@row("random numbers, `randomness='different'`")
def random_different() -> None:
    p = torch.full((2, 100), 0.5)
    for f in (tlc.drawn, lambda _: tlc.drawn(p[0])):
        found = vmap(f, randomness="different")(p)
        holds(not torch.equal(found[0], found[1]), "draws the same again")


@row("random numbers, `randomness='same'`")
def random_same() -> None:
    p = torch.full((2, 100), 0.5)
    found = vmap(lambda x: x + tlc.drawn(p[0]), randomness="same")(p)
    same(found[0], found[1])


@row("random numbers of what is mapped over, `randomness='same'`")
def random_mapped() -> None:
    try:
        found = vmap(tlc.drawn, randomness="same")(torch.full((2, 100), 0.5))
    except RuntimeError as error:
        # As PyTorch's own functions do.
        holds("random" in str(error), "another error")
        return
    same(found[0], found[1])


@row("in place, returns its argument")
def in_place() -> None:
    def f(x: Tensor) -> Tensor:
        return tlc.scale_(x.clone(), 3.0)

    same(vmap(f)(BATCH), BATCH * 3)


@row("in place, returns nothing")
def nothing() -> None:
    def f(x: Tensor) -> Tensor:
        y = x.clone()
        tlc.axpy(y, x, 2.0)
        return y

    same(vmap(f)(BATCH), BATCH * 3)


@row("in place, a tensor by keyword")
def in_place_by_keyword() -> None:
    def f(x: Tensor) -> Tensor:
        total = torch.zeros_like(x)
        tlc.collect(x, s=2.0, total=total)
        return total

    same(vmap(f)(BATCH), BATCH * 2)
    raise Looped


@row("`out=`")
def out() -> None:
    found = torch.zeros_like(BATCH)
    returned = vmap(lambda x, y: tlc.scale.out(x, 2.0, out=y))(BATCH, found)
    same((found, returned), (BATCH * 2, BATCH * 2))
    raise Looped


@row("tensors by keyword")
def by_keyword() -> None:
    same(vmap(lambda x, y: tlc.gate(x, gate=y))(BATCH, BATCH + 1), BATCH * (BATCH + 1))
    raise Looped


@row("a list of results")
def list_of_results() -> None:
    pairs = BATCH.reshape(2, 2, -1)
    same(vmap(tlc.halves)(pairs), [pairs[:, :1], pairs[:, 1:]])
    found = vmap(torch.func.grad(lambda x: tlc.halves(x)[1].square().sum()))(pairs)
    same(found, torch.stack([torch.zeros_like(pairs[:, 0]), pairs[:, 1] * 2], 1))
    raise Looped


@row("only an effect")
def effect() -> None:
    def f(x: Tensor) -> Tensor:
        tlc.log(x, "a")
        return x

    text = printed(lambda: vmap(f)(BATCH))
    holds(text == "a" * len(BATCH), f"prints {text!r}")
    raise Looped


@row("over the last dimension, nested")
def nested() -> None:
    f = vmap(vmap(lambda x, y: tlc.muladd(x, y, 2.0), (None, 0)), (1, None))
    same(f(BATCH, Y), BATCH.t()[:, None] * Y[:, None] + 2)


@row("compiled, one call in the graph")
def compiled() -> None:
    graphs: list[str] = []

    def backend(graph: torch.fx.GraphModule, inputs: object) -> object:
        from torch._dynamo.backends.common import aot_autograd

        def keep(inner: torch.fx.GraphModule, _: object) -> object:
            graphs.append(str(inner.graph))
            return inner.forward

        return aot_autograd(fw_compiler=keep)(graph, inputs)

    f = vmap(lambda x: tlc.muladd(x, Y, 2.0))
    same(torch.compile(f, backend=backend, fullgraph=True)(BATCH), BATCH * Y + 2)
    count = sum(graph.count("tlc.muladd") for graph in graphs)
    if count > 1:
        raise Looped
