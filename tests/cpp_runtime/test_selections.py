"""Kernels that conditions choose, for a framework's tensor: as Python says, on both sides of every bound."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cpp.compiling import needs_compiler, write_files
from tests.cpp.conditions import (
    ARGUMENTS,
    CONDITIONS,
    ITEMSIZES,
    Facts,
    calls,
    counted,
    entries,
    said,
)
from tests.cpp_runtime.building import build
from torchgen_lite import generate, load

MODES = ["fast", "", 'it"s']
PROJECT = Path(__file__).parent / "selections"
PARTIAL = """\
- func: sel::partial(Tensor x, Tensor? w, int n) -> int
  dispatch:
    CPU:
      - {when: x.size(-1) % 8 == 0, kernel: eights}
      - {when: n > 3, kernel: eights}
"""
KERNELS = """\
#include <framework.h>
#include <sel/operators.h>

namespace sel {
int64_t yes(ARGUMENTS) {
  return 1;
}
int64_t no_(ARGUMENTS) {
  return 0;
}
int64_t eights(const fw::Tensor&, const std::optional<fw::Tensor>&, int64_t) {
  return 8;
}
} // namespace sel

#include <sel/verify_kernels.h>
"""


def _written(value: Any, words: Sequence[str] = ()) -> str:
    """An argument as `main.cpp` reads it; text is a number among `words`."""
    if isinstance(value, Facts):
        sizes = f"{_written(value.shape)} {_written(value.strides)}"
        dtype = [*ITEMSIZES].index(value.dtype)
        return f"{dtype} {sizes} {value.offset} {int(value.requires_grad)}"
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, [len(value), *value]))
    if isinstance(value, str):
        return str(words.index(value))
    return str(int(value) if isinstance(value, bool) else value)


def _line(call: dict[str, Any]) -> str:
    words = []
    for name, value in call.items():
        words_of = [*ITEMSIZES] if name == "dtype" else MODES
        text = "" if value is None else _written(value, words_of)
        if ARGUMENTS[name].endswith("?"):
            text = f"{int(value is not None)} {text}"
        words.append(text)
    return " ".join(words)


@pytest.mark.slow("a library of sixty operators is compiled")
@needs_compiler
def test_the_runtime_chooses_as_python_does(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    write_files(folder, {"ops.yaml": entries(CONDITIONS, ARGUMENTS) + PARTIAL})
    program = load(root=folder)
    assert not program.diagnostics
    files = generate(program)
    write_files(folder, files)
    header = files["cpp-runtime/include/sel/kernels.h"]
    arguments = header.partition("yes(")[2].partition(");")[0]
    write_files(folder, {"kernels.cpp": KERNELS.replace("ARGUMENTS", arguments)})
    every = ", ".join(f"&sel::ops::c{number}::call" for number in range(len(CONDITIONS)))
    flags = ["-std=c++17", "-O0", "-Wno-unused-parameter", f"-I{folder}", f"-DEVERY={every}"]
    flags.append(f"-I{folder / 'cpp-runtime' / 'include'}")
    sources = [folder / path for path in files if path.endswith(".cpp")]
    sources += [folder / "kernels.cpp", folder / "main.cpp"]
    program_file = build(sources, tmp_path / "main", flags)
    given = [*calls(700)]
    lines = "".join(f"{_line(call)}\n" for call in given)
    environment = {**os.environ, "TORCHGEN_LITE_TRACE": "other,kernels"}
    done = subprocess.run(
        [str(program_file)], input=lines, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stderr.splitlines()) == counted(CONDITIONS, 700)
    *found, message = done.stdout.splitlines()
    assert message == "sel::partial CPU: no kernel takes x=[4, 12], w=None, n=3"
    assert len(found) == len(given)
    for call, line in zip(given, found):
        for condition, answer in zip(CONDITIONS, line):
            expected = str(said(condition, call)).replace("-1", "e")
            assert answer == expected, (condition.text, call)
