"""Names of operators and namespaces that mean something to C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
@pytest.mark.parametrize("name", ["NULL", "errno", "__FILE__", "_Exit"])
def test_a_namespace_that_may_be_a_macro_is_refused(target: str, name: str) -> None:
    """`TORCH_LIBRARY_IMPL(NULL, CPU, m)` registers kernels for `__null`, or does not compile."""
    source = Source("ops.yaml", f"- func: {name}::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: k\n")
    functions, found = load_native_functions([source])
    config = Config(Path("nowhere"), target_options={target: {"namespace": "lib"}})
    program = build_program(functions, config, diagnostics=found, sources=[source])
    generated = generate_all(program, targets=[target])
    assert [d.code for d in generated.diagnostics if d.severity == "error"] == ["TG512"]
