"""Tools: what looks at programs."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import tlc_ops
import torch
from torch import Tensor

from tests.compose.probe import holds, row, same
from tests.compose.rows.calls import X, Y, tlc
from tests.compose.rows.gradients import leaf


class Having(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.function = tlc_ops.muladd

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.function(x, y, 2.0)


@row("profiler, names and shapes")
def profiler() -> None:
    with torch.profiler.profile(record_shapes=True) as found:
        tlc.muladd(X, Y, 2.0)
    shapes = [one.input_shapes for one in found.events() if one.name == "tlc::muladd"]
    holds(shapes and shapes[0][0] == [3], f"shows {shapes}")


@row("flops of a matrix product")
def flops() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        tlc.mm(torch.ones(2, 3), torch.ones(3, 5))
    holds(counter.get_total_flops() == 60, f"counts {counter.get_total_flops()} instead of 60")


@row("`opcheck`")
def opcheck() -> None:
    x = X.outer(Y)
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (tlc.muladd.default, (leaf(x), leaf(x), 2.0)),
        (tlc.row_norm.default, (leaf(x), leaf(Y))),
        (tlc.mm.default, (leaf(x), leaf(x))),
        (tlc.scale_.default, (x.clone(), 2.0)),
        (tlc.axpy.default, (x.clone(), x, 2.0)),
        (tlc.weighted_sum.default, ([leaf(x), leaf(x)], Y)),
        (tlc.rows.default, (x,)),
    ]
    for op, args in calls:
        torch.library.opcheck(op, args)


@row("a copied module")
def copied() -> None:
    graph = torch.fx.symbolic_trace(lambda x: torch.ops.tlc.muladd(x, x, 2.0))
    same(pickle.loads(pickle.dumps(graph))(X), X * X + 2)
    same(copy.deepcopy(graph)(X), X * X + 2)


@row("a pickled function of the package")
def pickled_function() -> None:
    holds(pickle.loads(pickle.dumps(tlc_ops.muladd)) is tlc_ops.muladd, "is another one")
    holds(copy.deepcopy(tlc_ops.muladd) is tlc_ops.muladd, "is another one")


@row("a saved module that has a function of the package")
def saved() -> None:
    module = Having()
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    same(torch.load(file, weights_only=False)(X, Y), module(X, Y))


@row("`register_autograd` by hand")
def by_hand() -> None:
    torch.library.register_autograd(
        "tlc::rows", lambda ctx, grad: grad.new_full((3, 3), 7.0), setup_context=None
    )
    x = leaf(X.outer(Y))
    tlc.rows(x).sum().backward()
    same(x.grad, torch.full((3, 3), 7.0))


@row("the schema that `torch.ops` shows")
def schema() -> None:
    shown = str(tlc.muladd.default._schema)
    holds(shown == "tlc::muladd(Tensor a, Tensor b, float s) -> Tensor", f"shows {shown}")
