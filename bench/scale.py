"""How time and memory of `lint`, `generate` and `check` grow with the number of operators, for each target.

    python bench/scale.py [--counts 5000 50000] [--targets NAME...] [--only lint]

A schema of COUNT operators of five kinds, four of them with formulas (two that call each other, symbolic sizes, in-place,
lists with two results), is linted, generated from and checked, in a process of its own each. Where time grows with the
number of operators, the last column stays as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measure import line, run

KINDS = (
    """\
- func: big::add{i}(Tensor self, Tensor other, *, float alpha=1.0) -> Tensor
  dispatch: {{{key}: add}}
  fake: {{like: self}}
  derivatives:
    self: grad
    other: scale{i}(grad, self.size(0)) * alpha
""",
    """\
- func: big::scale{i}(Tensor self, SymInt n) -> Tensor
  dispatch: {{{key}: scale}}
  fake: {{like: self}}
  derivatives: {{self: grad * n}}
""",
    """\
- func: big::damp{i}_(Tensor(a!) self, float p=0.5, bool flag=False) -> Tensor(a!)
  dispatch: {{{key}: damp_}}
  derivatives: {{self: grad * p}}
""",
    """\
- func: big::sum{i}(Tensor[] tensors, int dim=0, str? mode=None) -> (Tensor sums, Tensor counts)
  dispatch: {{{key}: sum_of}}
  fake: [{{like: 'tensors[0]'}}, {{like: 'tensors[0]'}}]
  derivatives:
    output_differentiability: [True, False]
    tensors: spread{i}(grad_sums, tensors)
""",
    """\
- func: big::spread{i}(Tensor grad, Tensor[] tensors) -> Tensor[]
  dispatch: {{{key}: spread}}
  fake: {{like: tensors}}
""",
)
KERNELS = """\
def add(self, other, *, alpha):
    return self + other * alpha


def scale(self, n):
    return self * n


def damp_(self, p, flag):
    return self.mul_(p)


def sum_of(tensors, dim, mode):
    return sum(tensors), sum(tensors)


def spread(grad, tensors):
    return [grad for _ in tensors]
"""
CONFIGURATION = 'schema = {files}\ntargets = ["{target}"]\n\n[target.{target}]\n{settings}\n'
# A file may have half a million nodes of YAML, which is more operators than these.
IN_A_FILE = 10_000
SETTINGS = {
    "python": 'package = "big_ops"\nkernels = ["kern"]\nframework = "torchgen_lite_reference.framework"',
    "torch-python": 'package = "big_ops"\nkernels = ["kern"]',
    "cpp-torch": 'namespace = "big_ops"',
    "cpp-torch-stable": 'namespace = "big_ops"',
    "cpp-runtime": 'namespace = "big_ops"\ntensor = "toy::Tensor"\nheaders = ["toy.h"]',
    "torch-stubs": "",
    "docs": "",
    "device-tests": "",
}
COMMANDS = ("lint", "generate", "check")


def schema(first: int, end: int, key: str) -> str:
    """The entries of the operators with these numbers, whose kernels are for one dispatch key."""
    kinds = len(KINDS)
    return "".join(KINDS[i % kinds].format(i=i // kinds, key=key) for i in range(first, end))


def write_project(folder: Path, target: str, count: int) -> None:
    files = []
    for first in range(0, count, IN_A_FILE):
        files.append(f"ops_{first}.yaml")
        last = min(first + IN_A_FILE, count)
        # Tests of a device are for kernels of a device.
        key = "CUDA" if target == "device-tests" else "CPU"
        (folder / files[-1]).write_text(schema(first, last, key))
    text = CONFIGURATION.format(files=json.dumps(files), target=target, settings=SETTINGS[target])
    (folder / "torchgen_lite.toml").write_text(text)
    (folder / "kern.py").write_text(KERNELS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument("--targets", choices=SETTINGS, nargs="+", default=[*SETTINGS])
    parser.add_argument("--only", choices=COMMANDS, nargs="+", default=COMMANDS)
    options = parser.parse_args()
    program = [sys.executable, "-m", "torchgen_lite"]
    for target in options.targets:
        for count in options.counts:
            with tempfile.TemporaryDirectory() as folder:
                write_project(Path(folder), target, count)
                if "generate" not in options.only and "check" in options.only:
                    run([*program, "generate", "--quiet"], folder)
                for command in options.only:
                    name = f"{command}, {target}, {count} operators"
                    figures = run([*program, command, "--quiet"], folder)
                    each = figures.cpu / count * 1e3
                    print(f"{line(name, figures)}  {each:.3f} ms each", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
