"""Formulas of entries: what is held against the schema, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from torchgen_lite.analysis.differentiability.info import read_info
from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.formulas.callees import no_operators
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.loader.python.kernel_modules import KernelIndex
from torchgen_lite.pipeline import generate_all
from torchgen_lite.schema import FunctionSchema, return_names


def test_the_deepest_formula_can_be_generated() -> None:
    """Brackets, terms, method chains and operator levels, each as deep as the parser allows."""
    step = "a || b && c | d ^ e & f == g < h + i * -"
    entry = """\
- func: lib::f(Tensor self, int n) -> Tensor
  dispatch:
    CPU: f
  derivatives:
    self: {}
"""
    texts = (
        "(" * 39 + "grad" + ")" * 39,
        "grad" + " + grad" * 99,
        "grad" + ".neg()" * 19,
        "-" * 40 + "grad",
        "mul(grad, " * 39 + "grad" + ")" * 39,
        "n ? " * 39 + "grad" + " : grad" * 39,
        "mul(grad, " + re.sub(r"\b[a-i]\b", "n", f"{step}(" * 9 + "n" + ")" * 10),
    )
    options = {"torch-python": {"package": "ops", "defines": True}, "python": {"package": "ops"}}
    for text in texts:
        source = Source("ops.yaml", entry.format(json.dumps(text)))
        functions, found = load_native_functions([source])
        config = Config(Path("nowhere"), target_options=options)
        program = lint_program(
            build_program(functions, config, diagnostics=found, sources=[source])
        )
        generated = generate_all(program, targets=["python", "torch-python", "cpp-torch"])
        assert generated.files, render_concise(generated.diagnostics)


ENTRY = "- func: {func}\n  doc: A test.\n  derivatives:\n{formulas}"


def problems(func: str, *formulas: str, helpers: tuple[str, ...] | None = ()) -> list[str]:
    text = ENTRY.format(func=func, formulas="".join(f"    {f}\n" for f in formulas))
    text += "- func: mul(Tensor self, Tensor other) -> Tensor\n  variants: function, method\n"
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    index = None if helpers is None else KernelIndex((), {name: [] for name in helpers})
    program = build_program(
        functions, Config(Path(".")), diagnostics=found, sources=[source], formulas=index
    )
    return render_concise(program.diagnostics).splitlines()


F = "f(Tensor self, Tensor other, int dim) -> Tensor"
LISTS = "l(Tensor[] parts, Tensor x) -> Tensor"
ONE = (
    "error[TG342] the formula of 'parts', which is 'Tensor[]', gives a tensor: not a list (a "
    "list has a gradient for each tensor of 'parts')"
)
TWO = "g(Tensor self) -> (Tensor values, Tensor indices)"


@pytest.mark.parametrize(
    ("func", "formulas", "said"),
    [
        (F, ["self: grad * other", "other: mul(grad, self)"], []),
        (F, ["self, other: h(grad, grad_input_mask)"], []),
        (F, ["self: grad.mul(other)", "other: not_differentiable"], []),
        (
            F,
            ["self: grad * othr", "other: grad"],
            [
                "4:18: error[TG320] unknown name 'othr' in the formula of 'self': not known here (did "
                "you mean 'other'?)"
            ],
        ),
        (
            F,
            ["self: grad.mull(other)", "other: grad"],
            [
                "4:11: error[TG322] tensors have no method 'mull': no such method (did you mean 'mul'?)"
            ],
        ),
        (
            F,
            ["self: hh(grad)", "other: grad"],
            [
                "4:11: error[TG322] the formula calls 'hh', which is neither an operator nor a helper "
                "function: no such operator (did you mean 'h'?)"
            ],
        ),
        (
            F,
            ["self: mul(grad)", "other: grad"],
            [
                "4:11: error[TG323] no overload of 'mul' takes 1 argument (it is declared as 'mul(Tensor "
                "self, Tensor other) -> Tensor')"
            ],
        ),
        (
            F,
            ["self: grad"],
            [
                "4:5: warning[TG324] no formula for 'other': a call raises an error if it requires a "
                "gradient: missing here (give a formula, or write 'other: not_differentiable')"
            ],
        ),
        (
            "f(Tensor self, Tensor?[] others, Tensor[] more, Tensor last) -> Tensor",
            ["self: grad"],
            [
                "4:5: warning[TG324] no formula for 'last': a call raises an error if it requires a "
                "gradient: missing here (give a formula, or write 'last: not_differentiable')",
                (
                    "4:5: warning[TG324] no formula for 'others', 'more': if one of them requires a "
                    "gradient, it is lost: missing here (give a formula, or write 'others: "
                    "not_differentiable')"
                ),
            ],
        ),
        (
            F,
            ["self: not_differentiable"],
            [
                "4:5: warning[TG324] nothing is said of 'other', whose gradient is refused or lost: missing "
                "here (give a formula, or write 'other: not_differentiable')"
            ],
        ),
        (F, ["self: not_differentiable", "output_differentiability: [False]"], []),
        ("f(Tensor self, Tensor output) -> Tensor", ["self: grad * output"], []),
        ("f(Tensor self, int dim) -> Tensor", ["self: grad", "dim: not_differentiable"], []),
        (
            "f_(Tensor(a!) self) -> Tensor(a!)",
            ["self: grad", "result: self_t * original_self_p"],
            [],
        ),
        (F, ["self: h(at::IntArrayRef{}, c10::ArrayRef<int>{dim, 1})", "other: grad"], []),
        (
            F,
            ["self: h(at::Tensor{})", "other: grad"],
            ["4:23: error[TG219] expected ',', found '{'"],
        ),
        (
            F,
            ["self: grad", "other: grad", "dim: grad"],
            ["6:5: error[TG321] argument 'dim' is not a tensor: has no derivative"],
        ),
        (
            F,
            ["self, other: grad", "sel: grad"],
            [
                (
                    "5:5: error[TG321] 'f' has no argument or result 'sel': not a tensor of this operator "
                    "(did you mean 'self'?)"
                )
            ],
        ),
        (
            F,
            ["self: grad (", "other: grad"],
            [
                "4:16: error[TG219] '(' is not closed: opened here (write the ')' that closes it)",
            ],
        ),
        (
            F,
            ["self, other: grad", "output_differentiability: [True, False]"],
            ["5:31: error[TG328] 2 flags for 1 results: 'f' has 1 results"],
        ),
        *[
            (
                "f(Tensor self) -> Tensor",
                ["self: grad", f"output_differentiability: [{flag}]"],
                [
                    f"5:32: error[TG328] '{meant}' is neither True nor False: not a condition (write '{right}' without quotes)"
                ],
            )
            for flag, meant, right in (
                ("yes", "yes", "True"),
                ("no", "no", "False"),
                ("off", "off", "False"),
                ("0", "0", "False"),
                ("'False'", "False", "False"),
            )
        ],
        *[
            (
                "f(Tensor self) -> Tensor",
                ["self: grad", f"output_differentiability: [{condition}]"],
                [
                    f"5:31: error[TG328] '{meant}' is neither True nor False: a condition is not asked in a call (write '[True]', and formulas that are zero where there is no gradient)"
                ],
            )
            for condition, meant in (("train", "train"), ('"!train"', "!train"), ('""', ""))
        ],
        (
            TWO,
            ["output_differentiability: [False, False]", "self: grad"],
            [
                "5:5: error[TG326] formulas of 'g', whose results have no gradient: gradient of nothing "
                "(leave the formulas out, or say which result is differentiable)"
            ],
        ),
        (
            "h(Tensor self) -> (Tensor values, int count)",
            ["output_differentiability: [False, True]", "self: grad"],
            [
                "5:5: error[TG326] formulas of 'h', whose results have no gradient: gradient of nothing "
                "(leave the formulas out, or say which result is differentiable)"
            ],
        ),
        (TWO, ["output_differentiability: [False, False]", "self: not_differentiable"], []),
        (TWO, ["output_differentiability: [False, True]", "self: grad"], []),
        (
            F,
            ["self, other: grad", "result: auto_element_wise"],
            [
                (
                    "5:5: error[TG329] 'auto_element_wise' with 2 differentiable arguments: needs exactly "
                    "one with a formula"
                )
            ],
        ),
        (
            TWO,
            ["self: grads[0] * grad"],
            ["4:22: error[TG327] formulas of 'g' mix 'grads' and 'grad': use one way"],
        ),
        (
            TWO,
            ["self: grads[2] * grads[0]"],
            ["4:11: error[TG327] 'grads[2]' of an operator with 2 results: out of range"],
        ),
        (
            "b(Tensor grad, Tensor self) -> Tensor",
            ["grad: grad * self", "self: not_differentiable"],
            [
                (
                    "4:11: error[TG327] 'grad' is both a gradient and an argument: which one? (rename the "
                    "argument)"
                )
            ],
        ),
        ("b(Tensor grad, Tensor self) -> Tensor", ["self, grad: not_differentiable"], []),
        (
            "s(Tensor self) -> int",
            ["self: grad"],
            [
                "4:5: error[TG325] 's' has no result that is a tensor: no formulas here (leave the formulas out)"
            ],
        ),
        (
            "o(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            ["self: grad"],
            [
                "4:5: error[TG325] 'o' is an out variant, which is never differentiable: no formulas here (leave the formulas out)"
            ],
        ),
        # Of what is only noted down, nothing is differentiable.
        ("n(Tensor(a!) y, Tensor x) -> ()", ["y, x: not_differentiable"], []),
        ("my::n(Tensor x, Tensor(a!)? y=None) -> Tensor", ["x, y: not_differentiable"], []),
        (
            "n(Tensor(a!) y, Tensor x) -> ()",
            ["y: not_differentiable"],
            [
                "4:5: error[TG325] 'n' has no result that is a tensor: no formulas here (leave the formulas out)"
            ],
        ),
        (
            "my::n(Tensor(a!) y, Tensor x) -> Tensor",
            ["y: not_differentiable", "x: grad"],
            [],
        ),
        (LISTS, ["parts: h(grad)", "x: grad"], []),
        (LISTS, ["parts: '[grad, grad * x]'", "x: 'x.defined() ? grad.mul(x) : h(grad)'"], []),
        (LISTS, ["parts: grad * x", "x: grad"], ["4:12: " + ONE]),
        (LISTS, ["parts: mul(grad, x)", "x: grad"], ["4:12: " + ONE]),
        (
            LISTS,
            ["parts: h(grad)", "x: 'x.defined() ? [grad] : grad'"],
            [
                (
                    "5:23: error[TG342] the formula of 'x', which is 'Tensor', gives a list of tensors: not "
                    "a tensor"
                )
            ],
        ),
        (
            "s(Tensor x, Tensor[] parts) -> Tensor[]",
            ["x: grad", "parts: grad"],
            [
                (
                    "4:8: error[TG342] the formula of 'x', which is 'Tensor', gives a list of tensors: not a "
                    "tensor"
                )
            ],
        ),
        ("s(Tensor[] parts) -> (Tensor, Tensor)", ["parts: grads"], []),
        ("s(Tensor x) -> Tensor[]", ["x: grads[0] + grads[1]"], []),
        (
            "s(Tensor x) -> Tensor",
            ["x: grads[0] + grads[1]"],
            ["4:19: error[TG327] 'grads[1]' of an operator with 1 result: out of range"],
        ),
        (
            "s(Tensor x, Tensor y) -> (Tensor, Tensor)",
            ["x: s(grads[0], grads[1])", "y: grads[0]"],
            [
                "4:8: error[TG342] the formula of 'x', which is 'Tensor', gives 2 results: not a tensor"
            ],
        ),
        ("s(Tensor x, Tensor y) -> (Tensor, Tensor)", ["x, y: s(grads[0], grads[1])"], []),
        (
            "s(Tensor x, Tensor y) -> Tensor",
            ["x, y: 'x.defined() ? h(grad) : grad * x'"],
            [
                (
                    "4:36: error[TG342] the formula of 'x', 'y' gives a tensor: not a gradient for each "
                    "(write a formula for each)"
                )
            ],
        ),
        (
            "s(Tensor x, Tensor y, Tensor z) -> (Tensor, Tensor)",
            ["x, y, z: s(grads[0], grads[1], x)"],
            [
                (
                    "4:14: error[TG342] the formula of 'x', 'y', 'z' gives 2 results: not a gradient for "
                    "each (write a formula for each)"
                )
            ],
        ),
        (
            "s(Tensor x, int n) -> Tensor",
            ["x: n"],
            [
                "4:8: error[TG342] the formula of 'x', which is 'Tensor', gives an integer: not a tensor"
            ],
        ),
        ("s(Tensor x, Tensor? y) -> Tensor", ["x: grad", "y: None"], []),
    ],
)
def test_formulas_are_held_against_the_schema(
    func: str, formulas: list[str], said: list[str]
) -> None:
    found = problems(func, *formulas, helpers=("h",))
    assert [line.removeprefix("ops.yaml:") for line in found] == said


@pytest.mark.parametrize(
    ("formula", "is_refused"),
    [
        ("note(grad * self, self)", True),
        ("note(seen=self, x=grad * self)", True),
        ("note(self, grad * self)", False),
        ("note(self, zeros_like(self))", False),
        ("note(self)", False),
    ],
)
def test_a_formula_writes_to_nothing_that_others_have(formula: str, is_refused: bool) -> None:
    """Whichever argument it is that an operator writes."""
    text = f"""\
