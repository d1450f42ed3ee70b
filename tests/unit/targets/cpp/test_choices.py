"""Functions that choose among kernels: who declares and proves these, and what is refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchgen_lite import generate, load
from torchgen_lite.targets.generation import generation_of

ROWS = """\
- func: my::f(Tensor x, SymInt n, int[] s) -> Tensor
  dispatch:
    CPU:
      - {when: WHEN, kernel: FIRST}
      - {when: x.size(0) > 8, kernel: b::g}
      - {when: x.size(0) < 4, kernel: b::g}
      - {kernel: REST}
    CUDA: f_any
"""
RUNTIME = """\
targets = ["cpp-runtime"]
[target.cpp-runtime]
tensor = "toy::Tensor"
facts = {dim = ".dim", size = ".size"}
"""


def _project(root: Path, target: str, when: str, first: str = "f_one", rest: str = "f_any") -> None:
    text = ROWS.replace("WHEN", when).replace("FIRST", first).replace("REST", rest)
    (root / "native_functions.yaml").write_text(text)
    configuration = RUNTIME if target == "cpp-runtime" else f'targets = ["{target}"]\n'
    (root / "torchgen_lite.toml").write_text(configuration)


def _messages(root: Path) -> list[str]:
    """What the target says; a warning about derivatives aside."""
    program = load(root=root)
    assert not program.diagnostics
    found = generation_of(program).registering[0].build(program).diagnostics
    return [f"{d.code} {d.message}" for d in found]


TARGETS = ("cpp-torch", "cpp-torch-stable", "cpp-runtime")


@pytest.mark.parametrize("target", TARGETS)
def test_each_kernel_is_declared_and_proven_once(target: str, tmp_path: Path) -> None:
    _project(tmp_path, target, "n > 1")
    files = generate(load(root=tmp_path))
    declared = files[f"{target}/include/my/kernels.h"]
    proof = files[f"{target}/include/my/verify/f.h"]
    for name in ("f_one", "g", "f_any"):
        assert declared.count(f" {name}(") == 1
        assert proof.count(f"::{name}, ") == 1
    assert "TORCH" in files[f"{target}/src/register.cpp"]
    assert "choose_CPU_f" not in files[f"{target}/src/register_cuda.cpp"]


@pytest.mark.parametrize("target", TARGETS)
def test_the_authors_kernels_are_those_of_the_rows(target: str, tmp_path: Path) -> None:
    _project(tmp_path, target, "n > 1")
    program = load(root=tmp_path)
    functions, _ = generation_of(program).registering[0].author_functions(program)
    uses = ["CPU of my::f"]
    assert [(one.name, [*one.uses]) for one in functions] == [
        ("f_one", uses),
        ("g", uses),
        ("f_any", [*uses, "CUDA of my::f"]),
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_a_library_without_conditions_has_no_headers_for_them(target: str, tmp_path: Path) -> None:
    _project(tmp_path, target, "n > 1")
    names = {Path(path).name for path in generate(load(root=tmp_path))}
    assert {"selection_counts.h", "selection_numbers.h"} <= names
    assert ("selection.h" in names) == (target != "cpp-runtime")
    text = "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CPU: f_any}\n"
    (tmp_path / "native_functions.yaml").write_text(text)
    names = {Path(path).name for path in generate(load(root=tmp_path))}
    assert not {"selection_counts.h", "selection_numbers.h", "selection.h"} & names


@pytest.mark.parametrize(
    ("target", "when", "message"),
    [
        (
            "cpp-torch",
            "capability(x) > 80",
            "TG544 target `cpp-torch` cannot ask what a device is capable of",
        ),
        (
            "cpp-torch-stable",
            "x.requires_grad",
            "TG544 target `cpp-torch-stable` cannot ask a tensor for its `requires_grad`",
        ),
        (
            "cpp-runtime",
            "x.is_contiguous()",
            "TG544 target `cpp-runtime` cannot ask a tensor for its `is_contiguous`",
        ),
        ("cpp-runtime", "x.size(0) == n", None),
    ],
)
def test_what_a_target_cannot_test(
    target: str, when: str, message: str | None, tmp_path: Path
) -> None:
    _project(tmp_path, target, when)
    assert _messages(tmp_path) == ([message] if message else [])


def test_kernels_of_one_key_take_the_same_integers(tmp_path: Path) -> None:
    _project(tmp_path, "cpp-torch", "n > 1", first="f_symint")
    message = "TG544 `g` and `f_symint` do not both take symbolic integers"
    assert message in _messages(tmp_path)


def test_a_kernel_has_no_name_of_a_generated_namespace(tmp_path: Path) -> None:
    _project(tmp_path, "cpp-torch", "n > 1", first="selection")
    assert _messages(tmp_path) == ["TG513 kernel `selection` has the name of a generated namespace"]


VARIANTS = """\
- func: aten::sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    PrivateUse1:
      - {when: self.numel() <= 64, kernel: sub_out_small}
      - sub_out_any
- func: aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  dispatch: {}
- func: aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  dispatch: {}
"""


@pytest.mark.parametrize("shards", [1, 7])
def test_variants_that_follow_choose_in_their_own_file(shards: int, tmp_path: Path) -> None:
    """No file calls a function of another one, and no function is defined twice."""
    options = f'namespace = "my"\nshards = {shards}\n'
    configuration = f'targets = ["cpp-torch"]\n[target.cpp-torch]\n{options}'
    (tmp_path / "torchgen_lite.toml").write_text(configuration)
    (tmp_path / "native_functions.yaml").write_text(VARIANTS)
    files = generate(load(root=tmp_path))
    defined: list[str] = []
    called = 0
    for path, text in files.items():
        if Path(path).name.startswith("register_privateuse1"):
            own = re.findall(r"^at::Tensor& (choose_\w+)\(", text, re.M)
            calls = re.findall(r"::(choose_\w+)\(", text)
            assert set(calls) == set(own)
            defined += own
            called += len(calls)
    assert len(defined) == len(set(defined))
    assert called == 3
