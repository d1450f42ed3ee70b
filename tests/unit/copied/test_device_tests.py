"""What target `device-tests` copies, on the device that is always there; `tests/cpp/test_torch_backend_cpp.py` has
one that is not the CPU."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from torchgen_lite import generate, load

pytestmark = pytest.mark.torch


class Probes:
    """One that passes on every device, one that fails on all, and one that differs."""

    def test_same(self, device: str) -> object:
        return device == "cpu"

    def test_raises(self, device: str) -> None:
        raise ValueError("no such (thing)")

    def test_ends_the_process(self, device: str) -> None:
        raise SystemExit


def outcomes(
    kernels: dict[str, str], refused: dict[str, str], more: Mapping[str, Any] = {}
) -> dict[str, str]:
    """How each test ends, by its name: why it was skipped, the last line of its error, or `passed`."""
    from torchgen_lite.copied.device_tests._device_tests import device_tests

    scope: dict[str, Any] = {"__name__": __name__}
    device_tests(scope, "cpu", kernels, Probes, refused, more)
    assert sorted(name for name in scope if name.endswith("CPU")) == ["KernelsCPU", "ProbesCPU"]
    found = {}
    for name in ("KernelsCPU", "ProbesCPU"):
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(scope[name]):
            result = unittest.TestResult()
            test.run(result)
            wrong = [text.strip().splitlines() for _, text in (*result.failures, *result.errors)]
            skipped = [reason for _, reason in result.skipped]
            lines = [line for text in wrong for line in _said(text)]
            found[test.id().rpartition(".")[2]] = (lines[-1:] or skipped or ["passed"])[0]
    return found


def _said(text: list[str]) -> Iterator[str]:
    """The lines with an error, each with that of the sample below it."""
    named = [line for line in text if line.startswith("  sample: ")]
    for line in text:
        if "Error: " in line:
            yield "".join([line, *named])


REFUSED = {"test_raises_cpu": "no such (thing)", "test_ends*": ""}


def test_each_kernel_has_its_checks_in_each_dtype() -> None:
    reached = {
        "exp float32": "forward out noncontiguous negated empty backward",
        "exp float64": "forward out noncontiguous negated empty backward gradcheck",
        "exp int64": "forward out noncontiguous empty",
        "exp_ float32": "inplace",
        "exp.out float32": "out",
        "mm complex64": "forward out noncontiguous negated conjugated empty backward",
    }
    kernels = {"exp": "float32, float64, int64", "exp_": "float32", "exp.out": "float32"}
    kernels["mm"] = "complex64"
    found = outcomes({f"aten::{name}": dtypes for name, dtypes in kernels.items()}, REFUSED)
    passed = [name for name, end in found.items() if end == "passed"]
    expected = []
    for kernel, checks in reached.items():
        name, dtype = kernel.replace(".", "_").split()
        expected += [f"test_{check}_{name}_cpu_{dtype}" for check in checks.split()]
    assert sorted(passed) == sorted([*expected, "test_same_cpu"])


def test_a_kernel_that_no_input_reaches_is_not_passed() -> None:
    kernels = "aten::sigmoid_backward", "aten::_copy_from", "lib::f"
    found = outcomes(dict.fromkeys(kernels, "float32"), REFUSED)
    assert found["test_backward_sigmoid_backward_cpu_float32"] == "passed"
    assert "test_forward_sigmoid_backward_cpu_float32" not in found
    for name in ("_copy_from", "lib__f"):
        reason = found[f"test_forward_{name}_cpu_float32"]
        assert reason == "none of PyTorch's inputs reaches the kernel"


def test_what_is_refused_must_be_refused() -> None:
    found = outcomes({}, REFUSED)
    assert found == {
        "test_same_cpu": "passed",
        "test_raises_cpu": "refused: no such (thing)",
        "test_ends_the_process_cpu": "refused: not run",
    }
    found = outcomes({}, {"test_same_cpu": "never", "test_raises*": "another", "test_ends*": ""})
    assert found["test_same_cpu"] == "AssertionError: Exception not raised"
    assert found["test_raises_cpu"].startswith('AssertionError: "another" does not match')


def test_a_list_of_refusals_names_tests() -> None:
    with pytest.raises(ValueError, match=r"a test that there is not: test_x\*$"):
        outcomes({}, {**REFUSED, "test_x*": ""})


def test_a_device_that_is_not_there() -> None:
    from torchgen_lite.copied.device_tests._device_tests import device_tests

    with pytest.raises(RuntimeError, match="no class of tests for mtia: is the device loaded?"):
        device_tests({"__name__": __name__}, "mtia", {}, Probes, {})


SAMPLED = """\
- func: sin(Tensor self) -> Tensor
  dispatch: {PrivateUse1: sin}
  dtypes: float32, float64, int64
  samples: [(randn(3)), (arange(3))]
- func: cos(Tensor self) -> Tensor
  dispatch: {PrivateUse1: cos}
  dtypes: float32, int32
  samples: [(arange(3))]
- func: exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {PrivateUse1: exp}
  samples:
    calls: ["(zeros(2), out=empty(0))"]
    reference: torch.ones(2) + 0.01
    rtol: 0.1
    atol: 0
- func: relu(Tensor self) -> Tensor
  dispatch: {PrivateUse1: relu}
  samples:
    calls: [(ones(2))]
    reference: torch.zeros(2)
- func: zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch: {PrivateUse1: zeros}
  samples: ["([2])"]
"""


def test_samples_are_more_tests_of_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With tensors of the dtype, or of none of the dtypes, in the test of the first."""
    (tmp_path / "ops.yaml").write_text(SAMPLED)
    (tmp_path / "torchgen_lite.toml").write_text('schema = "ops.yaml"\ntargets = "device-tests"\n')
    files = generate(load(root=tmp_path))
    for name in ("_device_samples", "_device_tests"):
        (tmp_path / f"{name}.py").write_text(files[f"device-tests/{name}.py"])
    monkeypatch.syspath_prepend(str(tmp_path))
    text = files["device-tests/test_device_privateuse1.py"].partition("device_tests(globals()")[0]
    text = text.replace("from _device_probes import Probes", "")
    (tmp_path / "listed_here.py").write_text(text)
    listed = import_module("listed_here")
    kernels = listed.KERNELS
    found = outcomes(kernels, REFUSED, listed.sample_tests(listed.SAMPLES, kernels))
    for name in ("_device_samples", "_device_tests", "listed_here"):
        monkeypatch.delitem(sys.modules, name)
    ends = {
        name.removeprefix("test_samples_"): end for name, end in found.items() if "samples" in name
    }
    other = "no sample has tensors of the dtype"
    said = ends.pop("relu_cpu_float32")
    assert said.startswith("AssertionError: Tensor-likes are not close")
    # The call as it is written, in a line of its own.
    assert said.endswith("  sample: aten::relu(torch.ones(2)) in torch.float32")
    assert ends == {
        "sin_cpu_float32": "passed",
        "sin_cpu_float64": "passed",
        "sin_cpu_int64": "passed",
        "cos_cpu_float32": "passed",
        "cos_cpu_int32": other,
        "exp_out_cpu_float32": "passed",
        "zeros_cpu_float32": other,
    }
