"""What `table` says of a library in C++ and of the package in Python that loads it, and what PyTorch has then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cpp.compiling import compile_library, needs_compiler
from tests.together import ORDERS, write_together, wrong_cells
from tests.torch_python.generated import write_package
from torchgen_lite import load
from torchgen_lite.targets.generation import generation_of

pytestmark = [needs_compiler, pytest.mark.torch]

LOAD = 'load = "demo_library"\n'
LIBRARY = """\
from pathlib import Path

import torch

torch.ops.load_library(Path(__file__).with_name("library.so"))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the library, which is the same in every order."""
    folder = write_together(tmp_path_factory.mktemp("together"), ORDERS[0], LOAD)
    write_package(folder)
    (folder / "demo_library.py").write_text(LIBRARY)
    generated = folder / "generated" / "cpp-torch"
    declared = (generated / "include" / "demo" / "kernels.h").read_text()
    kernels = re.findall(r"^[\w:]+[ &]+\w+\(.*\);$", declared, flags=re.MULTILINE)
    body = ' { TORCH_CHECK(false, "not called"); }\n'
    defined = "".join(kernel.removesuffix(";") + body for kernel in kernels)
    (folder / "kernels.cpp").write_text(
        f"#include <ATen/ATen.h>\nnamespace demo {{\n{defined}}}\n#include <demo/verify_kernels.h>\n"
    )
    sources = ["kernels.cpp", *[str(path) for path in sorted((generated / "src").glob("*.cpp"))]]
    compile_library(folder, sources, includes=[generated / "include"])
    return folder


def test_a_library_alone(project: Path) -> None:
    program = load(root=project)
    alone = generation_of(program).select("cpp-torch")
    assert wrong_cells(program, alone, "demo_library") == []


@pytest.mark.parametrize("targets", ORDERS, ids=", ".join)
def test_a_library_and_the_package_that_loads_it(project: Path, targets: tuple[str, ...]) -> None:
    program = load(root=write_together(project, targets, LOAD))
    assert wrong_cells(program, generation_of(program).shown, "demo_ops") == []
