"""Each typical mistake fails a generated test, whose first lines name the cause, the sample, the place and the check."""

from __future__ import annotations

import re
from typing import NamedTuple

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
- func: my::constant(Tensor x) -> Tensor
  dispatch: {CPU: constant}
  fake: {like: x}
  derivatives:
    x: grad * 3
  samples:
    - (randn(3, 4))

- func: my::stride(Tensor x) -> Tensor
  dispatch: {CPU: stride}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::dtype(Tensor x) -> Tensor
  dispatch: {CPU: dtype}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::clone(Tensor x) -> Tensor
  dispatch: {CPU: clone}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::compared(Tensor x, int[] dims) -> Tensor
  dispatch: {CPU: compared}
  fake: {like: x}
  samples:
    calls:
      - (ones(3, 4), dims=[0, 1])
    dtypes: [float64]
    reference: x * 3

- func: my::raises(Tensor x) -> Tensor
  dispatch: {CPU: raises}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::cut(Tensor x) -> Tensor
  dispatch: {CPU: cut}
  axes: x[*b, d] -> [*b, d]
  samples:
    - (arange(12.0).reshape(3, 4))

- func: my::device(Tensor x) -> Tensor
  dispatch: {CPU: device}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::shape(Tensor x) -> Tensor
  dispatch: {CPU: shape}
  fake: {shape: "[x.size(1), x.size(0)]"}
  samples:
    - (randn(3, 4))

- func: my::gradient(Tensor x, Tensor y) -> Tensor
  dispatch: {CPU: gradient}
  fake: {like: x}
  derivatives:
    x: grad * x
    y: grad * x
  samples:
    - (ones(3, 4), full([3, 4], 3.0))

- func: my::inplace_(Tensor(a!) x) -> Tensor(a!)
  dispatch: {CPU: inplace_}
  samples:
    calls:
      - (ones(3, 4))
    reference: x * 3

- func: my::mutated(Tensor x) -> Tensor
  dispatch: {CPU: mutated}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::random(Tensor x) -> Tensor
  dispatch: {CPU: random}
  fake: {like: x}
  samples:
    - (randn(3, 4))

- func: my::traced(Tensor x) -> Tensor
  dispatch: {CPU: traced}
  samples:
    - (randn(3, 4))

- func: my::second(Tensor x) -> (Tensor y, Tensor z)
  dispatch: {CPU: second}
  fake: {y: {like: x}, z: {like: x}}
  samples:
    calls:
      - (ones(3, 4))
    reference: (x * 2, x * 5)

- func: my::out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: out}
  samples:
    - (randn(3, 4), out=zeros(3, 4))

- func: my::ranked(Tensor x) -> Tensor
  dispatch: {CPU: ranked}
  axes: x[*b, d!] -> [*b]
  samples:
    - (randn(3, 4))
