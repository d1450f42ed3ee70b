"""The output of target `cpp-torch` for formulas; tests/cpp/autograd_ops builds and runs a library."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType, FunctionType

import pytest

from torchgen_lite import GenerateError, generate, load
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import registrations
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.emit.render import render_files
from torchgen_lite.formulas import model
from torchgen_lite.languages.cpp import formula as cpp_formula
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.torch.files import find_torch_files, load_tags
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.cpp_torch.differentiation import build_differentiation
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.options import TorchOptions
from torchgen_lite.targets.output import Selection

LIBRARIES = Path(__file__).parents[3] / "cpp"


def autograd(folder: Path, *entries: str, **options: object) -> str:
    """The text of `register_autograd.cpp`."""
    (folder / "ops.yaml").write_text("".join(entries))
    given = {name.replace("_", "-"): value for name, value in options.items()}
    config = Config(root=folder, schema=("ops.yaml",), target_options={"cpp-torch": given})
    program = load(config=config)
    assert program.diagnostics == ()
    return generate(program, targets=["cpp-torch"])["cpp-torch/src/register_autograd.cpp"]


def entry(schema: str, *formulas: str, more: str = "") -> str:
    text = "\n    ".join(formulas)
    return (
        f"- func: demo::{schema}\n{more}  dispatch:\n    CPU: kernel\n  derivatives:\n    {text}\n"
    )


def test_only_tensors_are_released(tmp_path: Path) -> None:
    """A number is written before the node is used, and never again."""
    text = autograd(tmp_path, entry("f(Tensor x, float s) -> Tensor", "x: grad * s"))
    assert "release" not in text
    text = autograd(tmp_path, entry("f(Tensor x) -> Tensor", "x: grad * x"))
    assert """
  void release_variables() override {
    release(saved_x);
  }
""" in text


def test_an_item_of_a_list_is_asked_for_with_a_check(tmp_path: Path) -> None:
    """How long a list is, callers say; how many gradients there are, the schema does."""
    formula = "self: (grads[0] + grads[1]) * dims[2] * dims[-1]"
    text = autograd(tmp_path, entry("f(Tensor self, int[] dims) -> (Tensor, Tensor)", formula))
    assert "* autograd::item(dims, 2) * autograd::item(dims, -1);" in text


def test_an_item_of_what_several_formulas_share(tmp_path: Path) -> None:
    """It may be a tuple, of which C++ has no `[]`."""
    formulas = "x: grad * x.max(0)[0]\n    y: grad * x.max(0)[1]"
    text = autograd(tmp_path, entry("f(Tensor x, Tensor y) -> Tensor", formulas))
    assert "grad_x_ = grad * autograd::item(shared0, 0);" in text
    assert "grad_y_ = grad * autograd::item(shared0, 1);" in text


def test_what_is_kept_has_names_that_no_argument_hides(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry(
            "f(Tensor x, Tensor saved_x, int x_shape, Tensor[] y, int y_count) -> Tensor",
            "x: grad * saved_x * x_shape * x.shape[0]",
            "saved_x: grad * x",
            "y: _foreach_mul(y, y_count)",
        ),
    )
    assert """
    const auto saved_x = autograd::unpack(*this, saved_saved_x);
    auto& x_shape = saved_x_shape;
    auto& x_shape_ = saved_x_shape_;
    const auto x = autograd::unpack(*this, saved_x_);
    const auto y = autograd::unpack(*this, saved_y);
    auto& y_count = saved_y_count;
""" in text
    assert """
  autograd::SavedVariable saved_saved_x;
  int64_t saved_x_shape{};
  std::vector<c10::SymInt> saved_x_shape_;
  autograd::SavedVariable saved_x_;
  std::vector<autograd::SavedVariable> saved_y;
  int64_t saved_y_count{};
  size_t saved_y_count_ = 0;
