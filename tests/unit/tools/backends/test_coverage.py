"""`coverage`: verdicts, selections, and the comparison with verdicts saved earlier."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, SOURCES, Result
from tests.forks import run_forked
from tests.unit.tools.backends.conftest import PYTORCH
from torchgen_lite.key_tables import CURRENT

Run = Callable[..., Result]
KEY = ("--key", "PrivateUse1")


def verdicts(run: Run, *asked: str) -> dict[str, tuple[str, str]]:
    result = run("coverage", *asked, "--output-format", "json")
    found = json.loads(result.stdout)["operators"]
    return {one["name"].removeprefix("aten::"): (one["verdict"], one["by"]) for one in found}


def test_where_calls_end(run: Run, backend: Path) -> None:
    assert verdicts(run, *KEY) == {
        "add.Tensor": ("through", "aten::add.out"),
        "add_.Tensor": ("through", "aten::add.out"),
        "add.out": ("own", "structured add_mine"),
        "isnan": ("nothing", ""),
        "isnan.out": ("nothing", "aten::isnan"),
        "square": ("own", "square_mine"),
        "clone": ("composite", "CompositeExplicitAutograd: clone"),
        # The entry has another schema than PyTorch; `lint` and `upgrade` report that.
        "mm": ("own", "mm_mine"),
    }
    fallen = verdicts(run, *KEY, "--fallback")
    assert {name for name, (verdict, _) in fallen.items() if verdict == "fallback"} == {
        "isnan",
        "isnan.out",
    }


def test_what_a_fallback_cannot_do(run: Run, backend: Path) -> None:
    """Without a kernel for the CPU it fails, and of a view it makes a copy."""
    (backend / "new.yaml").write_text(PYTORCH + """\
- func: fused(Tensor self) -> Tensor
  dispatch: {CUDA: fused}
- func: viewed(Tensor(a) self) -> Tensor(a)
  dispatch: {CPU: viewed}
- func: viewed_on_cuda(Tensor(a) self) -> Tensor(a)
  dispatch: {CUDA: viewed}
- func: fill_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: fill_}
""")
    fallen = verdicts(run, *KEY, "--fallback")
    assert [fallen[name][0] for name in ("fused", "viewed", "viewed_on_cuda", "fill_")] == [
        "nothing",
        "wrong",
        "nothing",
        "fallback",
    ]


def test_the_key_of_a_backend_of_pytorch(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text("")
    found = verdicts(run, "--key", "CUDA")
    assert found["isnan"] == ("own", "isnan") and found["isnan.out"] == ("through", "aten::isnan")
    assert found["square"] == ("composite", "CompositeImplicitAutograd: square")
    assert found["add.Tensor"] == ("nothing", "aten::add.out")


def test_text(run: Run, backend: Path) -> None:
    result = run("coverage", *KEY, "--show", "nothing")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == """\
PrivateUse1: 8 operators
  own        3  37.5 %  a kernel of its own
  through    2  25.0 %  the kernel of a variant
  composite  1  12.5 %  composed of other operators
  fallback   0   0.0 %  the fallback of the backend, on the CPU
  nothing    2  25.0 %  nothing: a call raises an error
  wrong      0   0.0 %  a copy in place of a view: what is written to it is lost

  2 of 3 core operators are served

nothing: nothing: a call raises an error
  aten::isnan
  aten::isnan.out  aten::isnan
