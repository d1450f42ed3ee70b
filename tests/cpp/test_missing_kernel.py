"""A kernel that no source has is an error when a project of `init` is linked, and not where the library is loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from tests.cpp.compiling import needs_compiler
from tests.cpp.torch_ops import GENERATOR, configure, needs_cmake
from tests.cpp.torch_ops import run as run_in

LIBRARIES = [
    path
    for path in sorted((ROOT / "templates" / "init").glob("*/CMakeLists.txt"))
    if " SHARED " in path.read_text()
]


def test_there_are_libraries() -> None:
    assert len(LIBRARIES) == 3


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.parent.name)
def test_each_library_of_init_asks_for_it(path: Path) -> None:
    assert (
        "target_link_options(mylib PRIVATE $<$<PLATFORM_ID:Linux>:LINKER:--no-undefined>)"
        in path.read_text()
    )


@pytest.mark.torch
@pytest.mark.tools
@needs_cmake
@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="the option is that of Linux's linkers")
def test_the_linker_names_the_kernel(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--target", "cpp-torch-stable", "mylib").code == 0
    assert run("generate").code == 0
    kernels = tmp_path / "src" / "kernels.cpp"
    # Without the proof, which is the first to say it where it is included.
    text = kernels.read_text().replace("#include <mylib/verify_kernels.h>", "")
    kernels.write_text(text.replace("scale_cpu(", "scale_cpux("))
    configure(tmp_path, *GENERATOR)
    with pytest.raises(AssertionError, match=r"undefined reference to `mylib::scale_cpu\("):
        run_in(tmp_path, "cmake", "--build", "build")