""" in text
    assert "  _node->saved_y_count_ = y.size();\n  _node->saved_saved_x = " in text


def test_the_headers_of_what_formulas_call_are_included(tmp_path: Path) -> None:
    no = "y: not_differentiable"

    def included(formula: str, **options: object) -> list[str]:
        text = autograd(tmp_path, entry("f(Tensor x, Tensor y) -> Tensor", formula, no), **options)
        found = [line for line in text.splitlines() if line.startswith("#include <ATen/")]
        return [line[10:-1] for line in found if "/core/" not in line]

    plain = ["ATen/TensorOperators.h"]
    assert included("x: grad * y.relu()") == plain
    ops = ["ATen/ops/sigmoid.h", "ATen/ops/sum.h"]
    assert included("x: at::sigmoid(y) * sum(grad, {0}, true) * y.sum(0)") == plain + ops
    assert included("x: grad * _softmax(y, 0, false)") == [*plain, "ATen/ATen.h"]
    headers = ["mine.h"]
    assert included("x: my_backward(grad)", formula_headers=headers) == plain


def test_a_node_and_a_kernel(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry(
            "mul(Tensor self, Tensor other) -> Tensor", "self: grad * other", "other: grad * self"
        ),
    )
    assert """
    const auto other = autograd::unpack(*this, saved_other);
    const auto self = autograd::unpack(*this, saved_self);
    const auto& grad = grads[0];
    at::Tensor grad_self_;
    if (autograd::wanted(*this, 0)) {
      // self: grad * other
      grad_self_ = grad * other;
    }
    at::Tensor grad_other_;
    if (autograd::wanted(*this, 1)) {
      // other: grad * self
      grad_other_ = grad * self;
    }
    return autograd::gather(*this, grad_self_, grad_other_);
""" in text
    assert text.endswith("""
at::Tensor autograd_mul(
    c10::DispatchKeySet _keys,
    const at::Tensor& self,
    const at::Tensor& other) {
  const autograd::Call _call(self, other);
  if (!_call) {
    return autograd::below<ops::mul, at::AutoDispatchBelowADInplaceOrView>(_keys, self, other);
  }
  auto _node = autograd::make_node<MulBackward0>(_call, self, other);
  if (_node->keeps(0)) {
    _node->saved_other = autograd::SavedVariable(other, false);
  }
  if (_node->keeps(1)) {
    _node->saved_self = autograd::SavedVariable(self, false);
  }
  auto _result = autograd::below<ops::mul, at::AutoDispatchBelowADInplaceOrView>(
      _keys,
      self,
      other);
  autograd::set_history(_node, _result);
  autograd::carry_tangents(*_node, "demo::mul", [] {}, _result);
  return _result;
}

TORCH_LIBRARY_IMPL(demo, Autograd, m) {
  m.impl("mul", TORCH_FN(autograd_mul));
}

} // namespace
} // namespace demo
""")


def test_a_long_formula(tmp_path: Path) -> None:
    one, other = "self.exp().log1p().sin().cos() * 2.5", "zeros_like(self) + self.sin().cos().exp()"
    formula = f"grad * where(self > 0, {one}, {other})"
    text = autograd(tmp_path, entry("f(Tensor self) -> Tensor", f'self: "{formula}"'))
    assert """
      grad_self_ = grad * at::where(
          self > 0,
          self.exp().log1p().sin().cos() * 2.5,
          self_info.zeros() + self.sin().cos().exp());
""" in text


def calls_for_depth(folder: Path, depth: int, function: FunctionType) -> int:
    """The number of calls of a function on the way from a formula with this depth to its text."""
    formula = "sq(" * depth + "grad" + ")" * depth
    (folder / "ops.yaml").write_text(entry("sq(Tensor x) -> Tensor", f"x: {formula}"))
    program = load("ops.yaml", root=folder)
    assert program.diagnostics == ()
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is function.__code__

    sys.setprofile(profile)
    try:
        generate(program, targets=["cpp-torch"])
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("function", "calls"), [(cpp_formula.in_cpp, [1, 6, 11]), (model.write, [1, 11, 21])]
)
def test_each_node_of_a_formula_is_written_once(
    function: FunctionType, calls: list[int], tmp_path: Path
) -> None:
    """The name of a function is a node, too."""
    assert [calls_for_depth(tmp_path, depth, function) for depth in (0, 5, 10)] == calls


def test_a_choice_in_a_long_formula(tmp_path: Path) -> None:
    formula = """grad * (
          flag ? self.exp().log1p().sin().cos().tan() : self.square().square().sum())"""
    text = autograd(tmp_path, entry("f(Tensor self, bool flag) -> Tensor", f'self: "{formula}"'))
    assert """
      grad_self_ = grad * (
          flag ? self.exp().log1p().sin().cos().tan() : self.square().square().sum());
