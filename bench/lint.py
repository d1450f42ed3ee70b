"""How long linting PyTorch's file takes, compared with torchgen reading the same file.

    python bench/lint.py [--runs N]

Whole processes, start-up included, run in turn; medians. torchgen's run reads and checks the entries
and writes nothing. Needs torch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measure import line, median, run

ROOT = Path(__file__).parents[1]
OURS = [sys.executable, "-m", "torchgen_lite", "lint", "--torch", "--quiet"]
PARSE = """
from pathlib import Path
import torchgen
from torchgen.gen import parse_native_yaml
native = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
"""
THEIRS = [sys.executable, "-c", PARSE]
GOAL = 0.4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ours, theirs = [], []
    for _ in range(options.runs):
        theirs.append(run(THEIRS, str(ROOT)))
        ours.append(run(OURS, str(ROOT)))
    base, result = median(theirs), median(ours)
    print(f"# PyTorch's native_functions.yaml, {options.runs} runs")
    print(line("torchgen parse_native_yaml", base))
    print(line("torchgen-lite lint --torch", result, base))
    print(f"goal: at most {GOAL} of torchgen's time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