"""


def test_selections(run: Run, backend: Path) -> None:
    assert set(verdicts(run, *KEY, "--only", "core")) == {"add.Tensor", "isnan", "mm"}
    assert set(verdicts(run, *KEY, "--like", "CUDA")) == {"isnan", "isnan.out"}
    (backend / "log").write_text(
        "[W] falls back: aten::mm\n%3 = torch.ops.aten.clone.default(%2)\nisnan.out\n"
    )
    assert set(verdicts(run, *KEY, "--calls", "log")) == {"mm", "clone", "isnan.out"}
    # A graph names the overload, a profile does not.
    (backend / "log").write_text("  aten::isnan   12.3 ms\n")
    assert set(verdicts(run, *KEY, "--calls", "log")) == {"isnan", "isnan.out"}
    (backend / "log").write_text("isnan = torch.ops.aten.isnan.default(x)\n")
    assert set(verdicts(run, *KEY, "--calls", "log")) == {"isnan"}


def test_a_log_that_names_nothing_gives_no_verdict(run: Run, backend: Path) -> None:
    (backend / "log").write_text("mylib::f 3 calls\n")
    result = run("coverage", *KEY, "--calls", "log")
    assert result.code == 2 and "`log` names no operator of PyTorch" in result.stderr


def test_a_tag_alone(run: Run, backend: Path) -> None:
    text = run("coverage", *KEY, "--only", "core").stdout
    assert text.startswith("PrivateUse1: 3 operators\n")
    assert text.endswith("\n  2 of 3 core operators are served\n")


def test_of_a_selection_no_share_of_a_tag_is_told(run: Run, backend: Path) -> None:
    (backend / "log").write_text("aten::mm aten::isnan")
    for narrowed in (("--calls", "log"), ("--like", "CUDA")):
        assert "operators are served" not in run("coverage", *KEY, *narrowed).stdout
    text = run("coverage", *KEY, "--calls", "log", "--only", "core").stdout
    assert "operators are served" not in text


@pytest.mark.parametrize("option", ["--calls", "--against"])
def test_a_file_of_any_size_is_not_read(
    run: Run, backend: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (backend / "large").write_text("aten::mm\n" * 10_000)
    monkeypatch.setattr("torchgen_lite.loader.sources.MAX_BYTES", 50_000)
    result = run("coverage", *KEY, "--schema", "ops.yaml", option, "large")
    assert (result.code, result.stdout) == (1, "")
    assert "error[TG110]: `large` has more than the 50000 bytes allowed" in result.stderr


def test_verdicts_are_kept(run: Run, backend: Path) -> None:
    assert run("coverage", *KEY, "--output", "kept.json").code == 0
    assert run("coverage", *KEY, "--against", "kept.json").code == 0
    text = (backend / "ops.yaml").read_text()
    (backend / "ops.yaml").write_text(
        text.replace("add_mine", "add_mine\n- func: add.Tensor").replace(
            "- func: square\n  dispatch:\n    PrivateUse1: square_mine\n", ""
        )
    )
    result = run("coverage", *KEY, "--against", "kept.json", "--output-format", "concise")
    # `square` is a composite operator now.
    assert (result.code, result.stderr) == (
        1,
        "kept.json:11:3: error[TG370] 'aten::square' is served worse: a kernel of its own "
        "before, composed of other operators now: composite\n",
    )
    result = run("coverage", *KEY, "--against", "kept.json", "--output-format", "markdown")
    assert "**served worse than before**" in result.stdout
    (backend / "kept.json").write_text("[]")
    assert "has no verdicts" in run("coverage", *KEY, "--against", "kept.json").stderr


def test_what_is_registered_in_cpp(run: Run, backend: Path) -> None:
    (backend / "src").mkdir()
    (backend / "src/kernels.cpp").write_text("""\
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("isnan", isnan);  // m.impl("clone", clone);
  m.impl(TORCH_SELECTIVE_NAME("aten::add.out"), TORCH_FN(add_out));
}
TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("mm", mm); }
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&f>()); }
""")
    found = verdicts(run, *KEY, "--scan", "src")
    assert {name: verdict for name, (verdict, _) in found.items()} == {
        "add.Tensor": "through",
        "add_.Tensor": "through",
        "add.out": "own",
        "isnan": "own",
        "isnan.out": "through",
        "square": "composite",
        "clone": "composite",
        "mm": "fallback",
    }


def test_cpp_needs_no_schema_file(run: Run, backend: Path) -> None:
    """`there is no native_functions.yaml here` was said to whom `--scan` is for."""
    (backend / "ops.cpp").write_text(
        'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("mm", mm); }'
    )
    for path in (*backend.glob("*.toml"), backend / "native_functions.yaml"):
        path.unlink()
    result = run("coverage", *KEY, "--scan", "ops.cpp", "--native", "new.yaml", "--show", "own")
    assert (result.code, result.stdout.splitlines()[-1]) == (0, "  aten::mm  ops.cpp")


def test_what_is_missing_is_no_coverage(run: Run, backend: Path) -> None:
    """An operator that is declared twice, and a kernel of Python that is in no module."""
    (backend / "own.py").write_text("def another(self): ...\n")
    configuration = (
        'schema = "ops.yaml"\ntargets = "torch-python"\ntarget.torch-python.kernels = ["own"]\n'
    )
    (backend / "torchgen_lite.toml").write_text(configuration)
    entry = "- func: clone\n  dispatch: {PrivateUse1: %s}\n"
    for text, code in (
        (entry % "another", 0),
        (entry % "absent", 1),
        (2 * entry % (("another",) * 2), 1),
    ):
        (backend / "ops.yaml").write_text(text)
        assert run("coverage", *KEY, "--native", "new.yaml").code == code, text


def test_what_cpp_includes_and_macros_make(run: Run, backend: Path) -> None:
    (backend / "src/made").mkdir(parents=True)
    (backend / "src/kernels.cpp").write_text("""\
