"""docs/cookbook.md: all recipes in one file, with the tests that are generated from their samples."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tests.blocks import PAGES, blocks
from tests.conftest import ROOT
from tests.forks import run_forked

PAGE = PAGES["cookbook"]
CLASSES = ROOT / "examples" / "torch_classes"
TRITON = "# cookbook_triton.py\n"
CONFIG = """\
schema = ["ops.yaml"]
output-dir = "."
targets = ["torch-python"]

[target.torch-python]
package = "cookbook_ops"
folder = "."
tests = "tests"
kernels = ["kernels", "cookbook_triton"]
fakes = ["kernels"]
formulas = ["kernels"]
"""
# The recipes without samples; and the Triton kernel, which its interpreter runs without a GPU.
CALLS = """\
import sys
import torch
import cookbook_ops

x = torch.randn(3, 400)
assert cookbook_ops.jitter(x).shape == x.shape
assert cookbook_ops.newer(x).equal(x)
if "triton" in sys.argv:
    from cookbook_triton import silu_triton

    torch.testing.assert_close(silu_triton(x), cookbook_ops.silu(x))
"""


@pytest.mark.torch
def test_every_recipe_works(tmp_path: Path) -> None:
    entries = [one for one in blocks(PAGE, "yaml") if "torch_classes::" not in one]
    (tmp_path / "ops.yaml").write_text("\n\n".join(entries))
    head = "from __future__ import annotations\n\nimport torch\nfrom torch import Tensor\n\n\n"
    kernels = [one for one in blocks(PAGE, "python") if not one.startswith(TRITON)]
    (tmp_path / "kernels.py").write_text(head + "\n\n".join(kernels))
    [triton] = [one for one in blocks(PAGE, "python") if one.startswith(TRITON)]
    (tmp_path / "cookbook_triton.py").write_text(triton)
    compile(triton, "cookbook_triton.py", "exec")
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path), os.environ.get("PYTHONPATH", ""))),
        "TRITON_INTERPRET": "1",
        # Without a compiler generated tests compile no further than AOT autograd, which is what a recipe can get wrong.
        "CXX": "none",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    has_triton = importlib.util.find_spec("triton") is not None
    for command in (
        ("-m", "torchgen_lite", "generate", "--deny-warnings"),
        ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "tests"),
        ("-c", CALLS, *(["triton"] if has_triton else [])),
    ):
        # Nothing that reads `CXX` has been imported there.
        done = run_forked(command, tmp_path, environment)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_recipe_in_cpp_is_part_of_an_example() -> None:
    """tests/cpp/test_torch_classes.py builds it."""
    [entry] = [one for one in blocks(PAGE, "yaml") if "torch_classes::" in one]
    assert entry in (CLASSES / "ops.yaml").read_text()
    assert blocks(PAGE, "toml")[0] in (CLASSES / "torchgen_lite.toml").read_text()
    assert blocks(PAGE, "cpp")[0] in (CLASSES / "kernels.cpp").read_text()
