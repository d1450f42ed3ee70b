"""`tune:` beside a kernel: its options are measured by one command, and read from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.torch_python.generated import run_python, write_package
from torchgen_lite import load, pipeline

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""
ENTRIES = """\
- func: my::scaled(Tensor x, Tensor(a!)? count=None) -> Tensor
  dispatch:
    CPU:
      - {when: x.size(0) <= 4, kernel: small, tune: [block=64, block=128]}
      - {kernel: large, tune: ["block=8, mode='slow'", "block=16, mode='fast'"]}
  fake: {like: x}
  samples:
    - (randn(3, 2))
- func: my::alone(Tensor x) -> Tensor
  dispatch:
    CPU: [{kernel: alone, tune: [by=1, by=2]}]
  fake: {like: x}
"""
KERNELS = """\
import time


def small(x, count, *, block):
    time.sleep(0 if block == 128 else 0.01)
    print("small", block)
    return x * 2


def large(x, count, *, block, mode):
    time.sleep(0.01 if mode == "slow" else 0)
    if count is not None:
        count.add_(1)
    print("large", block, mode)
    return x * 2


def alone(x, *, by):
    print("alone", by)
    return x.clone()
"""
WORK = """\
import my_ops, torch

for shape in ((3, 5), (4, 8), (9, 2)):
    my_ops.scaled(torch.randn(shape))
count = torch.zeros(1)
my_ops.scaled(torch.randn(12, 2), count)
my_ops.alone(torch.ones(2))
print("count", int(count))
"""
FIRST = [
    "small 64",
    "small 64",
    "large 8 slow",
    "large 8 slow",
    "alone 1",
    "count 1",
]
BEST = ["small 128", "small 128", "large 16 fast", "large 16 fast"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": ENTRIES, "kern.py": KERNELS}
    for name, text in {**files, "work.py": WORK}.items():
        (tmp_path / name).write_text(text)
    write_package(tmp_path)
    return tmp_path


def _tuned(project: Path) -> Path:
    return project / "generated/torch-python/my_ops/tuned.json"


def test_the_first_options_hold_until_others_are_measured(project: Path) -> None:
    """And then those of the file do, for inputs of the same class; nothing is measured when calls run."""
    assert run_python(project, "work.py").stdout.splitlines() == FIRST
    assert not _tuned(project).exists()
    done = run_python(project, "-m", "my_ops.tune", "work.py")
    assert done.returncode == 0, done.stderr
    # Kernels that are measured write to copies.
    assert done.stdout.splitlines()[-1] == "count 1"
    [by_kernel] = json.loads(_tuned(project).read_text()).values()
    small = by_kernel["my::scaled for CPU: kern.small"]
    assert small == {"float32[4, 8]": {"block": 128}}
    large = by_kernel["my::scaled for CPU: kern.large"]
    assert large == {
        "float32[16, 2]": {"block": 16, "mode": "fast"},
        "float32[16, 2], float32[1]": {"block": 16, "mode": "fast"},
    }
    assert run_python(project, "work.py").stdout.splitlines()[:4] == BEST


def test_what_is_known_is_not_measured_again(project: Path) -> None:
    """Nor is what other devices have lost; options that an entry has no more are."""
    run_python(project, "-m", "my_ops.tune", "work.py")
    known = json.loads(_tuned(project).read_text())
    [device] = known
    known[device]["my::scaled for CPU: kern.small"]["float32[4, 8]"] = {"block": 64}
    known[device]["my::scaled for CPU: kern.large"]["float32[16, 2]"] = {"block": 1}
    known["another"] = {"my::scaled for CPU: kern.small": {}}
    _tuned(project).write_text(json.dumps(known))
    assert run_python(project, "work.py").stdout.splitlines()[:3] == FIRST[:3]
    run_python(project, "-m", "my_ops.tune", "work.py")
    again = json.loads(_tuned(project).read_text())
    assert again["another"] == known["another"]
    assert again[device]["my::scaled for CPU: kern.small"]["float32[4, 8]"] == {"block": 64}
    assert again[device]["my::scaled for CPU: kern.large"]["float32[16, 2]"]["block"] == 16


def test_a_file_that_cannot_be_read_is_named(project: Path) -> None:
    _tuned(project).write_text("{")
    error = run_python(project, "work.py").stderr.splitlines()[-1]
    assert error.startswith("my_ops._library.RegistrationError: ") and "tuned.json: " in error
    assert run_python(project, "-m", "my_ops.tune").returncode == 1


def test_a_compiled_program_gets_options_too(project: Path) -> None:
    run_python(project, "-m", "my_ops.tune", "work.py")
    program = """
