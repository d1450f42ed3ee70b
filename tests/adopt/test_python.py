"""A library in Python, imported and generated: PyTorch has the same registered as before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.adopt.adopted import registry, run_tool

HERE = Path(__file__).parent / "python"
CONFIG = """\
schema = ["ops.yaml"]
output-dir = "generated"
targets = ["torch-python"]
[target.torch-python]
package = "pylib"
kernels = ["pylib_kernels"]
fakes = ["pylib_kernels"]
"""
# What the target registers besides: fakes of what returns nothing, autocast for every device, and what out variants are
# for functionalization. Where there are no formulas, it refuses derivatives at Autograd, as `custom_op` does.
MORE = {
    "pylib::fill": (["Meta"], []),
    "pylib::muladd": (["AutocastCUDA", "AutocastMPS", "AutocastPrivateUse1", "AutocastXPU"], []),
    "pylib::scale.out": (["Functionalize", "Meta"], []),
}


@pytest.mark.torch
def test_a_python_library_is_registered_as_before(tmp_path: Path) -> None:
    code, said = run_tool(
        tmp_path, "import", "--module", "pylib", "--output", "ops.yaml", path=HERE
    )
    assert code == 0, said
    assert (tmp_path / "ops.yaml").read_text() == (HERE / "ops.yaml").read_text()
    assert said.count("[TG") == said.count("[TG606]") == 1, "autocast is for one device by hand"
    shutil.copy(HERE / "pylib_kernels.py", tmp_path)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    code, said = run_tool(tmp_path, "generate")
    assert code == 0, said
    written = registry("pylib", ["pylib"], [HERE])
    generated = registry("pylib", ["pylib"], [tmp_path, tmp_path / "generated/torch-python"])
    for name, (schema, keys, tags) in written.items():
        more_keys, more_tags = MORE.get(name, ([], []))
        if "!" in schema:
            # `torch.func.functionalize` takes what writes, the version of what is written moves, and `torch.vmap` calls
            # the operator for each item.
            transforms = ["FuncTorchBatched", "FuncTorchDynamicLayerFrontMode"]
            more_keys = [*more_keys, "ADInplaceOrView", *transforms]
        expected = [schema, sorted({*keys, *more_keys, "Autograd"}), sorted([*tags, *more_tags])]  # type: ignore[misc]
        assert generated[name] == expected
    # What functionalization puts in place of an operator that returns what it writes.
    assert set(generated) - set(written) == {"pylib::_copying_scale.out"}
    assert set(written) <= set(generated)


def test_what_is_read_without_importing_is_the_same(tmp_path: Path) -> None:
    files = [str(HERE / "pylib.py"), str(HERE / "pylib_kernels.py")]
    code, said = run_tool(tmp_path, "import", *files, "--output", "ops.yaml")
    assert code == 0 and "22 registrations in Python, 22 read, 0 not read" in said
    registered, read = (
        {entry.splitlines()[0]: sorted(entry.splitlines()) for entry in text.split("\n\n")}
        for text in ((HERE / "ops.yaml").read_text(), (tmp_path / "ops.yaml").read_text())
    )
    assert read == registered


@pytest.mark.torch
def test_what_python_says_and_yaml_does_not(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text("""\
import torch
from torch.library import Library, register_autocast, register_autograd
print("hello")
library = Library("mylib", "DEF")
library.define("f(Tensor x) -> Tensor")
library.impl("f", lambda x: x.clone(), "CPU")
def backward(context, grad):
    return grad
register_autograd("mylib::f", backward)
register_autocast("mylib::f", "cuda", torch.float16)
library.define("g(Tensor x) -> Tensor")
library.impl("g", torch.library.fallthrough_kernel, "CPU")
def relu(x):
    return x
Library("aten", "IMPL").impl("relu", relu, "PrivateUse1")
""")
    code, said = run_tool(
        tmp_path,
        "import",
        "--module",
        "mylib",
        "--output-format",
        "concise",
        "--output",
        "ops.yaml",
    )
    assert code == 1
    lines = [line for line in said.splitlines() if "TG" in line]
    assert lines.pop(0).startswith(
        "error[TG602] 'mylib::g' falls through at CPU, which YAML cannot"
    )
    assert lines == [
        "error[TG607] 'mylib::f' is run in torch.float16 on cuda under autocast ('autocast: lower_precision' takes the "
        "dtype of the autocast context)",
        "mylib.py:6:1: error[TG607] the kernel for CPU of 'mylib::f' is '<lambda>', which is not a module-level function "
        "(make it a function of its own)",
        "mylib.py:7:1: error[TG607] 'mylib::f' takes its gradient from 'mylib:backward' (write 'derivatives:', or keep the "
        "call of 'register_autograd')",
    ]


@pytest.mark.torch
def test_kernels_that_are_not_plain_functions(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text("""\
from functools import partial
from torch.library import Library, register_autograd
class Called:
    def __call__(self, x):
        return x.clone()
