"""What goes wrong when a package is imported: one exception that names the YAML, and nothing registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
"""
ENTRY = """\
- func: bad::first(Tensor x) -> Tensor
  dispatch: {CPU: first}
  fake: {like: x}
"""
KERNELS = "def first(x):\n    return x.clone()\n\n\ndef second(x):\n    return x.clone()\n"

# Imports the package, says what that raised, and whether anything was left behind.
TRY = """
import torch

try:
    import bad_ops
except Exception as error:
    print(f"{type(error).__name__}: {error}")
print(hasattr(torch.ops.bad, "first"))
"""


def attempt(
    folder: Path, more: str = "", options: str = "", first: str = "", program: str = TRY
) -> list[str]:
    """The lines that a program prints about a package made of `ENTRY` and more."""
    kernels = "" if "kernels" in options or "defines" in options else 'kernels = ["my_kernels"]\n'
    (folder / "torchgen_lite.toml").write_text(CONFIG + kernels + options)
    (folder / "ops.yaml").write_text(ENTRY + more)
    (folder / "my_kernels.py").write_text(KERNELS)
    write_package(folder)
    return run_program(folder, first + program).splitlines()


def test_without_mistakes_it_is_there(tmp_path: Path) -> None:
    assert attempt(tmp_path) == ["True"]


def test_a_namespace_that_is_defined_already(tmp_path: Path) -> None:
    first = 'import torch\nother = torch.library.Library("bad", "DEF")\n'
    error, there = attempt(tmp_path, first=first)
    assert error.startswith("RegistrationError: ops.yaml:1: namespace `bad`: Only a single")
    assert there == "False"


def test_a_fragment_of_a_namespace(tmp_path: Path) -> None:
    first = 'import torch\nother = torch.library.Library("bad", "DEF")\n'
    assert attempt(tmp_path, options='library = "fragment"\n', first=first) == ["True"]


def test_an_operator_that_is_defined_already(tmp_path: Path) -> None:
    more = "- func: bad::second(Tensor x) -> Tensor\n  dispatch: {CPU: second}\n  fake: {like: x}\n"
    first = (
        'import torch\nother = torch.library.Library("bad", "DEF")\n'
        'other.define("second(Tensor x) -> Tensor")\n'
    )
    output = attempt(tmp_path, more, 'library = "fragment"\n', first)
    assert output[0].startswith("RegistrationError: ops.yaml:4: `bad::second`: ")
    # The first operator was registered before the second failed, and is gone again.
    assert output[-1] == "False"


def test_a_torch_that_the_operator_is_not_for(tmp_path: Path) -> None:
    error, there = attempt(tmp_path, '  torch: ">=99"\n')
    assert error.startswith("RegistrationError: ops.yaml:1: `bad::first` is for torch >=99, but")
    assert ", but this is 2." in error and there == "False"


def test_a_torch_that_is_too_old(tmp_path: Path) -> None:
    more = (
        "- func: bad::second(Tensor x) -> Tensor\n  dispatch: {CPU: second}\n  autocast: float32\n"
    )
    first = "import torch\nkept = torch.library.register_fake\ndel torch.library.register_fake\n"
    again = TRY + "torch.library.register_fake = kept\n" + TRY
    error, *there = attempt(tmp_path, more, first=first, program=again)
    assert error.startswith("RegistrationError: ops.yaml:1: `bad::first`: ")
    assert error.endswith("has no attribute 'register_fake'")
    # Nothing was left behind, and nothing is in the way of another attempt.
    assert there == ["False", "True"]


def test_a_formula_that_calls_what_torch_does_not_have(tmp_path: Path) -> None:
    older = "import torch\ndel torch.sigmoid\n"
    error, there = attempt(tmp_path, "  derivatives:\n    x: sigmoid(grad)\n", first=older)
    assert error.startswith(
        "RegistrationError: ops.yaml:5: a formula calls `sigmoid`, which is not a function of torch"
    )
    assert there == "False"


def test_an_extension_that_can_not_be_loaded(tmp_path: Path) -> None:
    error, there = attempt(tmp_path, options='defines = false\nload = "bad_extension"\n')
    assert (
        error == "RegistrationError: ops.yaml:1: `bad_extension`: No module named 'bad_extension'"
    )
    assert there == "False"


