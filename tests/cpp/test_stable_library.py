"""A library under the stable ABI, from the YAML to calls out of Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cpp.compiling import check_syntax, needs_compiler
from tests.cpp.stable_library import TINY, build_library, flags, generate_stable, run_python

pytestmark = [pytest.mark.torch, needs_compiler]

START = "import _C, torch\nops = torch.ops.tiny\nx = torch.tensor([1.0, 2.0])\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the built library of `tiny_stable/`."""
    folder = tmp_path_factory.mktemp("tiny")
    files = generate_stable(folder, (TINY / "ops.yaml").read_text())
    (folder / "kernels.cpp").write_text((TINY / "kernels.cpp").read_text())
    build_library(folder, ["kernels.cpp", *[path for path in files if path.endswith(".cpp")]])
    return folder


def test_operators_are_called_from_python(library: Path) -> None:
    program = START + (
        "y = torch.zeros(2)\n"
        "assert ops.muladd(x, x).tolist() == [2, 5] and ops.muladd(x, x, 0.5).tolist() == [1.5, 4.5]\n"
        "z = x.clone(); assert ops.scale_(z, 3.0).data_ptr() == z.data_ptr()\n"
        "assert z.tolist() == [3, 6]\n"
        "assert ops.scale.out(x, out=y).data_ptr() == y.data_ptr() and y.tolist() == [2, 4]\n"
        "assert [t.tolist() for t in ops.both(x)] == [[1, 2], [2, 4]]\n"
        "assert [t.tolist() for t in ops.weighted([x, y], scale=1)] == [[2, 5], [5, 17]]\n"
        "assert [t.tolist() for t in ops.weighted([x], y)] == [[2, 8]]\n"
        "assert ops.twice(x).tolist() == [2, 4] and ops.twice(21) == 42\n"
        "assert ops.fill_(z, True) is None and z.tolist() == [1, 1]\n"
        "assert ops.muladd.default.tags == [torch.Tag.pointwise]\n"
    )
    assert run_python(library, program + "print('done')") == "done\n"


def test_every_type_gets_across_both_ways(library: Path) -> None:
    program = START + (
        "some = dict(size=[5, 6], steps=[7], mode='m\\u00e9', flags=[False, True], more=[True],"
        " dtype=torch.float64, format=torch.channels_last, layout=torch.sparse_csr,"
        " device=torch.device('meta', 3), name='n', table=[[1], [2, 3]], limit=2.5, rest=[x, None])\n"
        "for op in (ops.kinds, ops.relay):\n"
        "    print(op(**some))\n"
        "    print(op([], []))\n"
        "print(ops.relay([], [], mode='defaults'))\n"
        "print(ops.nested([[1], [], [2, 3]]), ops.bounded(2.5), ops.bounded(10.5))\n"
        "print(*ops.mixed(x, 'a')[1:])\n"
    )
    some = "mé n 7 2 2 3 no yes Yes 2 -1 5 6 7 1 2 bounded"
    nothing = "fan - 4 -1 0 -2 yes no 3 3 free"
    found = run_python(library, program).splitlines()
    assert found[:5] == [some, nothing, some, nothing, nothing]
    assert found[5:] == ["[[1], [], [2, 3]] 2.5 None", "None a! [1, 2]"]


def test_a_gradient_without_formulas_is_as_loud_as_by_hand(library: Path) -> None:
    """The stable ABI has no kernels for Autograd, so PyTorch's own warns in the backward pass."""
    program = START + (
        "import warnings\n"
        "leaf = x.clone().requires_grad_()\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    result = ops.muladd(leaf, x)\n"
        "    print(result.requires_grad)\n"
        "    result.sum().backward()\n"
        "for one in caught:\n"
        "    print(str(one.message).partition(' but')[0])\n"
    )
    warning = "tiny::muladd: an autograd kernel was not registered to the Autograd key(s)"
    assert run_python(library, program) == f"True\n{warning}\n"


