"""`python -m PACKAGE.tune PROGRAM ...` measures the options of the kernels that a program calls, and keeps the best."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

from . import _tuned


def main(arguments: list[str]) -> int:
    """The exit code: 2 without a program."""
    if not arguments:
        print(f"usage: python -m {__package__}.tune PROGRAM [ARGUMENT ...]", file=sys.stderr)
        return 2
    _tuned.is_measuring = True
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")
    path = Path(__file__).with_name(_tuned.FILE)
    text = json.dumps(_tuned.known, indent=1, sort_keys=True)
    path.write_text(f"{text}\n", "utf-8")
    measured = 0
    for kernels in _tuned.known.values():
        measured += sum(len(classes) for classes in kernels.values())
    print(f"{path}: {measured} classes of inputs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
