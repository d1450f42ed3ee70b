"""The author's Python functions, compared with schemas without importing them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

# The entries are the same for both targets, and this one has no use for a `fake`.
PYTHON = """\
schema = ["ops.yaml"]
targets = ["python"]
lint.ignore = ["TG535"]

[target.python]
framework = "torchgen_lite_reference.framework"
kernels = ["kernels", "others"]
formulas = ["formulas"]
"""
TORCH = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kernels", "others"]
fakes = ["kernels"]
formulas = ["formulas"]
"""


def said(run: Run, folder: Path, config: str, ops: str, kernels: str, formulas: str = "") -> str:
    """The output of `lint`, which `generate` prints, too."""
    (folder / "torchgen_lite.toml").write_text(config)
    (folder / "ops.yaml").write_text(ops)
    (folder / "kernels.py").write_text(kernels)
    (folder / "others.py").write_text("def twice(x): ...\n")
    (folder / "formulas.py").write_text(formulas)
    full = run("lint", "-q").stderr
    assert run("generate", "--dry-run").stderr.startswith(full)
    return full


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


OPS = """\
- func: my::scale(Tensor self, *, float by=1, int[2]? dim=None) -> Tensor
  dispatch:
    CPU, Meta: scale_cpu
"""


def test_a_missing_kernel_is_shown_as_it_begins(run: Run, folder: Path) -> None:
    assert said(run, folder, PYTHON, OPS, "") == """\
error[TG302]: no module of `kernels` defines `scale_cpu`
 --> ops.yaml:3:16
  |
1 | - func: my::scale(Tensor self, *, float by=1, int[2]? dim=None) -> Tensor
2 |   dispatch:
3 |     CPU, Meta: scale_cpu
  |                ^^^^^^^^^ not found
  |
  = help: define it in a module of `kernels`
  = note: expected: `def scale_cpu(self: Tensor, *, by: float, dim: tuple[int, ...] | None) -> Tensor`; `torchgen-lite kernels --missing` writes a stub
"""


def test_a_kernel_with_other_parameters_is_shown(run: Run, folder: Path) -> None:
    kernels = "import os\n\n\ndef scale_cpu(self, *, by):\n    return self\n"
    found = said(
        run, folder, TORCH, OPS.replace("Meta", "CUDA") + "  fake: {like: self}\n", kernels
    )
    assert found == """\
error[TG334]: `scale_cpu` does not take `dim`, which is given by name
 --> ops.yaml:3:16
  |
1 | - func: my::scale(Tensor self, *, float by=1, int[2]? dim=None) -> Tensor
2 |   dispatch:
3 |     CPU, CUDA: scale_cpu
  |                ^^^^^^^^^ named here
 ::: kernels.py:4:1
  |
4 | def scale_cpu(self, *, by):
  | --------------------------- defined here
  |
  = help: correct the function's name or parameters; it stands at the top level of a module in the configuration
  = note: expected: `def scale_cpu(self: Tensor, *, by: float, dim: Sequence[int] | None) -> Tensor`
"""


@pytest.mark.parametrize("config", [PYTHON, TORCH], ids=["python", "torch-python"])
@pytest.mark.parametrize(
    ("kernel", "code"),
    [
        ("def k(self, n, *, by): ...", ""),
        ("def k(*args, **kwargs): ...", ""),
        ("k = make()", ""),
        ("@wrapped\ndef k(): ...", ""),
        ("def k(self, n, by): ...", ""),
        ("def k(self, *, by): ...", "TG334"),
        ("def k(self, n): ...", "TG334"),
        ("def k(self, n, by, /): ...", "TG334"),
        ("def k(self, n, more, *, by): ...", "TG334"),
        ("def k(self, n, *, by, more): ...", "TG334"),
        ("def kk(self, n, *, by): ...", "TG302"),
        ("k = twice = 1", "TG303"),
    ],
)
def test_what_fits(run: Run, folder: Path, config: str, kernel: str, code: str) -> None:
    name = "twice" if code == "TG303" else "k"
    ops = (
        f"- func: my::f(Tensor self, int n, *, float by=1) -> Tensor\n  dispatch: {{CPU: {name}}}\n"
    )
    found = said(run, folder, config, ops + "  fake: {like: self}\n", f"{kernel}\n")
    assert found[:12] == (f"error[{code}]" if code else ""), found


def test_structured_kernels_and_their_meta_function(run: Run, folder: Path) -> None:
    ops = """\
- func: my::neg(Tensor self) -> Tensor
  structured_delegate: neg.out
- func: my::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: neg_out}
"""
    kernels = "def meta_neg(self, out): ...\ndef neg_out(self): ...\n"
    notes = [
        line for line in said(run, folder, PYTHON, ops, kernels).splitlines() if "note" in line
    ]
    assert notes == [
        "  = note: expected: `def meta_neg(self: Tensor) -> Any`",
        "  = note: expected: `def neg_out(self: Tensor, *, out: Tensor) -> None`",
    ]