def test_conditions_leave_operators_out(library: Path) -> None:
    program = START + "print(hasattr(ops, 'absent'), hasattr(ops, 'guarded'), hasattr(ops, 'both'))"
    assert run_python(library, program) == "False False True\n"


def test_the_module_is_imported_before_torch(library: Path) -> None:
    """It brings libtorch itself. The other programs are forked from one that has imported PyTorch."""
    program = f"{START}print(ops.muladd(x, x).tolist())"
    said = subprocess.check_output([sys.executable, "-c", program], cwd=library, text=True)
    assert said == "[2.0, 5.0]\n"


def test_the_module_needs_no_more_than_the_limited_api(library: Path) -> None:
    """Its multi-phase init function is all that the library has of Python."""
    done = subprocess.run(
        ["nm", "-D", "--undefined-only", "_C.so"],
        cwd=library,
        capture_output=True,
        text=True,
        check=True,
    )
    used = {name for name in done.stdout.split() if name.startswith(("Py", "_Py"))}
    assert used == {"PyModuleDef_Init"}


def test_a_free_threaded_python_keeps_the_gil_off(library: Path) -> None:
    """The headers of this Python may lack this slot; a macro takes the place of a newer Python's."""
    newer = ["-DPy_GIL_DISABLED", "-DPy_mod_gil=4", "-DPy_MOD_GIL_NOT_USED=((void*)1)", "-dD", "-E"]
    source = "stable/src/module.cpp"
    done = subprocess.run(
        ["g++", *flags(), *newer, source], cwd=library, capture_output=True, text=True, check=True
    )
    assert "{4, ((void*)1)}," in done.stdout
    assert "#define Py_LIMITED_API" not in done.stdout


def test_a_failure_below_comes_up_with_its_message(library: Path) -> None:
    program = START + (
        "try:\n    ops.both(torch.zeros(2, device='meta'))\n"
        "except RuntimeError as error:\n    print('tiny::scale.out' in str(error))\n"
    )
    assert run_python(library, program) == "True\n"


@pytest.mark.parametrize("release", [9, 10, 12, 13])
def test_older_releases_compile_what_they_carry(library: Path, release: int) -> None:
    # Lists and strings need 2.10, and the generated gate says so.
    version = f"-DTORCH_TARGET_VERSION=0x02{release:02x}000000000000"
    done = check_syntax(library, "stable/src/register.cpp", flags=[*flags(), version])
    assert done.ok == (release > 9), done.messages
    if release == 9:
        assert "tiny::weighted needs libtorch 2.10" in done.messages
        return
    done = check_syntax(library, "kernels.cpp", flags=[*flags(), version])
    assert done.ok, done.messages


def test_kernels_of_the_authors_headers(tmp_path: Path) -> None:
    """They are taken as they are declared, where the boxed kernel unpacks the same."""
    yaml = (
        "- func: own::total(int[] sizes, str mode, Tensor x) -> Tensor\n"
        "  dispatch:\n    CPU: total\n"
    )
    header = (
        "#pragma once\n#include <string>\n#include <string_view>\n#include <vector>\n"
        "#include <torch/csrc/stable/tensor.h>\nnamespace own {\n"
        "torch::stable::Tensor total(SIZES sizes, std::string_view mode, torch::stable::Tensor x);\n"
        "}\n"
    )
    generate_stable(tmp_path, yaml, 'kernel-headers = ["own.h"]')
    assert not (tmp_path / "stable/include/own/kernels.h").exists()
    good = header.replace("SIZES", "std::vector<int64_t>")
    bad = header.replace("SIZES", "std::vector<double>")
    for text, ok in ((good, True), (bad, False)):
        (tmp_path / "own.h").write_text(text)
        done = check_syntax(tmp_path, "stable/src/register.cpp", flags=[*flags(), "-I."])
        assert done.ok == ok, done.messages
    message = "for argument 'sizes' (schema: int[])"
    assert "/verify/total.h:4:15: error" in done.messages and message in done.messages
