"""Generated tests call kernels on both sides of every bound of their conditions, and find what is wrong at one alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.torch_python.generated import run_python, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""
# A name, the conditions, the fields of the entry, and the reference.
NORM = """\
- func: my::{name}(Tensor x, Tensor weight) -> Tensor
  dispatch:
    CPU:
      - {{when: "x.dtype in {{half, bfloat16}} and x.size(-1) % 8 == 0 and x.is_contiguous()", kernel: {vec8}}}
      - {{when: x.size(-1) <= 40, kernel: {small}}}
      - {any}
  fake: {{like: x}}
  derivatives:
    x: "{gradient}"
    weight: (grad * x).sum(0)
  samples:
    calls:
      - (randn(3, 16), randn(16))
{reference}
"""
REFERENCE = "    reference: x * weight"
OTHERS = """\
- func: my::long(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.size(-1) <= 8192, kernel: long_small}, long_any]
  fake: {like: x}
  samples:
    - (randn(2, 4))
- func: my::composed(Tensor x) -> Tensor
  dispatch:
    CompositeImplicitAutograd: [{when: x.dim() == 3, kernel: detached}, cosine]
  samples:
    - (randn(2, 4))
- func: my::strict(Tensor x, int n=1) -> Tensor
  dispatch:
    CPU: [{when: "floor_div(n, 4) == 2", kernel: refuses_11}, plain]
  fake: {like: x}
  samples:
    - (randn(2, 4))
- func: my::promised(Tensor x, Tensor? by=None) -> Tensor
  dispatch:
    CPU:
      - {when: by.defined(), kernel: plain}
      - {when: not x.is_contiguous(), kernel: transposed}
      - plain
  fake: {shape: x.shape, like: x}
  samples:
    - (randn(4, 4), randn(2))
- func: my::addressed(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.is_aligned(16), kernel: aligned_only}, plain]
  fake: {like: x}
  samples:
    - (randn(2, 4))
- func: my::misaligned(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.size(1) > 2, kernel: aligned_only}, {when: x.is_aligned(8), kernel: plain}, plain]
  fake: {like: x}
  samples:
    - (randn(2, 4))
- func: my::unreached(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: capability(x) > 80, kernel: double}, {when: x.size(0) > 4, kernel: plain}, plain]
  fake: {like: x}
  samples:
    - (randn(2, 4))
- func: my::alone(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.size(0) <= 4, kernel: plain}, {when: x.size(0) > 4, kernel: double}]
  fake: {like: x}
  samples:
    - (randn(2, 4))
"""
KERNELS = """\
import torch


def right(x, weight):
    return (x.float() * weight.float()).to(x.dtype)


def wrong_at(is_wrong):
    def kernel(x, weight):
        return right(x, weight) * (2 if is_wrong(x) else 1)

    return kernel


wrong_40 = wrong_at(lambda x: x.size(-1) == 40)
wrong_41 = wrong_at(lambda x: x.size(-1) == 41)
wrong_bfloat16 = wrong_at(lambda x: x.dtype is torch.bfloat16)
wrong_apart = wrong_at(lambda x: not x.is_contiguous())


def plain(x, *_):
    return x * 2


def double(x, *_):
    return x * 2 + (x.size(0) > 4)


def long_small(x):
    return x * (3 if x.size(-1) == 8192 else 2)


long_any = plain


def cosine(x):
    return x.cos()


def detached(x):
    return x.cos() if x.dim() < 3 else x.cos().detach() + 0 * x


def refuses_11(x, n):
    if n == 11:
        raise ValueError("n is too large")
    return x * 2


def transposed(x, by):
    return (x * 2).t().contiguous().t()


def aligned_only(x):
    return x * (2 if x.data_ptr() % 16 == 0 else 3)
"""
NORMS = {
    "fine": {},
    "without": {"reference": ""},
    "edge": {"small": "wrong_40"},
    "behind": {"any": "wrong_41"},
    "bfloat": {"vec8": "wrong_bfloat16", "reference": ""},
    "apart": {"small": "wrong_apart"},
    "formula": {"gradient": "x.size(-1) == 40 ? grad : grad * weight"},
}
USUAL = {
    "vec8": "right",
    "small": "right",
    "any": "right",
    "gradient": "grad * weight",
    "reference": REFERENCE,
}
# What is said of each; empty where nothing is wrong.
SAID = {
    "fine": "",
    "without": "",
    "edge": "results of wrong_40 and of the reference with x size(-1) 40 differ",
    "behind": "results of wrong_41 and of the reference with x size(-1) 41 differ",
    "bfloat": "results of wrong_bfloat16 and of the kernel for the rest with x dtype torch.bfloat16 differ",
    "apart": "results of wrong_apart and of the reference with x contiguous False differ",
    "formula": "gradients of right and of the reference with x size(-1) 40 differ",
    "long": "results of long_small and of the kernel for the rest with x size(-1) 8192 differ",
    "composed": "gradients of detached and of the kernel for the rest with x dim 3 differ",
    "strict": "a kernel refuses what the kernel for the rest takes: n value 11",
    "promised": "strides",
    "addressed": "",
    "misaligned": "results of aligned_only and of the kernel for the rest with x address False differ",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("tested")
    norms = [NORM.format(name=name, **USUAL | changed) for name, changed in NORMS.items()]
    entries = {"torchgen_lite.toml": CONFIG, "ops.yaml": "".join(norms) + OTHERS}
    for name, text in {**entries, "kern.py": KERNELS}.items():
        (folder / name).write_text(text)
    write_package(folder)
    return _outcomes(folder)


def _outcomes(folder: Path) -> dict[str, str]:
    """The outcome of `test_rows` for each operator: what it says if it fails or is skipped, empty if it passes."""
    path = "generated/torch-python/tests/test_my_ops.py"
    done = run_python(
        folder, "-m", "pytest", "-q", "-rpsf", "-p", "no:cacheprovider", "-k", "test_rows", path
    )
    text = done.stdout
    passed = re.findall(r"^PASSED \S+\[(\w+)_0\]$", text, flags=re.MULTILINE)
    failed = re.findall(r"^_+ test_rows\[(\w+)_0\] _+\n(.*)", text, flags=re.MULTILINE)
    skipped = re.findall(r"^SKIPPED .*?: (.*)$", text, flags=re.MULTILINE)
    assert done.returncode == 1, text + done.stderr
    return {**dict.fromkeys(passed, ""), **dict(failed), "skipped": "\n".join(skipped)}


@pytest.mark.parametrize("name", SAID)
def test_what_is_wrong_at_one_side_of_a_bound_is_found(name: str, outcomes: dict[str, str]) -> None:
    if not SAID[name]:
        assert outcomes[name] == ""
    assert SAID[name] in outcomes[name]


def test_what_is_not_tested_is_said(outcomes: dict[str, str]) -> None:
    skipped = outcomes["skipped"].splitlines()
    assert any("no input of the samples reaches double" in line for line in skipped)
    assert any("nothing to compare with" in line for line in skipped)
    assert len(skipped) == 2