@pytest.mark.parametrize("config", [PYTHON, TORCH], ids=["python", "torch-python"])
def test_functions_of_formulas(run: Run, folder: Path, config: str) -> None:
    ops = """\
- func: my::f(Tensor self) -> Tensor
  dispatch: {CPU: k}
  fake: {like: self}
  derivatives:
    self: helper(grad, self)
"""
    found = said(run, folder, config, ops, "def k(self): ...\n", "def helper(grad): ...\n")
    assert found == """\
error[TG334]: `helper` takes 1 positional argument, but `self` is one more
 --> ops.yaml:5:11
  |
1 | - func: my::f(Tensor self) -> Tensor
...
5 |     self: helper(grad, self)
  |           ^^^^^^^^^^^^^^^^^^ in this call
 ::: formulas.py:1:1
  |
1 | def helper(grad): ...
  | --------------------- defined here
  |
  = help: correct the function's name or parameters; it stands at the top level of a module in the configuration
"""


PROVEN = """\
- func: my::f(Tensor a, Tensor b, float s=1.0) -> Tensor
  dispatch: {CPU: k}
  fake: k_fake
  vmap: k_vmap
  derivatives:
    a: helper(grad, b, s)
    b: not_differentiable
  samples:
    calls:
      - (ones(2), ones(2), 0.5)
    reference: k_reference
"""
FUNCTIONS = {
    "k": "a, b, s",
    "k_fake": "a, b, s=1.0",
    "k_vmap": "info, in_dims, a, b, s=1.0",
    "k_reference": "a, b, s=1.0",
}


def proven(run: Run, folder: Path, name: str = "", parameters: str = "", helper: str = "") -> str:
    """What is said of functions that are right but for one."""
    functions = {**FUNCTIONS, name: parameters} if name else FUNCTIONS
    kernels = "".join(f"def {name}({text}): ...\n" for name, text in functions.items())
    return said(run, folder, TORCH, PROVEN, kernels, f"def helper({helper or 'grad, b, s'}): ...\n")


def test_functions_of_every_use_are_right(run: Run, folder: Path) -> None:
    assert proven(run, folder) == ""
    assert proven(run, folder, helper="g, s, b") == ""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_every_use_are_proven(run: Run, folder: Path, name: str) -> None:
    right = FUNCTIONS[name]
    wrong = {
        "TG425": right.replace("a, b", "b, a"),
        "TG426": right.replace("b", "b: float"),
        "TG427": right.replace("1.0", "2.0"),
    }
    for code, parameters in wrong.items():
        expected = "" if parameters == right else f"error[{code}]"
        assert proven(run, folder, name, parameters)[:12] == expected


@pytest.mark.parametrize(
    ("helper", "code"),
    [
        ("grad, b: Tensor, s: float", ""),
        ("grad, b, s: int", "TG426"),
        ("grad, b: float, s", "TG426"),
        ("grad, b", "TG334"),
    ],
)
def test_values_that_formulas_pass_are_proven(
    run: Run, folder: Path, helper: str, code: str
) -> None:
    found = proven(run, folder, helper=helper)
    assert found[:12] == (f"error[{code}]" if code else "")


def test_parameters_that_have_changed_places_are_shown(run: Run, folder: Path) -> None:
    found = proven(run, folder, "k", "b, a, s")
    assert found == """\
error[TG425]: `k` takes `b` where `a` is passed
 --> ops.yaml:1:22
  |
1 | - func: my::f(Tensor a, Tensor b, float s=1.0) -> Tensor
  |                      ^ goes to `b`
 ::: kernels.py:1:1
  |
1 | def k(b, a, s): ...
  | ------------------- defined here
  |
  = help: write the parameters in the order of the schema, or give them other names
  = note: expected: `def k(a: Tensor, b: Tensor, s: float) -> Tensor`
"""


def test_a_kernel_for_python_is_proven(run: Run, folder: Path) -> None:
    ops = "- func: my::f(Tensor a, Tensor b) -> Tensor\n  dispatch: {CPU: k}\n"
    for parameters, code in (("b, a", "TG425"), ("a: int, b", "TG426"), ("x, a_", "")):
        found = said(run, folder, PYTHON, ops, f"def k({parameters}): ...\n")
        assert found[:12] == (f"error[{code}]" if code else "")


