"""What the stable ABI cannot carry is reported at generation time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.installed import needs_torch
from torchgen_lite import load
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets.cpp_stable.unsupported import SUPPORTED_TAGS, UNREAD_KEYS

TARGET = "cpp-torch-stable"


def messages(folder: Path, yaml: str, options: str = "", project: str = "") -> str:
    """All diagnostics of generating the target; `project` is put above the target's table."""
    (folder / "ops.yaml").write_text(yaml)
    (folder / "torchgen_lite.toml").write_text(
        f'schema = "ops.yaml"\ntargets = ["{TARGET}"]\n{project}\n[target.{TARGET}]\n{options}\n'
    )
    found = generate_all(load(root=folder)).diagnostics
    return "\n".join(f"{d.path}:{d.start()[0]}:{d.start()[1]}: {d.code} {d.message}" for d in found)


def test_messages_point_at_the_type(tmp_path: Path) -> None:
    yaml = "- func: my::f(Tensor x, Scalar? s=None) -> (Tensor, bool[])\n"
    assert messages(tmp_path, yaml).splitlines() == [
        "ops.yaml:1:25: TG530 the stable ABI does not support `Scalar`",
        "ops.yaml:1:53: TG530 the stable ABI does not support `bool[]`",
    ]


def test_a_structured_group_is_refused_variant_by_variant(tmp_path: Path) -> None:
    yaml = (
        "- func: my::neg(Tensor self) -> Tensor\n  structured_delegate: neg.out\n"
        "- func: my::neg_(Tensor(a!) self) -> Tensor(a!)\n  structured_delegate: neg.out\n"
        "  dispatch:\n    SparseCPU: neg_\n"
        "- func: my::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU, CUDA: neg_out\n    SparseCPU: neg_out_sparse\n"
    )
    found = messages(tmp_path, yaml)
    # The kernels of neg_ and of SparseCPU are not structured.
    assert re.findall(r"ops.yaml:(\d+:\d+): TG531", found) == ["2:24", "10:16"]
    assert messages(tmp_path, yaml, 'skip = ["my::neg", "my::neg.out"]') == ""


def test_operators_with_any_number_of_values_are_left_out(tmp_path: Path) -> None:
    found = messages(tmp_path, "- func: my::f(...) -> ...\n- func: my::g(Tensor x) -> Tensor\n")
    assert (
        found
        == "ops.yaml:1:9: TG511 `my::f` takes or returns any number of values, which a typed call cannot"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('skip = ["my::g"]', "there is no operator `my::g`"),
        ('target-version = "2.8"', "the first is 2.9"),
        ("target-version = 2.10", "`target-version` takes a string"),
        ('namespace = "a-b"', "is not a C++ namespace"),
        ('namespace = "class"', "is not a C++ namespace"),
        ('folder = "../x"', "is not a path below the output folder"),
        ('library = "fragments"', "takes `def` or `fragment`"),
        ("shards = -1", "takes a number from 0 to 256"),
        ('module = "a.b"', "is not the name of a Python module in C"),
        ('python-module = "a b"', "is not the name of a Python module"),
        ("kernel-headers = ['a\">b']", "not a path of a header"),
        ('header = ["a.h"]', "unknown option `header`"),
    ],
)
def test_wrong_options(tmp_path: Path, options: str, message: str) -> None:
    found = messages(tmp_path, "- func: my::f(Tensor x) -> Tensor\n", options)
    assert found.count("TG510") == 1 and message in found


