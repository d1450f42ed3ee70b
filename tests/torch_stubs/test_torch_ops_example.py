"""Type checkers on the Python half of examples/torch_ops: right calls pass, twenty wrong ones are explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tests.torch_stubs.checkers import needs_pyright, run_mypy, run_pyright

pytestmark = pytest.mark.torch
RIGHT = ROOT / "examples" / "torch_ops" / "tests" / "typed_calls.py"
HEAD = """\
import torch
import torch_ops

ops = torch.ops.torch_ops
x = torch.randn(3, 4)
"""


class Wrong(NamedTuple):
    """A call that must not pass, and a part of the message that each checker must give."""

    call: str
    mypy: str
    pyright: str


WRONG = (
    Wrong("torch_ops.muladd(x, x)", 'Missing positional argument "s"', 'missing for parameter "s"'),
    Wrong('torch_ops.muladd(x, x, "2")', 'expected "float"', 'parameter "s" of type "float"'),
    Wrong("torch_ops.muladd(x, x, 2.0, 3)", "Too many arguments", "Expected 3 positional"),
    Wrong("torch_ops.muladd(x, y=x, s=1.0)", 'keyword argument "y"', 'No parameter named "y"'),
    Wrong("torch_ops.scale_out(x, 2.0, x)", "Too many positional", "Expected 2 positional"),
    Wrong("torch_ops.minmax(x)[2]", "Tuple index out of range", "Index 2 is out of range"),
    Wrong(
        "torch_ops.weighted_sum([x, 3.0])",
        'List item 1 has incompatible type "float"; expected "Tensor"',
        '"float" is not assignable to "Tensor"',
    ),
    Wrong(
        'torch_ops.squares(4, dtype="float32")',
        '"dtype" to "squares" has incompatible type "str"; expected "dtype | None"',
        '"Literal[\'float32\']" is not assignable to "dtype"',
    ),
    Wrong("torch_ops.rms_norms(x, x)", 'maybe "rms_norm"', '"rms_norms" is not a known attribute'),
    Wrong(
        "number: float = torch_ops.smooth_relu(x)",
        'expression has type "Tensor", variable has type "float"',
        '"Tensor" is not assignable to "float"',
    ),
    Wrong("ops.muladd.default(x, x)", 'Missing positional argument "s"', 'parameter "s"'),
    Wrong(
        "ops.muladd(x, x, x)",
        'has incompatible type "Tensor"; expected "float"',
        'parameter "s" of type "float"',
    ),
    Wrong("ops.muladd.Tensor(x, x, 2.0)", 'no attribute "Tensor"', 'access attribute "Tensor"'),
    Wrong("ops.muladds(x, x, 2.0)", 'maybe "muladd"', 'access attribute "muladds"'),
    Wrong("ops.scale.out(x, 2.0)", 'Missing named argument "out"', 'missing for parameter "out"'),
    Wrong("ops.scale(x, 2.0, into=x)", "No overload variant", "No overloads"),
    Wrong("ops.minmax.default(x, keepdim=True)", '"keepdim"', 'No parameter named "keepdim"'),
    Wrong(
        'ops.weighted_sum.default([x], scale="2")',
        'has incompatible type "str"; expected "float | None"',
        'parameter "scale" of type "float | None"',
    ),
    Wrong("ops.squares.default(4.5)", 'expected "int', 'parameter "n" of type "int'),
    Wrong(
        "low: torch.Tensor = ops.minmax(x)",
        'has type "tuple[Tensor, Tensor]", variable has type "Tensor"',
        '"tuple[Tensor, Tensor]" is not assignable to "Tensor"',
    ),
)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "program" / "wrong.py"
    path.parent.mkdir()
    path.write_text(HEAD + "".join(f"{wrong.call}\n" for wrong in WRONG))
    return path


def compared(found: Iterable[tuple[int, str]], expected: Iterable[str]) -> Iterator[str]:
    """Wrong calls that pass or get another message, and messages about other lines."""
    said: dict[int, str] = {}
    for line, message in found:
        said[line] = said.get(line, "") + message
    wanted = dict(enumerate(expected, HEAD.count("\n") + 1))
    for line in sorted(said.keys() | wanted.keys()):
        if line not in wanted or wanted[line] not in said.get(line, ""):
            yield f"{line}: {said.get(line)!r} for {wanted.get(line)!r}"


def test_mypy(python: Path, wrong: Path, mypy_cache: Path) -> None:
    printed = run_mypy(python, str(RIGHT), str(wrong), cache=mypy_cache)
    errors = [line for line in printed.splitlines() if ": error: " in line]
    assert [line for line in errors if "wrong.py" not in line] == []
    parts = (line.partition("wrong.py:")[2].split(":", 1) for line in errors)
    assert list(compared(((int(n), text) for n, text in parts), (w.mypy for w in WRONG))) == []


@needs_pyright
def test_pyright(stubs: Path, packages: tuple[Path, ...], wrong: Path) -> None:
    right = wrong.parent / "right" / "right.py"
    right.parent.mkdir()
    right.write_text(RIGHT.read_text())
    assert run_pyright(right, stubs, *packages) == []
    found = run_pyright(wrong, stubs, *packages)
    assert list(compared(found, (w.pyright for w in WRONG))) == []
