"""Several kernels under one key in target `python`: the first runs whose condition holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchgen_lite import generate, load, pipeline

CONFIG = """\
schema = ["ops.yaml"]
targets = ["python"]

[target.python]
package = "toy_ops"
kernels = ["small", "others"]
"""
WITH_FRAMEWORK = CONFIG + 'framework = "toy"\n'
ENTRIES = """\
- func: my::norm(Tensor x, Tensor? w=None, int[] max=[], *, str mode="fast") -> Tensor
  dispatch:
    CPU:
      - {when: "x.dtype == half and x.size(-1) % 8 == 0 and not x.requires_grad", kernel: norm_vec8}
      - {when: "w.defined() and w.ndim == 1 and len(max) > 0 and max[-1] > max(w.numel(), 2)", kernel: norm_weighted}
      - {when: "x.shape == {2, 2} or floor_div(-x.size(0), 2) == -2", kernel: norm_small}
      - {when: mode == 'any', kernel: norm_any}
"""
TOY = """\
from torchgen_lite.runtime import DispatchKey, DispatchKeySet

float16, float32 = "float16", "float32"
Number = float


class Tensor:
    _dispatch_keyset = DispatchKeySet(DispatchKey.CPU)

    def __init__(self, *shape, dtype=float32, requires_grad=False):
        self._shape, self._dtype, self._requires_grad = shape, dtype, requires_grad

    def numel(self):
        return 1
"""
SMALL = "def norm_small(x, w, max, *, mode):\n    return 'small'\n"
OTHERS = """\
def norm_vec8(x, w, max, *, mode):
    return "vec8"


def norm_weighted(x, w, max, *, mode):
    return "weighted"


def norm_any(x, w, max, *, mode):
    return "any"
"""
HEAD = (
    "import sys\nimport toy_ops\nfrom toy_ops import norm, registration\nfrom toy import Tensor\n"
)


def _project(folder: Path, config: str, entries: str) -> Path:
    files = {"torchgen_lite.toml": config, "ops.yaml": entries, "toy.py": TOY}
    for name, text in {**files, "small.py": SMALL, "others.py": OTHERS}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    _project(folder, WITH_FRAMEWORK, ENTRIES)
    for path, text in generate(load(root=folder)).items():
        target = folder / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


def _run(project: Path, program: str, trace: str = "") -> subprocess.CompletedProcess[str]:
    paths = [project, project / "generated" / "python", ROOT]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    environment["TORCHGEN_LITE_TRACE"] = trace
    command = [sys.executable, "-c", HEAD + program]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_the_first_row_runs_whose_condition_holds(project: Path) -> None:
    program = """
print(norm(Tensor(3, 8, dtype="float16")), norm(Tensor(1, 8), Tensor(5), [3]))
print(norm(Tensor(1, 8), Tensor(5), [2], mode="any"), "small" in sys.modules)
print(norm(Tensor(2, 2)), norm(Tensor(4, 5)), norm(Tensor(3, 8, dtype="float16", requires_grad=True)))
"""
    assert _run(project, program).stdout == "vec8 weighted\nany False\nsmall small small\n"


def test_a_call_that_no_row_takes_is_refused_by_name(project: Path) -> None:
    done = _run(project, "norm(Tensor(7, 8), None, [1, 2])\n")
    assert done.stderr.splitlines()[-1] == (
        "NotImplementedError: my::norm for CPU: no kernel takes x=Tensor float32 (7, 8), w=None, "
        "max=[1, 2], mode='fast'"
    )


def test_a_counter_says_what_ran(project: Path) -> None:
    program = "norm(Tensor(2, 2)), norm(Tensor(2, 2)), norm(Tensor(1, 8), mode='any')\n"
    assert _run(project, program).stderr == ""
    assert _run(project, program, "kernels").stderr == (
        "my::norm for CPU: norm_small ran 2 times\nmy::norm for CPU: norm_any ran once\n"
    )


@pytest.mark.parametrize(
    ("config", "condition", "message"),
    [
        (WITH_FRAMEWORK, "x.is_contiguous()", "does not ask a tensor for its `is_contiguous`"),
        (WITH_FRAMEWORK, "x.stride(0) == 1", "does not ask a tensor for its `stride`"),
        (WITH_FRAMEWORK, "capability(x) > 80", "does not ask a tensor for its `capability`"),
        (WITH_FRAMEWORK, "x.is_aligned(16)", "does not ask a tensor for its `is_aligned`"),
        (CONFIG, "x.size(0) == 1", "knows nothing of tensors without a `framework`"),
    ],
)
def test_what_tensors_are_not_asked(
    config: str, condition: str, message: str, tmp_path: Path
) -> None:
    entries = f"""\
- func: my::f(Tensor x) -> Tensor
  dispatch:
    CPU: [{{when: "{condition}", kernel: norm_small}}, norm_any]
"""
    found = pipeline.generate_all(load(root=_project(tmp_path, config, entries))).diagnostics
    [one] = [d for d in found if d.code == "TG515"]
    assert one.message == f"target `python` {message}"
    assert one.start() == (3, 19)


def test_a_framework_without_the_dtype(tmp_path: Path) -> None:
    entries = """\
- func: my::f(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.dtype == long, kernel: norm_small}, norm_any]
"""
    found = pipeline.generate_all(
        load(root=_project(tmp_path, WITH_FRAMEWORK, entries))
    ).diagnostics
    [one] = [d for d in found if d.code == "TG515"]
    assert (one.message, one.start()) == ("`toy` has no `int64`, which a condition needs", (3, 29))


def test_numbers_need_no_framework(tmp_path: Path) -> None:
    entries = """\
- func: my::f(Tensor x, int n) -> Tensor
  dispatch:
    CPU: [{when: n > 2, kernel: norm_small}, norm_any]
"""
    for name, text in (("small.py", "norm_small"), ("others.py", "norm_any")):
        (tmp_path / name).write_text(f"def {text}(x, n): ...\n")
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(entries)
    files = generate(load(root=tmp_path))
    assert "    if n > 2:\n" in files["python/toy_ops/selected_cpu.py"]