@pytest.mark.parametrize(
    ("project", "options", "own", "found"),
    [
        ("", "", "", []),
        (
            'torch = ">=2.6"',
            "",
            "",
            [
                "1:22: TG340 PyTorch 2.10 to 2.12 has no `Generator?` in its stable ABI, but is in the range of "
                "`torch`",
                "2:9: TG534 the stable ABI of PyTorch 2.10 to 2.11 has no tags",
            ],
        ),
        ('torch = ">=2.6"', "", '  torch: ">=2.13"\n', []),
        ('torch = ">=2.13"', "", "", []),
        (
            'torch = "<2.12"',
            'target-version = "2.11"',
            "",
            [
                "1:22: TG532 `Generator?` is supported from libtorch 2.13 on",
                "2:9: TG534 the stable ABI of PyTorch 2.11 has no tags",
            ],
        ),
        ("", 'target-version = "2.11"', '  torch: ">=2.13"\n', []),
        ("", 'target-version = "2.13"', "", []),
    ],
)
def test_every_release_in_range_carries_it(
    tmp_path: Path, project: str, options: str, own: str, found: list[str]
) -> None:
    yaml = f"- func: my::f(int n, Generator? g) -> Tensor\n  tags: nondeterministic_seeded\n{own}"
    printed = messages(tmp_path, yaml, options, project).replace("ops.yaml:", "")
    assert printed.splitlines() == found


def test_tags_of_what_pytorch_defines_are_its_own(tmp_path: Path) -> None:
    yaml = "- func: aten::relu(Tensor self) -> Tensor\n  tags: inplace\n  dispatch: {CPU: f}\n"
    assert messages(tmp_path, yaml, project='torch = ">=2.6"') == ""


FORMULAS = """\
- func: my::f(Tensor x) -> Tensor
  dispatch: {CPU: f}
  fake: {like: x}
  autocast: float32
  derivatives:
    x: grad
- func: my::by_hand(Tensor x) -> Tensor
  dispatch: {CPU: f, Autograd: g, AutocastCPU: h}
  autocast: float32
  derivatives:
    x: grad
"""
UNUSED = (
    "ops.yaml:3:9: TG535 target `cpp-torch-stable` registers nothing for `fake`",
    "ops.yaml:4:13: TG535 target `cpp-torch-stable` registers nothing for `autocast`",
    "ops.yaml:6:5: TG535 target `cpp-torch-stable` registers nothing for `derivatives`",
)


@pytest.mark.parametrize(
    ("beside", "options", "found"),
    [
        ("", "", UNUSED),
        # Its kernels are in another library.
        ("cpp-torch", "", UNUSED),
        ("torch-python", "", ()),
        ("torch-python", "autograd = false", UNUSED[2:]),
        ("torch-python", 'skip = ["my::f"]', UNUSED),
    ],
)
def test_fields_need_the_target_that_brings_them(
    tmp_path: Path, beside: str, options: str, found: tuple[str, ...]
) -> None:
    tables = f"[target.{beside}]\n{options}\n" if beside else ""
    tables += 'package = "p"\nload = "_C"\n' if beside == "torch-python" else ""
    (tmp_path / "ops.yaml").write_text(FORMULAS)
    config = tmp_path / "torchgen_lite.toml"
    config.write_text(
        f'schema = "ops.yaml"\ntargets = {[TARGET, *filter(None, [beside])]}\n{tables}'
    )
    program = load(root=tmp_path)
    made = generate_all(program, targets=[TARGET]).diagnostics
    shown = [f"{d.path}:{d.start()[0]}:{d.start()[1]}: {d.code} {d.message}" for d in made]
    assert sorted(shown) == sorted(found)


@needs_torch((2, 10), "PyTorch could read fewer keys")
@pytest.mark.torch
def test_torch_does_not_read_these_keys_and_reads_all_others() -> None:
    import torch

    from torchgen_lite.key_tables import TORCH_2_13
    from torchgen_lite.runtime.keys import DispatchKey

    former = {name for name, _ in TORCH_2_13.former_names}
    unread = set()
    for name in DispatchKey.__members__:
        if name.startswith(("StartOf", "EndOf")) or name in former:
            continue
        try:
            torch._C._dispatch_key_parse(name)
        except RuntimeError:
            unread.add(name)
    assert unread == UNREAD_KEYS


@needs_torch((2, 13), "the headers of the stable ABI know fewer tags, or are not there")
@pytest.mark.torch
def test_the_tags_are_those_of_the_headers() -> None:
    import torch

    header = Path(torch.__file__).parent / "include/torch/csrc/stable/stableivalue_conversions.h"
    assert set(re.findall(r"case Tag::(\w+):", header.read_text())) == SUPPORTED_TAGS
