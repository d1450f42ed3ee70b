"""Fields for compilers and counters: what they cannot say, and TG387 where an operator has no use for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.diagnostics import render_concise

NAME = "- func: my::f(Tensor x) -> Tensor\n"
REFERENCE = "  samples: {calls: [(randn(3))], reference: x * 2}\n"
KERNEL = "  dispatch: {CPU: f, Meta: g}\n"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (NAME + KERNEL + REFERENCE + "  decompose: onnx\n", ""),
        (NAME + KERNEL + "  decompose: onnx\n", "has no `reference` in `samples`"),
        (NAME + REFERENCE + "  decompose: onnx\n", "is composed of others"),
        (NAME + KERNEL + REFERENCE + "  effects: ordered\n  decompose: onnx\n", "has effects"),
        (
            "- func: my::f(Tensor(a) x) -> Tensor(a)\n"
            + KERNEL
            + REFERENCE
            + "  decompose: onnx\n",
            "writes to an argument or returns one",
        ),
        ("- func: f(Tensor x) -> Tensor\n" + KERNEL + "  flops: 1\n", "is an operator of PyTorch"),
        (NAME + KERNEL + "  triton: CPU\n", ""),
        (NAME + "  triton: CompositeExplicitAutograd\n", "is composed of others"),
        (NAME + KERNEL + "  effects: ordered\n  triton: CPU\n", "has effects"),
        ("- func: my::f(Tensor(a!) x) -> ()\n" + KERNEL + "  triton: CPU\n", ""),
        (
            "- func: my::f(Tensor(a!) x) -> Tensor(a!)\n" + KERNEL + "  triton: CPU\n",
            "returns an argument",
        ),
        (NAME + KERNEL + "  flops: x.numel()\n", ""),
        (
            "".join(
                f"- func: my::f.{name}(Tensor x, {type_} y) -> Tensor\n" + KERNEL + "  flops: 1\n"
                for name, type_ in (("a", "int"), ("b", "Tensor"))
            ),
            "is one of several overloads",
        ),
        (NAME + KERNEL + "  checkpoint: save\n", ""),
        (
            "- func: my::f_(Tensor(a!) x) -> Tensor(a!)\n" + KERNEL + "  checkpoint: save\n",
            "writes to an argument",
        ),
    ],
)
def test_what_has_no_use_for_a_field(entry: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").write_text(entry)
    found = [d for d in load(root=tmp_path).diagnostics if d.code == "TG387"]
    assert bool(found) == bool(problem)
    assert all(problem in one.message for one in found)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("flops: -4", "4:10: error[TG333] 'flops' is '-4', less than 0: negative"),
        ('flops: "-(4)"', "4:11: error[TG333] 'flops' is '-4', less than 0: negative"),
        ("flops: 0", ""),
        ("flops: x.numel() - 4", ""),
        ("decompose: []", "4:14: error[TG114] 'decompose' has no value: expected a compiler"),
        (
            "triton: Cuda",
            "4:11: error[TG107] unknown dispatch key 'Cuda': not a dispatch key",
        ),
        ("dtypes: []", "4:11: error[TG114] 'dtypes' has no value: expected a dtype"),
    ],
)
def test_what_a_field_cannot_say(field: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").write_text(f"{NAME}{KERNEL}{REFERENCE}  {field}\n")
    shown = render_concise(load(root=tmp_path).diagnostics)
    assert shown.partition(":")[2].partition(" (")[0].strip() == said
