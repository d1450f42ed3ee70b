"""What a reference, an expression of Python, is in C++, and what is refused because it would be another thing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.pipeline import Generated, generate_all

SCHEMA = "f(Tensor x, Tensor? w, int n, SymInt m, Scalar s, bool flag, str from, Tensor[] ts, float? o) -> Tensor"


def made(
    reference: str,
    folder: Path,
    schema: str = SCHEMA,
    fields: str = "dispatch: {Meta: reference}",
    let: Mapping[str, str] | None = None,
) -> Generated:
    """What is generated of one expression; or of one for each result, by name, if there are values under `let`."""
    entry = f"- func: my::{schema}\n  {fields}\n  samples:\n    calls: []\n"
    lines = [f"        {name}: '{value}'\n" for name, value in (let or {}).items()]
    start = f"\n      let:\n{''.join(lines)}      " if let else " >-\n      "
    (folder / "ops.yaml").write_text(f"{entry}    reference:{start}{reference}\n")
    (folder / "torchgen_lite.toml").write_text('schema = "ops.yaml"\ntargets = ["cpp-torch"]\n')
    program = load(root=folder)
    assert not program.has_errors, program.diagnostics
    return generate_all(program)


def body(files: Generated) -> str:
    """What the kernel computes, on one line."""
    assert not files.diagnostics, files.diagnostics
    text = next(text for path, text in files.files.items() if path.endswith("register.cpp"))
    lines = text.partition("fallback::apart(")[2].partition(";\n}")[0].split()
    return " ".join(lines).replace("( ", "(").replace(" )", ")")


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("x", "x"),
        ("1 - x ** 2 @ x", "at::rsub(at::matmul(at::pow(x, 2), x), 1)"),
        ("2 / x + (x & 1) * 1e-6", "2 * x.reciprocal() + (x & 1) * 1e-06"),
        ("x[0] + ts[-1]", "autograd::item(x, 0) + autograd::item(ts, -1)"),
        ("x if not flag and x.dim() > 1 else x.T", "!flag && x.dim() > 1 ? x : x.numpy_T()"),
        ("x if o is None else x * o", "!o.has_value() ? x : x * o.value()"),
        (
            "x if w is not None else w",
            "w.value_or(at::Tensor()).defined() ? x : w.value_or(at::Tensor())",
        ),
        ("x * (n / 2) * (m + n)", "x * (static_cast<double>(n) / 2) * (m + n)"),
        ("x * s if s > 0 else x", "s.toDouble() > 0 ? x * s : x"),
        ("x.float() + x.to(torch.int64)", "x.to(at::kFloat) + x.to(at::kLong)"),
        ("x if x.dtype == torch.half else x", "x.scalar_type() == at::kHalf ? x : x"),
        ('x if from_ == "a" else x', 'from == "a" ? x : x'),
        ("torch.cat((x, x), -1)", "at::cat({x, x}, -1)"),
        (
            "x.expand([n, m]) + x.shape[-1]",
            "x.expand_symint({n, m}) + autograd::item(x.sym_sizes(), -1)",
        ),
        (
            "torch.full([n], 1.5, dtype=x.dtype, device=x.device)",
            "at::full({n}, 1.5, at::TensorOptions().dtype(x.scalar_type()).device(x.device()))",
        ),
        ("torch.zeros_like(x) // 2", "at::floor_divide(at::zeros_like(x), 2)"),
        ("x.max(0)[0]", "autograd::item(x.max(0), 0)"),
        ("x.T", "x.numpy_T()"),
    ],
)
def test_a_reference_in_cpp(reference: str, text: str, tmp_path: Path) -> None:
    assert body(made(reference, tmp_path)).startswith(f"at::Tensor({text}), x, w, n, ")


def test_several_results_and_keywords_of_cpp(tmp_path: Path) -> None:
    """The names are C++'s; the function takes symbolic integers."""
    files = made(
        "(default + m, [x, default])",
        tmp_path,
        "f(Tensor default, Tensor x, SymInt m) -> (Tensor, Tensor[])",
    )
    assert body(files) == (
        "::std::tuple<at::Tensor, ::std::vector<at::Tensor>>(default_ + m, {x, default_}), default_, x, m)"
    )


