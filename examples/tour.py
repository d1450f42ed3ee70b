"""One function, five ways to run it: CPU, Meta, SparseCPU, an out-of-tree backend, and under a logging mode."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # The two modules below stand beside this file.

import logging_mode
import my_backend

import torchgen_lite_reference as tl
from torchgen_lite_runtime import trace


def scaled_sum(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
    return tl.mul(tl.add(x, y, alpha=2), x)


def show(title: str, x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
    print(f"\n{title}: {x._dispatch_keyset}")
    with trace():
        result = scaled_sum(x, y)
    print(result)
    return result


def main() -> None:
    x = tl.tensor([[1.0, 0.0], [0.0, 4.0]])
    y = tl.tensor([[0.5, 0.0], [0.0, 1.0]])
    on_cpu = show("CPU", x, y)

    on_meta = show("Meta", x.to("meta"), y.to("meta"))
    assert on_meta.shape == on_cpu.shape and on_meta.dtype == on_cpu.dtype

    sparse = show("SparseCPU", x.to_sparse(), y.to_sparse())
    assert (sparse.to_dense() == on_cpu).all()

    mine = show("an out-of-tree backend", x.to(my_backend.DEVICE), y.to(my_backend.DEVICE))
    assert (mine.to("cpu") == on_cpu).all()

    with logging_mode.logging():
        logged = show("CPU, under the logging mode", x, y)
    print("logged:", ", ".join(logging_mode.calls))
    assert (logged == on_cpu).all()


if __name__ == "__main__":
    main()