import my_ops, torch
f = torch.compile(lambda x: my_ops.scaled(x) + 1, backend="aot_eager", dynamic=True, fullgraph=True)
f(torch.randn(3, 5)), f(torch.randn(9, 2))
"""
    assert run_python(project, "-c", program).stdout.splitlines() == ["small 128", "large 16 fast"]


def test_generated_tests_run_kernels_with_options(project: Path) -> None:
    path = "generated/torch-python/tests/test_my_ops.py"
    done = run_python(
        project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_rows", path
    )
    assert done.stdout.splitlines()[-1].startswith("1 passed"), done.stdout
    (project / "kern.py").write_text(KERNELS.replace("return x * 2", "return x * block / 64"))
    done = run_python(
        project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_rows", path
    )
    assert "results of small and of the kernel for the rest" in done.stdout


@pytest.mark.parametrize(
    ("target", "rows", "message"),
    [
        (
            "cpp-torch",
            "[{when: x.dim() > 1, kernel: small, tune: [block=1]}, large]",
            "target `cpp-torch` passes no options of `tune`",
        ),
        (
            "python",
            "[{kernel: small, tune: [block=1]}]",
            "target `python` passes no options of `tune`",
        ),
        (
            "torch-python",
            "[{kernel: other, tune: [block=1]}]",
            "`other` does not take `block`, which is given by name",
        ),
        (
            "torch-python",
            "[{kernel: small, tune: [x=1]}]",
            "`x` is an argument of `my::f`, and an option of `small`",
        ),
        ("torch-python", "[{kernel: small, tune: [block]}]", "no keyword arguments with values"),
        ("torch-python", "[{kernel: small, tune: [if=1]}]", "no keyword arguments with values"),
        (
            "torch-python",
            "[{kernel: small, tune: [block=1, n=1]}]",
            "options with other names than the first ones",
        ),
        (
            "torch-python",
            "[{kernel: small, tune: block=1}]",
            "`tune` takes a list of keyword arguments, not a single value",
        ),
    ],
)
def test_what_is_refused(target: str, rows: str, message: str, tmp_path: Path) -> None:
    entry = (
        f"- func: my::f(Tensor x) -> Tensor\n  fake: {{like: x}}\n  dispatch:\n    CPU: {rows}\n"
    )
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "kern.py").write_text(
        "def small(x, *, block): ...\ndef other(x): ...\nlarge = other\n"
    )
    config = f'schema = ["ops.yaml"]\ntargets = ["{target}"]\n'
    if target != "cpp-torch":
        config += f'[target.{target}]\nkernels = ["kern"]\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    program = load(root=tmp_path)
    found = [*program.diagnostics, *pipeline.generate_all(program).diagnostics]
    assert message in [d.message for d in found if d.severity == "error"]


def test_options_of_a_kernel_in_python_are_passed_beside_cpp(tmp_path: Path) -> None:
    entry = """\
- func: my::f(Tensor x) -> Tensor
  fake: {like: x}
  dispatch:
    CPU: [{kernel: small, tune: [block=1]}]
    CUDA: [{kernel: f_cuda, tune: [block=1]}]
"""
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "kern.py").write_text("def small(x, *, block): ...\n")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["cpp-torch", "torch-python"]\n'
        '[target.torch-python]\nkernels = ["kern"]\n'
    )
    found = pipeline.generate_all(load(root=tmp_path)).diagnostics
    tuned = [d.start() for d in found if d.message.endswith("passes no options of `tune`")]
    assert tuned == [(5, 21)]
