"""Each formula of the corpus gives the same gradient in every target, and PyTorch's own autograd agrees.

`cpp-torch-stable` has the kernels, and the package of `torch-python` beside it the formulas: the stable ABI has no
autograd.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cpp.compiling import compile_library, needs_compiler
from tests.cpp.stable_library import build_library
from tests.formulas.projects import codes, entry, run, write_project
from tests.formulas.rows import ONE, ROWS, Row
from tests.fuzz import formulas
from torchgen_lite.formulas import model
from torchgen_lite.formulas.language import GRADIENTS
from torchgen_lite.formulas.model import walk
from torchgen_lite.formulas.operands import COMPARISONS
from torchgen_lite.formulas.parser import parse_formula

RANDOM = formulas.accepted(60, seed=1, target="cpp-torch")
IN_CPP = ("cpp-torch", "cpp-torch-stable")
TARGETS = ("python", "torch-python", *(pytest.param(one, marks=needs_compiler) for one in IN_CPP))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("torch")
    return run("expected", tmp_path_factory.mktemp("expected"))


@pytest.fixture(scope="module", params=TARGETS)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A target, and the folder with its code."""
    target: str = request.param
    folder = tmp_path_factory.mktemp(target)
    random_rows = [Row(made.text) for made in RANDOM] if target == "cpp-torch" else []
    paths = write_project(folder, target, [*ROWS, *random_rows])
    if target in IN_CPP:
        generated = sorted(path for path in paths if path.endswith(".cpp"))
        _compile(target, folder, ["kernels.cpp", *generated])
    return target, folder


@pytest.mark.torch
def test_every_formula_gives_the_gradient_that_pytorch_finds(
    built: tuple[str, Path], expected: dict[str, Any]
) -> None:
    found = run(*built)
    assert len(found) == sum(not row.is_refused(built[0]) for row in ROWS)
    wrong = {
        ROWS[int(i)].formula: (v, expected[i])
        for i, v in found.items()
        if v != near(v, expected[i])
    }
    assert wrong == {}


@pytest.mark.torch
def test_random_formulas_give_what_an_evaluator_finds(built: tuple[str, Path]) -> None:
    """In C++, in the library of the corpus; `tests/fuzz/test_formulas.py` has the other targets."""
    target, folder = built
    if target != "cpp-torch":
        pytest.skip("computed in tests/fuzz/test_formulas.py, or by that of torch-python")
    assert formulas.differences(target, folder, RANDOM, first=len(ROWS)) == []


# What compilers suspect of random formulas: `2.25 / false`, `flag == flag`, `(flag ? 2 : 5) && flag`, `!2.25`.
_SUSPECTED = (
    "-Wno-div-by-zero",
    "-Wno-tautological-compare",
    "-Wno-int-in-bool-context",
    "-Wno-literal-conversion",
)


def _compile(target: str, folder: Path, sources: list[str]) -> None:
    """The library of kernels, beside what was generated."""
    if target == "cpp-torch-stable":
        build_library(folder, sources)
        return
    compile_library(
        folder,
        sources,
        flags=_SUSPECTED,
        includes=[folder, folder / target / "include"],
    )


def near(found: Any, wanted: Any) -> Any:
    """What was found, if it is what was wanted but for the last digits; else what was wanted."""
    if not (isinstance(found, list) and isinstance(wanted, list)):
        return wanted
    pairs = [pytest.approx(pair, rel=1e-12, nan_ok=True) for pair in wanted]
    return found if found == pairs else wanted


