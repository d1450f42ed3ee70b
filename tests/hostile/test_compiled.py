"""What hostile text leaves in C++ compiles: for every field of the YAML, whatever is accepted, in one run of g++.

It is the C++ of the runtime's target, whose headers are quickly read; `test_generated.py` compiles for libtorch, too.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.fuzz_targets import TOY
from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler
from tests.hostile.test_fields import CODE, entries, read
from torchgen_lite.pipeline import generate_all

RUNTIME = (f"-I{ROOT / 'torchgen_lite' / 'cpp' / 'include'}",)


def accepted(target: str) -> Iterator[Mapping[str, str]]:
    """The files of what a target takes, where they are unlike all before; each in a namespace of its own."""
    seen: set[frozenset[str]] = set()
    for field, text in entries():
        # A function of no namespace has the namespace of PyTorch: the same names are tried in another one.
        program = read(text)
        if program.has_errors or field in CODE or program.functions[0].namespace == "aten":
            continue
        texts = frozenset(generate_all(program, targets=[target]).files.values())
        if texts and texts not in seen:
            seen.add(texts)
            own = read(text.replace("lib::", f"lib{len(seen)}::"))
            yield generate_all(own, targets=[target]).files


def compile_all(target: str, folder: Path, flags: Sequence[str]) -> tuple[int, str]:
    """How many inputs there were, and what g++ says of their files in one translation unit."""
    (folder / "toy.h").write_text(TOY)
    lines = ['#include "toy.h"']
    number = 0
    for number, files in enumerate(accepted(target), 1):
        for path, text in files.items():
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
    number, said = compile_all("cpp-runtime", tmp_path, RUNTIME)
    assert said == ""
    assert number > 300
