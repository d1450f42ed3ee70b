"""What a call of an operator of C++ and its training cost in PyTorch: `python bench/cpp_torch.py [--rounds N]`.

The same small kernel (`a * b + s` on three elements) is registered

    by hand     with TORCH_LIBRARY and a `torch::autograd::Function`
    generated   by target `cpp-torch`, with formulas

and called from C++ where no gradient is wanted, where gradients are (forward), and with its backward pass (both); the
backward pass is what both take longer than the forward pass. The two are in one library, and run in turns: the figures
are the medians of the rounds, of processor time, and the medians of the ratios in the same round. What a call keeps for
its backward pass is counted in bytes, too: where both gradients are wanted, and where one is. Needs g++ and torch.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

import torchgen_lite
from tests.cpp.compiling import torch_flags, write_files

CALLS = 1000
NAMES = ("by_hand", "generated")
CONFIGURATION = """\
schema = ["ops.yaml"]
output-dir = "generated"
targets = ["cpp-torch"]
[target.cpp-torch]
kernel-headers = ["kernels.h"]
"""
SCHEMA = """\
- func: generated::muladd(Tensor a, Tensor b, float s) -> Tensor
  dispatch: {CPU: "bench::muladd"}
  derivatives: {a: grad * b, b: grad * a}
"""
KERNELS = """\
#pragma once
#include <ATen/ATen.h>
namespace bench {
inline at::Tensor muladd(const at::Tensor& a, const at::Tensor& b, double s) {
  return a * b + s;
}
} // namespace bench
"""
BY_HAND = """\
#include "kernels.h"

#include <ctime>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

using at::Tensor;
using Muladd = Tensor(const Tensor&, const Tensor&, double);

c10::TypedOperatorHandle<Muladd> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Muladd>();
}

struct ByHand : torch::autograd::Function<ByHand> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& a, const Tensor& b, double s) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({a, b});
    static const auto muladd = find("by_hand::muladd");
    return muladd.call(a, b, s);
  }

  static torch::autograd::tensor_list backward(
      torch::autograd::AutogradContext* ctx, torch::autograd::tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[1], grads[0] * saved[0], Tensor()};
  }
};

Tensor by_hand(const Tensor& a, const Tensor& b, double s) {
  return ByHand::apply(a, b, s);
}

// Microseconds of a call: of its forward pass, or of both.
double time_of(std::string name, Tensor a, Tensor b, int64_t calls, bool is_trained) {
  const auto muladd = find(name.c_str());
  const auto gradient = at::ones_like(a);
  const auto start = std::clock();
  for (int64_t i = 0; i < calls; ++i) {
    const auto result = muladd.call(a, b, 2.0);
    if (is_trained) {
      result.backward(gradient);
    }
  }
  return 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / static_cast<double>(calls);
}

TORCH_LIBRARY(by_hand, m) {
  m.def("muladd(Tensor a, Tensor b, float s) -> Tensor");
  m.def("time_of(str name, Tensor a, Tensor b, int calls, bool is_trained) -> float", time_of);
}
TORCH_LIBRARY_IMPL(by_hand, CPU, m) {
  m.impl("muladd", bench::muladd);
}
TORCH_LIBRARY_IMPL(by_hand, Autograd, m) {
  m.impl("muladd", by_hand);
}
"""


def build(folder: Path) -> None:
    """Load a library with both operators, compiled as a release is."""
    texts = {
        "torchgen_lite.toml": CONFIGURATION,
        "ops.yaml": SCHEMA,
        "kernels.h": KERNELS,
        "by_hand.cpp": BY_HAND,
    }
    write_files(folder, texts)
    made = torchgen_lite.generate(torchgen_lite.load(root=folder))
    write_files(folder / "generated", made)
    sources = ["by_hand.cpp", *[f"generated/{path}" for path in made if path.endswith(".cpp")]]
    libraries = Path(torch.__file__).parent / "lib"
    command = [
        "g++",
        "-shared",
        "-fPIC",
        "-O2",
        *torch_flags(),
        "-I.",
        "-Igenerated/cpp-torch/include",
    ]
    command += [*sources, "-o", "library.so", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    subprocess.run([*command, "-ltorch", "-ltorch_cpu", "-lc10"], cwd=folder, check=True)
    load: Any = torch.ops.load_library
    load(folder / "library.so")


def measure(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Microseconds in each round, by what is measured and by the operator."""
    time_of: Any = torch.ops.by_hand.time_of
    found = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    for _ in range(rounds):
        for name in NAMES:
            a, b = torch.randn(3), torch.randn(3)
            free = time_of(f"{name}::muladd", a, b, CALLS, False)
            a.requires_grad_()
            b.requires_grad_()
            forward = time_of(f"{name}::muladd", a, b, CALLS, False)
            both = time_of(f"{name}::muladd", a, b, CALLS, True)
            found["no gradient is wanted"][name].append(free)
            found["forward, with gradients"][name].append(forward)
            found["backward"][name].append(both - forward)
            found["both"][name].append(both)
    return found


def kept(name: str, *needs: bool) -> int:
    """How many bytes of tensors a call keeps for its backward pass, where these arguments need a gradient."""
    sizes: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        sizes.append(tensor.nbytes)
        return tensor.detach()

    a, b = (torch.randn(3, requires_grad=need) for need in needs)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        getattr(torch.ops, name).muladd(a, b, 2.0)
    return sum(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        found = measure(rounds)
        memory = {
            "kept, two gradients": [kept(name, True, True) for name in NAMES],
            "kept, one gradient": [kept(name, True, False) for name in NAMES],
        }
    print(f"{'':26}{'by hand':>12}{'generated':>12}{'of by hand':>12}")
    for what, times in found.items():
        by_hand, generated = times["by_hand"], times["generated"]
        ratio = statistics.median(x / y for x, y in zip(generated, by_hand))
        medians = f"{statistics.median(by_hand):9.2f} us{statistics.median(generated):9.2f} us"
        print(f"{what:26}{medians}{ratio:12.2f}")
    for what, (by_hand_bytes, generated_bytes) in memory.items():
        ratio = generated_bytes / by_hand_bytes
        print(f"{what:26}{by_hand_bytes:6} bytes{generated_bytes:6} bytes{ratio:12.2f}")


if __name__ == "__main__":
    main()