@pytest.mark.parametrize("row", [row for row in ROWS if row.cpp or row.python])
def test_what_a_target_cannot_say_it_refuses_by_name(row: Row) -> None:
    for target, code in (("cpp-torch", row.cpp), ("torch-python", row.python)):
        assert codes(entry(0, row), target) == [code] * bool(code)


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("grad * None", "TG344"),
        ("grad * self.scalar_type()", "TG344"),
        ("grad * dims", "TG344"),
        ("grad * (flag ? 2 : None)", "TG344"),
        ("(flag ? other : 2) * grad", "TG344"),
        ("grad * (flag ? s : self.size(0))", "TG344"),
        ("self ? grad : other", "TG344"),
        ("m ? grad : other", "TG344"),
        ("grad && flag ? grad : other", "TG344"),
        ("grad * !other", "TG344"),
        ("grad * ~s", "TG344"),
        ("+grad", "TG344"),
        ("grad * (s % 2)", "TG344"),
        ("grad * (n & s)", "TG344"),
        ("grad * (self.size(0) & 1)", "TG344"),
        ("weight == None ? grad : other", "TG344"),
        ("grad * (dims == {1, 2})", "TG344"),
        ("grad * (mode == n)", "TG344"),
        ("grad * n[0]", "TG344"),
        ("grad[other]", "TG344"),
        ("grad[s]", "TG344"),
        ("cat({grad, 2})", "TG344"),
        ("grad * self.var(1)", "TG344"),
        ("grad * self.std({1})", "TG344"),
        ("grad.expand(2, n)", "TG344"),
        ("flag ? grad : 2", "TG342"),
        ("grad.mul_(2)", "TG345"),
        ("grad.__imul__(2)", "TG345"),
        ("self.t().add_(grad)", "TG345"),
        ("at::relu_(grad)", "TG345"),
        ("grad * max(n, 1)", "TG323"),
        ("grad * double(n)", "TG341"),
        ("grad * alpha.defined()", "TG322"),
        ("grad * xs.defined()", "TG322"),
        ("grad * n.foo()", "TG322"),
    ],
)
def test_what_has_no_common_meaning_is_an_error_at_the_formula(formula: str, code: str) -> None:
    for target in ("cpp-torch", "torch-python"):
        assert codes(entry(0, Row(formula)), target) == [code], target


@pytest.mark.parametrize(
    "formula",
    [
        "grad * self.std(dim=1, keepdim=True)",
        "grad * var(self, dim=n)",
        "grad * self.var(correction=0)",
    ],
)
def test_a_keyword_is_the_same_argument_in_both(formula: str) -> None:
    """C++ has none."""
    given = entry(0, Row(formula))
    assert [codes(given, one) for one in ("torch-python", "cpp-torch")] == [[], ["TG540"]]


def doubled(count: int) -> tuple[tuple[str, str], ...]:
    return tuple((f"v{at}", f"v{at - 1} + v{at - 1}" if at else "grad") for at in range(count))


@pytest.mark.parametrize(
    ("formula", "let", "expected"),
    [
        ("grad * a", (("a", "b"), ("b", "other")), []),
        ("grad * a", (("a", "b"),), ["TG320"]),
        ("grad * b", (("a", "other"),), ["TG320", "TG386"]),
        ("grad", (("a", "b"), ("b", "other")), ["TG386"]),
        ("grad * a", (("a", "a"),), ["TG385"]),
        ("grad * a", (("a", "b"), ("b", "other * a")), ["TG385"]),
        ("grad * other", (("other", "self"),), ["TG385"]),
        ("grad * a", (("a", "other *"),), ["TG219"]),
        ("grad * a", (("a", "dims"),), ["TG344"]),
        ("a", (("a", "grad.mul_(2)"),), ["TG345"]),
        # A few lines that would be a formula of billions of parts, or deeper than anything can walk.
        ("v13", doubled(14), ["TG110"]),
        ("v39", doubled(40), ["TG110"]),
        (
            "v399",
            tuple((f"v{at}", f"v{at - 1} + 1" if at else "grad") for at in range(400)),
            ["TG110"],
        ),
    ],
)
def test_values_with_names_are_checked_where_they_are_used(
    formula: str, let: tuple[tuple[str, str], ...], expected: list[str]
) -> None:
    for target in ("cpp-torch", "torch-python", "python"):
        assert codes(entry(0, Row(formula, let=let)), target) == expected, target


