"""Whole libraries, built and loaded: autograd, structured kernels, and a backend.

A test here is a check of `autograd_ops/checks.py` and its like; those ran when the library was built.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.backends import differences
from tests.cpp.checked_library import WRITTEN, check_names, run_checks
from tests.cpp.compiling import needs_compiler
from tests.installed import todays_torchgen
from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = [pytest.mark.torch, needs_compiler]

LIBRARIES = (
    "autograd_ops",
    "structured_ops",
    "device_ops",
    "backend_ops",
    "selection_ops",
    WRITTEN,
)
CASES = [(library, check) for library in LIBRARIES for check in check_names(library)]


Built = Callable[[str], tuple[Path, dict[str, list[str]]]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Where a library is, which is built once, and what is wrong by each check of it."""

    @cache
    def run(library: str) -> tuple[Path, dict[str, list[str]]]:
        folder = tmp_path_factory.mktemp(library)
        return folder, run_checks(library, folder)

    return run


@pytest.mark.parametrize(("library", "check"), CASES)
def test_check(built: Built, library: str, check: str) -> None:
    problems = built(library)[1][check]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


COUNTED = """
import threading
import torch

torch.ops.load_library(LIBRARY)
so = torch.ops.so
wide = torch.ones(3, 5)


def call() -> None:
    for _ in range(500):
        so.scale(wide, 2.0)


threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
so.scale_(torch.ones(4), 2.0)
"""


def test_a_counter_says_what_ran(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the package for Python says it; of calls that several threads make none is lost."""
    folder, _ = built("selection_ops")
    program = COUNTED.replace("LIBRARY", repr(str(folder / "library.so")))
    said = []
    for trace in ("", "calls", "calls,kernels"):
        monkeypatch.setenv("TORCHGEN_LITE_TRACE", trace)
        said.append(run_python(folder, "-c", program).stderr)
    ran = "so::scale for CPU: scale_any ran 2000 times\nso::scale_ for CPU: scale_small_ ran once\n"
    assert said == ["", "", ran]


SECOND = """
import torch

torch.ops.load_library(LIBRARY)
import second_ops

x = torch.ones(3, requires_grad=True)
print(torch.ops.wr.inside(x).sum().item())
torch.ops.wr.inside(x).sum().backward()
torch.ops.wr.right_(x * 1).sum().backward()
print(x.grad.tolist())
"""


def test_the_gradient_of_a_second_package_counts(built: Built, tmp_path: Path) -> None:
    """It replaces the kernel that refuses, without a warning."""
    folder, _ = built(WRITTEN)
    options = 'package = "second_ops"\ndefines = false\n'
    config = f'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n{options}'
    entries = [
        "- func: wr::inside(Tensor x) -> Tensor\n  derivatives: {x: grad * 7}\n",
        "- func: wr::right_(Tensor(a!) self) -> Tensor(a!)\n  derivatives: {self: grad * 3}\n",
    ]
    (tmp_path / "torchgen_lite.toml").write_text(config)
    (tmp_path / "ops.yaml").write_text("".join(entries))
    write_package(tmp_path)
    program = SECOND.replace("LIBRARY", repr(str(folder / "library.so")))
    assert run_program(tmp_path, program).splitlines() == ["1.5", "[10.0, 10.0, 10.0]"]


@todays_torchgen
def test_every_cell_and_call_is_known_from_the_files(built: Built) -> None:
    """As `tests/conformance/backends.py` compares the files of vendors, by hand."""
    folder, _ = built("backend_ops")
    wrong, alike = differences(folder, folder / "library.so")
    assert wrong == [] and alike > 300_000