@pytest.mark.parametrize(
    ("reference", "code", "message"),
    [
        ("x[1:]", "TG540", "`x[1:]` is said in Python alone"),
        ("max(n, 2) * x", "TG540", "`max(n, 2)` is said in Python alone"),
        (
            "torch.nn.functional.silu(x)",
            "TG540",
            "`torch.nn.functional.silu(x)` is said in Python alone",
        ),
        ("x if 0 < n < 3 else x", "TG540", "`0 < n < 3` is said in Python alone"),
        ("x + 1j", "TG540", "`1j` is said in Python alone"),
        ("my_function", "TG540", "`my_function` is said in Python alone"),
        (
            "x if n and flag else x",
            "TG540",
            "`and` and `or` of others than booleans give an operand",
        ),
        ("x * (s + 1)", "TG540", "C++ makes a float of a `Scalar`, which may be an integer"),
        ("x * (2 if flag else 0.5)", "TG540", "both branches have one type in C++"),
        ("x * (n % 2)", "TG540", "a remainder has the sign of the dividend in C++"),
        ("x.var(1)", "TG540", "what `var` is given is another argument in C++"),
        ("x.var(dim=1)", "TG540", "C++ has no keyword arguments, such as `dim`"),
        ("x.expand(2, n)", "TG540", "what `expand` is given is another argument in C++"),
        ("x * torch.tensor(1.5)", "TG540", "what `tensor` is given is another argument in C++"),
        ("x[flag]", "TG540", "what `[]` is given is another argument in C++"),
        ("x.sum(dim=1)", "TG540", "C++ has no keyword arguments, such as `dim`"),
        ("x.unique()", "TG540", "`x.unique()` is said in Python alone"),
        ("x * x.tolist()[0]", "TG540", "`x.tolist()` is said in Python alone"),
        ("x.type(torch.half)", "TG540", "`x.type(torch.half)` is said in Python alone"),
        ("x * x.shape.numel()", "TG540", "`x.shape.numel()` is said in Python alone"),
        ("x + x.real", "TG540", "C++ has no attribute `real` of a tensor"),
        ("[x, x][0]", "TG540", "C++ gives a list in brackets no type here"),
        ("(x, x)[0] + x", "TG540", "C++ gives a list in brackets no type here"),
        ("x.grad + x", "TG540", "C++ has no attribute `grad` of a tensor"),
        ("x[x > 0]", "TG344", "`x > 0` is a tensor: an index is an integer"),
        ("x if o else x", "TG344", "`o` is a float or None: a condition is a boolean or a number"),
        ("n // 2 * x", "TG540", "`n // 2` is said in Python alone"),
        ("x * n ** 2", "TG540", "`n ** 2` is said in Python alone"),
        (
            "torch.floor_divide(n, 2) * x",
            "TG540",
            "`torch.floor_divide(n, 2)` is said in Python alone",
        ),
    ],
)
def test_what_is_another_thing_in_cpp(
    reference: str, code: str, message: str, tmp_path: Path
) -> None:
    found = made(reference, tmp_path).diagnostics
    assert [(one.code, one.message) for one in found] == [(code, message)]


def test_it_is_said_where_it_is(tmp_path: Path) -> None:
    (found,) = made("torch.exp(x) + x[1:] * 2", tmp_path).diagnostics
    assert found.label is not None and found.label.span.text == "x[1:]"
    assert found.label.span.line == 6


def test_a_keyword_of_a_method(tmp_path: Path) -> None:
    (found,) = made("x.sum(dim=1)", tmp_path).diagnostics
    assert str(found.help) == "write it by position"


def test_values_of_let_are_variables(tmp_path: Path) -> None:
    """Those that others use come first, and names are C++'s."""
    let = {
        "new": "(ms + eps).rsqrt()",
        "ms": "x.square().mean(-1, True)",
        "parts": "x.chunk(2)",
        "n": "x.size(0) * 2",
        "half": "0.5",
        "wide": "100000",
        "is_wide": "x.dtype == torch.double",
    }
    results = "rstd: new.squeeze(-1) * n\n      out: x * new * half * wide if is_wide else parts[0]"
    files = made(results, tmp_path, "f(Tensor x, float eps) -> (Tensor out, Tensor rstd)", let=let)
    assert not files.diagnostics, files.diagnostics
    text = next(text for path, text in files.files.items() if path.endswith("register.cpp"))
    assert text.partition("double eps) {\n")[2].partition("}\n")[0] == """\
  const ::my::fallback::Noted _noted;
  const auto ms = x.square().mean(-1, true);
  const auto new_ = (ms + eps).rsqrt();
  const auto parts = x.chunk(2);
  const auto n = x.sym_size(0) * 2;
  const auto half = 0.5;
  const auto wide = int64_t(100000);
  const auto is_wide = x.scalar_type() == at::kDouble;
  return ::my::fallback::apart(
      ::std::tuple<at::Tensor, at::Tensor>(
          is_wide ? x * new_ * half * wide : autograd::item(parts, 0),
          new_.squeeze(-1) * n),
      x,
      eps);
"""


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ("[0, 1]", "TG540", "a list of integers is no variable in C++"),
        ("[x, x]", "TG540", "a list of tensors is no variable in C++"),
        ("(x * 2).shape", "TG540", "a list of symbolic integers is no variable in C++"),
        ("None", "TG540", "a value is no variable in C++"),
        ("x[1:]", "TG540", "`x[1:]` is said in Python alone"),
    ],
)
def test_what_a_variable_cannot_be(value: str, code: str, message: str, tmp_path: Path) -> None:
    # What is called with it is said in Python alone, too.
    every = made("result: x * len(v)", tmp_path, let={"v": value}).diagnostics
    found = [one for one in every if (one.code, one.message) == (code, message)]
    assert {one.code for one in every} == {code} and len(found) == 1
    assert found[0].label is not None and found[0].label.span.line == 7


