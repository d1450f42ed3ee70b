"""The framework of target python is read, and has what generated code imports from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite import generate, load
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.python.framework import framework_names
from torchgen_lite.targets.python.package import build_package
from torchgen_lite.targets.python.target import select_python

Run = Callable[..., Result]

CONFIG = '[target.python]\nkernels = ["kernels"]\nframework = "mine.frame"\n'
OPS = """\
- func: full(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: full_cpu
"""
KERNELS = "def full_cpu(size, *, dtype, layout, device, pin_memory): ...\n"
FRAME = """\
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Tensor as Tensor
dtype = layout = device = object
"""


def test_the_names_are_those_that_generated_files_import() -> None:
    program = load(root=ROOT)
    options, _ = TARGETS["python"].read_options(program.config)
    selection = select_python(program, options)
    registered = tuple(selection.registrations(program))
    names = framework_names(build_package(selection.operators, options), registered)
    text = "\n".join(generate(program).values())
    found = re.findall(rf"from {options.framework} import (?:\(([^)]*)\)|(.*))", text)
    words = [re.split(r",\s*", a or b) for a, b in found]
    assert {w.split(" as ")[0].strip() for line in words for w in line} - {""} == set(names)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (FRAME + "def key_for_options(): ...\n", []),
        (FRAME.replace("layout", "others") + "from .others import *\n", []),
        (FRAME + "def __getattr__(name): ...\n", []),
        (
            FRAME + "def key_for_option(): ...\n",
            [
                "error[TG510]: `mine.frame` has no `key_for_options`, which the kernel of `aten::full` for BackendSelect needs",
                "did you mean `key_for_option`?",
            ],
        ),
        (
            FRAME.replace("layout", "formats") + "def key_for_options(): ...\n",
            [
                "error[TG510]: `mine.frame` has no `layout`, which annotations need",
                "define or import it in `mine/frame.py`",
            ],
        ),
        (None, ["error[TG311]", "`mine.frame` was not found"]),
    ],
)
def test_what_a_framework_lacks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame: str | None, said: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "native_functions.yaml").write_text(OPS)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    if frame is not None:
        (tmp_path / "mine" / "frame.py").write_text(frame)
    for command in ("generate", "lint"):
        result = run(command)
        assert (result.code == 0) is (not said), result.stderr
        assert all(text in result.stderr for text in said), result.stderr
