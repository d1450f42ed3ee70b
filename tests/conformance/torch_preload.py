"""Let PyTorch itself run on the generated typed calls: `python -m tests.conformance.torch_preload [--folder DIR]`.

The library of torch_calls.py gets the names that PyTorch's own calls have, `at::_ops::add_Tensor::call`
and so on, and is loaded before PyTorch: the dynamic linker takes the first definition it finds, so what
PyTorch's Python bindings and kernels call is ours. Then PyTorch's operators run on the samples that PyTorch
has for its tests, with gradients, and give what they give without the library. What already differs from run
to run (uninitialized memory) doesn't count.

Needs binutils and glibc. `--folder` is the same as for torch_calls.py. Prints how many calls were ours, how many
samples were compared, and what differs; the exit code is 1 if anything does. tests/conformance/README.md has the
figures.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.conformance import torch_calls

Digests = dict[str, list[str]]


# What a call is in PyTorch and here.
THEIRS = r"at::_ops::(\w+)::(call|redispatch)\(.*\)"
OURS = r"aten_ops::detail::Calls<aten_ops::ops::(\w+), .*>::(call|redispatch)\(.*\)"


def symbols(file: Path, pattern: str, *flags: str) -> dict[str, str]:
    """`add_Tensor::call` to the linker's name of it."""
    listed = subprocess.run(["nm", *flags, "--defined-only", str(file)], stdout=subprocess.PIPE)
    names = [line.split()[-1] for line in listed.stdout.decode().splitlines()]
    shown = subprocess.run(["c++filt"], input="\n".join(names).encode(), stdout=subprocess.PIPE)
    found = {}
    for name, text in zip(names, shown.stdout.decode().splitlines()):
        called = re.fullmatch(pattern, text)
        if called:
            found[f"{called[1]}::{called[2]}"] = name
    return found


def rename(folder: Path) -> tuple[Path, int]:
    """The library with PyTorch's names, and how many calls it has."""
    import torch

    lib = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    theirs = symbols(lib, THEIRS, "--dynamic")
    objects, count = [], 0
    for file in sorted(folder.glob("operators_*.o")):
        ours = symbols(file, OURS)
        count += len(ours)
        names = file.with_suffix(".names")
        names.write_text("".join(f"{ours[name]} {theirs[name]}\n" for name in ours))
        objects.append(file.with_suffix(".renamed"))
        command = ["objcopy", f"--redefine-syms={names}", str(file), str(objects[-1])]
        subprocess.run(command, check=True)
    library = folder / "libat_ops.so"
    _, linking = torch_calls.torch_flags()
    command = ["g++", "-shared", *map(str, objects), "-o", str(library), *linking]
    subprocess.run(command, check=True)
    return library, count


def run(folder: Path, samples: int, library: Path | None = None) -> Digests:
    """The digests that a process prints, with the library loaded or without."""
    results = folder / "op_db.txt"
    command = [sys.executable, str(torch_calls.SOURCES / "op_db.py"), str(results), str(samples)]
    more = {}
    if library is not None:
        bindings = folder / "bindings"
        more = {
            "LD_PRELOAD": str(library),
            "LD_DEBUG": "bindings",
            "LD_DEBUG_OUTPUT": str(bindings),
        }
    subprocess.run(command, env={**os.environ, **more}, check=True)
    lines = [line.split() for line in results.read_text().splitlines()]
    return {name: digests for name, *digests in lines}


def bindings(folder: Path) -> dict[str, set[str]]:
    """The files in which PyTorch's libraries found the typed calls when they first made them."""
    pattern = re.compile(r" to (\S+) \[0\]: normal symbol `(_ZN2at4_ops\w+)'")
    found: dict[str, set[str]] = {}
    for file in folder.glob("bindings.*"):
        with file.open(errors="replace") as lines:
            for match in filter(None, map(pattern.search, lines)):
                found.setdefault(match[1], set()).add(match[2])
        file.unlink()
    return found


def report(plain: Sequence[Digests], ours: Digests) -> int:
    """Print how many samples were compared, and return the number of differences."""
    steady = compared = 0
    different = []
    for name in ours:
        for i, (own, *others) in enumerate(zip(ours[name], *[p[name] for p in plain])):
            compared += 1
            if len(set(others)) == 1:
                steady += 1
                if own != others[0]:
                    different.append(f"{name}, sample {i}")
    print(
        f"{len(ours):,} operators, {compared:,} samples, {steady:,} the same in each run without ours"
    )
    print("\n".join([*different, f"{len(different)} differences"]))
    return len(different)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--samples", type=int, default=1000, help="for each operator, at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        torch_calls.build_library(folder, None, options.jobs)
        library, count = rename(folder)
        plain = [run(folder, options.samples) for _ in range(3)]
        ours = run(folder, options.samples, library)
        found = bindings(folder)
        own, others = found.pop(str(library), set()), set().union(*found.values())
        print(f"{len(own):,} of {count:,} calls made, and {len(others)} go to PyTorch")
        return int(report(plain, ours) > 0 or not own)


if __name__ == "__main__":
    sys.exit(main())