- func: lib::note(Tensor x, Tensor(a!)? seen=None) -> Tensor
  dispatch: {{CPU: note}}
- func: lib::f(Tensor self) -> Tensor
  dispatch: {{CPU: f}}
  derivatives:
    self: {formula}
"""
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found, sources=[source])
    codes = [one.code for one in program.diagnostics if one.severity == "error"]
    assert codes == ["TG345"] * is_refused


FOREACH = "_foreach_f(Tensor[] self) -> Tensor[]"


@pytest.mark.parametrize(
    ("func", "formulas", "unknown"),
    [
        ("f(Tensor self) -> Tensor", ["self: f(grad, M_PI / M_LN2, retain_variables)"], []),
        ("lib::f(Tensor self) -> Tensor", ["self: grad * M_PI"], []),
        (
            "lib::f(Tensor self) -> Tensor",
            ["self: grad * M_TAU + retain_variables", "result: self_t * original_self_p"],
            ["M_TAU", "retain_variables", "original_self_p"],
        ),
        (FOREACH, ["self: grads[i] * self[i]", "result: self_t[i]"], []),
        (f"lib::{FOREACH}", ["self: grads[i] * self"], ["i"]),
        ("f(Tensor[] self) -> Tensor[]", ["self: grads[i] * self"], ["i"]),
    ],
)
def test_names_of_formulas_in_cpp(func: str, formulas: list[str], unknown: list[str]) -> None:
    """C++ constants and variables of PyTorch's nodes are known in C++ and unknown in Python."""
    said = "\n".join(problems(func, *formulas, helpers=None))
    assert re.findall(r"unknown name '(\w+)'", said) == unknown
    if "original" not in formulas[-1]:
        in_python = "\n".join(problems(func, *formulas[:1]))
        assert "unknown name" in in_python


