"""What tests of the C++ runtime share: how a program is built and run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "torchgen_lite" / "cpp" / "include"
HEADERS = sorted((INCLUDE / "torchgen_lite").glob("*.h"))
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
ADDRESS = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
THREAD = ("-O1", "-g", "-fsanitize=thread")


def build(
    sources: Sequence[Path], program: Path, flags: Sequence[str], compiler: str = "g++"
) -> Path:
    command = [compiler, *WARNINGS, *flags, f"-I{INCLUDE}", *map(str, sources), "-o", str(program)]
    done = subprocess.run([*command, "-pthread"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def together(sources: Iterable[Path], folder: Path) -> Path:
    """A file that includes sources. What all of them use is compiled once, which takes half of the time."""
    everything = folder / "everything.cpp"
    everything.write_text("".join(f'#include "{source}"\n' for source in sources))
    return everything


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def require_sanitizer(flags: Sequence[str], folder: Path) -> None:
    """Skip where the sanitizer's run-time library is missing, or cannot run on this system."""
    source = folder / "probe.cpp"
    source.write_text("int main() {}\n")
    probe = folder / "probe"
    command = ["g++", *flags, str(source), "-o", str(probe)]
    for step in (command, [str(probe)]):
        if subprocess.run(step, capture_output=True).returncode != 0:
            pytest.skip(f"{flags[-1]} does not run here")
