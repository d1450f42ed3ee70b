"""What a C++ call costs, compared with c10's: `python bench/cpp_dispatch.py [--rounds N]`.

Builds one program with both dispatchers and runs it. Every kernel does nothing and returns nothing, so only
the way to it is measured. Figures are medians over the rounds, and ratios are taken round by round. Both
sides get the same at::Tensor and read its keys from `key_set()`; both have their profiling hooks compiled in,
and nobody listens. Without torch, c10's half is left out and ours runs on a struct of the same shape.

A shared library compares the typed calls that the target `cpp-torch` generates with `at::_ops`, PyTorch's own calls
to the same dispatcher, c10's. PyTorch's wheel was built by another compiler, so the library also contains a copy of
what `at::_ops` does, compiled like the generated calls.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torchgen_lite
from torchgen_lite.loader.config.project import Config

HERE = Path(__file__).parent
INCLUDE = HERE.parent / "torchgen_lite" / "cpp" / "include"
SOURCES = HERE / "cpp_dispatch"
Samples = dict[str, list[float]]

TITLES = {
    "pointer": "a call through a pointer",
    "virtual": "a virtual call",
    "ours-once": "torchgen_lite, one step",
    "ours-twice": "torchgen_lite, autograd and CPU",
    "c10-once": "c10, one step",
    "c10-twice": "c10, autograd and CPU",
}
SIDES = {"ours": "aten_ops::ops", "here": "at::_ops compiled here", "aten": "at::_ops"}
# What typed_calls.cpp calls.
TYPED_CALLS = """\
- func: is_same_size(Tensor self, Tensor other) -> bool
- func: neg(Tensor self) -> Tensor
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
- func: expand_copy.out(Tensor self, SymInt[] size, *, bool implicit=False, Tensor(a!) out) -> Tensor(a!)
- func: _convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding,
    SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark,
    bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor
- func: _nnpack_available() -> bool
"""


def find_torch() -> Path | None:
    """The folder of the installed torch, which is not imported, because that takes a while."""
    found = importlib.util.find_spec("torch")
    return Path(found.origin).parent if found is not None and found.origin else None


def link(
    program: Path, sources: Sequence[Path], torch: Path | None, flags: Sequence[str] = ()
) -> None:
    """Compile and link, as releases are: c10 checks more without NDEBUG, and so is slower."""
    command = ["g++", "-std=c++17", "-O2", "-DNDEBUG", f"-I{INCLUDE}", *flags]
    libraries: list[str] = []
    if torch is not None:
        includes = (torch / "include", torch / "include/torch/csrc/api/include")
        command += ["-DWITH_TORCH", *(f"-isystem{folder}" for folder in includes)]
        lib = torch / "lib"
        libraries = [f"-L{lib}", f"-Wl,-rpath,{lib}", "-ltorch_cpu", "-lc10"]
    command += [*map(str, sources), "-o", str(program), *libraries]
    subprocess.run(command, check=True)


def build(program: Path, torch: Path | None, flags: Sequence[str] = ()) -> list[str]:
    """Build calls.cpp, as a program or with `-shared`, and return the command that runs it."""
    link(program, [SOURCES / "calls.cpp"], torch, flags)
    return load(program) if "-shared" in flags else [str(program)]


def load(library: Path) -> list[str]:
    """The command that runs a shared library."""
    loader = library.with_name("load")
    subprocess.run(["g++", str(SOURCES / "load.cpp"), "-o", str(loader), "-ldl"], check=True)
    return [str(loader), str(library)]


def build_typed_calls(folder: Path, torch: Path) -> list[str]:
    """Generate the calls, build typed_calls.cpp with them, and return the command that runs it."""
    (folder / "ops.yaml").write_text(TYPED_CALLS)
    options = {"cpp-torch": {"namespace": "aten_ops", "calls-only": True}}
    config = Config(root=folder, schema=("ops.yaml",), target_options=options)
    files = torchgen_lite.generate(torchgen_lite.load(config=config), targets=["cpp-torch"])
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    root, library = folder / "cpp-torch", folder / "typed_calls.so"
    # Exported and callable from outside, as PyTorch's own are.
    flags = ["-std=c++20", "-fPIC", "-fvisibility-inlines-hidden", "-shared"]
    flags.append(f"-I{root / 'include'}")
    link(library, [SOURCES / "typed_calls.cpp"], torch, flags)
    return load(library)


def sample(command: Sequence[str], rounds: int) -> Samples:
    """Nanoseconds of a call: name to one figure a round."""
    done = subprocess.run([*command, str(rounds)], check=True, capture_output=True, text=True)
    samples: Samples = {}
    for line in done.stdout.splitlines():
        words = line.split()
        for name, time in zip(words[::2], words[1::2]):
            samples.setdefault(name, []).append(float(time))
    return samples


def ratio(samples: Samples, name: str, base: str) -> float:
    return statistics.median(a / b for a, b in zip(samples[name], samples[base]))


def report(title: str, samples: Samples) -> None:
    print(title)
    for name, times in samples.items():
        base = "c10-twice" if name.endswith("twice") else "c10-once"
        beside = f"{ratio(samples, name, base):7.3f} of c10's" if base in samples else ""
        print(f"  {TITLES[name]:34} {statistics.median(times):7.2f} ns {beside}")


def report_typed_calls(samples: Samples) -> None:
    print("generated for libtorch, in a shared library")
    for name, times in samples.items():
        side, _, called = name.partition("-")
        base = f"aten-{called}"
        title = f"{SIDES[side]}, {called}"
        beside = f"{ratio(samples, name, base):7.3f} of at::_ops'" if name != base else ""
        print(f"  {title:42} {statistics.median(times):7.2f} ns {beside}")


def calls(rounds: int) -> None:
    torch = find_torch()
    print("at::Tensor on both sides" if torch else "torch is not installed: c10 is left out")
    shared = ("-fPIC", "-shared", "-DIN_A_LIBRARY")
    with tempfile.TemporaryDirectory() as folder:
        for title, flags in (
            ("in a program", ()),
            ("in a shared library", shared),
            ("in one with TORCHGEN_LITE_TLS_DYNAMIC", (*shared, "-DTORCHGEN_LITE_TLS_DYNAMIC")),
        ):
            report(title, sample(build(Path(folder) / "calls", torch, flags), rounds))
        if torch is not None:
            report_typed_calls(sample(build_typed_calls(Path(folder), torch), rounds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=501)
    calls(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
