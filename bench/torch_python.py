"""What a call of an operator costs in PyTorch: `python bench/torch_python.py [--rounds N]`.

The same small kernel of Python (`a * b + s` on three elements) is registered

    bare        by `torch.library.Library` alone: the lower bound for operators with a Python kernel
    Function    the same with a `torch.autograd.Function`, written by hand, at Autograd
    generated   by target `torch-python`, without derivatives and with them
    final       the same, with its option `final`
    custom_op   by `torch.library.custom_op` with `register_autograd`

and its forward pass is called, without and with gradients required. Everything runs in one process, in turns;
the figures are the best of the rounds.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import torchgen_lite

CALLS = 200
Call = Callable[[Any, Any, float], Any]
CONFIGURATION = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["calls_kernels"]
final = {final}
"""
KERNELS = "def muladd(a, b, s):\n    return a * b + s\n"
SCHEMA = """\
- func: {name}::plain(Tensor a, Tensor b, float s) -> Tensor
  dispatch: {{CPU: muladd}}
  fake: {{like: a}}
- func: {name}::muladd(Tensor a, Tensor b, float s) -> Tensor
  dispatch: {{CPU: muladd}}
  fake: {{like: a}}
  derivatives: {{a: grad * b, b: grad * a}}
"""


def generated(folder: Path, name: str, final: bool) -> dict[str, Call]:
    texts = {
        "torchgen_lite.toml": CONFIGURATION.format(final=str(final).lower()),
        "calls_kernels.py": KERNELS,
        "ops.yaml": SCHEMA.format(name=name),
    }
    for path, text in texts.items():
        (folder / path).write_text(text)
    for path, text in torchgen_lite.generate(torchgen_lite.load(root=folder)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    sys.path[:0] = [str(folder), str(folder / "torch-python")]
    package: Any = importlib.import_module(f"{name}_ops")
    return {
        f"{name}, no derivatives": package.plain,
        name: package.muladd,
        f"{name}, torch.ops": getattr(torch.ops, name).muladd.default,
    }


def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return a * b + s


def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    a, b = ctx.saved_tensors
    return grad * b, grad * a, None


def by_hand(library: Any) -> dict[str, Call]:
    for name in ("bare", "recorded"):
        library.define(f"{name}(Tensor a, Tensor b, float s) -> Tensor")
        library.impl(name, muladd, "CPU")
    below: Any = torch.ops.calls_by_hand.recorded.default
    guard: Any = torch._C._AutoDispatchBelowAutograd

    class Recorded(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Tensor:
            with guard():
                result: Tensor = below(*inputs)
            setup_context(ctx, inputs, result)
            return result

        backward = staticmethod(backward)

    library.impl("recorded", Recorded.apply, "Autograd")
    return {"bare": torch.ops.calls_by_hand.bare.default, "Function": below}


def custom_op() -> Any:
    operator = torch.library.custom_op(
        "calls_custom::muladd", muladd, mutates_args=(), device_types="cpu"
    )
    operator.register_autograd(backward, setup_context=setup_context)
    return operator


def measure(calls: dict[str, Call], a: Tensor, b: Tensor, rounds: int) -> dict[str, float]:
    """Microseconds of a call."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call(a, b, 2.0)
            best[name] = min(best[name], (time.perf_counter() - start) / CALLS * 1e6)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    make: Any = torch.library.Library
    library = make("calls_by_hand", "DEF")
    with tempfile.TemporaryDirectory() as temporary:
        calls = {"kernel": muladd, **by_hand(library)}
        for name, final in (("generated", False), ("final", True)):
            calls |= generated(Path(temporary), name, final)
        calls["custom_op"] = custom_op()
        for what, needs in (("no gradient is wanted", False), ("gradients are wanted", True)):
            a, b = (torch.randn(3, requires_grad=needs) for _ in range(2))
            found = measure(calls, a, b, rounds)
            print(what)
            for name, figure in found.items():
                print(f"  {name:26} {figure:6.2f} us  {figure / found['custom_op']:5.2f}")


if __name__ == "__main__":
    main()