def test_an_operator_that_the_extension_does_not_define(tmp_path: Path) -> None:
    error, *_ = attempt(tmp_path, options="defines = false\n")
    assert error.startswith("RegistrationError: ops.yaml:1: `bad::first`: ")


def test_an_operator_that_the_extension_defines_otherwise(tmp_path: Path) -> None:
    first = (
        'import torch\nother = torch.library.Library("bad", "DEF")\n'
        'other.define("first(Tensor x, int n=1) -> Tensor")\n'
    )
    error, *_ = attempt(tmp_path, options="defines = false\n", first=first)
    assert error == (
        "RegistrationError: ops.yaml:1: `bad::first`: the library that is loaded declares it as "
        "bad::first(Tensor x, int n=1) -> Tensor"
    )


def test_an_autograd_kernel_of_c_plus_plus_stays_and_the_import_says_so(tmp_path: Path) -> None:
    first = (
        'import torch\nother = torch.library.Library("bad", "DEF")\n'
        'other.define("first(Tensor x) -> Tensor")\n'
        'other.impl("first", lambda x: x + 41, "Autograd")\n'
    )
    more = "  derivatives:\n    x: grad\n"
    program = """
import warnings

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import bad_ops
print([str(warning.message) for warning in said])
print(bad_ops.first(torch.ones(1, requires_grad=True)).tolist())
"""
    message = "its formulas are not used: another library has a kernel for Autograd"
    expected = [f"['ops.yaml:1: `bad::first`: {message}']", "[42.0]"]
    assert attempt(tmp_path, more, "defines = false\n", first, program) == expected


def test_fakes_for_operators_that_c_plus_plus_defines(tmp_path: Path) -> None:
    first = (
        'import torch\nother = torch.library.Library("bad", "DEF")\n'
        'other.define("first(Tensor x) -> Tensor")\n'
        'other.impl("first", lambda x: x.clone(), "CPU")\n'
    )
    program = """
import bad_ops

x = torch.ones(3, requires_grad=True)
bad_ops.first(x).sum().backward()
print(x.grad.tolist())
print(torch.compile(bad_ops.first, fullgraph=True, backend="aot_eager")(torch.ones(2)).tolist())
"""
    more = "  derivatives:\n    x: grad * 2\n"
    output = attempt(tmp_path, more, "defines = false\n", first, program)
    assert output == ["[2.0, 2.0, 2.0]", "[1.0, 1.0]"]


CALL = """
import torch
import bad_ops

try:
    bad_ops.first(torch.ones(1))
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def test_a_kernel_module_that_can_not_be_imported(tmp_path: Path) -> None:
    attempt(tmp_path)
    (tmp_path / "my_kernels.py").write_text("import nowhere_to_be_found\n")
    expected = (
        "RegistrationError: ops.yaml:2: module `my_kernels` can't be imported: "
        "No module named 'nowhere_to_be_found'"
    )
    assert run_program(tmp_path, CALL).splitlines() == [expected]


def test_a_kernel_that_has_gone(tmp_path: Path) -> None:
    attempt(tmp_path)
    (tmp_path / "my_kernels.py").write_text("first = 3\n")
    expected = "RegistrationError: ops.yaml:2: module `my_kernels` has no function `first`"
    assert run_program(tmp_path, CALL).splitlines() == [expected]


def test_a_package_that_has_other_operators_after_a_reload(tmp_path: Path) -> None:
    program = """
import sys
import bad_ops

for name in [n for n in sys.modules if n.startswith("bad_ops")]:
    del sys.modules[name]
path = bad_ops._operators.__file__
text = open(path).read().replace("first(Tensor x)", "first(Tensor y)")
open(path, "w").write(text)
import importlib
importlib.invalidate_caches()
try:
    import bad_ops
except ImportError as error:
    print(error)
print(torch.ops.bad.first(torch.ones(1)).tolist())
"""
    output = attempt(
        tmp_path,
        first="import torch\nimport sys\nsys.dont_write_bytecode = True\n",
        program=program,
    )
    assert output == ["the operators of `bad_ops` have changed: restart Python", "[1.0]"]
