"""The same operators by hand, as PyTorch's tutorials on custom operators have them.

They are made with `custom_op`; where a result is an argument or a tensor is given by keyword, which it refuses, with `torch.library.define`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fakes
import kern
import torch
from torch import Tensor
from torch.library import custom_op

_library: Any = torch.library


@custom_op("tlc::muladd", mutates_args=())
def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return kern.muladd(a, b, s)


@muladd.register_fake
def _(a: Tensor, b: Tensor, s: float) -> Tensor:
    return torch.empty_like(a * b)


def _keep_factors(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:2])


def _muladd_backward(ctx: Any, grad: Tensor) -> Any:
    a, b = ctx.saved_tensors
    return grad * b, grad * a, None


muladd.register_autograd(_muladd_backward, setup_context=_keep_factors)
_library.register_autocast("tlc::muladd", "cpu", torch.bfloat16)


@custom_op("tlc::row_norm", mutates_args=())
def row_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    return kern.row_norm(x, weight, eps)


@row_norm.register_fake
def _(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    torch._check(x.shape[-1] == weight.shape[0])
    return torch.empty_like(x), x.new_empty(x.shape[:-1])


def _keep_norm(ctx: Any, inputs: Any, output: Any) -> None:
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)
    ctx.mark_non_differentiable(output[1])


def _row_norm_backward(ctx: Any, grad: Tensor, _: Any) -> Any:
    x, weight = ctx.saved_tensors
    rstd = (x.square().mean(-1, True) + ctx.eps).rsqrt()
    scaled, normed = grad * weight, x * rstd
    grad_x = (scaled - normed * (scaled * normed).mean(-1, True)) * rstd
    return grad_x, (grad * normed).reshape(-1, len(weight)).sum(0), None


row_norm.register_autograd(_row_norm_backward, setup_context=_keep_norm)


@custom_op("tlc::mm", mutates_args=())
def mm(a: Tensor, b: Tensor) -> Tensor:
    return kern.mm(a, b)


@mm.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.shape[1] == b.shape[0])
    return a.new_empty(a.shape[0], b.shape[1])


def _mm_backward(ctx: Any, grad: Tensor) -> Any:
    a, b = ctx.saved_tensors
    return grad.mm(b.t()), a.t().mm(grad)


mm.register_autograd(_mm_backward, setup_context=_keep_factors)


@custom_op("tlc::scale", mutates_args=())
def scale(self: Tensor, s: float) -> Tensor:
    return kern.scale(self, s)


@scale.register_fake
def _(self: Tensor, s: float) -> Tensor:
    return torch.empty_like(self)


def _keep_factor(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.s = inputs[1]


scale.register_autograd(lambda ctx, grad: (grad * ctx.s, None), setup_context=_keep_factor)

_fragment: Any = _library.Library("tlc", "FRAGMENT")
_fragment.define("scale_(Tensor(a!) self, float s) -> Tensor(a!)")
_fragment.define("scale.out(Tensor self, float s, *, Tensor(a!) out) -> Tensor(a!)")
_fragment.impl("scale_", kern.scale_, "CPU")
_fragment.impl("scale.out", kern.scale_out, "CPU")
_library.register_fake("tlc::scale_", lambda self, s: self)
_library.register_fake("tlc::scale.out", lambda self, s, out: out)


@custom_op("tlc::axpy", mutates_args={"y"})
def axpy(y: Tensor, x: Tensor, s: float) -> None:
    kern.axpy(y, x, s)


@custom_op("tlc::weighted_sum", mutates_args=())
def weighted_sum(xs: list[Tensor], weight: Tensor | None = None) -> Tensor:
    return kern.weighted_sum(xs, weight)


@weighted_sum.register_fake
def _(xs: list[Tensor], weight: Tensor | None = None) -> Tensor:
    return kern.weighted_sum(xs, weight)


def _keep_weight(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.count, ctx.weight = len(inputs[0]), inputs[1]


def _weighted_sum_backward(ctx: Any, grad: Tensor) -> Any:
    return [grad if ctx.weight is None else grad * ctx.weight for _ in range(ctx.count)], None


weighted_sum.register_autograd(_weighted_sum_backward, setup_context=_keep_weight)


@custom_op("tlc::blend", mutates_args=())
def blend(x: Tensor, masks: Sequence[Tensor | None], s: float = 0.5) -> Tensor:
    return kern.blend(x, list(masks), s)


@blend.register_fake
def _(x: Tensor, masks: Sequence[Tensor | None], s: float = 0.5) -> Tensor:
    return torch.empty_like(kern.blend(x, list(masks), s))


def _keep_masks(ctx: Any, inputs: Any, output: Any) -> None:
    x, masks, ctx.s = inputs
    ctx.is_given = [mask is not None for mask in masks]
    ctx.save_for_backward(x, *[mask for mask in masks if mask is not None])


def _blend_backward(ctx: Any, grad: Tensor) -> Any:
    x, *masks = ctx.saved_tensors
    of_masks = [grad * x * ctx.s if is_given else None for is_given in ctx.is_given]
    return kern.blend(grad, masks, ctx.s), of_masks, None


blend.register_autograd(_blend_backward, setup_context=_keep_masks)


@custom_op("tlc::rows", mutates_args=())
def rows(x: Tensor) -> Tensor:
    return kern.rows(x)


rows.register_fake(fakes.rows_fake)


@custom_op(
    "tlc::drawn", mutates_args=(), schema="(Tensor p, *, Generator? generator=None) -> Tensor"
)
def drawn(p: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    return kern.drawn(p, generator=generator)


@drawn.register_fake
def _(p: Tensor, *, generator: Any = None) -> Tensor:
    return torch.empty_like(p)


@custom_op("tlc::log", mutates_args=())
def log(x: Tensor, text: str) -> None:
    kern.log(x, text)


@log.register_fake
def _(x: Tensor, text: str) -> None:
    return None


@custom_op("tlc::affine", mutates_args=())
def affine(
    x: Tensor, bias: Tensor | None = None, s: float = 2.0, *, negate: bool = False
) -> Tensor:
    return kern.affine(x, bias, s, negate=negate)


@affine.register_fake
def _(x: Tensor, bias: Tensor | None = None, s: float = 2.0, *, negate: bool = False) -> Tensor:
    return torch.empty_like(kern.affine(x, bias, s, negate=negate))


def _keep_affine(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    ctx.has_bias, ctx.factor = inputs[1] is not None, inputs[2]
    if keyword_only_inputs["negate"]:
        ctx.factor = -ctx.factor


affine.register_autograd(
    lambda ctx, grad: (grad * ctx.factor, grad if ctx.has_bias else None, None),
    setup_context=_keep_affine,
)


_fragment.define("gate(Tensor x, *, Tensor gate) -> Tensor")
_fragment.define("collect(Tensor x, *, float s=1.0, Tensor(a!) total) -> ()")
_fragment.impl("gate", kern.gate, "CPU")
_fragment.impl("collect", lambda x, *, total, s=1.0: kern.collect(x, total=total, s=s), "CPU")
_library.register_fake("tlc::gate", lambda x, *, gate: torch.empty_like(x * gate))
_library.register_fake("tlc::collect", lambda x, *, total, s=1.0: None)


@custom_op("tlc::halves", mutates_args=())
def halves(x: Tensor, n: int = 2, dim: int = 0) -> list[Tensor]:
    return kern.halves(x, n, dim)


halves.register_fake(fakes.halves_fake)


def _keep_dimension(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.dim = inputs[2]


halves.register_autograd(
    lambda ctx, grads: (torch.cat(grads, ctx.dim), None, None), setup_context=_keep_dimension
)


@custom_op("tlc::cube", mutates_args=())
def cube(x: Tensor) -> Tensor:
    return kern.cube(x)


cube.register_fake(lambda x: torch.empty_like(x))


def _keep_input(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0])


cube.register_autograd(
    lambda ctx, grad: grad * 3 * ctx.saved_tensors[0].square(), setup_context=_keep_input
)


@custom_op("tlc::tally", mutates_args={"seen"})
def tally(x: Tensor, seen: Tensor | None = None) -> Tensor:
    return kern.tally(x, seen)


tally.register_fake(lambda x, seen=None: torch.empty_like(x))