#define OPS(_) _(clone) _(add.out)
#define BOXED(name) m.impl(#name, torch::CppFunction::makeFromBoxedFunction<&f>());
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPS(BOXED)
#include "made/register.inc"
  m.impl(name_of(7), f);
}
""")
    (backend / "src/made/register.inc").write_text('m.impl("isnan", f);\n')
    result = run("coverage", *KEY, "--scan", "src", "--show", "own")
    assert result.stdout.endswith(
        "own: a kernel of its own\n  aten::add.out  src/kernels.cpp\n"
        "  aten::isnan    src/kernels.cpp\n  aten::clone    src/kernels.cpp\n"
    )
    computed = "the name of an operator is computed, so a registration is not read\n"
    assert (result.code, result.stderr) == (0, f"src/kernels.cpp: {computed}")


def test_what_is_registered_in_python(run: Run, backend: Path) -> None:
    (backend / "device.py").write_text("""\
import torch
mine = torch.library.Library("aten", "IMPL", "PrivateUse1")
mine.impl("clone", f)
mine.impl("mm", f, "XLA")
other = Library("aten", "IMPL")
other.impl("aten::isnan", f, "PrivateUse1")
@torch.library.impl("aten::add.out", "privateuseone")
def add(x, y, out): ...
for name, function in table.items():
    torch.library.impl(name.replace("aten.", "aten::"), "privateuseone")(function)
unrelated.impl("mm", f, "PrivateUse1")
""")
    result = run("coverage", *KEY, "--scan", "device.py", "--show", "own")
    assert result.stdout.endswith(
        "own: a kernel of its own\n  aten::add.out  device.py:7\n"
        "  aten::isnan    device.py:6\n  aten::clone    device.py:3\n"
    )
    computed = "the name of an operator is computed, so a registration is not read\n"
    assert (result.code, result.stderr) == (0, f"device.py:10: {computed}")


def test_nothing_found_is_an_error(run: Run, backend: Path) -> None:
    (backend / "src").mkdir()
    (backend / "src/kernels.cpp").write_text("void f();\n")
    result = run("coverage", *KEY, "--scan", "src", "--output-format", "concise")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == (
        "error[TG012] nothing in 'src' registers kernels for PrivateUse1 (1 file of C++ and Python were read for "
        "'m.impl' and 'torch.library.impl'; '--import MODULE' asks PyTorch)\n"
    )


def test_what_files_say_of_one_operator(run: Run, backend: Path) -> None:
    result = run("coverage", "add_.Tensor", *KEY)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == """\
PrivateUse1: what files say
  aten::add_.Tensor  through  aten::add.out
    aten::add.out    own      structured add_mine
"""
    # What a kernel of PyTorch calls a run of the installed release says, and of no other.
    result = run("coverage", "clone")
    assert result.stdout == """\
PrivateUse1: what files say
  aten::clone  composite  CompositeExplicitAutograd: clone
