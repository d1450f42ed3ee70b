"""What it costs in C++ to choose among kernels: `python bench/selection.py [--rounds N]`.

A kernel that returns its argument is registered by the targets `cpp-torch` and `cpp-torch-stable`

    directly    as the only kernel of an operator
    first       as the first of three rows, whose condition asks for a dtype, a size and contiguity
    last        as the last, for a tensor that neither condition before it takes

and called from C++. The operators are called in turns: the figures are the medians of the rounds, of processor time,
and beside them the medians of the differences from the direct call in the same round. Needs g++ and torch.
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

CALLS = 100_000
TARGETS = {"cpp-torch": "in_torch", "cpp-torch-stable": "in_stable"}
SCHEMA = """\
- func: NAME::direct(Tensor x, Tensor weight, float eps) -> Tensor
  dispatch: {CPU: same}
- func: NAME::chosen(Tensor x, Tensor weight, float eps) -> Tensor
  dispatch:
    CPU:
      - {when: "x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0 and x.is_contiguous()", kernel: same}
      - {when: x.size(-1) <= 8192, kernel: other}
      - same
"""
KERNELS = """\
HEADERS
namespace NAME {
TENSOR same(const TENSOR& x, const TENSOR&, double) {
  return x;
}
TENSOR other(const TENSOR&, const TENSOR& weight, double) {
  return weight;
}
} // namespace NAME
"""
LANGUAGES = {
    "cpp-torch": ("#include <ATen/core/Tensor.h>", "at::Tensor"),
    "cpp-torch-stable": ("#include <torch/csrc/stable/tensor.h>", "torch::stable::Tensor"),
}
TIMER = """\
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <ctime>

// Nanoseconds of a call.
double time_of(std::string name, at::Tensor x, at::Tensor weight, int64_t calls) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "")
      .typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
  const at::AutoDispatchBelowAutograd below;
  const auto start = std::clock();
  for (int64_t i = 0; i < calls; ++i) {
    op.call(x, weight, 1e-6);
  }
  return 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / static_cast<double>(calls);
}

TORCH_LIBRARY(timer, m) {
  m.def("time_of(str name, Tensor x, Tensor weight, int calls) -> float", time_of);
}
"""


def build(folder: Path) -> None:
    """Load the libraries of both targets, compiled as a release is."""
    sources = ["timer.cpp"]
    write_files(folder, {"timer.cpp": TIMER})
    for target, name in TARGETS.items():
        headers, tensor = LANGUAGES[target]
        kernels = KERNELS.replace("HEADERS", headers).replace("TENSOR", tensor)
        texts = {
            "torchgen_lite.toml": f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n[target.{target}]\nmodule = ""\n',
            "ops.yaml": SCHEMA.replace("NAME", name),
            "kernels.cpp": kernels.replace("NAME", name),
        }
        write_files(folder / name, texts)
        made = torchgen_lite.generate(torchgen_lite.load(root=folder / name))
        write_files(folder / name, made)
        paths = ["kernels.cpp", *[path for path in made if path.endswith(".cpp")]]
        sources += [f"{name}/{path}" for path in paths]
    libraries = Path(torch.__file__).parent / "lib"
    command = ["g++", "-shared", "-fPIC", "-O2", *torch_flags()]
    command += [f"-I{name}/{target}/include" for target, name in TARGETS.items()]
    command += [*sources, "-o", "library.so", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    subprocess.run([*command, "-ltorch", "-ltorch_cpu", "-lc10"], cwd=folder, check=True)
    load: Any = torch.ops.load_library
    load(folder / "library.so")


def measure(rounds: int, name: str) -> dict[str, list[float]]:
    """Nanoseconds in each round, by how the kernel is registered."""
    time_of: Any = torch.ops.timer.time_of
    narrow = torch.ones(2, 4096, dtype=torch.half)
    wide = torch.ones(2, 8193)
    found = defaultdict[str, list[float]](list)
    for _ in range(rounds):
        found["directly"].append(time_of(f"{name}::direct", narrow, wide, CALLS))
        found["first of three"].append(time_of(f"{name}::chosen", narrow, wide, CALLS))
        found["last of three"].append(time_of(f"{name}::chosen", wide, wide, CALLS))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        for target, name in TARGETS.items():
            times = measure(rounds, name)
            for what, own in times.items():
                more = statistics.median(x - y for x, y in zip(own, times["directly"]))
                print(f"{target:18}{what:16}{statistics.median(own):9.1f} ns{more:+9.1f} ns")


if __name__ == "__main__":
    main()