def test_without_a_vocabulary_only_known_operators_are_checked() -> None:
    unknown = "self: anything(grad).at_all()"
    assert problems("f(Tensor self) -> Tensor", unknown, helpers=None) == []


@pytest.mark.parametrize(
    "fields",
    [
        "  derivatives: {self: grad, output_differentiability: [True, False]}\n",
        "  derivatives: {self: grad}\n  output_differentiability: [True, False]\n",
        "  output_differentiability: [True, False]\n  derivatives: {self: grad}\n",
        "  output_differentiability: [True, False]\n",
    ],
)
def test_results_are_differentiable_as_the_entry_says(fields: str) -> None:
    text = f"- func: g(Tensor self) -> (Tensor, Tensor)\n{fields}"
    (function,), found = load_native_functions([Source("ops.yaml", text)])
    assert found == () and function.derivatives is not None
    assert function.derivatives.output_differentiability == (True, False)
    assert len(function.derivatives.formulas) == ("grad" in fields)


def test_results_are_said_to_be_differentiable_once() -> None:
    formulas = ("self: grad", "output_differentiability: [True, True]")
    func = "g(Tensor self) -> (Tensor, Tensor)\n  output_differentiability: [True, False]"
    assert problems(func, *formulas) == [
        (
            "ops.yaml:2:3: error[TG105] 'output_differentiability' is given both under 'derivatives' "
            "and next to it: again here"
        )
    ]


