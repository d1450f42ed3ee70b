"""How time and memory of `lint` and `generate` grow with the number of operators.

    python bench/scale.py [--counts 5000 50000] [--target NAME] [--only lint]

A schema of COUNT operators of five kinds (functional with a kernel for two keys, out, in-place, composite with two
results, symbolic sizes with a tag) is linted, and generated from, in a process of its own each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import line, run

KINDS = (
    """\
- func: big::op{i}(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  dispatch:
    CPU, Meta: op{i}_cpu
""",
    """\
- func: big::op{i}.out(Tensor self, int[] sizes, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CompositeExplicitAutograd: op{i}_out
""",
    """\
- func: big::op{i}_(Tensor(a!) self, float p=0.5, bool flag=False) -> Tensor(a!)
  variants: function, method
  dispatch:
    CPU, Meta: op{i}_
""",
    "- func: big::op{i}(Tensor[] tensors, int dim=0, str? mode=None) -> (Tensor, Tensor)\n",
    """\
- func: big::op{i}(Tensor self, SymInt[2] size, ScalarType? dtype=None) -> Tensor
  dispatch:
    CPU, Meta: op{i}_cpu
  tags: core
""",
)
TEXT = 'schema = ["ops.yaml"]\ntargets = ["{target}"]\n[target.{target}]\n{settings}\n'
SETTINGS = {
    "python": 'package = "big_ops"',
    "cpp-torch": 'namespace = "big"',
    "cpp-runtime": 'namespace = "big"',
}


def schema(count: int) -> str:
    """The entries of so many operators."""
    return "".join(KINDS[i % len(KINDS)].format(i=i) for i in range(count))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument("--target", choices=SETTINGS, default="python")
    parser.add_argument("--only", choices=("lint", "generate"), nargs="+")
    options = parser.parse_args()
    program = [sys.executable, "-m", "torchgen_lite"]
    for count in options.counts:
        with tempfile.TemporaryDirectory() as folder:
            settings = TEXT.format(target=options.target, settings=SETTINGS[options.target])
            Path(folder, "torchgen_lite.toml").write_text(settings)
            Path(folder, "ops.yaml").write_text(schema(count))
            for command in options.only or ("lint", "generate"):
                what = command if command == "lint" else f"{command}, {options.target}"
                print(
                    line(f"{what}, {count} operators", run([*program, command, "--quiet"], folder))
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