""" in text


def test_own_operators_that_are_methods_only_are_called_by_their_structs(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry(
            "f(Tensor self) -> Tensor",
            "self: grad * norm(self) + grad.only()",
        ),
        "- func: demo::norm(Tensor self, float p=2.0) -> Tensor\n  variants: method\n",
        "- func: demo::only(Tensor self, Tensor? w=None) -> Tensor\n",
    )
    assert "grad * ::demo::ops::norm::call(self, 2.0)" in text
    assert "::demo::functions::only(grad)" in text


def test_symbolic_sizes_take_the_variant_for_them_once(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry("f(Tensor self) -> Tensor", "self: grad.expand(self.shape)"),
        entry("g(Tensor self) -> Tensor", "self: grad.expand_symint(self.shape)"),
    )
    assert text.count("grad_self_ = grad.expand_symint(self_shape);") == 2


def test_conditions_stand_around_nodes_too(tmp_path: Path) -> None:
    gate = '  torch: ">=2.6"\n'
    gated = entry("f(Tensor self) -> Tensor", "self: grad", more=gate)
    inplace = "- func: demo::f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: kernel_\n"
    condition = "#if TORCHGEN_LITE_TORCH_VERSION >= 20600\n"
    assert f"{condition}// The gradients of demo::f.\nstruct" in autograd(tmp_path, gated)
    # The in-place variant has no condition, and uses the same node.
    text = autograd(tmp_path, gated, inplace)
    assert f"{condition}// The gradients" not in text
    assert text.count(condition) == 2


def test_kernels_for_several_keys_have_names_of_their_own(tmp_path: Path) -> None:
    formulas = ("dispatch:", "  Default:", "    self: grad", "  AutogradXPU:", "    self: grad * 2")
    text = autograd(tmp_path, entry("f(Tensor self) -> Tensor", *formulas))
    assert '(demo, Autograd, m) {\n  m.impl("f", TORCH_FN(autograd_f));\n}' in text
    assert '(demo, AutogradXPU, m) {\n  m.impl("f", TORCH_FN(autogradxpu_f));\n}' in text


def test_what_no_kernel_is_made_for(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("""\
- func: aten::neg(Tensor self) -> Tensor
  dispatch:
    PrivateUse1: neg
  derivatives:
    self: -grad
- func: demo::each(Tensor[] self) -> Tensor[]
  dispatch:
    CPU: each
  derivatives:
    self: grad
- func: demo::each_(Tensor(a!)[] self) -> ()
  dispatch:
    CPU: each_
- func: demo::total(Tensor x) -> Tensor
  dispatch:
    CPU: total
  derivatives:
    x: grad.sum(dim=0) * x.itemsize
""")
    program = load("ops.yaml", root=tmp_path)
    generated = generate_all(program, targets=["cpp-torch"])
    assert [f"{d.code} {d.message}" for d in generated.diagnostics] == [
        "TG541 PyTorch has the formulas of `aten::neg` itself",
        "TG541 `demo::each_` writes to a list of tensors",
        "TG540 C++ has no keyword arguments, such as `dim`",
        "TG540 C++ has no attribute `itemsize` of a tensor",
    ]


@pytest.mark.torch
def test_nodes_for_pytorchs_formulas(tmp_path: Path) -> None:
    """PyTorch's own formulas, as if its operators belonged to a library."""
    found, _ = find_torch_files()
    assert found is not None
    paths = [found.native_functions, found.derivatives, found.tags]
    sources, _ = load_schema_sources(paths, found.tags.parent)
    tags, _ = load_tags(sources[2])
    functions, _ = load_native_functions(sources[:2], Dialect(tags))
    own = [f._replace(namespace="own") for f in functions]
    assert sum(f.derivatives is not None for f in own) > 600
    options = TorchOptions(namespace="own", folder="out", shards=16, formula_headers=("manual.h",))
    program = Program(Resolved(tuple(own), tags), Config(tmp_path), tags=tags)
    resolved, policy = program.resolved, TARGETS["cpp-torch"].policy
    registered = list(registrations(program, policy))
    selection = Selection(tuple(resolved.declared), policy)
    built = build_differentiation(Library(options, selection, resolved.declared, registered))
    # Six of the 686 entries need the block size of a sparse tensor.
    errors = [d.message for d in built.diagnostics if d.severity == "error"]
    assert errors == ["nothing is kept for `self.sym_blocksize()`"] * 6
    # Only the nodes of each file are needed, since they contain the formulas.
    shards = [f for f in built.files if "register_autograd" in f.path]
    nodes = [f._replace(context={**f.context, "kernels": [], "blocks": []}) for f in shards]
    texts = render_files(nodes, "ops.yaml").values()
    assert sum(text.count("::Node {") for text in texts) > 600