def scaled(factor, x):
    return x * factor
def backward(scale, context, grad):
    return grad
library = Library("mylib", "DEF")
library.define("f(Tensor x) -> Tensor")
library.impl("f", partial(scaled, 2), "CPU")
library.impl("f", Called(), "CUDA")
register_autograd("mylib::f", partial(backward, 1))
""")
    code, said = run_tool(tmp_path, "import", "--module", "mylib", "--output-format", "concise")
    assert code == 1
    assert [line.partition(" (")[0] for line in said.splitlines() if "TG" in line] == [
        "error[TG607] 'mylib::f' takes its gradient from 'functools:partial(...)'",
        "error[TG607] the kernel for CPU of 'mylib::f' is 'partial(...)', which is not a module-level function",
        "error[TG607] the kernel for CUDA of 'mylib::f' is 'Called(...)', which is not a module-level function",
    ]


@pytest.mark.torch
def test_functions_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text("""\
from torch.library import Library, register_fake
library = Library("mylib", "DEF")
for name in ("f", "g"):
    library.define(f"{name}(Tensor x) -> Tensor")
@register_fake("mylib::f")
def _(x):
    return x.new_empty(0)
@register_fake("mylib::g")
def _(x):
    return x.new_empty(1)
""")
    code, said = run_tool(
        tmp_path,
        "import",
        "--module",
        "mylib",
        "--output-format",
        "concise",
        "--output",
        "ops.yaml",
    )
    assert code == 1
    assert [line for line in said.splitlines() if "TG" in line] == [
        "mylib.py:5:1: error[TG607] the fake of 'mylib::f' is '_', and so is another function of 'mylib' "
        "(give it a name of its own)"
    ]
    text = (tmp_path / "ops.yaml").read_text()
    assert text.index("mylib::g(") < text.index("fake: _") and text.count("fake:") == 1


@pytest.mark.torch
def test_functions_that_the_module_has_no_name_for(tmp_path: Path) -> None:
    """`register_vmap` returns None, so the module has no `_`; `apply` is PyTorch's, bound to a class."""
    (tmp_path / "mylib.py").write_text("""\
import torch
from torch.library import Library, custom_op, register_fake, register_vmap
class F(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()
library = Library("mylib", "DEF")
library.define("f(Tensor x) -> Tensor")
library.impl("f", F.apply, "Autograd")
@custom_op("mylib::g", mutates_args=(), device_types="cpu")
def g(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
@g.register_kernel("cuda")
def _(x):
    return x.clone()
@register_fake("mylib::g")
def _(x):
    return torch.empty_like(x)
@register_vmap("mylib::g")
def _(info, dims, x):
    return x, 0
""")
    code, said = run_tool(tmp_path, "import", "--module", "mylib", "--output-format", "concise")
    assert code == 1
    assert [line.partition(" (")[0] for line in said.splitlines() if "TG" in line] == [
        "error[TG607] the kernel for Autograd of 'mylib::f' is 'F.apply', which is not a module-level function",
        "mylib.py:16:1: error[TG607] the fake of 'mylib::g' is '_', and so is another function of 'mylib'",
        "mylib.py:19:1: error[TG607] the vmap of 'mylib::g' is '_', and so is another function of 'mylib'",
    ]


@pytest.mark.torch
def test_modules_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text("raise ValueError('no')")
    (tmp_path / "aborts.py").write_text("import os\nos.abort()")
    (tmp_path / "exits.py").write_text("raise SystemExit(0)")
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)")
    code, said = run_tool(tmp_path, "import", "--module", "exits")
    assert code == 2 and "cannot import `exits`: SystemExit(0)" in said
    code, said = run_tool(tmp_path, "import", "--module", "ends")
    assert code == 2 and "importing `ends` ended Python: exit code 0" in said
    code, said = run_tool(tmp_path, "import", "--module", "raises")
    assert code == 2 and "cannot import `raises`: no" in said
    code, said = run_tool(tmp_path, "import", "--module", "aborts")
    assert code == 2 and "importing `aborts` ended Python: signal 6" in said
    assert "Traceback" not in run_tool(tmp_path, "import", "--module", "missing_module")[1]