CALLS = {
    "act_backward(grad, x, n)": "def act_backward(grad, x, n): ...",
    "act_backward(grad, x, x * 2, eps=0.1)": "def act_backward(grad, x, arg2, *, eps): ...",
    "act_grad(grad, grad * n)": "def act_grad(grad, arg1): ...",
}
BEGUN = "def act(x, n): ...\ndef act_fake(x, n): ...\n"


@pytest.mark.parametrize(("formula", "definition"), CALLS.items())
def test_the_help_for_a_helper_that_is_still_to_be_written_is_its_first_line(
    formula: str, definition: str, run: Run, folder: Path
) -> None:
    entry = (
        "- func: my::act(Tensor x, int n) -> Tensor\n  dispatch:\n    CPU: act\n  fake: act_fake\n"
    )
    ops = f"{entry}  derivatives:\n    x: {formula}\n"
    text = said(run, folder, TORCH, ops, BEGUN)
    assert text.count("error[") == text.count("error[TG341]") == 1
    assert f"  = help: define it in a module of `formulas`: `{definition}`\n" in text
    assert said(run, folder, TORCH, ops, BEGUN, f"{definition}\n") == ""


@pytest.mark.parametrize("field", ["dispatch", "fake", "vmap"])
def test_a_name_with_another_word_is_no_slip(field: str, run: Run, folder: Path) -> None:
    fields = {"dispatch": "{CPU: act}", "fake": "act_fake", "vmap": "act_vmap"}
    missing = "{CPU: act_cpu}" if field == "dispatch" else f"act_{field}_of_mine"
    fields[field] = missing
    lines = "".join(f"  {name}: {value}\n" for name, value in fields.items())
    ops = f"- func: my::act(Tensor x, int n) -> Tensor\n{lines}"
    begun = f"{BEGUN}def act_vmap(info, in_dims, x, n): ...\n"
    assert "did you mean" not in said(run, folder, TORCH, ops, begun)
    assert run("kernels", "--missing", "--output", "kernels.py").code == 0
    assert run("lint", "-q").stderr == ""


@pytest.mark.parametrize("option", ["kernels", "formulas"])
@pytest.mark.parametrize("config", [PYTHON, TORCH])
def test_a_module_is_not_the_generated_package(
    run: Run, folder: Path, config: str, option: str
) -> None:
    """The package looked for its kernels in itself, which never ended."""
    named = config + f'package = "{option}"\n'
    text = said(run, folder, named, OPS, "def scale_cpu(self, *, by, dim): ...\n")
    assert f"error[TG510]: `{option}` is a module of `{option}`, and the generated package" in text
    renamed = config + f'package = "{option}_ops"\n'
    assert said(run, folder, renamed, OPS, "def scale_cpu(self, *, by, dim): ...\n") == ""


@pytest.mark.parametrize("config", [PYTHON, TORCH])
def test_a_module_that_is_named_twice_is_read_once(run: Run, folder: Path, config: str) -> None:
    """Its functions were in two modules."""
    twice = config.replace('"kernels", ', '"kernels", "kernels", ')
    twice = twice.replace('targets = ["', 'targets = ["torch-stubs", "torch-stubs", "')
    assert said(run, folder, twice, OPS, "def scale_cpu(self, *, by, dim): ...\n") == ""


@pytest.mark.parametrize("config", [PYTHON, TORCH], ids=["python", "torch-python"])
@pytest.mark.parametrize(
    ("kernels", "what"),
    [
        ("class twice_cpu:\n    def __init__(self, x): ...\n", "a class"),
        ("async def twice_cpu(x):\n    return x\n", "a coroutine"),
        ("def twice_cpu(x):\n    for part in x:\n        yield part\n", "a generator"),
        ("def twice_cpu(x):\n    return (yield from x)\n", "a generator"),
        # These are functions, as far as a reader can tell.
        ("def twice_cpu(x):\n    def parts():\n        yield x\n    return next(parts())\n", ""),
        ("def twice_cpu(x):\n    return next((lambda: (yield x))())\n", ""),
        ("@decorated\nclass twice_cpu: ...\n", ""),
        ("class twice_cpu: ...\n\n\ndef twice_cpu(x): ...\n", ""),
        ("class Twice: ...\n\n\ntwice_cpu = Twice()\n", ""),
    ],
)
def test_what_gives_no_result_is_no_kernel(
    run: Run, project: Path, config: str, kernels: str, what: str
) -> None:
    ops = "- func: mylib::twice(Tensor x) -> Tensor\n  dispatch: {CPU: twice_cpu}\n  fake: {like: x}\n"
    output = said(run, project, config, ops, kernels)
    refusal = f"`twice_cpu` is {what}, and no function that returns a result"
    assert (refusal in output) == bool(what), output
    assert what or "TG334" not in output
