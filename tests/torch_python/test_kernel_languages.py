"""The kernels of docs/kernel-languages.md: those that a CPU can run compute what the generated tests of the entry want."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

from tests.blocks import PAGES, blocks
from tests.conftest import ROOT
from tests.forks import COMPILING, run_forked
from tests.torch_python.generated import write_package
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES, TRITON

PAGE = PAGES["kernel-languages"]
MODULES = {
    text.partition("\n")[0].removeprefix("# ").removesuffix(".py"): text
    for text in blocks(PAGE, "python")
}
# What each kernel needs, for those that run on a CPU.
RUN = {"axpy_numba": "numba", "axpy_pallas": "jax", "axpy_triton": "triton"}
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["axpy_torch", "axpy_numba", "axpy_triton", "axpy_pallas"]
"""


def test_every_module_is_python_and_defines_its_kernel() -> None:
    """And the page says of each whether it is tested."""
    for name, text in MODULES.items():
        compile(text, f"{name}.py", "exec")
        assert (
            f"\ndef {name}(x: torch.Tensor, y: torch.Tensor, a: float) -> torch.Tensor:\n" in text
        )
    rows = re.findall(r"^\| \[(.*?)\]\(#(.*?)\) \|.*\| (.*) \|$", PAGE, flags=re.MULTILINE)
    tested = {anchor.replace("-", "") for _, anchor, how in rows if not how.startswith("no: ")}
    assert {f"axpy_{anchor}" for anchor in tested} == {*RUN}
    assert len(rows) == len(MODULES) - 1


def test_the_page_has_every_language() -> None:
    """With its package, and the keys that it is for."""
    found = re.findall(
        r"^\| (.*?) \| `(.*?)` \| `(.*?)` \| (.*?) \| (.*?) \|", PAGE, flags=re.MULTILINE
    )
    said = {name: (package, keys, seen) for _, name, package, keys, seen in found}
    for name, language in KERNEL_LANGUAGES.items():
        keys = ", ".join(f"`{backend}`" for backend in language.backends) or "all"
        seen = "look into it" if name == TRITON else "opaque"
        assert said[name][:2] == (language.package, keys)
        assert said[name][2].startswith(seen)
    assert said.keys() == KERNEL_LANGUAGES.keys()


@pytest.mark.torch
@pytest.mark.parametrize("kernel", RUN)
def test_a_kernel_runs_on_a_cpu(kernel: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(RUN[kernel]) is None:
        pytest.skip(f"{RUN[kernel]} is not installed")
    [entry] = blocks(PAGE, "yaml")
    replaced = f"kernel: {kernel}, language: {kernel.removeprefix('axpy_')}"
    assert "kernel: axpy_numba, language: numba" in entry
    entry = entry.replace("kernel: axpy_numba, language: numba", replaced)
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    write_package(tmp_path)
    paths = [tmp_path, tmp_path / "generated/torch-python", ROOT, os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "TRITON_INTERPRET": "1",
        # Without a compiler generated tests compile no further than AOT autograd.
        "CXX": "none",
    }
    tests = "generated/torch-python/tests/test_mylib_ops.py"
    done = run_forked(
        ("-m", "pytest", "-q", "-p", "no:cacheprovider", tests), tmp_path, environment, COMPILING
    )
    assert done.returncode == 0, done.stdout + done.stderr