def test_variants_that_return_nothing_are_recorded_or_refused(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry("half(Tensor self) -> Tensor", "self: grad * 0.5"),
        "- func: demo::half_(Tensor(a!) self) -> ()\n  dispatch:\n    CPU: kernel_\n",
        "- func: demo::half.out(Tensor self, *, Tensor(a!) out) -> ()\n  dispatch:\n    CPU: kernel\n",
    )
    assert """
  autograd::below<ops::half_, at::AutoDispatchBelowAutograd>(_keys, self);
  autograd::rebase_history(_node, self);
  autograd::update_tangent(*_node, "demo::half_", [] {}, self);
}
""" in text
    assert (
        '"half.out", TORCH_FN((autograd::Kernels<ops::half_out, 0, 1>::refuse_out<0, 1>))' in text
    )


def test_a_list_beside_another_result(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry(
            "split(Tensor[] ys, Tensor x) -> (Tensor a, Tensor[] b, Tensor c)",
            "x: grad_a + grad_c",
            "ys: _foreach_mul(grad_b, 2)",
        ),
    )
    assert """
    const auto& grad_a = grads[0];
    const auto grad_b = at::TensorList(grads).slice(1, result_1_count).vec();
    const auto& grad_c = grads[1 + result_1_count];
""" in text
    assert "  size_t result_1_count = 0;\n" in text
    assert """
  autograd::set_history(_node, std::get<1>(_result));
  _node->result_1_count = std::get<1>(_result).size();
  autograd::set_history(_node, std::get<2>(_result));
""" in text


def test_two_lists(tmp_path: Path) -> None:
    schema = "split(Tensor x) -> (Tensor[] a, Tensor[] b, Tensor c)"
    text = autograd(tmp_path, entry(schema, "x: stack(grad_a) + stack(grad_b) + grad_c"))
    assert """
    const auto grad_a = at::TensorList(grads).slice(0, result_0_count).vec();
    const auto grad_b = at::TensorList(grads).slice(result_0_count, result_1_count).vec();
    const auto& grad_c = grads[result_0_count + result_1_count];
""" in text


def test_gradients_by_number_beside_a_list(tmp_path: Path) -> None:
    yaml = entry("split(Tensor x) -> (Tensor[] a, Tensor b)", "x: grads[0] + grads[1]")
    (tmp_path / "ops.yaml").write_text(yaml)
    with pytest.raises(GenerateError) as caught:
        generate(load("ops.yaml", root=tmp_path), targets=["cpp-torch"])
    assert str(caught.value) == (
        "ops.yaml:5:8: error[TG540] 'grads' of several results, one of which is a list: not in C++ "
        "(name the results, and write 'grad_NAME')"
    )


def test_the_gradient_of_a_list(tmp_path: Path) -> None:
    text = autograd(tmp_path, entry("halves(Tensor x) -> Tensor[]", "x: stack(grad)"))
    assert "    const auto& grad = grads;\n" in text
    assert "      grad_x_ = at::stack(grad);\n" in text


def test_an_argument_called_result(tmp_path: Path) -> None:
    yaml = entry(
        "gate(Tensor x, Tensor result) -> Tensor",
        "x: grad * result",
        "result: not_differentiable",
    )
    text = autograd(tmp_path, yaml)
    assert "_node->saved_result = autograd::SavedVariable(result, false);" in text
    assert "autograd::set_history(_node, _result);" in text
    numbered = yaml.replace("Tensor result", "Tensor result1").replace("* result", "* result1")
    numbered = numbered.replace("result:", "result1:").replace("-> Tensor", "-> (Tensor, Tensor)")
    assert "SavedVariable(result1, false)" in autograd(tmp_path, numbered)


def test_a_device_is_kept(tmp_path: Path) -> None:
    text = autograd(tmp_path, entry("move(Tensor x, Device d) -> Tensor", "x: grad.to(d)"))
    assert "  std::optional<at::Device> saved_d;\n" in text
    assert "    const auto d = *saved_d;\n" in text and "_node->saved_d = d;" in text


