"""`reference` under `dispatch`: where it can be a kernel, and which target registers it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.pipeline import generate_all

SAMPLES = "  samples: {calls: [(randn(3))], reference: x * 2}\n"
NAME = "- func: my::f(Tensor x) -> Tensor\n"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (NAME + "  dispatch: {CPU: f, Meta: reference}\n" + SAMPLES, ""),
        (NAME + "  dispatch: {CPU: reference}\n" + SAMPLES, ""),
        (NAME + "  dispatch: {CompositeImplicitAutograd: reference}\n" + SAMPLES, ""),
        (NAME + "  dispatch: {CPU: my::reference}\n", ""),
        (NAME + "  dispatch: {CPU: reference}\n", "it has no `reference` in `samples`"),
        (
            NAME + "  dispatch: {CPU: f, AutogradCPU: reference}\n" + SAMPLES,
            "it is not called at `AutogradCPU` to be computed",
        ),
        (
            "- func: my::f_(Tensor(a!) x) -> Tensor(a!)\n  dispatch: {CPU: reference}\n" + SAMPLES,
            "it writes to an argument or returns one",
        ),
        (
            "- func: my::f(Tensor x) -> ()\n  dispatch: {CPU: reference}\n" + SAMPLES,
            "it returns nothing",
        ),
        (
            NAME + "  dispatch: {CPU: reference}\n  effects: ordered\n" + SAMPLES,
            "it has effects",
        ),
        (
            "- func: silu(Tensor x) -> Tensor\n  dispatch: {PrivateUse1: reference}\n" + SAMPLES,
            "it is an operator of PyTorch, which its reference may be, too",
        ),
    ],
)
def test_where_a_reference_can_be_a_kernel(entry: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").write_text(entry)
    found = [d for d in load(root=tmp_path).diagnostics if d.code == "TG389"]
    assert [one.message.partition(": ")[2] for one in found] == [problem] * bool(problem)


def test_two_operators_may_say_it(tmp_path: Path) -> None:
    """It is no kernel that serves both (TG413)."""
    other = NAME.replace("my::f(Tensor x", "my::g(Tensor x, Tensor y")
    end = "  dispatch: {CPU: reference}\n" + SAMPLES
    (tmp_path / "native_functions.yaml").write_text(NAME + end + other + end)
    assert "TG413" not in [d.code for d in load(root=tmp_path).diagnostics]


BESIDE = '"torch-python"]\n[target.torch-python]\npackage = "p"\nload = "_C"\n'


@pytest.mark.parametrize("target", ["python", "cpp-runtime", "cpp-torch-stable"])
@pytest.mark.parametrize("beside", ["]", BESIDE])
def test_who_cannot_compute_it_says_so(target: str, beside: str, tmp_path: Path) -> None:
    """In a library for PyTorch, the package of `torch-python` does."""
    (tmp_path / "ops.yaml").write_text(f"{NAME}  dispatch: {{CPU: f, Meta: reference}}\n{SAMPLES}")
    config = f'schema = "ops.yaml"\ntargets = ["{target}", {beside}'
    config += '\n[target.cpp-runtime]\ntensor = "toy::Tensor"\n'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    made = generate_all(load(root=tmp_path), targets=[target])
    is_brought = beside == BESIDE and target == "cpp-torch-stable"
    found = [d.message for d in made.diagnostics if d.code == "TG515"]
    assert found == [f"target `{target}` has no `reference`"] * (not is_brought)
    # No header declares it, and nothing takes its address.
    assert not [path for path, text in made.files.items() if re.search(r"\breference\W*\(", text)]


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_one_language_registers_it(target: str, tmp_path: Path) -> None:
    """Python beside the stable ABI, and otherwise the language that has the other kernels."""
    (tmp_path / "ops.yaml").write_text(f"{NAME}  dispatch: {{CPU: f, Meta: reference}}\n{SAMPLES}")
    config = f'schema = "ops.yaml"\ntargets = ["{target}", {BESIDE}'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    made = generate_all(load(root=tmp_path), targets=["torch-python"]).files
    text = next(text for path, text in made.items() if path.endswith("p/_operators.py"))
    is_pythons = '"Meta": _apart.apart(lambda x: x * 2),' in text
    assert is_pythons == (target == "cpp-torch-stable")
    assert '"CPU"' not in text
