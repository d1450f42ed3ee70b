"""Every default of typed functions and of stubs can be passed.

PyTorch makes a list of one `int` or `float`, but of no other value: `SymInt[3] a=2` is `(2, 2, 2)` in Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

TYPES = {
    "int[3] a=2": "2, 2, 2",
    "SymInt[3] a=2": "2, 2, 2",
    "float[2] a=0.5": "0.5, 0.5",
    "bool[3] a=True": "True, True, True",
    "SymInt[1] a=7": "7,",
    "SymInt[2] a=[1, 2]": "1, 2",
    "bool[2] a=[True, False]": "True, False",
    "int[] a=[]": "",
    "int[2]? a=None": None,
}
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python", "torch-stubs"]

[target.torch-python]
package = "typed"
kernels = ["kernels"]
"""
ENTRY = """\
- func: defaults::f{number}(Tensor x, {argument}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: f{number}
  fake: {{like: x}}

"""
KERNEL = """\
def f{number}(x, a={default}):
    seen.append(None if a is None else tuple(a))
    return x + 0

"""
STUBS = """
import ast
import json
from pathlib import Path

found = {}
(stub,) = [path for path in Path("generated").rglob("defaults*.pyi")]
for node in ast.parse(stub.read_text()).body:
    if isinstance(node, ast.ClassDef) and node.name.endswith("__default"):
        found[len(found)] = ast.unparse(node.body[-1].args.defaults[-1])
"""
TORCH = STUBS + """
import inspect

import kernels
import torch
import typed
from typed import functions

x = torch.ones(1)
for number in range(len(found)):
    function = getattr(functions, f"f{number}")
    operator = getattr(torch.ops.defaults, f"f{number}")
    written = inspect.signature(function).parameters["a"].default
    for call in (
        lambda: function(x),
        lambda: function(x, written),
        lambda: operator(x),
        lambda: operator(x, eval(found[number])),
    ):
        call()
    print(*kernels.seen, sep=" | ")
    kernels.seen.clear()
"""


def project(folder: Path) -> list[str]:
    """The project, and what each kernel gets."""
    expected = [None if text is None else f"({text})" for text in TYPES.values()]
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    numbered = list(enumerate(zip(TYPES, expected)))
    (folder / "ops.yaml").write_text(
        "".join(ENTRY.format(number=n, argument=argument) for n, (argument, _) in numbered)
    )
    kernels = [KERNEL.format(number=n, default=default) for n, (_, default) in numbered]
    (folder / "kernels.py").write_text("seen = []\n\n\n" + "".join(kernels))
    write_package(folder)
    return [str(one) for one in expected]


@pytest.mark.torch
def test_functions_and_stubs_for_torch(tmp_path: Path) -> None:
    expected = project(tmp_path)
    assert run_program(tmp_path, TORCH).splitlines() == [" | ".join([one] * 4) for one in expected]