AUTO = "dispatch: {CPU: f}\n  derivatives: auto"


def test_gradients_of_a_reference(tmp_path: Path) -> None:
    """Results without gradients are not computed; an absent tensor is one that is not defined."""
    schema = "f(Tensor x, Tensor? w, Tensor[] ts, *, int n) -> (Tensor, Tensor, Tensor[])"
    fields = f"{AUTO}\n  output_differentiability: [true, false, true]"
    files = made("(x * n if w is None else w, x > 0, [x, ts[0]])", tmp_path, schema, fields)
    assert not files.diagnostics, files.diagnostics
    text = files.files["cpp-torch/src/register_autograd.cpp"]
    assert "#include <my/autograd_reference.h>" in text
    assert """
struct FBackward0 : public autograd::ReferenceNode {
  void release_variables() override {
    release(saved_x, saved_w, saved_ts);
  }

  autograd::variable_list gradients(autograd::variable_list& grads) override {
    auto x = autograd::unpack(*this, saved_x);
    auto w = autograd::unpack(*this, saved_w);
    auto ts = autograd::unpack(*this, saved_ts);
    [[maybe_unused]] auto& n = saved_n;
    autograd::materialize(*this, grads);
    autograd::Recomputed _again(*this, x, w, ts);
    return _again.gradients(
        grads,
        autograd::flat(
            at::Tensor(!w.defined() ? x * n : w),
            autograd::variable_list({x, autograd::item(ts, 0)})));
  }
""" in text


def test_a_node_computes_the_values_that_its_results_need(tmp_path: Path) -> None:
    """After the inputs are those of the new graph; what a result without a gradient uses is left out."""
    let = {"r": "(m + 1).rsqrt()", "m": "x.square().mean()", "half": "x * 0.5"}
    schema = "f(Tensor x) -> (Tensor out, Tensor rest)"
    fields = f"{AUTO}\n  output_differentiability: [true, false]"
    files = made("out: x * r\n      rest: half > r", tmp_path, schema, fields, let)
    text = files.files["cpp-torch/src/register_autograd.cpp"]
    assert text.partition("unpack(*this, saved_x);\n")[2].partition("  }\n")[0] == """\
    autograd::Recomputed _again(*this, x);
    const auto m = x.square().mean();
    const auto r = (m + 1).rsqrt();
    return _again.gradients(grads, autograd::flat(at::Tensor(x * r)));
"""


def test_a_reference_without_gradients_in_cpp(tmp_path: Path) -> None:
    (found,) = made("torch.exp(x) + x[1:]", tmp_path, fields=AUTO).diagnostics
    assert (found.code, found.message) == ("TG540", "`x[1:]` is said in Python alone")
    assert found.label is not None and (found.label.span.text, found.label.span.line) == (
        "x[1:]",
        7,
    )
    assert str(found.help) == (
        "write what both languages have, "
        "or have the target `torch-python`, with `autograd` on, register these gradients"
    )


def test_each_result_of_a_node_is_written(tmp_path: Path) -> None:
    schema = "f(Tensor x) -> (Tensor, Tensor)"
    (found,) = made("torch.max(x, 0)", tmp_path, schema, AUTO).diagnostics
    assert (found.code, found.message) == ("TG540", "several results in one expression")
    assert not made("torch.max(x, 0)", tmp_path, schema).diagnostics


GIVEN = {
    "tuple": ["torch.max(x, 0)", "x.sort(0)", "torch.frexp(x)"],
    "list": ["x.chunk(2)", "torch.split(x, 2)", "x.unbind()"],
    "list of the caller's": ["ts"],
}
WANTED = {"tuple": "(Tensor, Tensor)", "list": "Tensor[]"}


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("is_conditional", [False, True])
@pytest.mark.parametrize(
    ("given", "call"), [(form, call) for form, calls in GIVEN.items() for call in calls]
)
def test_a_tuple_is_no_list_in_cpp(
    tmp_path: Path, given: str, call: str, wanted: str, is_conditional: bool
) -> None:
    """In Python each stands for the other."""
    schema = f"f(Tensor x, bool flag, Tensor[] ts) -> {WANTED[wanted]}"
    reference = f"{call} if flag else {call}" if is_conditional else call
    found = made(reference, tmp_path, schema).diagnostics
    said = [] if given == wanted else [f"a {given} in C++, which makes no {wanted}"]
    assert [one.message for one in found] == said
