"""examples/rms_norm: a model with its operator learns the same on one process and on two, compiled and not."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.torch_ops import (
    EXAMPLE,
    TOGETHER,
    configure,
    copy_example,
    needs_cmake,
    run,
    run_python,
)
from tests.forks import COMPILING
from tests.installed import needs_torch

pytestmark = [pytest.mark.torch, needs_torch((2, 13), "what the example is written for")]
WAYS = ["one process", "FSDP2", "tensor parallel"]
# The generated tests differentiate once.
TWICE = """\
import torch
from rms_norm_ops import add_rms_norm
given = [torch.randn(size, dtype=torch.double, requires_grad=True) for size in ((2, 3, 4), (2, 3, 4), (4,))]
assert torch.autograd.gradgradcheck(lambda *args: add_rms_norm(*args)[:2], given)
assert torch.autograd.gradgradcheck(lambda *args: add_rms_norm(*args)[0], given)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_example(tmp_path, EXAMPLE.parent / "rms_norm")


def train(folder: Path, *arguments: str, by: Sequence[str] = ()) -> str:
    """What the training prints. If a process crashes, the test fails, and shows what each of its threads ran in Python."""
    command = (*(by or [sys.executable]), "train.py", *arguments)
    return run(folder, *command, PYTHONFAULTHANDLER="1")


def check(folder: Path, kernels: str, *command: str) -> None:
    """Train, and differentiate twice."""
    printed = train(folder, "--kernels", kernels, by=command)
    rows = dict(re.findall(r"^(\S.*?) +((?:\d\.\d{5} ?){8})$", printed, flags=re.M))
    assert [*rows] == ["PyTorch's own", *WAYS, *(f"{way}, compiled" for way in WAYS)], printed
    # What Python has to say when a process ends comes after it.
    assert re.search(r"^The losses agree: ", printed, flags=re.M)
    losses = [float(loss) for loss in rows["PyTorch's own"].split()]
    assert losses[-1] < losses[0] - 1
    paths = (folder, folder / kernels, folder / kernels / "generated" / "torch-python")
    run_python(folder, "-c", TWICE, PYTHONPATH=os.pathsep.join(map(str, paths)))


@needs_compiler
@needs_cmake
def test_kernels_in_cpp(folder: Path) -> None:
    configure(folder / "cpp", *TOGETHER)
    run(folder, "cmake", "--build", "cpp/build", "-j", "2")
    check(folder, "cpp")


def test_kernels_in_python_where_torchrun_starts_the_processes(folder: Path) -> None:
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    check(folder, "python", sys.executable, *torchrun)


def test_generated_tests(folder: Path) -> None:
    paths = (folder, folder / "python", folder / "python" / "generated" / "torch-python")
    arguments = (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        paths[-1].parent / "torch-python" / "tests",
    )
    variables = {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    assert " passed" in run_python(folder, *arguments, imported=COMPILING, **variables)


def test_losses_that_differ_are_said_to(folder: Path) -> None:
    """A gradient without its second term: nothing else would tell."""
    kernels = folder / "python" / "kernels.py"
    kernels.write_text(kernels.read_text().replace(" * scale + grad_sum", " * scale"))
    with pytest.raises(AssertionError, match="The losses DIFFER"):
        train(folder, "--kernels", "python", "--backend", "")
