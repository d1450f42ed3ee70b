"""What it costs in Python to choose among kernels: `python bench/rows.py [--rounds N]`.

The same comparisons (a dtype, a size and contiguity; then a size) choose among the same kernels of Python

    by hand     in the only kernel of an operator, an `if` for each
    rows        in three rows of `dispatch`, by the function that target `torch-python` generates

for a tensor that the first row takes, the second and the last. Each is called as a function, and as an operator of
PyTorch. Everything runs in one process, in turns: the figures are the medians of the rounds, of processor time, and the
medians of the ratios in the same round.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import torchgen_lite

CALLS = 5_000
Call = Callable[..., Any]
CONFIGURATION = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["row_kernels"]
"""
SCHEMA = """\
- func: rows::by_hand(Tensor x, float s) -> Tensor
  dispatch: {CPU: by_hand}
  fake: {like: x}
- func: rows::chosen(Tensor x, float s) -> Tensor
  dispatch:
    CPU:
      - {when: "x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0 and x.is_contiguous()", kernel: vector}
      - {when: x.size(-1) <= 8192, kernel: small}
      - whole
  fake: {like: x}
"""
KERNELS = """\
import torch

RESULT = torch.empty(0)


def vector(x, s):
    return RESULT


def small(x, s):
    return RESULT


def whole(x, s):
    return RESULT


def by_hand(x, s):
    if x.dtype in (torch.half, torch.bfloat16) and x.size(-1) % 8 == 0 and x.is_contiguous():
        return vector(x, s)
    if x.size(-1) <= 8192:
        return small(x, s)
    return whole(x, s)
"""


def calls(folder: Path) -> dict[str, tuple[Call, Call]]:
    """By how it is called: what chooses by hand, and what chooses by rows."""
    texts = {"torchgen_lite.toml": CONFIGURATION, "ops.yaml": SCHEMA, "row_kernels.py": KERNELS}
    for path, text in texts.items():
        (folder / path).write_text(text)
    for path, text in torchgen_lite.generate(torchgen_lite.load(root=folder)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    sys.path[:0] = [str(folder), str(folder / "torch-python")]
    package: Any = importlib.import_module("rows_ops")
    # What is registered for the CPU.
    functions: Any = importlib.import_module("rows_ops._operators")
    return {
        "function": (functions.cpu_by_hand, functions.cpu_chosen),
        "operator": (package.by_hand, package.chosen),
    }


def nanoseconds(call: Call, x: torch.Tensor) -> float:
    start = time.process_time()
    for _ in range(CALLS):
        call(x, 2.0)
    return (time.process_time() - start) / CALLS * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    inputs = {
        "first": torch.ones(2, 4096, dtype=torch.half),
        "second": torch.ones(2, 4097),
        "last": torch.ones(2, 8193),
    }
    print(f"{'':24}{'by hand':>12}{'rows':>12}{'of by hand':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for how, (by_hand, chosen) in calls(Path(folder)).items():
            for which, x in inputs.items():
                pairs = [(nanoseconds(by_hand, x), nanoseconds(chosen, x)) for _ in range(rounds)]
                before, after = (statistics.median(figures) for figures in zip(*pairs))
                ratio = statistics.median(rows / hand for hand, rows in pairs)
                print(f"{how}, {which:14}{before:9.0f} ns{after:9.0f} ns{ratio:12.2f}")


if __name__ == "__main__":
    main()