"""
    assert "no file says what it calls; " in result.stderr
    assert "did you mean `clone`?" in run("coverage", "clon").stderr
    result = run("coverage", "clone", "--only", "core")
    assert result.code == 2 and "need no OPERATOR" in result.stderr


ADD_OUT = '<tr><td class="code"><code>aten::add.out</code></td><td>own</td><td>structured add_mine</td></tr>'


def test_pages(run: Run, backend: Path) -> None:
    result = run("coverage", *KEY, "--output-format", "markdown", "--html", "page.html")
    assert result.stdout.startswith("## Coverage of PrivateUse1\n\n**PrivateUse1: 8 operators**\n")
    assert "| own | 3 | 37.5 % | a kernel of its own |\n" in result.stdout
    page = (backend / "page.html").read_text()
    assert "<h1>Coverage of PrivateUse1</h1>" in page
    assert f"{ADD_OUT}\n" in page
    assert run("coverage", *KEY, "--html", "no/such/page.html").code == 2


def test_mistakes(run: Run, backend: Path) -> None:
    assert "did you mean `PrivateUse1`" in run("coverage", "--key", "PrivatUse1").stderr
    assert "did you mean `core`" in run("coverage", *KEY, "--only", "cor").stderr
    assert run("coverage", *KEY, "--native", "none.yaml").code == 2
    (backend / "ops.yaml").write_text("- func: relu(Tensr self) -> Tensor\n")
    assert run("coverage", *KEY).code == 1


@pytest.mark.parametrize("key", [*CURRENT.aliases, "Dense", "Sparse"])
@pytest.mark.parametrize(
    "command",
    [
        "coverage --key {}",
        "coverage --key PrivateUse1 --like {}",
        "coverage mm --key {}",
        "add --like {}",
        "add --like CPU --dispatch {}",
        "upgrade --from old.yaml --to new.yaml --key {}",
    ],
)
def test_a_key_that_no_tensor_has(run: Run, backend: Path, command: str, key: str) -> None:
    result = run(*command.format(key).split())
    assert result.code == 2 and "error[TG012]" in result.stderr and f"`{key}`" in result.stderr


def test_kernels_for_all_backends_do_not_make_a_backend(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text(
        "- func: mine::f(Tensor x) -> Tensor\n  dispatch: {CompositeExplicitAutograd: f}\n"
    )
    assert run("coverage").stdout.startswith("PrivateUse1: ")


def test_without_pytorch_a_file_of_it_is_asked_for(
    run: Run, backend: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchgen_lite.loader.torch.files._find_package", lambda name: [])
    (backend / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    assert "name a wheel or a path: `native`, `--native`" in run("coverage", *KEY).stderr
    assert run("coverage", *KEY, "--native", "new.yaml").code == 0


@pytest.mark.torch
class TestRun:
    """What a run of the installed PyTorch calls, on a stand-in for the backend."""

    @pytest.fixture
    def device(
        self,
        backend: Path,
        forked_python: None,
    ) -> Path:
        pytest.importorskip("torch")
        (backend / "torchgen_lite.toml").write_text(
            'schema = ["ops.yaml"]\nnative = "torch"\ntargets = ["cpp-torch"]\n'
        )
        (backend / "ops.yaml").write_text(
            "".join(
                f"- func: {name}\n  dispatch: {{PrivateUse1: mine}}\n"
                for name in ("empty.memory_format", "mm.out", "as_strided", "relu")
            )
        )
        return backend

    def test_an_operator(self, run: Run, device: Path) -> None:
        pytest.importorskip("expecttest")
        result = run("coverage", "outer", "--fallback")
        assert (result.code, result.stderr) == (0, "")
        assert result.stdout == """\
PrivateUse1: what 1 call with inputs of PyTorch's tests ran
  aten::outer                    composite  CompositeImplicitAutograd: outer
    aten::view                   wrong
    aten::mul.Tensor             fallback   aten::mul.out
      aten::empty.memory_format  own        mine
      aten::mul.out              fallback
"""

    def test_a_script(self, run: Run, device: Path) -> None:
        """Forward, backward, and a write through a view that the device cannot make."""
        (device / "train.py").write_text("""\
