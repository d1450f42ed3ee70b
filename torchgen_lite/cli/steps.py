"""What a run does, step by step: the lines of `-v`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.pipeline import Generated
from torchgen_lite.targets import TARGETS


def lines_of_reading(program: Program, seconds: float) -> Iterator[str]:
    """
    read      torchgen_lite.toml
    read      native_functions.yaml (93 lines)
    read      kernels.py (12 names)
    read      in 0.021 s: 8 operators
    """
    if program.config.path is not None:
        yield f"read      {os.path.relpath(program.config.path)}"
    for source in program.sources:
        yield f"read      {source.path} ({counted(source.text.count(chr(10)), 'line')})"
    modules = {module.source.path: module for index in program.indexes for module in index.modules}
    for path, module in modules.items():
        yield f"read      {path} ({counted(len(module.names), 'name')})"
    yield f"read      in {seconds:.3f} s: {counted(len(program.functions), 'operator')}"


def lines_of_rendering(program: Program, generated: Generated, seconds: float) -> Iterator[str]:
    """
    rendered  python: 13 files
    skipped   python: mylib::add.out
    rendered  in 0.130 s
    """
    for target, files in Counter(generated.target_of.values()).items():
        yield f"rendered  {target}: {counted(files, 'file')}"
        skipped = TARGETS[target].given_options(program.config).get("skip", ())
        if isinstance(skipped, (list, tuple)):
            yield from (f"skipped   {target}: {name}" for name in skipped)
    yield f"rendered  in {seconds:.3f} s"
