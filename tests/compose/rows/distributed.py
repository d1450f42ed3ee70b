"""Distributed: processes that this one pretends to be in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tests.compose.probe import holds, row, same
from tests.compose.rows.calls import X, Y, blended, rms, tlc
from tests.compose.rows.exported import Norm
from tests.compose.rows.gradients import leaf

WHOLE = torch.stack([X, Y, X * Y, X + Y])


def _mesh() -> Any:
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    return init_device_mesh("cpu", (2,))


def _sharded(dim: int, value: Tensor = WHOLE) -> Any:
    from torch.distributed.tensor import DTensor, Shard

    mesh = _mesh()
    return DTensor.from_local(value.chunk(2, dim)[0].clone(), mesh, [Shard(dim)])


def _replicated(value: Tensor, of: Any) -> Any:
    from torch.distributed.tensor import DTensor, Replicate

    return DTensor.from_local(value, of.device_mesh, [Replicate()])


def _is_sharded(found: Any, dim: int, local: Tensor) -> None:
    holds(found.placements[0].is_shard(dim), f"is {found.placements[0]}")
    same(found.to_local(), local)


@row("DTensor, pointwise")
def pointwise() -> None:
    x = _sharded(0)
    local = x.to_local()
    _is_sharded(tlc.muladd(x, x, 2.0), 0, local * local + 2)


@row("DTensor, a normalization")
def normalization() -> None:
    x = _sharded(0)
    found = tlc.row_norm(x, _replicated(Y, x))[0]
    _is_sharded(found, 0, rms(x.to_local(), Y))


@row("DTensor, a matrix product with partial sums")
def product() -> None:
    from torch.distributed.tensor import DTensor, Shard

    x = _sharded(1, torch.ones(2, 4))
    y = DTensor.from_local(torch.ones(2, 3), x.device_mesh, [Shard(0)])
    found = tlc.mm(x, y)
    holds(found.placements[0].is_partial(), f"is {found.placements[0]}")
    same(found.to_local(), torch.full((2, 3), 2.0))


@row("DTensor, partial sums are added before a nonlinear operator")
def partial() -> None:
    from torch.distributed._local_tensor import LocalTensorMode
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    a, b = WHOLE.t().contiguous(), WHOLE
    _mesh()
    with LocalTensorMode(2):
        mesh = init_device_mesh("cpu", (2,))
        total = tlc.mm(
            distribute_tensor(a, mesh, [Shard(1)]), distribute_tensor(b, mesh, [Shard(0)])
        )
        holds(total.placements[0].is_partial(), f"is {total.placements[0]}")
        same(tlc.muladd(total, total, 1.0).full_tensor().reconcile(), (a @ b) * (a @ b) + 1)


@row("DTensor, uneven pieces")
def uneven() -> None:
    from torch.distributed._local_tensor import LocalTensorMode
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    _mesh()
    with LocalTensorMode(2):
        mesh = init_device_mesh("cpu", (2,))
        x, w = distribute_tensor(WHOLE[:3], mesh, [Shard(0)]), distribute_tensor(
            Y, mesh, [Replicate()]
        )
        same(tlc.row_norm(x, w)[0].full_tensor().reconcile(), rms(WHOLE[:3], Y))


@row("DTensor, gradients")
def gradients() -> None:
    x = _sharded(0)
    weight = _replicated(Y.clone(), x).requires_grad_()
    tlc.row_norm(x, weight)[0].sum().backward()
    w = leaf(Y)
    rms(x.to_local(), w).sum().backward()
    holds(weight.grad.placements[0].is_partial(), f"is {weight.grad.placements[0]}")
    same(weight.grad.to_local(), w.grad)


@row("DTensor, a list of tensors")
def lists() -> None:
    x = _sharded(0)
    _is_sharded(tlc.weighted_sum([x, x]), 0, x.to_local() * 2)


@row("DTensor, a list in which tensors are left out")
def gaps() -> None:
    x = _sharded(0)
    whole = _replicated(WHOLE, x)
    local = x.to_local()
    _is_sharded(tlc.blend(x, [None, whole, x]), 0, blended(local, local, local))


@row("DTensor, in place, returns its argument")
def in_place() -> None:
    x = _sharded(0)
    before = x.to_local().clone()
    holds(tlc.scale_(x, 3.0) is x, "returns another tensor")
    _is_sharded(x, 0, before * 3)


@row("DTensor, in place, returns nothing")
def nothing() -> None:
    x = _sharded(0)
    before = x.to_local().clone()
    tlc.axpy(x, x * 2, 1.0)
    _is_sharded(x, 0, before * 3)


@row("tensor parallel")
def tensor_parallel() -> None:
    from torch.distributed._local_tensor import LocalTensorMode
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    up, down = torch.ones(3, 4) / 3, torch.ones(4, 3) / 5
    _mesh()
    wanted = rms(WHOLE, Y) @ up @ down
    with LocalTensorMode(2):
        mesh = init_device_mesh("cpu", (2,))
        x, w = (distribute_tensor(one, mesh, [Replicate()]) for one in (WHOLE, Y))
        u, d = (distribute_tensor(one, mesh, [Shard(i)]) for one, i in ((up, 1), (down, 0)))
        found = tlc.mm(tlc.mm(tlc.row_norm(x, w)[0], u), d)
        same(found.full_tensor().reconcile(), wanted)


def _alone() -> None:
    """A process group of one process, whose collectives are real."""
    import torch.distributed as dist

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def _trained(module: nn.Module) -> None:
    module(WHOLE).sum().backward()


@row("DDP")
def ddp() -> None:
    _alone()
    own = Norm()
    _trained(nn.parallel.DistributedDataParallel(own))
    other = Norm()
    _trained(other)
    same(own.weight.grad, other.weight.grad)


@row("FSDP2")
def fsdp() -> None:
    from torch.distributed.fsdp import fully_shard

    _alone()
    module, other = fully_shard(Norm()), Norm()
    _trained(module)
    _trained(other)
    same(module.weight.grad.to_local(), other.weight.grad)