"""
KERNELS = """\
import torch
def constant(x): return x * 2
def stride(x): return (x * 2).t().contiguous().t()
def dtype(x): return (x * 2).double()
def clone(x): return x
def compared(x, dims): return x * 2
def raises(x): raise ValueError("no such table")
def cut(x): return (x - x.amax(-1, keepdim=True)).contiguous()
def ranked(x): return x.amax(-1, keepdim=True)
def device(x): return x.to("meta")
def shape(x): return x.clone()
def gradient(x, y): return x * y
def inplace_(x): return x.mul_(2)
def mutated(x): return x.mul_(2) + 1
def random(x): return torch.rand_like(x)
def traced(x): return x * 2
def second(x): return x * 2, x * 3
def out(x, *, out): return x * 2
"""


class Said(NamedTuple):
    """A test that fails, what is wrong, as a pattern, and the sample with its dtype."""

    test: str
    cause: str
    sample: str


SAMPLE = "(torch.randn(3, 4)) in torch.float32"
SAID = [
    Said(
        "test_gradcheck[constant_0]",
        "derivative of `x`: largest difference 1: the formula gives 3.0, and differences of the kernel 2.0",
        f"my::constant{SAMPLE}",
    ),
    Said(
        "test_opcheck[stride_0]",
        r"my.stride.default with its own tensors: its kernel gives strides \(1, 3\), and its fake says \(4, 1\)",
        f"my::stride{SAMPLE}",
    ),
    Said(
        "test_opcheck[dtype_0]",
        "my.dtype.default .* its kernel gives dtype torch.float64, and its fake says torch.float32",
        f"my::dtype{SAMPLE}",
    ),
    Said(
        "test_opcheck[clone_0]",
        r"RuntimeError: .* shares memory with argument `x`.* return a copy \(`clone`\).*",
        f"my::clone{SAMPLE}",
    ),
    Said(
        "test_reference[compared_0_float64]",
        r"results of the kernel and of the reference differ\. Greatest absolute difference: 1\.0 .*",
        "my::compared(torch.ones(3, 4), [0, 1]) in torch.float64",
    ),
    Said("test_opcheck[raises_0]", "ValueError: no such table", f"my::raises{SAMPLE}"),
    Said("test_compile[raises_0]", "ValueError: no such table", f"my::raises{SAMPLE}"),
    Said(
        "test_slices[1-cut_0]",
        r"results of a slice \(`x` along 1\) and the slice of the results differ\. Greatest absolute difference: 3\.0 .*",
        "my::cut(torch.arange(12.0).reshape(3, 4)) in torch.float32",
    ),
    Said(
        "test_sharded[cut_0]",
        r"results of two halves \(`x` along 1\), joined, and of the whole differ\. Greatest .*: 2\.0 .*",
        "my::cut(torch.arange(12.0).reshape(3, 4)) in torch.float32",
    ),
    Said(
        "test_opcheck[device_0]",
        "my.device.default with its own tensors: its kernel gives device meta, and its fake says cpu",
        f"my::device{SAMPLE}",
    ),
    Said(
        "test_opcheck[shape_0]",
        r"my.shape.default .* its kernel gives shape \(3, 4\), and its fake says \(4, 3\)",
        f"my::shape{SAMPLE}",
    ),
    Said(
        "test_gradcheck[gradient_0]",
        "derivative of `x`: largest difference 2: the formula gives 1.0, and differences of the kernel 3.0",
        "my::gradient(torch.ones(3, 4), torch.full([3, 4], 3.0)) in torch.float32",
    ),
    Said(
        "test_reference[inplace__0]",
        r"results of the kernel and of the reference differ\. Greatest absolute difference: 1\.0 .*",
        "my::inplace_(torch.ones(3, 4)) in torch.float32",
    ),
    Said(
        "test_opcheck[mutated_0]",
        "Argument x is not defined as mutable but was mutated",
        f"my::mutated{SAMPLE}",
    ),
    Said(
        "test_opcheck[random_0]",
        "a second call gives other results, and no tag `nondeterministic_seeded` says so: they differ. .*",
        f"my::random{SAMPLE}",
    ),
    Said(
        "test_opcheck[traced_0]",
        "my.traced.default has no fake: add `fake:`, or a kernel for `Meta`",
        f"my::traced{SAMPLE}",
    ),
    Said(
        "test_reference[second_0]",
        r"results of the kernel and of the reference differ\. Greatest absolute difference: 2\.0 .*",
        "my::second(torch.ones(3, 4)) in torch.float32",
    ),
    Said(
        "test_opcheck[out_0]",
        r"RuntimeError: .* the result is not argument `out`: write to `out`, and return it",
        "my::out(torch.randn(3, 4), out=torch.zeros(3, 4)) in torch.float32",
    ),
    Said(
        "test_axes[ranked_0]",
        r"the kernel gives shape \[3, 1\], and the axes say \[3\]",
        f"my::ranked{SAMPLE}",
    ),
]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What pytest shows of each generated test that fails."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    (folder / "ops.yaml").write_text(OPERATORS)
    (folder / "kern.py").write_text(KERNELS)
    write_package(folder)
    # Inductor takes long, and says what the others say.
    options = ("-q", "-p", "no:cacheprovider", "-k", "not inductor")
    done = run_python(folder, "-m", "pytest", *options, "generated/torch-python/tests")
    # The summary says each failure again: in one line, and where `CI` is set, whole.
    failures = done.stdout.partition("= FAILURES =")[2].partition("= short test summary info =")[0]
    parts = re.split(r"^_+ (test_\S+) _+\n", failures, flags=re.M)
    return {name: text.splitlines() for name, text in zip(parts[1::2], parts[2::2])}


def line_of(sample: str) -> int:
    """The line that declares the operator of a sample."""
    operator = sample.partition("(")[0]
    return OPERATORS.partition(f"- func: {operator}(")[0].count("\n") + 1


@pytest.mark.parametrize("said", SAID, ids=[said.test for said in SAID])
def test_first_lines_of_a_mistake(texts: dict[str, list[str]], said: Said) -> None:
    cause, sample, check = texts[said.test][:3]
    assert re.fullmatch(said.cause, cause), cause
    assert sample == f"  sample: {said.sample}, of ops.yaml:{line_of(said.sample)}"
    assert re.fullmatch(rf"  check: {said.test.partition('[')[0]}, [A-Z].*\.", check), check


def test_the_place_of_a_kernel_that_raises(texts: dict[str, list[str]]) -> None:
    place = texts["test_compile[raises_0]"][3]
    assert re.fullmatch(r"  raised in .*kern\.py:7: def raises.*", place)


def test_a_failure_is_short_and_has_no_address(texts: dict[str, list[str]]) -> None:
    for name, lines in texts.items():
        assert " at 0x" not in "\n".join(lines), name
        assert len(lines) < 16, name
