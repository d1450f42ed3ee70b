"""Gradients: reverse mode, as `backward()` has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

from tests.compose.probe import Wrong, holds, row, same
from tests.compose.rows.calls import X, Y, blended, rms, tlc


def leaf(value: Tensor = X) -> Tensor:
    return value.clone().requires_grad_()


def both(ours: Callable[..., Tensor], theirs: Callable[..., Tensor], *inputs: Tensor) -> None:
    """Compare gradients with those of PyTorch's own functions."""
    found = []
    for function in (ours, theirs):
        given = [leaf(one) for one in inputs]
        found.append(torch.autograd.grad(function(*given).sin().sum(), given))
    same(*found)


@row("gradients")
def first() -> None:
    both(lambda a, b: tlc.muladd(a, b, 2.0), lambda a, b: a * b + 2, X, Y)
    both(lambda x, w: tlc.row_norm(x, w)[0], rms, X.outer(Y), Y)
    both(tlc.mm, torch.mm, X.outer(Y), Y.outer(X))


@row("gradients of gradients")
def second() -> None:
    def twice(f: Callable[[Tensor], Tensor]) -> Tensor:
        x = leaf()
        (once,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(once.sin().sum(), x)[0]

    same(twice(lambda x: tlc.muladd(x, x * x, 2.0)), twice(lambda x: x * x * x + 2))
    same(twice(lambda x: tlc.row_norm(x, Y)[0]), twice(lambda x: rms(x, Y)))


@row("gradients of the tensors of a list")
def of_lists() -> None:
    both(lambda a, b: tlc.weighted_sum([a, b, a], Y), lambda a, b: (a + b + a) * Y, X, Y)


@row("gradients of a list in which tensors are left out")
def of_gaps() -> None:
    both(lambda a, b: tlc.blend(a, [None, b, None, a]), lambda a, b: blended(a, b, a), X, Y)
    y, unused = leaf(Y), leaf(X)
    (found,) = torch.autograd.grad(tlc.blend(X, [None, y, unused], 2.0).sum(), y)
    same(found, 2 * X)
    given = [leaf(one.double()) for one in (X, Y)]
    torch.autograd.gradgradcheck(lambda a, b: tlc.blend(a, [None, b, b, None]), given)


@row("gradients in batches, `is_grads_batched`")
def batched() -> None:
    x, grads = leaf(), torch.eye(3)
    (found,) = torch.autograd.grad(tlc.muladd(x, x, 2.0), x, grads, is_grads_batched=True)
    same(found, torch.diag(2 * X))


@row("gradients through an in-place call")
def through_in_place() -> None:
    both(lambda x: tlc.scale_(x * 1, 3.0) * x, lambda x: 3 * x * x, X)


@row("an in-place call without formulas is not differentiated by mistake")
def underived() -> None:
    x = leaf()
    y = x * 1
    try:
        tlc.axpy(y, x, 2.0)
        (found,) = torch.autograd.grad(y.sum(), x)
    except RuntimeError:
        return
    same(found, torch.full((3,), 3.0))


@row("gradients through an in-place call on a view")
def through_view() -> None:
    def ours(x: Tensor) -> Tensor:
        y = x * 1
        tlc.scale_(y[1:], 3.0)
        return y * x

    both(ours, lambda x: x * x * torch.tensor([1.0, 3.0, 3.0]), X)


@row("an in-place call on a leaf is an error")
def on_leaf() -> None:
    x = leaf()
    try:
        tlc.scale_(x, 3.0)
    except RuntimeError as error:
        holds("leaf" in str(error), "another error")
        return
    raise Wrong("writes to it")


def twice(x: Tensor) -> Tensor:
    """What the operator gives that notes down what it has seen, beside that."""
    return x * 2


@row("gradients of a call that writes to a buffer")
def through_noted() -> None:
    seen = Y.clone()
    both(lambda x: tlc.tally(x, seen) * tlc.tally(x * x, seen), lambda x: 4 * x * x * x, X)
    same(seen, Y + X + X * X)
    second_of = [leaf(), leaf()]
    for f, x in zip((lambda x: tlc.tally(x * x, seen), lambda x: twice(x * x)), second_of):
        (once,) = torch.autograd.grad(f(x).sin().sum(), x, create_graph=True)
        once.sin().sum().backward()
    same(second_of[0].grad, second_of[1].grad)


@row("a buffer that requires a gradient is refused before it is written")
def of_noted() -> None:
    for seen in (leaf(Y), leaf(Y) * 1):
        try:
            (found,) = torch.autograd.grad(tlc.tally(leaf(), seen).sum() + seen.sum(), seen)
        except RuntimeError as error:
            holds("seen" in str(error) or "tally" in str(error), "another error")
            same(seen.detach(), Y)
            continue
        same(found, torch.ones(3))


@row("a saved buffer to which a call writes is an error")
def stale_buffer() -> None:
    x, seen = leaf(), Y.clone()
    out = tlc.muladd(x, seen, 2.0)
    tlc.tally(x, seen)
    try:
        out.sum().backward()
    except RuntimeError as error:
        holds("modified by an inplace operation" in str(error), "another error")
        return
    raise Wrong("computes with the changed buffer")


@row("gradients of complex tensors")
def of_complex() -> None:
    z, w = torch.tensor([1 + 2j, -1j]), torch.tensor([0.5 - 1j, 2 + 0j])
    found = []
    for f in (lambda a: tlc.scale(a, 3.0), lambda a: a * 3):
        a = leaf(z)
        found += torch.autograd.grad((f(a) * w).abs().sum(), a)
    same(found[0], found[1])


@row("a graph is freed, and kept if asked")
def freed() -> None:
    x = leaf()
    out = tlc.muladd(x, x, 2.0).sum()
    out.backward(retain_graph=True)
    out.backward()
    same(x.grad, 4 * X)
    try:
        out.backward()
    except RuntimeError as error:
        holds("second time" in str(error), "another error")
        return
    raise Wrong("computes with what is freed")


@row("anomaly mode names the operator")
def anomaly() -> None:
    try:
        with torch.autograd.detect_anomaly(check_nan=True):
            tlc.muladd(leaf(), X * torch.nan, 0.0).sum().backward()
    except RuntimeError as error:
        holds("muladd" in str(error).lower(), "names something else")
        return
    raise Wrong("finds nothing")


@row("no gradient is lost without a word")
def lost() -> None:
    x = leaf(X.outer(Y))
    try:
        (found,) = torch.autograd.grad(tlc.rows(x).sum(), x)
    except RuntimeError:
        return
    same(found, torch.ones(3, 3))


@row("hooks on saved tensors")
def saved_hooks() -> None:
    packed: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        packed.append(tensor)
        return tensor * 2

    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor / 2):
        y = tlc.muladd(x, Y, 2.0)
    y.sum().backward()
    holds(packed, "saves nothing that hooks see")
    same(x.grad, Y)