def test_a_list_that_may_be_absent(tmp_path: Path) -> None:
    schema = "total(Tensor x, Tensor[]? ys) -> Tensor"
    text = autograd(tmp_path, entry(schema, "x: grad", "ys: not_differentiable"))
    assert "autograd::Call _call(x);" in text
    (tmp_path / "ops.yaml").write_text(entry(schema, "x: grad", "ys: spread(grad)"))
    program = load("ops.yaml", root=tmp_path)
    (found,) = generate_all(program, targets=["cpp-torch"]).diagnostics
    assert (found.code, found.severity) == ("TG541", "warning")
    assert found.message == "`demo::total` has a list of tensors that may be absent, `ys`"
    (tmp_path / "ops.yaml").write_text(
        entry(schema, "x: _helper(grad, ys)", "ys: not_differentiable")
    )
    found = generate_all(load("ops.yaml", root=tmp_path), targets=["cpp-torch"]).diagnostics[0]
    assert (found.code, "cannot be saved" in found.message) == ("TG540", True)


def test_a_function_that_nobody_has(tmp_path: Path) -> None:
    own = "- func: demo::half(Tensor x) -> Tensor\n  dispatch:\n    CPU: half\n"
    formula = (
        "halve(grad) + sigmoyd(x) + at::new_one(x) + _pytorchs(x) + sum_to(half(grad), x.sizes())"
    )
    (tmp_path / "ops.yaml").write_text(own + entry("f(Tensor x) -> Tensor", f"x: {formula}"))

    def said(**options: object) -> list[tuple[str, str, str | None]]:
        given = {"cpp-torch": options}
        config = Config(root=tmp_path, schema=("ops.yaml",), target_options=given)
        found = generate_all(load(config=config), targets=["cpp-torch"]).diagnostics
        return [(d.code, d.message, d.help and str(d.help)) for d in found]

    calls = "the formula calls `{}`, which neither the file nor PyTorch has"
    assert said() == [
        ("TG341", calls.format("halve"), "did you mean `half`?"),
        ("TG341", calls.format("sigmoyd"), "did you mean `sigmoid`?"),
    ]
    assert said(**{"formula-headers": ["formulas.h"]}) == []
    (tmp_path / "ops.yaml").write_text(entry("f(Tensor x) -> Tensor", "x: lobpcg(grad)"))
    hint = "name a header that declares it with `formula-headers`"
    message = "the formula calls `lobpcg`, which PyTorch has only in Python"
    assert said() == [("TG341", message, hint)]


@pytest.mark.parametrize(
    "formula, call, message",
    [
        (
            "grad.sum(0, 1, 2, 3, 4)",
            "grad.sum",
            "`Tensor.sum` takes 0 to 3 arguments, and 5 are given",
        ),
        ("1 + mul(grad)", "mul(", "`mul` takes 2 arguments, and 1 is given"),
        ("at::add()", "at::add", "`add` takes 2 to 3 arguments, and none is given"),
        ("(grad * x).exp(2)", "(grad * x)", "`Tensor.exp` takes no arguments, and 1 is given"),
        ("expand(grad, x.view())", "x.view", "`Tensor.view` takes 1 argument, and none is given"),
        (
            "grad.expand_symint(1, 2, 3)",
            "grad.expand",
            "`Tensor.expand_symint` takes 1 to 2 arguments, and 3 are given",
        ),
    ],
)
def test_more_or_fewer_arguments_than_pytorchs_functions_take(
    tmp_path: Path, formula: str, call: str, message: str
) -> None:
    (tmp_path / "ops.yaml").write_text(entry("f(Tensor x) -> Tensor", f"x: {formula}"))
    config = Config(root=tmp_path, schema=("ops.yaml",))
    found = generate_all(load(config=config), targets=["cpp-torch"]).diagnostics
    counts = [d for d in found if d.code == "TG323"]
    assert [d.message for d in counts] == [message]
    text = (tmp_path / "ops.yaml").read_text()
    assert [d.start() for d in counts] == [(5, text.splitlines()[4].index(call) + 1)]