def test_variants_by_key_and_several_results() -> None:
    text = """\
- func: g(Tensor self, *, int n) -> (Tensor a, Tensor b)
  derivatives:
    output_differentiability: [True, False]
    dispatch:
      Default:
        self: grad * a
      AutogradPrivateUse1:
        self: grad
"""
    functions, found = load_native_functions([Source("ops.yaml", text)])
    assert found == ()
    derivatives = functions[0].derivatives
    assert derivatives is not None
    infos = read_info(functions[0], derivatives, Counter(), no_operators)
    assert {key: info.node_name for key, info in infos.items()} == {
        "Default": "GBackward0",
        "AutogradPrivateUse1": "GBackwardAutogradPrivateUse10",
    }
    assert [(s.name, s.result) for s in infos["Default"].saved] == [("a", 0)]
    assert infos["Default"].output_differentiability == (True, False)


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("f(Tensor x) -> Tensor", ("result",)),
        ("f(Tensor x) -> (Tensor, Tensor)", ("result0", "result1")),
        ("f(Tensor x, Tensor result) -> Tensor", ("result_return",)),
        ("f(Tensor x, Tensor result1) -> (Tensor, Tensor)", ("result0", "result1_return")),
        ("f(Tensor x) -> (Tensor x, Tensor y)", ("x_return", "y")),
    ],
)
def test_a_result_is_never_called_as_an_argument(schema: str, names: tuple[str, ...]) -> None:
    assert return_names(FunctionSchema.parse(schema)) == names


