"""A rule about what stands in the file gives the same answer, whichever target of PyTorch is configured.

What only one target can't do is its own rule; its code says so, and is in `OF_TARGETS`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.pipeline import lint, lint_targets

TARGETS = ("cpp-torch", "cpp-torch-stable", "torch-python")
OTHERS = {
    "python": '[target.python]\npackage = "mine"\n',
    "cpp-runtime": '[target.cpp-runtime]\ntensor = "toy::Tensor"\n',
}
# What a target says of itself: it makes no kernels of formulas, or no fakes.
OF_TARGETS = {"TG409", "TG535", "TG339", "TG562"}
FORMULA = """\
- func: mylib::f(Tensor x) -> Tensor
  dispatch: {{CPU: f, Meta: f_meta}}
  derivatives:
    x: grad * {}
"""
RULES = [
    ("a method that no tensor has", FORMULA.format("x.sigmoidd()"), {"TG322"}),
    ("a function called as a method", FORMULA.format("x.special_i0()"), {"TG322"}),
    ("an argument too many", FORMULA.format("sin(x, x)"), {"TG323"}),
    ("no tensor for a tensor", FORMULA.format("at::sin(2)"), {"TG323"}),
    ("several arguments for a list", FORMULA.format("x.view(2, 3)"), {"TG323"}),
    ("a formula that is right", FORMULA.format("sin(x)"), set[str]()),
    (
        "a call that compilers drop",
        "- func: mylib::f(Tensor x) -> ()\n  dispatch: {CPU: f, Meta: f_meta}\n",
        {"TG516"},
    ),
    (
        "effects that PyTorch does not know",
        "- func: mylib::f(Tensor(a!) x) -> ()\n  dispatch: {CPU: f, Meta: f_meta}\n  effects: ordered\n",
        {"TG517"},
    ),
    (
        "a default that PyTorch cannot read",
        "- func: mylib::f(Tensor x, float y=inf) -> Tensor\n  dispatch: {CPU: f, Meta: f_meta}\n",
        {"TG512"},
    ),
    (
        "a kernel that no call reaches",
        "- func: mylib::f(int n) -> int\n  dispatch: {CPU: f}\n",
        {"TG406"},
    ),
]


def said(folder: Path, entries: str, config: str) -> set[str]:
    """The codes of what `lint` finds, without those of a target alone."""
    (folder / "ops.yaml").write_text(entries)
    (folder / "torchgen_lite.toml").write_text(f'schema = "ops.yaml"\n{config}')
    found = lint_targets(lint(load(root=folder)))
    return {one.code for one in found} - OF_TARGETS


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("entries", "codes"), [row[1:] for row in RULES], ids=[row[0] for row in RULES]
)
def test_every_target_of_pytorch_says_the_same(
    target: str, entries: str, codes: set[str], tmp_path: Path
) -> None:
    assert said(tmp_path, entries, f'targets = ["{target}"]\n') == codes


@pytest.mark.parametrize("target", OTHERS)
def test_tensors_of_a_framework_have_methods_of_their_own(target: str, tmp_path: Path) -> None:
    config = f'targets = ["{target}"]\n{OTHERS[target]}'
    assert said(tmp_path, FORMULA.format("x.sigmoidd()"), config) == set()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("called", "codes"), [("sin(x, x)", set()), ("at::sin(x, x)", {"TG323"})])
def test_a_header_may_have_a_function_of_that_name(
    target: str, called: str, codes: set[str], tmp_path: Path
) -> None:
    """Only a compiler knows what it declares; in `at` it declares nothing."""
    config = f'targets = ["cpp-torch", "{target}"]\n' if target != "cpp-torch" else ""
    config = config or 'targets = ["cpp-torch"]\n'
    config += '[target.cpp-torch]\nformula-headers = ["mine.h"]\n'
    assert said(tmp_path, FORMULA.format(called), config) == codes


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_of_the_authors_is_not_pytorchs(target: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def sin(x, y):\n    return x\n")
    targets = dict.fromkeys((target, "torch-python"))
    config = f"targets = {[*targets]}\n[target.torch-python]\nformulas = ['mine']\n"
    found = said(tmp_path, FORMULA.format("sin(x, x)"), config)
    assert "TG323" not in found
