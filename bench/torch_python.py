"""What a call of an operator and its training cost in PyTorch: `python bench/torch_python.py [--rounds N]`.

The same small kernel of Python (`a * b + s` on three elements) is registered

    bare        by `torch.library.Library` alone: the lower bound for operators with a Python kernel
    Function    the same with a `torch.autograd.Function`, written by hand, at Autograd
    generated   by target `torch-python`, without derivatives and with them
    final       the same, with its option `final`
    custom_op   by `torch.library.custom_op` with `register_autograd`

and called where no gradient is wanted, where gradients are (forward), and with its backward pass (both); the backward
pass is what both take longer than the forward pass. `kernel` is the function itself, whose gradients are PyTorch's: no
operator of Python is quicker. Everything runs in one process, in turns: the figures are the medians of the rounds, of
processor time, and the medians of the ratios to `custom_op` and to `Function` in the same round.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import torchgen_lite

CALLS = 100
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


def called(call: Call, a: Tensor, b: Tensor) -> None:
    call(a, b, 2.0)


def trained(call: Call, a: Tensor, b: Tensor) -> None:
    call(a, b, 2.0).backward(torch.ones_like(a))


def microseconds(run: Callable[[Call, Tensor, Tensor], None], call: Call, needs: bool) -> float:
    """What one run takes."""
    a, b = (torch.randn(3, requires_grad=needs) for _ in range(2))
    start = time.process_time()
    for _ in range(CALLS):
        run(call, a, b)
    return (time.process_time() - start) / CALLS * 1e6


def measure(calls: dict[str, Call], needs: bool, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Microseconds in each round, by what is measured and by the call."""
    found = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    for _ in range(rounds):
        for name, call in calls.items():
            forward = microseconds(called, call, needs)
            if not needs:
                found["no gradient is wanted"][name].append(forward)
                continue
            both = microseconds(trained, call, needs)
            found["forward, with gradients"][name].append(forward)
            found["backward"][name].append(both - forward)
            found["both"][name].append(both)
    return found


def show(what: str, figures: dict[str, list[float]]) -> None:
    print(f"{what:30}{'us':>10}{'custom_op':>12}{'Function':>10}")
    for name, rounds in figures.items():
        ratios = [
            statistics.median(x / y for x, y in zip(rounds, figures[other]))
            for other in ("custom_op", "Function")
        ]
        print(f"  {name:28}{statistics.median(rounds):10.2f}{ratios[0]:12.2f}{ratios[1]:10.2f}")


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
        for what, figures in measure(calls, False, rounds).items():
            show(what, figures)
        # The others have no derivative of their own.
        trained_too = ("kernel", "Function", "generated", "final", "custom_op")
        for what, figures in measure({n: calls[n] for n in trained_too}, True, rounds).items():
            show(what, figures)


if __name__ == "__main__":
    main()
