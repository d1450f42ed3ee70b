"""What hostile text leaves in C++ compiles: for every field of the YAML, whatever is accepted, in one run of g++.

The C++ of the runtime's target is compiled for everything, that for libtorch for all reserved words and some of the rest.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from bench.fuzz_targets import TOY
from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler, torch_flags
from tests.hostile.test_fields import CODE, entries, read
from tests.hostile.text import RESERVED
from torchgen_lite.pipeline import generate_all

_RESERVED = re.compile(rf"\b(?:{'|'.join(RESERVED)})\b(?!\.)")
RUNTIME = (f"-I{ROOT / 'torchgen_lite' / 'cpp' / 'include'}",)


def accepted(target: str, step: int = 1) -> Iterator[Mapping[str, str]]:
    """The files of what a target takes, where they are unlike all before; each in a namespace of its own.

    Of inputs with reserved words every `step`th is tried, of others one in `step * step`.
    """
    seen: set[frozenset[str]] = set()
    for number, (field, text) in enumerate(entries()):
        if number % (step if _RESERVED.search(text) else step * step):
            continue
        # A function of no namespace has the namespace of PyTorch: the same names are tried in another one.
        program = read(text)
        if program.has_errors or field in CODE or program.functions[0].namespace == "aten":
            continue
        texts = frozenset(generate_all(program, targets=[target]).files.values())
        if texts and texts not in seen:
            seen.add(texts)
            own = read(text.replace("lib::", f"lib{len(seen)}::"))
            yield generate_all(own, targets=[target]).files


def compile_all(
    target: str, folder: Path, flags: Sequence[str], first: str = "", step: int = 1
) -> tuple[int, str]:
    """How many inputs there were, and what g++ says of their files in one translation unit, behind `first`."""
    (folder / "first.h").write_text(first)
    lines = ['#include "first.h"']
    number = 0
    for number, files in enumerate(accepted(target, step), 1):
        for path, text in files.items():
            if path.endswith("/module.cpp"):
                continue  # One is enough for a module of Python.
            inside = path.removeprefix(f"{target}/include/")
            place = folder / (inside if inside != path else f"{number}/{path}")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            lines += [f'#include "{place}"'] * path.endswith(".cpp")
    unit = folder / "all.cpp"
    unit.write_text("\n".join(lines))
    command = ["g++", "-std=c++20", "-fsyntax-only", "-fmax-errors=20", "-w", *flags, f"-I{folder}"]
    run = subprocess.run([*command, str(unit)], capture_output=True, text=True, check=False)
    return number, run.stderr


@needs_compiler
def test_cpp_of_the_runtime_compiles(tmp_path: Path) -> None:
    number, said = compile_all("cpp-runtime", tmp_path, RUNTIME, TOY)
    assert said == ""
    assert number > 300


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_cpp_for_libtorch_compiles(tmp_path: Path, target: str) -> None:
    number, said = compile_all(target, tmp_path, torch_flags(), step=4)
    assert said == ""
    assert number > 50
