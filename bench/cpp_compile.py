"""How long the generated C++ takes to compile, beside the same operators on libtorch's headers.

    python bench/cpp_compile.py [--operators N] [--optimise LEVEL]

The operators have PyTorch's schemas, in a namespace of their own, and a CPU kernel each. Compiled are the
files that both targets write, in the usual 16 shards: typed calls, definitions, CPU registrations. (What
`cpp-torch` writes besides, for autograd, BackendSelect and Functionalize, is left out.) Two compilers run at
a time. Needs torch, for the schemas and the headers.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cpp_dispatch import INCLUDE, SOURCES, find_torch

import torchgen_lite
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.torch_files import find_torch_files

RUNTIME: Mapping[str, object] = {
    "namespace": "bench_ops",
    "tensor": "framework::Tensor",
    "headers": ["framework.h"],
    "types": {
        "ScalarType": "framework::ScalarType",
        "Layout": "framework::Layout",
        "Device": "framework::Device",
        "MemoryFormat": "framework::MemoryFormat",
        "Generator": "const framework::Generator&",
        "Scalar": "const framework::Scalar&",
        "Storage": "framework::Storage",
        "Stream": "framework::Stream",
        "QScheme": "framework::QScheme",
    },
    "constants": {
        "long": "framework::ScalarType::Long",
        "contiguous_format": "framework::MemoryFormat::Contiguous",
    },
}
TORCH: Mapping[str, object] = {"namespace": "bench_ops"}


@dataclass(frozen=True)
class Times:
    """Of all files: the clock's time, the processors' time, and the slowest one's."""

    clock: float
    processors: float
    slowest: float


def entries(count: int) -> Iterator[str]:
    """PyTorch's operators, then the same with other names until there are enough."""
    files, _ = find_torch_files()
    if files is None:
        raise SystemExit("torch is not installed")
    config = Config(root=Path("/"), schema=(str(files.native_functions),))
    functions = torchgen_lite.load(config=config).functions
    texts = [str(function.func) for function in functions]
    # The name of `__and__` says that it is one of Python's.
    texts += [f"again_{text}" for text in texts if not text.startswith("__")]
    for index, text in enumerate(texts[:count]):
        yield f"- func: bench::{text}\n  dispatch:\n    CPU: kernel_{index}\n"


def write(folder: Path, schema: str, target: str, options: Mapping[str, object]) -> Path:
    """Generate, and return the folder of the output."""
    (folder / "ops.yaml").write_text(schema)
    config = Config(root=folder, schema=("ops.yaml",), target_options={target: options})
    program = torchgen_lite.load(config=config)
    if has_errors(program.diagnostics):
        raise SystemExit(program.diagnostics[0].message)
    for path, text in torchgen_lite.generate(program, targets=[target]).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder / target


def compile_all(root: Path, names: Sequence[str], flags: Sequence[str]) -> Times:
    sources = [root / "src" / name for name in names]

    def compile_one(source: Path) -> float:
        start = time.perf_counter()
        command = ["g++", "-std=c++20", "-fPIC", *flags, f"-I{root / 'include'}", "-c", str(source)]
        subprocess.run([*command, "-o", str(source.with_suffix(".o"))], check=True)
        return time.perf_counter() - start

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        times = list(pool.map(compile_one, sources))
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Times(clock, used, max(times))


def source_names(root: Path) -> set[str]:
    return {source.name for source in (root / "src").glob("*.cpp")}


def row(title: str, times: Times, base: Times | None) -> str:
    text = f"  {title:14} {times.clock:8.1f} s {times.processors:9.1f} s {times.slowest:8.1f} s"
    if base is None:
        return text
    return f"{text}   {times.clock / base.clock:.3f} {times.processors / base.processors:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operators", type=int, default=3000)
    parser.add_argument("--optimise", default="2")
    arguments = parser.parse_args()
    torch = find_torch()
    if torch is None:
        raise SystemExit("torch is not installed")
    level = f"-O{arguments.optimise}"
    schema = "".join(entries(arguments.operators))
    headers = (torch / "include", torch / "include/torch/csrc/api/include")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = write(folder, schema, "cpp-torch", TORCH)
        ours = write(folder, schema, "cpp-runtime", RUNTIME)
        names = sorted(source_names(theirs) & source_names(ours))
        count = schema.count("- func:")
        print(f"{count} operators in {len(names)} files, g++ {level}, two at a time")
        print(f"  {'':14} {'clock':>10} {'processors':>11} {'slowest':>10}   ratios")
        base = compile_all(theirs, names, [level, *(f"-isystem{header}" for header in headers)])
        print(row("cpp-torch", base, None), flush=True)
        found = compile_all(ours, names, [level, f"-I{INCLUDE}", f"-I{SOURCES}"])
        print(row("cpp-runtime", found, base))


if __name__ == "__main__":
    main()
