"""examples/torch_backend: a device in Python whose kernels for ATen and for its own operators are one YAML."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import live_tables
from tests.conftest import ROOT
from tests.installed import needs_torch
from tests.torch_python.generated import run_program, run_python
from torchgen_lite import generate, load

pytestmark = [pytest.mark.torch, needs_torch((2, 10), "a backend in Python alone")]
EXAMPLE = ROOT / "examples" / "torch_backend"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backend") / "torch_backend"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_what_is_checked_in_is_what_is_generated() -> None:
    files = generate(load(root=EXAMPLE))
    there = {
        p.relative_to(EXAMPLE / "generated").as_posix(): p.read_text()
        for p in (EXAMPLE / "generated").rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    assert there == files


def test_every_cell_is_known_before_the_package_is_loaded(example: Path) -> None:
    said = run_program(example, live_tables.SAID)
    live = run_program(example, live_tables.LIVE.replace("sys.argv[1]", "'toy_ops'"))
    wrong, alike = live_tables.wrong_cells(said, live)
    assert wrong == [] and alike > 300_000


def test_a_model_learns_the_same_as_on_the_cpu(example: Path) -> None:
    done = run_python(example, "train.py")
    assert done.returncode == 0, done.stderr
    on_toy, on_cpu = (line.partition(": ")[2] for line in done.stdout.splitlines())
    assert on_toy == on_cpu
    before, after = map(float, on_toy.split(" -> "))
    assert after < before / 2


def test_generated_tests_compare_the_backends(example: Path) -> None:
    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "generated/torch-python/tests")
    done = run_python(example, *arguments)
    assert done.returncode == 0, done.stdout
    assert "19 passed" in done.stdout


def test_tensors_of_the_device_are_real(example: Path) -> None:
    output = run_program(
        example,
        """
        import torch
        import toy_ops

        x = torch.zeros(2, 3, device="toy")
        x[:, 1].add_(torch.ones(2, device="toy"))
        print(x.cpu().tolist(), x.device, x.stride(), x.t().stride())
        print(torch.ops.aten.add.Tensor(x, 2.0).cpu().tolist())
        y = torch.ones(3, device="toy", requires_grad=True)
        toy_ops.squash(y).sum().backward()
        print(y.grad.device, y.grad.cpu().tolist())
        """,
    )
    assert output.splitlines() == [
        "[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]] toy:0 (3, 1) (1, 3)",
        "[[2.0, 3.0, 2.0], [2.0, 3.0, 2.0]]",
        "toy:0 [0.25, 0.25, 0.25]",
    ]
