"""What a call in a formula means in one language alone is refused in every target, once and by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.differentiability.vocabulary import CPP_CONSTANTS
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import Generated, generate_all

TARGETS = ["torch-python", "cpp-torch"]
ENTRIES = """\
- func: lib::f(Tensor x, int n, int[] dims) -> Tensor
  dispatch: {{CPU: f}}
  fake: {{like: x}}
  derivatives:
    x: >-
      {formula}
- func: lib::g(Tensor x) -> Tensor
  dispatch: {{CPU: g}}
  fake: {{like: x}}
  derivatives: {{x: grad}}
- func: lib::sin(Tensor x) -> Tensor
  dispatch: {{CPU: sine}}
  fake: {{like: x}}
  derivatives: {{x: grad}}
"""
# What takes sizes, dimensions or tensors as one list in C++, and as several arguments in Python.
MAKING = ("zeros", "ones", "empty", "rand", "randn")
METHODS = (
    *("broadcast_to", "flip", "new_empty", "new_ones", "new_zeros", "permute", "repeat"),
    *("reshape", "squeeze", "tile", "view"),
)
OF_TENSORS = ("broadcast_tensors", "block_diag", "cartesian_prod", "cat", "meshgrid", "stack")
SPREAD = [
    *(f"grad * {name}(2, 3)" for name in MAKING),
    *(f"grad * {name}(n, x.size(1))" for name in MAKING),
    *(f"grad.{name}(0, 1)" for name in METHODS),
    *("permute(grad, 1, 0)", "flip(grad, 0, 1)", "tile(grad, 2, n)", "grad.unflatten(0, 2, 3)"),
    *(f"{name}(grad, x)" for name in OF_TENSORS),
]
LISTS = [
    *(f"grad * {name}({{2, 3}})" for name in MAKING),
    *(f"grad.{name}(dims)" for name in METHODS),
    *("grad.view(-1)", "grad.transpose(0, 1)", "grad.movedim(0, 1)", "grad.roll(1, 0)", "cat({grad, x})"),
]  # fmt: skip

# Arguments that no overload takes: too few, too many, or of another kind.
WRONG = [
    *("full(2, 3, 1.0)", "zeros([2, 3], 4)", "linspace(x)", "pow(2, 3)", "sum(dims)"),
    *("at::mul(x)", "add(x, 1, 2, 3)", "grad.mul()", "grad.mul(dims)", "cos(x, n)", "at::cos(n)"),
    *("where(x, 1.0)", "softmax(x)", "gather(x, 0, 1)", "index_select(x, x, 0)"),
    *("matmul(x, 2)", "x.matmul(2.0)", "bmm(x, n)", "cross(x, 1)", "mean(x, x)"),
]
RIGHT = [
    *("full([2, 3], 1.0)", "full(dims, n)", "eye(n)", "pow(x, 3)", "pow(2, x)", "sum(x, dims)"),
    *("mul(x, 2)", "grad.mul(x)", "add(x, grad, 2)", "cos(x)", "where(x > 0, x, grad)", "clamp(x, 0)"),
    *("softmax(x, 0)", "gather(x, 0, x)", "stack([x, grad], 0)", "mean(x, dims, true)"),
]  # fmt: skip


def generated(text: str, target: str) -> Generated:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    options = {"cpp-torch": {"namespace": "mine"}, "torch-python": {}}
    config = Config(Path("nowhere"), target_options={target: options[target]})
    program = build_program(functions, config, diagnostics=found, sources=[source])
    return generate_all(program, targets=[target])


def errors(formula: str, target: str) -> list[str]:
    found = generated(ENTRIES.format(formula=formula), target).diagnostics
    return [d.code for d in found if d.severity == "error"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("formula", SPREAD)
def test_several_arguments_are_no_list(formula: str, target: str) -> None:
    assert errors(formula, target) == ["TG323"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("formula", WRONG)
def test_other_arguments_than_a_function_takes_are_refused(formula: str, target: str) -> None:
    assert errors(formula, target) == ["TG323"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("formula", RIGHT)
def test_arguments_that_a_function_takes_are_no_error(formula: str, target: str) -> None:
    assert errors(formula, target) == []


@pytest.mark.parametrize("formula", ["full([2], x)", "eye(2, x)", "stack([grad], x)"])
def test_a_tensor_may_be_a_number_in_python(formula: str) -> None:
    """If it has no dimensions; C++ converts none."""
    assert errors(formula, "torch-python") == []
    assert errors(formula, "cpp-torch") == ["TG323"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("formula", LISTS)
def test_a_list_is_taken(formula: str, target: str) -> None:
    assert errors(formula, target) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("called", ["lib::g", "::lib::g"])
def test_an_operator_may_be_called_with_its_namespace(called: str, target: str) -> None:
    assert errors(f"{called}(grad)", target) == []
    assert errors("g(grad)", target) == []


@pytest.mark.parametrize(
    "called", ["other::g", "lib::functions::g", "torch::cos", "std::max", "at::sin"]
)
def test_python_knows_no_function_of_a_namespace(called: str) -> None:
    """`at::sin` is PyTorch's, and the file has another operator of that name."""
    assert errors(f"{called}(grad)", "torch-python") == ["TG540"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_of_pytorch_may_say_so(target: str) -> None:
    assert errors("at::cos(grad)", target) == []


@pytest.mark.parametrize("name", ["class", "lambda", "if", "from"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_mistaken_method_is_one_error(name: str, target: str) -> None:
    assert len(errors(f"grad.{name}()", target)) == 1


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("argument", "formula", "codes"),
    [
        ("Tensor grad", "lib::g(grads[0])", []),
        ("Tensor grad", "grads", ["TG342"]),
        ("Tensor[] grad", "grads", []),
        ("Tensor[] grad", "lib::g(grads[0])", ["TG342"]),
    ],
)
def test_an_argument_may_have_the_name_of_the_gradients(
    target: str, argument: str, formula: str, codes: list[str]
) -> None:
    """`grads` are those of the list that is returned; whether the argument is a list, its type says."""
    text = f"""\
- func: lib::f({argument}, Tensor[] xs) -> Tensor[]
  dispatch: {{CPU: f}}
  fake: {{like: xs}}
  derivatives: {{grad: "{formula}", xs: not_differentiable}}
- func: lib::g(Tensor x) -> Tensor
  dispatch: {{CPU: g}}
  fake: {{like: x}}
  derivatives: {{x: grad}}
"""
    found = generated(text, target).diagnostics
    assert [d.code for d in found if d.severity == "error"] == codes


@pytest.mark.parametrize("name", sorted(CPP_CONSTANTS))
def test_a_constant_of_cpp_is_itself_and_an_argument_of_its_name_is_not(name: str) -> None:
    entry = (
        "- func: lib::f(Tensor x{argument}) -> Tensor\n  dispatch: {{CPU: {kernel}}}\n  {field}\n"
    )
    formula = f"derivatives: {{x: grad * {name}}}"
    reference = f"samples: {{calls: ['(randn(2), 2.0)'], reference: x * {name}}}"
    for argument, kernel, field, written in (
        ("", "f", formula, f"grad * {name};"),
        (f", float {name}", "f", formula, f"grad * {name}_;"),
        (f", float {name}", "reference", reference, f"(x * {name}_)"),
    ):
        text = entry.format(argument=argument, kernel=kernel, field=field)
        files = generated(text, "cpp-torch").files
        assert any(written in file for file in files.values()), (argument, kernel)