@pytest.mark.parametrize(
    "formula",
    [
        "grad.sum([0], True) + mul(grad, x)",
        "grad.to(dtype=x.dtype)",
        "zeros(x.shape, dtype=x.dtype)",
        "grad.expand(grad.size())",
        "_private(grad, x, x)",
    ],
)
def test_as_many_arguments_as_pytorchs_functions_take(tmp_path: Path, formula: str) -> None:
    (tmp_path / "ops.yaml").write_text(entry("f(Tensor x) -> Tensor", f"x: {formula}"))
    config = Config(root=tmp_path, schema=("ops.yaml",))
    found = generate_all(load(config=config), targets=["cpp-torch"]).diagnostics
    assert [d for d in found if d.severity == "error"] == []


def test_functions_of_headers_of_the_author_take_what_they_like(tmp_path: Path) -> None:
    formula = "mul(grad) + at::mul(grad) + grad.mul()"
    (tmp_path / "ops.yaml").write_text(entry("f(Tensor x) -> Tensor", f"x: {formula}"))
    given = {"cpp-torch": {"formula-headers": ["formulas.h"]}}
    config = Config(root=tmp_path, schema=("ops.yaml",), target_options=given)
    found = generate_all(load(config=config), targets=["cpp-torch"]).diagnostics
    messages = [d.message for d in found if d.code == "TG323"]
    assert [message.partition(" ")[0] for message in messages] == ["`mul`", "`Tensor.mul`"]


def test_what_is_not_implemented_says_so(tmp_path: Path) -> None:
    text = autograd(tmp_path, entry("f(Tensor x) -> Tensor", "x: not_implemented('f of x')"))
    assert '      grad_x_ = autograd::not_implemented("f of x");\n' in text


def test_the_formulas_of_tangents(tmp_path: Path) -> None:
    text = autograd(
        tmp_path,
        entry(
            "f(Tensor self, Tensor? w, float s) -> (Tensor a, Tensor[] b)",
            "self: grad_a * s + grad_b[0]",
            "w: not_differentiable",
            "a: self_t * s / self.size(0) + a",
            "b: '{self_t, w.defined() ? w * self_t : relu(self)}'",
        ),
        entry(
            "g(Tensor self, Tensor? w, *, int n) -> Tensor",
            "self, w: h(grad)",
            "result: auto_linear",
        ),
        entry(
            "waves(Tensor self) -> Tensor", "self: grad * self.cos()", "result: auto_element_wise"
        ),
        "- func: demo::waves_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: kernel_\n",
        formula_headers=["mine.h"],
    )
    assert """
  if (!_node->tangents.empty()) {
    const auto self_p = autograd::primal(self);
    const auto self_t = autograd::tangent(self);
    const auto w_p = autograd::primal(w);
    const auto a = autograd::primal(std::get<0>(_result));
    autograd::set_tangents(
        *_node,
        autograd::flat(std::get<0>(_result), std::get<1>(_result)),
        autograd::flat(
            self_t * s / self_p.sym_size(0) + a,
            autograd::variable_list({self_t, w_p.defined() ? w_p * self_t : formulas::relu(self_p)})
        ));
  }
  return _result;
""" in text
    assert """
    const auto self_t = autograd::tangent(self);
    const auto w_t = autograd::tangent(w);
    autograd::set_tangents(
        *_node,
        autograd::flat(_result),
        autograd::flat(ops::g::call(self_t, autograd::optional(w_t), n)));
""" in text
    assert """
    const auto self_p = autograd::primal(self);
    const auto grad = autograd::tangent(self).conj();
    autograd::set_tangents(
        *_node,
        autograd::flat(_result),
        autograd::flat((grad * self_p.cos()).conj()));
""" in text
    kept = (
        "  const auto _original = _call.tangents.empty() ? self : autograd::primal(self).clone();\n"
    )
    assert kept in text
    assert """
    const auto self_p = _original;
    const auto grad = autograd::tangent(self).conj();
    autograd::set_tangents(
        *_node,
        autograd::flat(self),
        autograd::flat((grad * self_p.cos()).conj()),
        true);
""" in text


def test_what_forward_mode_refuses(tmp_path: Path) -> None:
    schema = "f(Tensor x, Tensor y) -> (Tensor a, Tensor b)"
    formulas = ("x: grad_a + grad_b", "y: not_differentiable", "b: x_t")
    text = autograd(tmp_path, entry(schema, *formulas))
    assert '"demo::f has no formula for forward-mode: there is none for `a`",' in text
    assert text.count("autograd::refuse_tangents(") == 1
    assert "carry_tangents" not in text
