"""`samples:` as generated tests: the calls, and messages about them."""

from __future__ import annotations

from pathlib import Path

from torchgen_lite import generate, load, pipeline


def cases_of(text: str) -> str:
    return text.partition("\nCASES = ")[2].partition("\n\n")[0]


def test_samples_and_the_calls_they_are(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("""\
- func: mylib::op(Tensor x, bool flag, *, ScalarType? dtype=None, int[] dims=[]) -> Tensor
  dispatch: {CPU: op}
  fake: {like: x}
  samples:
    - (randn(3, 4).t(), False, dims=[0, 1])
    - x: 2 * ones(2)
      flag: True
      dtype: float64
""")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    text = generate(load(root=tmp_path))["torch-python/tests/test_mylib_ops.py"]
    assert cases_of(text) == """\
{
    **cases(
        "op",
        torch.ops.mylib.op.default,
        lambda: call(torch.randn(3, 4).t(), False, dims=[0, 1]),
        lambda: call(2 * torch.ones(2), True, dtype=torch.float64),
    ),
}"""


def test_what_samples_are_compared_with(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("""\
- func: mylib::op(Tensor x, int lambda, *, float eps=1e-6) -> Tensor
  dispatch: {CPU: op, CUDA: op}
  fake: {like: x}
  vmap: op_vmap
  autocast: lower_precision
  derivatives: {x: grad}
  samples:
    calls:
      - (randn(3, 4), 2)
    reference: "torch.where(x[:, 1:] > 0, x**lambda_,
      'a' if x.ndim == 1 else (x - eps))"
    dtypes: [float32, bfloat16]
    rtol: 1e-2
    atol: 0
    gradcheck: {eps: 1e-3, dtype: float32}
- func: mylib::other(Tensor x, *, int n=1) -> Tensor
  dispatch: {CPU: op}
  fake: {like: x}
  derivatives: {x: grad}
  samples:
    calls: [(ones(1))]
    reference: other_reference
    gradcheck: False
""")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
        '[target.torch-python]\nfakes = ["fakes"]\ndefines = true\n'
    )
    fakes = (
        "def op_vmap(info, in_dims, x, n, *, eps=1e-6): ...\ndef other_reference(x, *, n=1): ...\n"
    )
    (tmp_path / "fakes.py").write_text(fakes)
    text = generate(load(root=tmp_path))["torch-python/tests/test_mylib_ops.py"]
    assert cases_of(text) == """\
{
    **cases(
        "op",
        torch.ops.mylib.op.default,
        lambda: call(torch.randn(3, 4), 2),
        inputs=("x",),
        gradcheck={"eps": 0.001, "dtype": torch.float32},
        devices=("cuda",),
        captured=True,
        dtypes=(torch.float32, torch.bfloat16),
        tolerances={"rtol": 0.01, "atol": 0.0},
        reference=lambda x, lambda_, *, eps=1e-06: torch.where(
            x[:, 1:] > 0,
            x ** lambda_,
            'a' if x.ndim == 1 else x - eps,
        ),
        vmap=True,
        autocast=torch.bfloat16,
    ),
    **cases(
        "other",
        torch.ops.mylib.other.default,
        lambda: call(torch.ones(1)),
        inputs=("x",),
        gradcheck=None,
        reference=lambda x, *, n=1: importlib.import_module("fakes").other_reference(x, n=n),
    ),
}"""


def test_a_reference_that_is_missing_or_takes_something_else(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("""\
- func: mylib::op(Tensor x) -> Tensor
  dispatch: {CPU: op}
  fake: {like: x}
  samples: {calls: [(ones(1))], reference: op_reference}
- func: mylib::other(Tensor x) -> Tensor
  dispatch: {CPU: op}
  fake: {like: x}
  samples: {calls: [(ones(1))], reference: x.T}
- func: mylib::third(Tensor x) -> Tensor
  dispatch: {CPU: op}
  fake: {like: x}
  samples: {calls: [(ones(1))], reference: third_refrence}
""")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
        '[target.torch-python]\nfakes = ["fakes"]\n'
    )
    fakes = "def op_reference(x, y): ...\ndef third_reference(x): ...\n"
    (tmp_path / "fakes.py").write_text(fakes)
    found = pipeline.generate_all(load(root=tmp_path)).diagnostics
    assert [
        (d.code, d.message, d.help and str(d.help)) for d in found if d.severity == "error"
    ] == [
        ("TG334", "`op_reference` needs `y`, which is not passed", None),
        (
            "TG334",
            "no module of `fakes` defines `third_refrence`",
            "did you mean `third_reference`?",
        ),
    ]


def test_cuda_graphs_keep_calls_that_wait_for_nothing(tmp_path: Path) -> None:
    entries = [
        ("kept", "CUDA", ""),
        ("random", "CUDA", "  tags: nondeterministic_seeded\n"),
        ("unsafe", "CUDA", "  tags: [cudagraph_unsafe]\n"),
        ("plain", "CPU", ""),
    ]
    text = "".join(
        f"- func: mylib::{name}(Tensor x) -> Tensor\n  dispatch: {{{key}: op}}\n{tags}"
        "  fake: {like: x}\n  samples: [(ones(1))]\n"
        for name, key, tags in entries
    )
    (tmp_path / "ops.yaml").write_text(text)
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    generated = generate(load(root=tmp_path))["torch-python/tests/test_mylib_ops.py"]
    captured = [
        case.partition('"')[2].partition('"')[0]
        for case in cases_of(generated).split("**cases(")
        if "captured=True" in case
    ]
    assert captured == ["kept"]
    assert "def test_cuda_graph(case: Case) -> None:\n" in generated