NOT_IMPLEMENTED = "`not_implemented` takes one or two strings: what has no gradient, and why"
CALLS = """\
- func: lib::back(Tensor grad, float scale, Tensor[] xs, int? n=None, *, str mode="a") -> Tensor
- func: lib::f(Tensor x, float scale, Tensor[] y, int[] n) -> Tensor
  dispatch: {CPU: f}
  derivatives:
    x: %s
    y: not_differentiable
"""


@pytest.mark.parametrize(
    ("formula", "messages"),
    [
        ("back(grad, scale * 2, [x, x], mode='b') + back(grad, x.size(0), y, None)", []),
        ("back(grad, scale, y, None, 'b')", []),
        (
            "back(grad, scale, y, x.sym_size(0).expect_int(), grad_input_mask)",
            ["argument `mode` of `lib::back` is `str`, and a list is given"],
        ),
        (
            "back(grad, scale, y, None, 2)",
            ["argument `mode` of `lib::back` is `str`, and an integer is given"],
        ),
        (
            "back(grad, scale, y, None, 'b', 2)",
            ["no overload of `back` takes 6 arguments"],
        ),
        (
            "back(grad, True, x, sum(n))",
            ["argument `n` of `lib::back` is `int?`, and a tensor is given"],
        ),
        (
            "back(scale, grad, y)",
            [
                "argument `grad` of `lib::back` is `Tensor`, and a float is given",
                "argument `scale` of `lib::back` is `float`, and a tensor is given",
            ],
        ),
        (
            "back(grad, 1, n)",
            ["argument `xs` of `lib::back` is `Tensor[]`, and a list is given"],
        ),
        (
            "back([grad, grad], 1, y)",
            ["argument `grad` of `lib::back` is `Tensor`, and a list is given"],
        ),
        (
            "back(grad, 1, y, scale)",
            ["argument `n` of `lib::back` is `int?`, and a float is given"],
        ),
        ("back(None, 1, y)", ["argument `grad` of `lib::back` is `Tensor`, and None is given"]),
        ("back(grad, n, y)", ["argument `scale` of `lib::back` is `float`, and a list is given"]),
        (
            "back(grad, 1, y, mode=1)",
            ["argument `mode` of `lib::back` is `str`, and an integer is given"],
        ),
        ("not_implemented('f: x')", []),
        ("not_implemented('f: x', 'it is not smooth')", []),
        *[
            (f"not_implemented({given})", [NOT_IMPLEMENTED])
            for given in ("", "1", "'f', x", "'f', 'x', 'y'")
        ],
    ],
)
def test_arguments_of_own_operators_have_the_kinds_of_the_schema(
    formula: str, messages: list[str]
) -> None:
    functions, found = load_native_functions([Source("ops.yaml", CALLS % formula)])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found)
    assert [d.message for d in program.diagnostics if d.code == "TG323"] == messages


@pytest.mark.parametrize(
    ("formula", "messages"),
    [
        ("grad * scale.item()", ["`scale` is a float, and has no `item`"]),
        ("grad * scale.dtype", ["`scale` is a float, and has no `dtype`"]),
        ("grad * x.sum() * x.size(0) + y[0].neg() + n.size()", []),
    ],
)
def test_numbers_have_no_members(formula: str, messages: list[str]) -> None:
    functions, found = load_native_functions([Source("ops.yaml", CALLS % formula)])
    program = build_program(functions, Config(Path("nowhere")), diagnostics=found)
    assert [d.message for d in program.diagnostics if d.code == "TG322"] == messages