import torch
w = torch.ones(2, 2, requires_grad=True)
torch.relu(torch.ones(2, 2) @ w).sum().backward()
assert w.grad.device.type == "privateuseone" and w.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
torch.ones(3, dtype=torch.complex64).real.zero_()
torch.ones(3, device="cpu").cos_()
""")
        result = run("coverage", "--calls", "train.py", "--fallback", "--output-format", "json")
        found = {one["name"]: one for one in json.loads(result.stdout)["operators"]}
        assert result.code == 1
        assert found["aten::mm.out"] == {
            "name": "aten::mm.out",
            "verdict": "own",
            "by": "structured mine",
            "calls": 2,
        }
        # Leaves alone: `mm` calls `mm.out`.
        assert "aten::mm" not in found and "aten::matmul" not in found
        # Nor what the CPU does for itself.
        assert "aten::cos_" not in found and "aten::cos.out" not in found
        wrong = [name for name, one in found.items() if one["verdict"] == "wrong"]
        assert wrong == ["aten::view_as_real"]
        assert found["aten::sum.IntList_out"]["verdict"] == "fallback"
        result = run("coverage", "--calls", "train.py", "--fallback")
        assert (
            "wrong: a copy in place of a view: what is written to it is lost\n  1 call  aten::view_as_real\n"
            in (result.stdout)
        )
        (device / "train.py").write_text("import torch\ntorch.ones(2).sum()\n")
        assert run("coverage", "--calls", "train.py", "--fallback").code == 0
        # Without a fallback, what the device has no kernel for would raise.
        assert run("coverage", "--calls", "train.py").code == 1

    def test_a_script_that_fails_there(self, run: Run, device: Path) -> None:
        (device / "lstm.py").write_text(
            "import torch\ntorch.nn.LSTM(3, 4)(torch.ones(2, 3))\nprint('never')\n"
        )
        result = run("coverage", "--calls", "lstm.py", "--fallback")
        assert result.code == 1
        assert (
            "nothing: nothing: a call raises an error\n  1 call  aten::_thnn_fused_lstm_cell\n"
            in result.stdout
        )
        assert result.stderr == (
            "`lstm.py` stopped early: NotImplementedError: Could not run 'aten::_thnn_fused_lstm_cell' "
            "with arguments from the 'CPU' backend in aten::_thnn_fused_lstm_cell\n"
        )
        (device / "cpu.py").write_text("import torch\ntorch.ones(2, device='cpu').sum()\n")
        result = run("coverage", "--calls", "cpu.py")
        assert result.code == 2
        assert (
            "`cpu.py` runs, on the device of PrivateUse1, no operator of PyTorch" in result.stderr
        )
        (device / "lstm.py").write_text("import no_such_module\n")
        result = run("coverage", "--calls", "lstm.py")
        assert result.code == 2 and "No module named 'no_such_module'" in result.stderr
        assert "name that module with `--import`" in result.stderr

    def test_a_module_takes_its_fast_path(self, run: Run, device: Path) -> None:
        """PyTorch's encoder makes a nested tensor of a padded batch, for which the device has no kernels."""
        (device / "encoder.py").write_text("""\
import torch
layer = torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)
padding = torch.tensor([[False, False], [False, True]])
with torch.no_grad():
    torch.nn.TransformerEncoder(layer, 1).eval()(torch.ones(2, 2, 8), src_key_padding_mask=padding)
""")
        result = run("coverage", "--calls", "encoder.py", "--fallback")
        assert result.code == 1
        _, _, failing = result.stdout.partition("\nnothing: nothing: a call raises an error\n")
        why = "aten::_nested_tensor_from_mask  aten::_to_copy at NestedTensorPrivateUse1\n"
        assert f"  1 call  {why}" in failing

    def test_of_another_key_nothing_is_guessed(self, run: Run, device: Path) -> None:
        (device / "train.py").write_text("import torch\n")
        result = run("coverage", "--calls", "train.py", "--key", "XLA")
        assert result.code == 2
        assert "calls can be followed on a stand-in for PrivateUse1, not for XLA" in result.stderr

    def test_on_the_device_itself(self) -> None:
        """Its own library is loaded, and what the CPU does for the script is not counted."""
        pytest.importorskip("torch")
        command = ["-m", "torchgen_lite", "coverage", "--key", "PrivateUse1"]
        command += ["--import", "toy_ops", "--calls", "train.py", "--output-format", "json"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(SOURCES)}
        done = run_forked(command, ROOT / "examples/torch_backend", environment)
        assert done.returncode == 0, done.stderr
        found = {one["name"]: one["verdict"] for one in json.loads(done.stdout)["operators"]}
        assert set(found.values()) == {"own", "composite"}
        assert found["aten::addmm.out"] == "own" and "aten::uniform_" not in found


