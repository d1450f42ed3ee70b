"""What the tests of imported libraries share: the tool in a folder, and what PyTorch has registered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.forks import run_forked

REGISTRY = """\
import json, sys, torch
for module in sys.argv[2:]:
    torch.ops.load_library(module) if module.endswith(".so") else __import__(module)
found = {}
for name in sorted(torch._C._dispatch_get_all_op_names()):
    if name.startswith(sys.argv[1] + "::"):
        lines = torch._C._dispatch_dump(name).splitlines()
        base, _, overload = name.partition(".")
        tags = torch._C._get_operation_overload(base, overload)[2]
        keys = [line.partition("[")[0].partition(":")[0] for line in lines[4:] if line]
        found[name] = [lines[1], sorted(keys), sorted(tag.name for tag in tags)]
print(json.dumps(found))
"""


def registry(namespace: str, modules: list[str], path: list[Path]) -> dict[str, list[object]]:
    """Schema, keys and tags of every operator of a namespace, once modules are loaded."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = run_forked(["-c", REGISTRY, namespace, *modules], ROOT, environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_tool(folder: Path, *arguments: str, path: Path | None = None) -> tuple[int, str]:
    """Run the tool in a folder; its exit code and what it says."""
    return run_python(folder, "-m", "torchgen_lite", *arguments, path=path)


def run_python(folder: Path, *arguments: str, path: Path | None = None) -> tuple[int, str]:
    """Run Python in a folder, which is on the path, and another before it; the exit code and what it says."""
    places = [*([str(path)] if path else []), str(ROOT), str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr


def make_visible(path: Path) -> None:
    """Take the kernels of a file out of its unnamed namespace."""
    text = path.read_text()
    visible = text.replace("namespace {\n\n", "").replace("} // namespace\n\n", "")
    assert len(visible) < len(text)
    path.write_text(visible)
