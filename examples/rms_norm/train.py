"""Train a model on one process, under FSDP2 and tensor parallel on two, each eagerly and compiled.

    python train.py                                  starts both processes
    torchrun --nproc-per-node 2 train.py             runs in those that torchrun has started

    --kernels cpp|python     the folder with the kernels (cpp)
    --backend NAME           the backend of torch.compile (inductor); "" compiles nothing

The losses are printed side by side. If they differ, the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from by_torch import add_rms_norm_by_torch
from model import WORDS, Model, Operator
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_module
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    RowwiseParallel,
    parallelize_module,
)

PROCESSES, STEPS, BATCH, TOKENS = 2, 8, 8, 16
TOLERANCE = 1e-4


def operator_of(kernels: str) -> Operator:
    """The generated function, whose kernels are in this folder."""
    folder = Path(__file__).parent / kernels
    sys.path[:0] = [str(folder), str(folder / "generated" / "torch-python")]
    from rms_norm_ops import add_rms_norm

    return add_rms_norm


# How a model is spread over the processes.


def one_process(model: Model, mesh: DeviceMesh) -> None:
    """It is not."""


def fsdp(model: Model, mesh: DeviceMesh) -> None:
    """Each process has a part of every parameter, and a part of the batch."""
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


class Replicated(ParallelStyle):
    """Each process has the whole weight; its input is in parts already, and stays so."""

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        return distribute_module(module, device_mesh)


def tensor_parallel(model: Model, mesh: DeviceMesh) -> None:
    """Each process has some heads and columns and, from one of them to the next, some tokens of each row.

    The normalizations get DTensors of tokens. The line `axes:` says that they can be computed in parts.
    """
    tokens, everything = Shard(1), Replicate()

    def to_tokens(**options: Replicate) -> RowwiseParallel:
        return RowwiseParallel(output_layouts=tokens, use_local_output=False, **options)

    gathered = PrepareModuleInput(input_layouts=tokens, desired_input_layouts=everything)
    block = {
        "norm1": Replicated(),
        "attention": gathered,
        "attention.q": ColwiseParallel(),
        "attention.k": ColwiseParallel(),
        "attention.v": ColwiseParallel(),
        "attention.out": to_tokens(),
        "norm2": Replicated(),
        "mlp": gathered,
        "mlp.up": ColwiseParallel(),
        "mlp.down": to_tokens(),
    }
    plan = {
        "words": to_tokens(input_layouts=everything),
        **{f"blocks.*.{name}": style for name, style in block.items()},
        "norm": Replicated(),
        "head": ColwiseParallel(input_layouts=tokens, output_layouts=everything),
    }
    parallelize_module(model, mesh, plan)


Spread = Callable[[Model, DeviceMesh], None]
WAYS: dict[str, Spread] = {
    "one process": one_process,
    "FSDP2": fsdp,
    "tensor parallel": tensor_parallel,
}


def batches() -> Tensor:
    """Rows of words that count upward, by one to three; the next word has to be learned."""
    generator = torch.Generator().manual_seed(1)
    first = torch.randint(WORDS, (STEPS, BATCH, 1), generator=generator)
    by = torch.randint(1, 4, (STEPS, BATCH, 1), generator=generator)
    return (first + by * torch.arange(TOKENS + 1)) % WORDS


def losses(operator: Operator, spread: Spread, mesh: DeviceMesh, backend: str = "") -> list[float]:
    """The loss of each step, compiled if there is a backend."""
    torch.manual_seed(0)
    model = Model(operator)
    spread(model, mesh)
    if backend:
        torch.compiler.reset()
        for block in model.blocks:
            block.compile(fullgraph=True, backend=backend)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    found = []
    for batch in batches():
        if spread is fsdp:
            batch = batch.chunk(PROCESSES)[dist.get_rank()]
        scores = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach().clone()
        if spread is fsdp:
            dist.all_reduce(mean)
            mean /= PROCESSES
        found.append(mean.item())
    return found


def work(rank: int, store: str, kernels: str, backend: str) -> None:
    """What each process does; the first one prints."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store, rank=rank, world_size=PROCESSES)
    mesh = init_device_mesh("cpu", (PROCESSES,))
    operator = operator_of(kernels)
    found = {}
    if rank == 0:
        found["PyTorch's own"] = losses(add_rms_norm_by_torch, one_process, mesh)
    for how in ("", backend):
        for name, spread in WAYS.items():
            if spread is not one_process or rank == 0:
                found[f"{name}, compiled" if how else name] = losses(operator, spread, mesh, how)
    dist.barrier()
    dist.destroy_process_group()
    end(report(found) if rank == 0 else 0)


def end(code: int) -> NoReturn:
    """End this process at once, without the interpreter's own end.

    DTensor's caches keep the process group, so that its threads outlive `destroy_process_group`. One of them may still
    have to release a tensor; while the interpreter ends, PyTorch aborts at that
    (https://github.com/pytorch/pytorch/issues/190489).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def report(found: dict[str, list[float]]) -> int:
    """Print the losses; 1 if they differ."""
    width = max(map(len, found))
    for name, values in found.items():
        print(f"{name:{width}}", *(f"{value:.5f}" for value in values))
    expected, *others = map(torch.tensor, found.values())
    most = max((one - expected).abs().max().item() for one in others)
    agree = most < TOLERANCE
    print(f"The losses {'agree' if agree else 'DIFFER'}: the largest difference is {most:.1e}.")
    return int(not agree)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernels", choices=["cpp", "python"], default="cpp")
    parser.add_argument("--backend", default="inductor")
    given = parser.parse_args()
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), "env://", given.kernels, given.backend)
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments = (f"file://{folder}/store", given.kernels, given.backend)
        try:
            mp.spawn(work, arguments, nprocs=PROCESSES)
        except mp.ProcessExitedException as error:
            sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