REPORT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="t.KernelsPRIVATEUSE1" name="test_forward_add_out_my_chip_float32" time="0.1" />
<testcase classname="t.KernelsPRIVATEUSE1" name="test_out_add_out_my_chip_float32"><skipped message="refused: x" /></testcase>
<testcase classname="t.KernelsPRIVATEUSE1" name="test_forward_add_out_my_chip_int64" />
<testcase classname="t.KernelsPRIVATEUSE1" name="test_out_add_out_my_chip_int64"><failure message="m">t</failure></testcase>
<testcase classname="t.KernelsPRIVATEUSE1" name="test_empty_add_out_my_chip_int64"><error message="m">t</error></testcase>
<testcase classname="t.KernelsPRIVATEUSE1" name="test_forward_add_out_my_chip_bool"><skipped message="none" /></testcase>
<testcase classname="t.KernelsPRIVATEUSE1" name="test_forward_mm_my_chip_float32" />
<testcase classname="t.KernelsPRIVATEUSE1" name="test_forward_gone_my_chip_float32" />
<testcase classname="t.KernelsPRIVATEUSE1" name="test_forward_square_root_my_chip_float32" />
<testcase classname="t.KernelsXPU" name="test_forward_square_xpu_float32" />
<testcase classname="t.ProbesPRIVATEUSE1" name="test_the_profiler_my_chip" />
</testsuite></testsuites>
"""


def declare(backend: Path) -> None:
    """`add.out` is for three dtypes, the other kernels say nothing."""
    text = (backend / "ops.yaml").read_text()
    declared = "- func: add.out\n  dtypes: float32, int64, bool\n"
    (backend / "ops.yaml").write_text(text.replace("- func: add.out\n", declared))


def dtypes_of(text: str) -> list[str]:
    return text.partition("dtypes of kernels\n")[2].splitlines()


def test_what_is_declared_is_not_yet_verified(run: Run, backend: Path) -> None:
    assert dtypes_of(run("coverage", *KEY).stdout) == []
    declare(backend)
    assert dtypes_of(run("coverage", *KEY).stdout) == [
        "  declared  3  by `dtypes:` of 1 kernel",
        "  verified  -  not known: `--tests FILE` reads the report of the generated tests",
    ]


def test_what_tests_of_the_device_have_verified(run: Run, backend: Path) -> None:
    """A dtype in which one test failed is not, and neither is one in which all are skipped."""
    declare(backend)
    (backend / "report.xml").write_text(REPORT)
    asked = ("coverage", *KEY, "--tests", "report.xml")
    assert dtypes_of(run(*asked).stdout) == [
        "  declared           3  by `dtypes:` of 1 kernel",
        "  verified           1  of these, and 1 that no entry declares",
        "  aten::add.out  int64  failed: out, empty",
        "  aten::add.out  bool   no test of it passed",
    ]
    found = json.loads(run(*asked, "--output-format", "json").stdout)["operators"]
    claims = {one["name"]: (one["declared"], one["verified"]) for one in found if "declared" in one}
    assert claims == {
        "aten::add.out": (["float32", "int64", "bool"], ["float32"]),
        "aten::square": ([], []),
        "aten::mm": ([], ["float32"]),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<testsuites />", "`report.xml` has no test of a kernel for PrivateUse1"),
        (
            REPORT.replace("add_out", "sub_out").replace("mm_my", "sub_my"),
            "`report.xml` has no test",
        ),
        ("[]", "`report.xml` is no JUnit report: "),
        ("", "`report.xml` is no JUnit report: "),
    ],
)
def test_reports_that_say_nothing(run: Run, backend: Path, text: str, said: str) -> None:
    (backend / "report.xml").write_text(text)
    result = run("coverage", *KEY, "--tests", "report.xml")
    assert result.code == 2
    assert f"error[TG012]: {said}" in result.stderr
