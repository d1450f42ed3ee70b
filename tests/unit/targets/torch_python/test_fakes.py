"""Rules of `fake:`: a rule, and the body of the function generated from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import generate, load

# Schema without name and namespace, rule, body.
RULES = {
    "like": ("(Tensor x) -> Tensor", "{like: x}", "return torch.empty_like(x)"),
    "like, dtype": (
        "(Tensor x) -> Tensor",
        "{like: x, dtype: int64}",
        "return torch.empty_like(x, dtype=torch.int64)",
    ),
    "memory format": (
        "(Tensor x) -> Tensor",
        "{like: x, memory_format: channels_last}",
        "return torch.empty_like(x, memory_format=torch.channels_last)",
    ),
    "shape": (
        "(Tensor x, SymInt n) -> Tensor",
        "{shape: [x.size(0), 2 * n + 1]}",
        "return x.new_empty([x.size(0), 2 * n + 1])",
    ),
    "a symbolic size": (
        "(Tensor x, SymInt n) -> Tensor",
        "{shape: [x.sym_size(0), n]}",
        "return x.new_empty([x.size(0), n])",
    ),
    "checks": (
        "(Tensor x, Tensor y) -> Tensor",
        "{like: x, check: {x.dim() == 2 && y.dtype == x.dtype: 'x is a matrix, and y is like \"x\"'}}",
        "_library.check(\n    x.dim() == 2 and y.dtype == x.dtype,\n"
        "    lambda: 'mylib::op: x is a matrix, and y is like \"x\"',\n)\n"
        "return torch.empty_like(x)",
    ),
    "checks of an operator that gives back what it wrote to": (
        "(Tensor(a!) x) -> Tensor(a!)",
        "{check: {x.dim() == 2: x is a matrix}}",
        '_library.check(x.dim() == 2, lambda: "mylib::op: x is a matrix")\nreturn x',
    ),
    "remainder": (
        "(Tensor x, SymInt n) -> Tensor",
        "{shape: [n % 3, floor_div(n, 3), ceil_div(n, 3)]}",
        "return x.new_empty([n % 3, _support.floor_div(n, 3), _support.ceil_div(n, 3)])",
    ),
    "promotion": (
        "(Tensor x, Tensor y) -> Tensor",
        "{shape: [x.numel()], dtype: 'promote(x, y, float32)'}",
        "return x.new_empty([x.numel()], dtype=_support.promote(x, y, torch.float32))",
    ),
    "no tensor": (
        "(int n, *, ScalarType? dtype=None) -> Tensor",
        "{shape: [n], dtype: 'default(dtype, int64)'}",
        "return torch.empty([n], dtype=_support.default(dtype, torch.int64))",
    ),
    "optional tensor": (
        "(Tensor x, Tensor? w=None) -> Tensor",
        "{shape: ['w.defined() ? w.size(0) : 1']}",
        "return x.new_empty([w.size(0) if w is not None else 1])",
    ),
    "flag": (
        "(Tensor x, bool? keep=None) -> Tensor",
        "{shape: 'reduced(x, 0, default(keep, True))'}",
        "return x.new_empty(_support.reduced(x, 0, _support.default(keep, True)))",
    ),
    "strides": (
        "(Tensor x) -> Tensor",
        "{shape: '[x.size(0)]', stride: '[2]'}",
        "return torch.empty_strided([x.size(0)], [2], dtype=x.dtype, device=x.device)",
    ),
    "view": (
        "(Tensor(a) x, SymInt n) -> Tensor(a)",
        "{view: x, shape: [n], stride: [2], offset: x.storage_offset() + 1}",
        "return x.as_strided([n], [2], x.storage_offset() + 1)",
    ),
    "view of other sizes": (
        "(Tensor(a) x) -> Tensor(a)",
        "{view: x, shape: [x.numel()]}",
        "return x.view([x.numel()])",
    ),
    "list": (
        "(Tensor x, int n) -> Tensor[]",
        "{like: x, count: n}",
        "return [torch.empty_like(x) for _each in _support.times(n)]",
    ),
    "locals give way": (
        "(Tensor torch, int _each) -> Tensor[]",
        "{like: torch, count: _each}",
        "return [torch.empty_like(torch_) for __each in _support.times(_each)]",
    ),
    "list like a list": (
        "(Tensor[] xs) -> Tensor[]",
        "{like: xs}",
        "return [torch.empty_like(_each) for _each in xs]",
    ),
    "no tensor result": (
        "(Tensor x) -> SymInt",
        "{value: 'max(x.size(0), x.ndim)'}",
        "return _support.sym_max(x.size(0), x.ndim)",
    ),
    "several": (
        "(Tensor x, SymInt k) -> (Tensor values, Tensor indices)",
        "{indices: {shape: [k], dtype: int64}, values: {shape: [k]}}",
        "return (x.new_empty([k]), x.new_empty([k], dtype=torch.int64))",
    ),
    "a result that is written": (
        "(Tensor(a!) x) -> (Tensor(a!), Tensor)",
        "{like: x}",
        "return (x, torch.empty_like(x))",
    ),
    "a keyword of Python": (
        "(Tensor lambda) -> Tensor",
        "{like: lambda}",
        "return torch.empty_like(lambda_)",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_what_a_rule_becomes(tmp_path: Path, name: str) -> None:
    schema, rule, body = RULES[name]
    (tmp_path / "ops.yaml").write_text(
        f"- func: mylib::op{schema}\n  dispatch: {{CPU: op}}\n  fake: {rule}\n"
    )
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    text = generate(load(root=tmp_path))["torch-python/mylib_ops/_operators.py"]
    lines = (
        text.partition('    """Shape and dtype of mylib::op."""\n')[2]
        .partition("\n\n")[0]
        .splitlines()
    )
    assert "\n".join(line.removeprefix("    ") for line in lines) == body


def test_operators_without_a_rule_that_have_their_fake_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("""\
- func: mylib::add_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  dispatch: {CPU: add_}
- func: mylib::log(Tensor x) -> ()
  dispatch: {CPU: log}