BUFFER = """\
- func: corpus::f(Tensor self, Tensor(a!) buffer) -> Tensor
  dispatch: {CPU: f}
  derivatives:
    self: grad * buffer
    buffer: not_differentiable
"""


@pytest.mark.parametrize("target", ["python", "torch-python", "cpp-torch"])
def test_a_buffer_that_is_written_has_the_same_answer_everywhere(target: str) -> None:
    assert codes(BUFFER, target) == ["TG325"]


def nodes() -> list[model.Expression]:
    texts = [text for row in ROWS for text in (row.formula, *(value for _, value in row.let))]
    trees = [parse_formula(text)[0] for text in texts]
    assert None not in trees
    return [node for tree in trees if tree is not None for node in walk(tree)]


def test_the_corpus_has_every_node_and_every_operator() -> None:
    found = nodes()
    assert {type(node) for node in found} | {model.Member} == set(model.Expression.__args__)
    assert {node.operator for node in found if isinstance(node, model.Binary)} == set(
        model.PRECEDENCE
    )
    unary = {node.operator for node in found if isinstance(node, model.Unary)}
    assert unary == set("-+!~*") and set(model.PRECEDENCE) >= COMPARISONS


# Methods that only PyTorch's own formulas use, and whose result only C++ has.
_OF_PYTORCH = {"expect_int", "options", "suggest_memory_format", "sym_blocksize"}


def test_the_corpus_has_every_method_and_attribute_of_the_language() -> None:
    found = nodes()
    calls = [
        n.function.name
        for n in found
        if isinstance(n, model.Call) and isinstance(n.function, model.Member)
    ]
    members = {node.name for node in found if isinstance(node, model.Member)}
    assert set(GRADIENTS.methods) - set(calls) == _OF_PYTORCH
    assert set(GRADIENTS.attributes) <= members


def test_rows_say_what_they_give_once() -> None:
    assert all(bool(row.value) != bool(row.gradient) for row in ROWS)
    assert ONE in {row.schema for row in ROWS}


CURVED = {
    "grad + other - 2",
    "grad % 2",
    "-grad % other",
    "2 - grad",
    "1 / other - grad",
    "s / other - (2 / grad - alpha)",
    "n % other - s % other",
    "cat({grad, other}, 0).narrow(0, 0, 2)",
    # These are linear, and made of functions that are not.
    "add(grad, other, n) - other * n",
    "grad.sub(other, 2).add(other, k) + sub(grad, other, s) * 0",
    "addcmul(grad, other, other, 2) - other * other * 2",
    "grad.addcdiv(other, other, s) - s",
}
# What these give where a gradient is absent is not what they give for zeros, which no derivative does.
UNEQUAL = {
    "grad_low.defined() ? grad_low * 2 : grad_high * 3",
    "grads[1].defined() ? grads[1] : grads[0] * 3",
}


@pytest.mark.torch
def test_tangents_agree_with_gradients(built: tuple[str, Path]) -> None:
    """Every formula that is linear in the gradient is transposed; the others are refused."""
    target, folder = built
    if target == "python":
        pytest.skip("this target has no forward mode")
    found = run(target, folder, "tests.formulas.forward")
    refused = {row: said for row, said in found.items() if isinstance(said, str)}
    said = "has no formula for forward-mode: the formula of `self` is not linear in the gradient"
    assert refused == dict.fromkeys(CURVED & found.keys(), said)
    assert len(found) > 80
    wrong = {row for row, v in found.items() if row not in refused and not _agree(*v)}
    assert wrong == UNEQUAL


def _agree(backward: float, forward: float) -> bool:
    return bool(forward == pytest.approx(backward, rel=1e-12, nan_ok=True))


@pytest.mark.parametrize(
    "formula", ["grad * self.var(flag)", "grad * self.var(dims, true, true)", "grad.expand({2, 3})"]
)
def test_what_c_plus_plus_and_python_take_alike(formula: str) -> None:
    for target in ("cpp-torch", "torch-python"):
        assert codes(entry(0, Row(formula)), target) == [], target
