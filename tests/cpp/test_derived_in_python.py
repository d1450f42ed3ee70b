"""A library in C++ whose derivatives the package in Python has: without the package they are refused, and never lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.loaded_package import build_package
from tests.torch_python.generated import run_program
from tests.torch_python.views import ENTRIES, IN_CPP, PAIRS, TREATED

pytestmark = [pytest.mark.torch, needs_compiler]
AUTO = """\
- func: vw::squared(Tensor x) -> Tensor
  dispatch: {CPU: squared}
  fake: {like: x}
  derivatives: auto
  samples:
    calls:
      - (randn(3))
    reference: x * x
"""
# Both libraries are loaded without the package first.
ALONE = (
    """
torch.ops.load_library("_C.so")
"""
    + PAIRS
    + """
PAIRS["squared"] = ops.squared, torch.square
x = torch.arange(12, dtype=torch.double).reshape(4, 3)

def refused(function):
    try:
        return str(function())
    except (RuntimeError, NotImplementedError) as error:
        return str(error)

for name, (f, g) in PAIRS.items():
    for given in (x, x.clone().requires_grad_()):
        for mode in (torch.enable_grad(), torch.no_grad(), torch.inference_mode()):
            with mode:
                assert all(map(torch.equal, tree_leaves(f(given)), tree_leaves(g(given)))), name
    for derived in (lambda: backward(f, x), lambda: grad(total(f))(x), lambda: jvp(f, (x,), (x,))):
        said = refused(derived)
        assert f"vw::{name}" in said, (name, said)
    if name != "squared":
        assert torch.equal(written(f)(x), written(g)(x)), name
print("import the package in Python" in refused(lambda: grad(total(ops.squared))(x)))
"""
)


def test_they_are_refused_until_the_package_is_imported(tmp_path: Path) -> None:
    build_package(tmp_path, ENTRIES + AUTO, IN_CPP)
    # From here on, it has them.
    then = """
import vw_ops
del PAIRS["squared"]
assert torch.equal(grad(total(ops.squared))(x), grad(total(lambda x: x * x))(x))
"""
    program = "import torch" + ALONE + then + TREATED
    assert run_program(tmp_path, program).splitlines() == ["True", "[]"]
