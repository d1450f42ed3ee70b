"""Generated tests find what is wrong for other inputs than those of the samples, and say what."""

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
OPERATORS = """\
# Right.
- func: my::scaled(Tensor x, float s=2.0) -> Tensor
  tags: pointwise
  dispatch: {CPU: scaled}
  samples:
    - (randn(2, 3, 4, 5))
- func: my::floating(Tensor x) -> Tensor
  tags: pointwise
  dispatch: {CPU: floating}
  samples:
    - (randn(3, 4))
- func: my::dense(Tensor x) -> Tensor
  tags: pointwise
  dispatch: {CPU: dense}
  samples:
    - (randn(3, 4))
- func: my::times(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: times}
  tags: pointwise
  derivatives:
    a: grad * b.conj()
    b: grad * a.conj()
  samples:
    - (randn(3, dtype=complex64), randn(3, dtype=complex64))
    - (randn(3, dtype=complex64), randn(3))
    - (randn(3), randn(3, dtype=complex64))
# The kernel gives another layout, or another dtype, than the fake says.
- func: my::packed(Tensor x) -> Tensor
  tags: pointwise
  dispatch: {CPU: packed}
  samples:
    - (randn(3, 4))
- func: my::row_sums(Tensor x) -> Tensor
  axes: x[*b, d!] -> [*b]
  dispatch: {CPU: row_sums}
  samples:
    - (randn(3, 4, 2))
- func: my::halved(Tensor x) -> Tensor
  tags: pointwise
  dispatch: {CPU: halved}
  samples:
    - (randn(3, 4))
- func: my::second(Tensor x, int n=0) -> Tensor
  fake: {like: x}
  dispatch: {CPU: second}
  samples:
    - (randn(3), 1)
# A conjugate is missing.
- func: my::forgot(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: times}
  tags: pointwise
  derivatives: {a: grad * b, b: not_differentiable}
  samples:
    - (randn(3, dtype=complex64), randn(3, dtype=complex64))
- func: my::forgot_beside_real(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: times}
  tags: pointwise
  derivatives: {a: grad * b, b: not_differentiable}
  samples:
    - (randn(3), randn(3, dtype=complex64))
"""
KERNELS = """
import torch

def scaled(x, s): return x * s
def times(a, b): return a * b
def packed(x): return (x * 2).contiguous()
def row_sums(x): return x[..., 0] + x[..., 1]
def halved(x): return x / 2
def second(x, n): return x * 2 if n else (x * 2).double()

def floating(x):
    if not x.is_floating_point():
        raise RuntimeError("floating takes no integers")
    return x * 2

def dense(x):
    return x.view(-1).mul(2).view(x.shape)
"""


def test_layouts_integers_defaults_and_complex_gradients(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(OPERATORS)
    (tmp_path / "kern.py").write_text(KERNELS)
    write_package(tmp_path)
    which = "layouts or integers or defaults or gradcheck"
    options = ("-q", "-rfs", "-p", "no:cacheprovider", "--show-capture=no", "-k", which)
    done = run_python(tmp_path, "-m", "pytest", *options, "generated/torch-python/tests")
    failed = set(re.findall(r"^FAILED .*::(\S+)", done.stdout, flags=re.M))
    assert failed == {
        "test_layouts[packed_0]",
        "test_layouts[row_sums_0]",
        "test_integers[halved_0]",
        "test_defaults[second_0]",
        "test_gradcheck[forgot_0]",
        "test_gradcheck[forgot_beside_real_0]",
    }, done.stdout
    said = re.sub(r"\s+", " ", done.stdout)
    for message in (
        "my.packed.default with transposed tensors: its kernel gives strides (4, 1), and its fake says (1, 3)",
        "my.row_sums.default with transposed tensors: its kernel gives strides (1, 3), and its fake says (4, 1)",
        "my.halved.default with integer tensors: its kernel gives dtype torch.float32, and its fake says torch.int64",
        "my.second.default with defaults left out: its kernel gives dtype torch.float64, and its fake says torch.float32",
        "the kernel refuses such inputs",
    ):
        assert message in said, done.stdout
