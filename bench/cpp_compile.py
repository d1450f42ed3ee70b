"""How long the generated C++ takes to compile, compared with the same operators on libtorch's headers.

    python bench/cpp_compile.py [--operators N] [--optimize LEVEL]
    python bench/cpp_compile.py --by-hand 10 150

The operators have PyTorch's schemas, in a separate namespace, and a CPU kernel each. The benchmark compiles typed calls,
definitions and registrations, in the usual 16 shards. (What `cpp-torch` writes for autograd is left out; its typed
calls are in headers, and are compiled as if every one were used.) Two compilers run at a time. Needs torch, for the
schemas and the headers.

With `--by-hand`, libraries with these numbers of operators, each compared with the same library written with
TORCH_LIBRARY in one file: the processors' time, one compiler at a time. Listed separately: what autograd adds,
which the handwritten file lacks; what the proof adds to a file of kernels; and the cost of using all typed calls.
"""

from __future__ import annotations

import argparse
import json
import re
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
from tests.conformance.torch_calls import every_call
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.torch.files import find_torch_files

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
    # `__and__` is a name that Python defines.
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
    return folder / str(options.get("folder", target))


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


def written_by_hand(schema: str) -> str:
    """The registrations, as an author writes them: definitions, and kernels that a header declares."""
    texts = re.findall(r"- func: bench::(.*)", schema)
    definitions = "".join(f"  m.def({json.dumps(text)});\n" for text in texts)
    kernels = "".join(
        f'  m.impl("{text.partition("(")[0]}", TORCH_FN(bench_ops::kernel_{index}));\n'
        for index, text in enumerate(texts)
    )
    return (
        "#include <torch/library.h>\n#include <declared.h>\n"
        f"TORCH_LIBRARY(bench, m) {{\n{definitions}}}\n"
        f"TORCH_LIBRARY_IMPL(bench, CPU, m) {{\n{kernels}}}\n"
    )


def calls(root: Path, shard: str = "") -> str:
    """A source with every typed call that a header declares."""
    text = (root / f"include/bench_ops/operators{shard}.h").read_text()
    structs = re.findall(r"^struct (\w+)", text, re.M)
    return every_call("bench_ops", f"operators{shard}", structs)


def compare_by_hand(count: int, folder: Path, flags: Sequence[str]) -> None:
    """Print what a library costs to compile, compared with a handwritten one."""
    schema = "".join(entries(count))
    root = write(folder, schema, "cpp-torch", TORCH)
    kernels = (root / "include/bench_ops/kernels.h").read_text()
    declared = "\n".join(line for line in kernels.splitlines() if "declares_kernels" not in line)
    proof = "#include <declared.h>\n#include <bench_ops/verify_kernels.h>\n"
    texts = {"by_hand.cpp": written_by_hand(schema), "proof.cpp": proof, "calls.cpp": calls(root)}
    (root / "include/declared.h").write_text(declared)
    for name, text in {**texts, "kernels.cpp": "#include <declared.h>\n"}.items():
        (root / "src" / name).write_text(text)

    def used(*names: str) -> float:
        return sum(compile_all(root, [name], flags).processors for name in names)

    autograd = ("register_autograd.cpp", "underived.cpp")
    apart = {*autograd, "module.cpp", "kernels.cpp", *texts}
    generated = sorted(source_names(root) - apart)
    base = used("by_hand.cpp")
    print(f"{count} operators")
    print(f"  by hand, in one file          {base:6.1f} s")
    own = used(*generated)
    print(f"  {', '.join(generated):28}  {own:6.1f} s   {own / base:.2f}", flush=True)
    for name in autograd:
        if name in source_names(root):
            print(f"  {name:28}  {used(name):6.1f} s", flush=True)
    print(f"  every typed call, in a file   {used('calls.cpp'):6.1f} s", flush=True)
    proven, plain = used("proof.cpp"), used("kernels.cpp")
    print(f"  the proof, in a file of kernels {proven - plain:4.1f} s", flush=True)


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
    parser.add_argument("--optimize", default="2")
    parser.add_argument("--by-hand", type=int, nargs="+", metavar="N")
    arguments = parser.parse_args()
    torch = find_torch()
    if torch is None:
        raise SystemExit("torch is not installed")
    level = f"-O{arguments.optimize}"
    headers = (torch / "include", torch / "include/torch/csrc/api/include")
    system = [f"-isystem{header}" for header in headers]
    for count in arguments.by_hand or ():
        with tempfile.TemporaryDirectory() as name:
            compare_by_hand(count, Path(name), [level, *system])
    if arguments.by_hand:
        return
    schema = "".join(entries(arguments.operators))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = write(folder, schema, "cpp-torch", TORCH)
        ours = write(folder, schema, "cpp-runtime", RUNTIME)
        for shard in re.findall(r"operators(_\d+)\.cpp", " ".join(source_names(ours))):
            (theirs / f"src/operators{shard}.cpp").write_text(calls(theirs, shard))
        names = sorted(source_names(theirs) & source_names(ours))
        count = schema.count("- func:")
        print(f"{count} operators in {len(names)} files, g++ {level}, two at a time")
        print(f"  {'':14} {'clock':>10} {'processors':>11} {'slowest':>10}   ratios")
        base = compile_all(theirs, names, [level, *system])
        print(row("cpp-torch", base, None), flush=True)
        found = compile_all(ours, names, [level, f"-I{INCLUDE}", f"-I{SOURCES}"])
        print(row("cpp-runtime", found, base))


if __name__ == "__main__":
    main()
