"""How long reading, checking and deriving takes, compared with torchgen on the same file, in one process each.

    python bench/analysis.py [--runs N]

Ours: `load(torch=True)` and `Program.resolved`. Theirs: `parse_native_yaml` (which derives variants), grouping, and
grouping of views. The runs take turns; medians of processor seconds, imports not counted. The garbage collector is
off on our side, as it is in the command. Then, only on our side, twice and eight times the operators. Needs torch for
PyTorch's file.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]

OURS = """
import gc, json, sys, time
from torchgen_lite.pipeline import load
import torchgen_lite.loader.entry.native_entry
import torchgen_lite.targets.python.options
paths = sys.argv[1:]
gc.disable()
start = time.process_time()
program = load(paths or None, torch=not paths)
middle = time.process_time()
resolved = program.resolved
for o in resolved.operators:
    o.name, o.kind, o.signature, o.tags, o.kernels, o.group, o.views, o.is_view
end = time.process_time()
assert not program.diagnostics, program.diagnostics[:3]
print(json.dumps([middle - start, end - middle, len(resolved.operators)]))
"""

THEIRS = """
import json, sys, time
from torchgen.gen import (
    get_grouped_by_view_native_functions, get_grouped_native_functions, parse_native_yaml
)
native, tags = sys.argv[1:]
start = time.process_time()
parsed = parse_native_yaml(native, tags)
middle = time.process_time()
get_grouped_native_functions(parsed.native_functions)
get_grouped_by_view_native_functions(parsed.native_functions)
end = time.process_time()
print(json.dumps([middle - start, end - middle, len(parsed.native_functions)]))
"""

_ENTRY = re.compile(r"^- func: ", re.MULTILINE)


def run(code: str, *arguments: str) -> list[float]:
    """One process: seconds of the two parts, and how many functions there were."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    result: list[float] = json.loads(done.stdout)
    return result


def median(runs: list[list[float]]) -> list[float]:
    return [statistics.median(figure) for figure in zip(*runs)]


def copies(text: str, count: int) -> str:
    """The file several times over, each time in another namespace."""
    namespaces = ["", *[f"copy{index}::" for index in range(1, count)]]
    return "\n".join([_ENTRY.sub(f"- func: {namespace}", text) for namespace in namespaces])


def report(name: str, figures: list[float], base: float) -> None:
    reading, deriving, count = figures
    total = reading + deriving
    print(
        f"{name:28s} {reading:7.3f} s + {deriving:6.3f} s = {total:7.3f} s"
        f"  {count:6.0f} functions  {total / base:6.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    count = parser.parse_args().runs
    spec = find_spec("torchgen")
    if spec is None or spec.origin is None:
        print("torchgen is not installed: there is nothing to compare with")
        return
    native = Path(spec.origin).parent / "packaged" / "ATen" / "native"
    files = [str(native / "native_functions.yaml"), str(native / "tags.yaml")]
    pairs = [(run(THEIRS, *files), run(OURS)) for _ in range(count)]
    theirs = median([pair[0] for pair in pairs])
    ours = median([pair[1] for pair in pairs])
    print(
        f"# reading + deriving, processor seconds, medians of {count}; the last column is the ratio"
    )
    report("torchgen", theirs, sum(theirs[:2]))
    report("torchgen_lite", ours, sum(theirs[:2]))
    text = Path(files[0]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for factor in (2, 8):
            path = Path(folder) / f"{factor}.yaml"
            path.write_text(copies(text, factor), encoding="utf-8")
            runs = [run(OURS, str(path)) for _ in range(max(1, count // 2))]
            report(f"torchgen_lite, {factor} times", median(runs), sum(ours[:2]))


if __name__ == "__main__":
    main()