@row("a saved tensor that has changed is an error")
def stale() -> None:
    x, y = leaf(), Y.clone()
    out = tlc.muladd(x, y, 2.0)
    tlc.scale_(y, 2.0)
    try:
        out.sum().backward()
    except RuntimeError as error:
        holds("modified by an inplace operation" in str(error), "another error")
        return
    raise Wrong("computes with the changed tensor")


def block(x: Tensor) -> Tensor:
    return tlc.muladd(tlc.row_norm(x, Y)[0], x, 1.0)


@row("checkpoint")
def checkpointed() -> None:
    both(lambda x: checkpoint(block, x, use_reentrant=False), lambda x: rms(x, Y) * x + 1, X)


@row("checkpoint of a call that writes to a buffer, which is written twice")
def checkpointed_notes() -> None:
    """As `torch.nn.functional.batch_norm` does."""
    seen = Y.clone()

    def ours(x: Tensor) -> Tensor:
        return checkpoint(lambda x: tlc.tally(x.sin(), seen).sin(), x, use_reentrant=False)

    both(ours, lambda x: twice(x.sin()).sin(), X)
    same(seen, Y + 2 * X.sin())


@row("checkpoint with random numbers")
def checkpointed_draws() -> None:
    drawn: list[Tensor] = []

    def f(x: Tensor) -> Tensor:
        drawn.append(tlc.drawn(torch.full((100,), 0.5)))
        return (x.sum() * x.sum()).sin() * drawn[-1]

    x = leaf()
    checkpoint(f, x, use_reentrant=False).sum().backward()
    same(drawn[0], drawn[1])


def selective() -> Any:
    return partial(create_selective_checkpoint_contexts, [tlc.row_norm.default])


@row("selective checkpoint")
def checkpointed_in_part() -> None:
    def ours(x: Tensor) -> Tensor:
        return checkpoint(block, x, use_reentrant=False, context_fn=selective())

    both(ours, lambda x: rms(x, Y) * x + 1, X)


@row("forward mode: dual numbers")
def dual() -> None:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(X, Y)
        same(forward_ad.unpack_dual(tlc.muladd(x, x, 2.0)).tangent, 2 * X * Y)
        of_reference = forward_ad.unpack_dual(tlc.cube(x)).tangent
        same(of_reference, 3 * X * X * Y)
        holds(not of_reference.requires_grad, "a tangent has a history that nothing asked for")


@row("forward mode: lists")
def dual_lists() -> None:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(X, Y)
        same(forward_ad.unpack_dual(tlc.weighted_sum([x, X, x], X)).tangent, 2 * Y * X)


@row("forward mode: a list in which tensors are left out")
def dual_gaps() -> None:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(X, Y)
        found = forward_ad.unpack_dual(tlc.blend(Y, [None, x, Y, x], 2.0))
        same(found.tangent, 4 * Y * Y)


@row("forward mode: in place")
def dual_in_place() -> None:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(X, Y) * 1
        same(forward_ad.unpack_dual(tlc.scale_(x, 3.0)).tangent, 3 * Y)


@row("forward mode: no tangent is lost without a word")
def lost_tangent() -> None:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        y, x = X.clone(), forward_ad.make_dual(X, Y)
        try:
            tlc.axpy(y, x, 2.0)
        except RuntimeError:
            return
        tangent = forward_ad.unpack_dual(y).tangent
        same(tangent, 2 * Y)


@row("`gradcheck` with forward mode and batches")
def gradcheck() -> None:
    given = [leaf(one.double()) for one in (X, Y)]
    options = {"check_forward_ad": True, "check_batched_grad": True}
    torch.autograd.gradcheck(lambda a, b: tlc.muladd(a, b, 2.0), given, **options)
    torch.autograd.gradcheck(lambda x, w: tlc.row_norm(x, w)[0], given, **options)
