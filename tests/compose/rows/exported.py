"""Export: programs that leave Python."""

from __future__ import annotations

import io
from typing import Any

import tlc_ops
import torch
from torch import Tensor, nn

from tests.compose.probe import holds, row, same
from tests.compose.rows.calls import X, Y, tlc


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(Y.clone())
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        normed, _ = tlc.row_norm(x, self.weight)
        return tlc.muladd(normed, normed, 1.0)


class Counting(Norm):
    def forward(self, x: Tensor) -> Tensor:
        tlc.axpy(self.seen, x.sum(0), 1.0)
        return tlc.scale_(x * 1, 2.0)


BATCH = torch.stack([X, Y, X * Y])


@row("`export`, strict")
def strict() -> None:
    program = torch.export.export(Norm(), (BATCH,), strict=True)
    same(program.module()(BATCH), Norm()(BATCH))


@row("`export` with dynamic shapes, saved and loaded")
def dynamic() -> None:
    shapes = {"x": {0: torch.export.Dim("n")}}
    program = torch.export.export(Norm(), (BATCH,), dynamic_shapes=shapes, strict=False)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    more = torch.cat([BATCH, BATCH])
    same(torch.export.load(file).module()(more), Norm()(more))


@row("`run_decompositions`")
def decomposed() -> None:
    program = torch.export.export(Norm(), (BATCH,)).run_decompositions()
    holds("tlc.row_norm" in str(program.graph), "the operator is gone")
    same(program.module()(BATCH), Norm()(BATCH))


@row("`export` of what writes to a buffer")
def mutation() -> None:
    program = torch.export.export(Counting(), (BATCH,)).run_decompositions()
    module: Any = program.module()
    same(module(BATCH), BATCH * 2)
    same(module.seen, BATCH.sum(0))


@row("`export` for training")
def training() -> None:
    module: Any = torch.export.export(Norm(), (BATCH,)).module()
    module(BATCH).sum().backward()
    own = Norm()
    own(BATCH).sum().backward()
    same(module.weight.grad, own.weight.grad)


@row("AOTInductor package")
def package() -> None:
    import tempfile

    program = torch.export.export(Norm(), (BATCH,))
    with tempfile.NamedTemporaryFile(suffix=".pt2") as file:
        path = torch._inductor.aoti_compile_and_package(program, package_path=file.name)
        same(torch._inductor.aoti_load_package(path)(BATCH), Norm()(BATCH))


@row("`torch.jit.script`, saved")
def scripted() -> None:
    class Scripted(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return torch.ops.tlc.muladd(x, y, 2.0)

    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Scripted()), file)
    file.seek(0)
    same(torch.jit.load(file)(X, Y), X * Y + 2)


@row("`torch.jit.script` of calls of the package's functions")
def scripted_functions() -> None:
    class Scripted(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> list[Tensor]:
            out, rstd = tlc_ops.row_norm(x, weight=y)
            total = tlc_ops.weighted_sum([x, y]) + tlc_ops.weighted_sum([x, y], y)
            tlc_ops.axpy(total, x, 2.0)
            one, other = tlc_ops.halves(torch.cat([x, x]))
            affine = tlc_ops.affine(x, negate=True)
            blend = tlc_ops.blend(x, [None, y])
            return [out, rstd, total, one, other, affine, blend, tlc_ops.muladd(x, b=y, s=2.0)]

    scripted = torch.jit.script(Scripted())
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    file.seek(0)
    wanted = Scripted()(X, Y)
    same(scripted(X, Y), wanted)
    same(torch.jit.load(file)(X, Y), wanted)


@row("`torch.jit.script` of a module that has a function")
def scripted_attribute() -> None:
    class Scripted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.function = tlc_ops.muladd

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return self.function(x, y, 2.0)

    same(torch.jit.script(Scripted())(X, Y), X * Y + 2)


@row("`torch.jit.trace` of calls of the package's functions")
def traced_functions() -> None:
    same(torch.jit.trace(lambda x: tlc_ops.muladd(x, x, 2.0), (X,))(Y), Y * Y + 2)


@row("`torch.jit.trace`")
def traced() -> None:
    same(torch.jit.trace(lambda x: tlc.muladd(x, x, 2.0), (X,))(Y), Y * Y + 2)


@row("`torch.fx`, copied")
def fx() -> None:
    import copy

    module = torch.fx.symbolic_trace(lambda x: torch.ops.tlc.muladd(x, x, 2.0))
    same(copy.deepcopy(module)(X), X * X + 2)


@row("`make_fx` with symbolic shapes")
def make_fx() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx as make

    graph = make(lambda x, w: tlc.row_norm(x, w)[0], tracing_mode="symbolic")(BATCH, Y)
    same(graph(BATCH[:2], Y), tlc.row_norm(BATCH[:2], Y)[0])
