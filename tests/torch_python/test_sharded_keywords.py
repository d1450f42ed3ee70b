"""DTensors given by keyword: as the axes ask, or refused; a kernel never gets pieces that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
package = "sharded"
kernels = ["sharded_kernels"]
"""
AXES = "axes: q[b, h], k[b, h], bias[b, h] -> [b, h]"
ENTRIES = f"""\
- func: sharded::named(Tensor q, Tensor k, *, Tensor? bias=None) -> Tensor
  dispatch: {{CPU: mix}}
  {AXES}
- func: sharded::needed(Tensor q, *, Tensor k, Tensor bias) -> Tensor
  dispatch: {{CPU: mix}}
  {AXES}
- func: sharded::placed(Tensor q, Tensor k, Tensor? bias=None) -> Tensor
  dispatch: {{CPU: placed}}
  {AXES}
- func: sharded::listed(Tensor q, Tensor k, *, Tensor[] bias) -> Tensor
  dispatch: {{CPU: listed}}
  {AXES}
"""
KERNELS = """\
def mix(q, k, *, bias=None):
    return placed(q, k, bias)


def listed(q, k, *, bias):
    return placed(q, k, bias[0])


def placed(q, k, bias=None):
    shapes = {tuple(one.shape) for one in (q, k, bias) if one is not None}
    assert len(shapes) == 1, f"pieces that do not fit: {shapes}"
    return q + k if bias is None else q + k + bias
"""
# Of two processes, this one is the first.
PROGRAM = """
import itertools

import sharded
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
mesh, ops = init_device_mesh("cpu", (2,)), torch.ops.sharded
SHAPES = {Shard(0): (2, 4), Shard(1): (4, 2), Replicate(): (4, 4), Partial(): (4, 4)}


def made(placement):
    return DTensor.from_local(torch.ones(SHAPES[placement]), mesh, [placement])


CALLS = {
    "named": lambda q, k, bias: ops.named(q, k, bias=bias),
    "named, all by keyword": lambda q, k, bias: ops.named(bias=bias, k=k, q=q),
    "needed": lambda q, k, bias: ops.needed(q, bias=bias, k=k),
    "placed": lambda q, k, bias: ops.placed(q, k, bias),
    "placed by keyword": lambda q, k, bias: ops.placed(q, bias=bias, k=k),
    "listed": lambda q, k, bias: ops.listed(q, k, bias=[bias]),
}
# What DTensor can move is never refused.
MOVED = {"placed", "placed by keyword"}
counts = {}
for name, call in CALLS.items():
    for placements in itertools.product(SHAPES, repeat=3):
        try:
            found = call(*map(made, placements))
        except RuntimeError as error:
            # DTensor itself takes no list by keyword.
            why = "device mesh" if name == "listed" else "by keyword"
            assert "sharded." in str(error) and why in str(error), error
            assert name not in MOVED, (name, placements)
            counts[name] = counts.get(name, 0) + 1
            continue
        (placement,) = found.placements
        assert found.shape == (4, 4), (name, placements, found.shape)
        assert tuple(found.to_local().shape) == SHAPES[placement], (name, placements)
print(counts)
"""


def test_pieces_fit_or_the_call_is_refused(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(ENTRIES)
    (tmp_path / "sharded_kernels.py").write_text(KERNELS)
    write_package(tmp_path)
    # Refused are sums by keyword, and two that are given by keyword and do not fit.
    refused = {"named": 16, "named, all by keyword": 16, "needed": 52, "listed": 64}
    assert run_program(tmp_path, PROGRAM).strip() == str(refused)
