"""How long generating takes, compared with `python -m torchgen.gen` on the same file.

    python bench/generate.py [--runs N] [--torchgen-runs N]

Whole processes, start-up included, run in turn, so that a machine that gets slower does so for both; medians. Needs
torch for PyTorch's file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from measure import Run, line, median, run

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
OURS = [PYTHON, "-m", "torchgen_lite"]


def repeat(command: list[str], count: int, cwd: Path = ROOT) -> Run:
    return median([run(command, str(cwd)) for _ in range(count)])


def own_file(count: int) -> None:
    print(f"# our own native_functions.yaml, {count} runs")
    run([*OURS, "check"], str(ROOT))  # Writes the byte code.
    with tempfile.TemporaryDirectory() as folder:
        full = []
        for index in range(count):
            full.append(run([*OURS, "generate", "--output-dir", f"{folder}/{index}"], str(ROOT)))
        print(line("generate, everything written", median(full)))
        unchanged = [*OURS, "generate", "--output-dir", f"{folder}/0"]
        print(line("generate, nothing changed", repeat(unchanged, count)))
    print(line("check", repeat([*OURS, "check"], count)))
    print(line("a bare interpreter", repeat([PYTHON, "-c", "pass"], count)))


def torch_file(count: int, torchgen_count: int) -> None:
    spec = find_spec("torchgen")
    if spec is None or spec.origin is None:
        print("torchgen is not installed: its file is left out")
        return
    packaged = Path(spec.origin).parent / "packaged" / "ATen"
    print(
        f"\n# PyTorch's native_functions.yaml, {count} runs beside each of {torchgen_count} of torchgen.gen"
    )
    with tempfile.TemporaryDirectory() as folder:
        shims = ["--aoti-install-dir", f"{folder}/shims"]
        command = [PYTHON, "-m", "torchgen.gen", "-s", str(packaged), "--per-operator-headers"]
        # torchgen compares C shims with checked-in ones and fails without them: write them once, unmeasured.
        run([*command, *shims, "--update-aoti-c-shim", "-d", f"{folder}/first"], folder)
        command += shims
        ours = [*OURS, "generate", "--torch", "--target", "python", "--output-dir"]
        theirs, full, unchanged = [], [], []
        for turn in range(torchgen_count):
            theirs.append(run([*command, "-d", f"{folder}/t{turn}"], folder))
            for index in range(count):
                full.append(run([*ours, f"{folder}/ours{turn}.{index}"], folder))
                unchanged.append(run([*ours, f"{folder}/ours{turn}.{index}"], folder))
        base = median(theirs)
        print(line("torchgen.gen", base))
        print(line("torchgen-lite generate, everything written", median(full), base))
        print(line("torchgen-lite generate, nothing changed", median(unchanged), base))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--torchgen-runs", type=int, default=2)
    arguments = parser.parse_args()
    own_file(arguments.runs)
    torch_file(arguments.runs, arguments.torchgen_runs)


if __name__ == "__main__":
    main()
