"""PyTorch's file, read once by us and once by torchgen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved


class Theirs(NamedTuple):
    """What torchgen derives from its file. `functions` is keyed by full name, in torchgen's order."""

    functions: dict[str, Any]
    groups: list[Any]
    view_groups: list[Any]
    grouped: list[Any]
    indices: dict[Any, Any]
    folder: Path


@pytest.fixture(scope="session")
def program() -> Program:
    pytest.importorskip("torchgen")
    program = load(torch=True)
    assert not program.diagnostics
    return program


@pytest.fixture(scope="session")
def ours(program: Program) -> Resolved:
    return program.resolved


@pytest.fixture(scope="session")
def theirs() -> Theirs:
    gen = pytest.importorskip("torchgen.gen")
    from torchgen.model import NativeFunctionsGroup, NativeFunctionsViewGroup

    packaged = Path(gen.__file__).parent / "packaged"
    native = packaged / "ATen" / "native"
    parsed = gen.parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
    grouped = gen.get_grouped_native_functions(parsed.native_functions)
    views = gen.get_grouped_by_view_native_functions(parsed.native_functions)
    return Theirs(
        {full_name(f): f for f in parsed.native_functions},
        [g for g in grouped if isinstance(g, NativeFunctionsGroup)],
        [g for g in views if isinstance(g, NativeFunctionsViewGroup)],
        list(grouped),
        dict(parsed.backend_indices),
        packaged,
    )


def spelled(text: str) -> str:
    """torchgen's C++ with our spacing: `const at::Tensor& x, int64_t n = 1`, `std::array<bool, 3>`."""
    return re.sub(r"(?<=\w)=", " = ", re.sub(r",\s*", ", ", text.replace(" &", "&")))


def full_name(function: Any) -> str:
    """The full name of a torchgen NativeFunction, such as `aten::add.Tensor`."""
    return f"{function.namespace}::{function.func.name}"
