"""The library that docs/moving-over.md begins with is imported as the page says, and generates."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adopt.adopted import make_visible, run_python, run_tool
from tests.blocks import PAGES, blocks
from tests.conftest import Result

PAGE = PAGES["moving-over"]


@pytest.mark.torch
def test_the_library_in_cpp(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a compiler that takes everything: `tests/adopt` compiles the same library."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", "true")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/ops.cpp").write_text(blocks(PAGE, "cpp")[0])
    command = blocks(PAGE, "sh")[1].split()[1:]
    result = run(*command)
    assert (result.code, result.stdout) == (0, blocks(PAGE, "yaml")[0])
    assert result.stderr.startswith(blocks(PAGE, "text")[0])
    make_visible(tmp_path / "csrc/ops.cpp")
    adopt, generate = (line.split()[1:] for line in blocks(PAGE, "sh")[2].splitlines())
    result = run(*adopt)
    assert result.code == 0 and result.stderr.startswith(blocks(PAGE, "text")[1])
    assert (tmp_path / "ops.yaml").read_text() == blocks(PAGE, "yaml")[0]
    assert (tmp_path / "torchgen_lite.toml").read_text() == blocks(PAGE, "toml")[0]
    assert run(*generate).code == 0
    sources = "".join(path.read_text() for path in tmp_path.glob("**/register*.cpp"))
    assert "&::mylib::muladd_cpu>" in sources


@pytest.mark.torch
@pytest.mark.parametrize("first", ["mylib", "mylib._ops"])
def test_a_library_imports_what_was_generated(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """A package beside the library, which it loads, and which imports functions of it, imported itself in a circle."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torchgen_lite.toml").write_text(blocks(PAGE, "toml")[2])
    schema = "muladd(Tensor a, Tensor b, float s=1.0) -> Tensor"
    (tmp_path / "ops.yaml").write_text(
        f"- func: mylib::{schema}\n  dispatch: {{CPU: muladd_cpu}}\n  fake: {{like: a}}\n"
    )
    assert run("generate").code == 0
    # In the place of the extension.
    (tmp_path / "mylib/_C.py").write_text(
        "import torch\n\nlibrary = torch.library.Library('mylib', 'DEF')\n"
        f"library.define({schema!r})\n"
        "library.impl('muladd', lambda a, b, s=1.0: a * b + s, 'CPU')\n"
    )
    (tmp_path / "mylib/__init__.py").write_text("from . import _C\nfrom ._ops import muladd\n")
    program = (
        f"import {first}, mylib, torch\n"
        "assert mylib.muladd(torch.ones(2), torch.ones(2)).tolist() == [2, 2]\n"
    )
    assert run_python(tmp_path, "-c", program) == (0, "")


def test_prove(run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/ops.cpp").write_text(blocks(PAGE, "cpp")[0].replace("double s", "int64_t s"))
    command = next(one for one in blocks(PAGE, "sh") if " prove " in one)
    result = run(*command.split()[1:])
    assert result.code == 1 and result.stderr.startswith(blocks(PAGE, "text")[5])


def test_the_library_that_is_bound(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/scaling.cpp").write_text(blocks(PAGE, "cpp")[1])
    command = next(one for one in blocks(PAGE, "sh") if "=scaling" in one)
    result = run(*command.split()[1:])
    assert (result.code, (tmp_path / "ops.yaml").read_text()) == (1, blocks(PAGE, "yaml")[3])
    assert result.stderr.startswith(blocks(PAGE, "text")[4])


@pytest.mark.torch
def test_the_library_in_python(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text(blocks(PAGE, "python")[0])
    code, said = run_tool(tmp_path, "import", "mylib.py", "--output", "ops.yaml")
    assert (code, (tmp_path / "ops.yaml").read_text()) == (1, blocks(PAGE, "yaml")[1])
    assert said.startswith(blocks(PAGE, "text")[3])
    code, said = run_tool(tmp_path, "import", "--module", "mylib", "--output", "ops.yaml")
    assert (code, (tmp_path / "ops.yaml").read_text()) == (1, blocks(PAGE, "yaml")[1])
    assert said.startswith(blocks(PAGE, "text")[3])
    (tmp_path / "ops.yaml").write_text(blocks(PAGE, "yaml")[1] + blocks(PAGE, "yaml")[2])
    functions = re.findall(r"^def muladd.*?\n(?:    .*\n)+", blocks(PAGE, "python")[0], flags=re.M)
    (tmp_path / "mylib_kernels.py").write_text("import torch\n\n\n" + "\n\n".join(functions))
    (tmp_path / "mylib.py").unlink()
    (tmp_path / "torchgen_lite.toml").write_text(blocks(PAGE, "toml")[3])
    assert run_tool(tmp_path, "generate")[0] == 0
    (tmp_path / "use.py").write_text(
        "import torch, mylib\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "mylib.muladd(x, x, 2.0).sum().backward()\n"
        "assert x.grad.tolist() == [2.0, 2.0]\n"
    )
    assert run_python(tmp_path, "use.py", path=tmp_path / "generated/torch-python") == (0, "")
