"""Processor time of importing what is generated, with and without cached byte code.

    python bench/import.py [--rounds N] [--against REV]

Whole processes, in turns: each figure is an import over another one (`import numpy`, or nothing at all), paired
round by round; medians. `--against` checks out a revision of this repository and runs it in turns with this tree, with
the packages that its own generator writes. Without torch, PyTorch's file is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from measure import run

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
HERE = "this tree"
OPERATORS = """\
- func: ten::op{0}(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
"""


class Subject(NamedTuple):
    """What is imported, and what its time is counted over."""

    name: str
    code: str
    over: str


REFERENCE = Subject("torchgen_lite_reference, over numpy", "torchgen_lite_reference", "numpy")
TORCH_FILE = Subject("the package of PyTorch's file", "aten_ops", "")
TEN = Subject("the package of 10 operators", "ten", "")
NUMPY = Subject("numpy", "numpy", "")
TORCH = Subject("torch", "torch", "")


class Tree(NamedTuple):
    """A revision with its packages: the folders of code that is measured, and byte code for each way."""

    name: str
    path: tuple[Path, ...]
    with_code: Path
    without_code: Path

    def seconds(self, module: str, cached: bool) -> float:
        """Processor seconds of a process that imports a module and ends at once; writes none if not `cached`."""
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",  # NumPy's idle threads would count.
            "PYTHONPATH": os.pathsep.join(map(str, self.path)),
            "PYTHONPYCACHEPREFIX": str(self.with_code if cached else self.without_code),
            "PYTHONDONTWRITEBYTECODE": "" if cached else "1",
        }
        code = f"import os{', ' + module if module else ''}; os._exit(0)"
        finished = run([PYTHON, "-c", code], str(self.with_code), env=environment)
        return finished.cpu


def prepare(name: str, root: Path, folder: Path, subjects: list[Subject]) -> Tree:
    """Generate the packages by the tree's own generator, and compile everything once."""
    ten, packages = folder / "ten", folder / "packages"
    ten.mkdir(parents=True)
    (ten / "ops.yaml").write_text("\n".join(OPERATORS.format(number) for number in range(10)))
    (ten / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["python"]\n[target.python]\npackage = "ten"\n'
    )
    environment = {**os.environ, "PYTHONPATH": str(root)}
    generate = [PYTHON, "-m", "torchgen_lite", "generate", "--output-dir", str(packages)]
    run(generate, str(ten), env=environment)
    if TORCH_FILE in subjects:
        generate += ["--torch", "--target", "python"]
        run(generate, str(root), env=environment)
    ours = [root / folder for folder in ("runtime", "reference", "generated/python")]
    path = (root, *ours, packages / "python")
    tree = Tree(name, path, folder / "with", folder / "without")
    tree.with_code.mkdir()
    for subject in subjects:
        tree.seconds(subject.code, cached=True)
    shutil.copytree(tree.with_code, tree.without_code)
    for source in (root / "torchgen_lite", *ours, packages):
        shutil.rmtree(tree.without_code / source.relative_to(source.anchor))
    return tree


@contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """Check out a revision of this repository into a separate folder."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "-q", "--detach", str(folder), revision], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def compare(trees: list[Tree], subjects: list[Subject], cached: bool, rounds: int) -> None:
    """Print a row for each subject: its seconds in each tree, and the first tree's share of the second's."""
    samples: dict[tuple[Subject, str], list[float]] = {}
    for _ in range(rounds):
        # These do not depend on the tree, so they are measured once.
        over = {module: trees[0].seconds(module, cached) for module in ("", "numpy")}
        for tree in trees:
            for subject in subjects:
                difference = tree.seconds(subject.code, cached) - over[subject.over]
                samples.setdefault((subject, tree.name), []).append(difference)
    print(f"{'with byte code' if cached else 'without byte code':38}", end="")
    print(*(f"{tree.name:>12}" for tree in trees))
    for subject in subjects:
        columns = [samples[subject, tree.name] for tree in trees]
        print(
            f"  {subject.name:36}",
            *(f"{statistics.median(column):10.3f} s" for column in columns),
            end="",
        )
        if len(columns) > 1:
            print(f"   {statistics.median(a / b for a, b in zip(*columns)):6.3f}", end="")
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--against", metavar="REV", help="a revision to run side by side")
    arguments = parser.parse_args()
    has_torch = find_spec("torch") is not None
    subjects = [REFERENCE, *([TORCH_FILE] if has_torch else []), TEN, NUMPY]
    print(f"CPython {sys.version.split()[0]}, {arguments.rounds} rounds, processor time")
    with tempfile.TemporaryDirectory() as folder:
        here = prepare(HERE, ROOT, Path(folder) / "here", subjects)
        if arguments.against is None:
            measure_all([here], subjects, has_torch, arguments.rounds)
            return
        with checked_out(arguments.against, Path(folder) / "checkout") as root:
            there = prepare(arguments.against, root, Path(folder) / "there", subjects)
            measure_all([here, there], subjects, has_torch, arguments.rounds)


def measure_all(trees: list[Tree], subjects: list[Subject], has_torch: bool, rounds: int) -> None:
    compare(trees, [*subjects, *([TORCH] if has_torch else [])], cached=True, rounds=rounds)
    compare(trees, subjects, cached=False, rounds=rounds)


if __name__ == "__main__":
    main()