- func: mylib::norm(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: norm}
- func: mylib::meta(Tensor x) -> Tensor
  dispatch: {CPU: cpu, Meta: meta}
""")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    program = load(root=tmp_path)
    text = generate(program)["torch-python/mylib_ops/_operators.py"]
    assert [line for line in text.splitlines() if line.startswith(("def", "    return"))] == [
        "def fake_add_(self: Tensor, other: Tensor) -> Tensor:",
        "    return self",
        "def fake_log(x: Tensor) -> None:",
        "    return None",
    ]


def test_one_number_for_a_list_with_a_size_is_a_list_in_fakes_and_kernels(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("""\
- func: mylib::op(Tensor x, int[2] k=1, float[3]? s=None, *, SymInt[2] n) -> Tensor
  dispatch: {CPU: op}
  fake:
    shape: ["k[0]", "n[1]"]
""")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
        '[target.torch-python]\nkernels = ["kernels"]\n'
    )
    (tmp_path / "kernels.py").write_text("def op(x, k, s, *, n): ...\n")
    files = generate(load(root=tmp_path))
    # PyTorch leaves out arguments that have their default, and passes lists.
    inside = """(
    x: Tensor,
    k: Sequence[int] = (1, 1),
    s: Sequence[float] | None = None,
    *,
    n: Sequence[int | SymInt],
)"""
    text = files["torch-python/mylib_ops/_operators.py"]
    assert f"\ndef cpu_op{inside} -> Any:\n" in text
    assert f"\ndef fake_op{inside} -> Tensor:\n" in text
    assert "\n    k: int | Sequence[int] = 1,\n" in files["torch-python/mylib_ops/functions.py"]
