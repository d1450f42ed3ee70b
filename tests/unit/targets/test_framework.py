"""Target `python` reads its framework and checks that it has the names that generated code imports."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite import generate, load
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.python.framework import CALLED, FORWARD, framework_names
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
    package = build_package(selection.operators, options)
    names = {*framework_names(package), *CALLED}
    text = "\n".join(generate(program).values())
    found = re.findall(rf"from {options.framework} import (?:\(([^)]*)\)|(.*))", text)
    words = [re.split(r",\s*", a or b) for a, b in found]
    called = {w.split(" as ")[0].strip() for line in words for w in line} - {""}
    # Of what carries tangents, nothing is refused here.
    assert called == (names | FORWARD) - {"refuse_tangents"}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (FRAME + "def key_for_options(): ...\n", []),
        (FRAME.replace("layout", "others") + "from .others import *\n", []),
        (FRAME + "def __getattr__(name): ...\n", []),
        (
            FRAME + "def key_for_option(): ...\n",
            [
                "error[TG510]: `mine.frame` has no `key_for_options`, which the template calls",
                "--> torchgen_lite.toml:3:1",
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


def test_one_run_names_all_that_templates_call(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From several files, each at the option that names the framework; nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS + "def scale_cpu(self, factor): ...\n")
    derivatives = "  derivatives:\n    self: grad * factor\n"
    scale = "- func: scale(Tensor self, float factor) -> Tensor\n  dispatch: {CPU: scale_cpu}\n"
    (tmp_path / "native_functions.yaml").write_text(OPS + scale + derivatives)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG.replace("mine.frame", "frame"))
    (tmp_path / "frame.py").write_text("Tensor = dtype = layout = device = object\n")
    found = run("generate", "--output-format", "concise").stderr
    head = "torchgen_lite.toml:3:1: error[TG510] 'frame' has no '"
    names = [line.removeprefix(head).partition("'")[0] for line in found.splitlines()[:-1]]
    assert {"Node", "key_for_options"} < set(names) and len(names) == len(set(names)), found
    assert found.count(head) == len(names)
    assert not (tmp_path / "generated").exists()
    (tmp_path / "frame.py").write_text(
        "Tensor = dtype = layout = device = object\n"
        + "".join(f"def {name}(): ...\n" for name in names)
    )
    assert run("generate").code == 0


OPTIONS = {
    "dtype": "ScalarType? dtype=None",
    "layout": "Layout? layout=None",
    "device": "Device? device=None",
    "pin_memory": "bool? pin_memory=None",
}
FACTORIES = """\
from torchgen_lite.runtime import DispatchKey, DispatchKeySet
Tensor = dtype = layout = device = object
def key_for_options(dtype, layout, device):
    key = "SparseCPU" if layout == "sparse" else "CUDA" if device == "cuda" else "CPU"
    return DispatchKeySet(DispatchKey[key])
def cpu(**options): return "CPU"
def cuda(**options): return "CUDA"
def sparse(**options): return "SparseCPU"
"""


def test_factories_are_reached_by_all_or_some_of_the_tensor_options(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subsets = [names for n in range(1, 5) for names in itertools.combinations(OPTIONS, n)]
    kernels = "  dispatch: {CPU: cpu, CUDA: cuda, SparseCPU: sparse}\n"
    factories = [
        f"- func: my::{'_'.join(names)}(*, {', '.join(OPTIONS[name] for name in names)}) -> Tensor\n{kernels}"
        for names in subsets
    ]
    (tmp_path / "native_functions.yaml").write_text("".join(factories))
    (tmp_path / "mine.py").write_text(FACTORIES)
    (tmp_path / "torchgen_lite.toml").write_text(
        'output-dir = "."\n[target.python]\nkernels = ["mine"]\nframework = "mine"\nfolder = "."\npackage = "ops"\n'
    )
    assert "TG406" not in run("lint").stderr
    assert run("generate").code == 0
    calls = "import ops\n"
    for names in subsets:
        values = {"layout": "sparse", "device": "cuda", "dtype": "half", "pin_memory": True}
        calls += f"print(ops.{'_'.join(names)}(), ops.{'_'.join(names)}(**{ {n: values[n] for n in names} }))\n"
    done = subprocess.run([sys.executable, "-c", calls], capture_output=True, text=True)
    assert done.stderr == ""
    for names, line in zip(subsets, done.stdout.splitlines(), strict=True):
        key = "SparseCPU" if "layout" in names else "CUDA" if "device" in names else "CPU"
        assert line == f"CPU {key}"


@pytest.mark.parametrize(("more", "count"), [("", 1), (", BackendSelect: ones", 0)])
def test_a_factory_without_options_is_an_unreachable_kernel(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, count: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torchgen_lite.toml").write_text('[target.python]\nkernels = ["kernels"]\n')
    (tmp_path / "kernels.py").write_text("def ones(size): ...\n")
    (tmp_path / "native_functions.yaml").write_text(
        f"- func: my::ones(int[] size) -> Tensor\n  dispatch: {{CPU: ones{more}}}\n"
    )
    for command in ("lint", "generate", "check"):
        assert run(command).stderr.count("warning[TG406]: kernel for `CPU` is unreachable") == count
