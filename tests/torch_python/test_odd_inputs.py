"""Conditions choose, for tensors of PyTorch of every dtype and layout, what Python says of the same tensor.

tests/cpp has the same conditions and calls for the targets in C++, and tests/unit/analysis/selection for `why --input`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cpp.conditions import ARGUMENTS, CONDITIONS, entries
from tests.torch_python.generated import run_program, write_package
from torchgen_lite.analysis.selection.inputs import dtype_named
from torchgen_lite.formulas.language import DTYPES

pytestmark = pytest.mark.torch
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""
KERNELS = "def yes(*args): return 1\ndef no_(*args): return 0\n"
COMPARED = """
import json
import torch, sel_ops
from tests.cpp.conditions import CONDITIONS, Facts, calls, said

def tensor(facts):
    made = torch.zeros(256, dtype=getattr(torch, facts.dtype)).as_strided(facts.shape, facts.strides, facts.offset)
    assert made.untyped_storage().data_ptr() % 64 == 0
    return made.requires_grad_(facts.requires_grad)

def passed(name, value):
    if isinstance(value, Facts):
        return tensor(value)
    return getattr(torch, value) if name == "dtype" and value else value

differ = []
for call in calls(700):
    given = {name: passed(name, value) for name, value in call.items()}
    for number, condition in enumerate(CONDITIONS):
        try:
            found = getattr(torch.ops.sel, f"c{number}")(**given)
        except (IndexError, ZeroDivisionError):
            found = -1
        if found != said(condition, call):
            differ.append((condition.text, found, str(call)))
print(json.dumps(differ[:9]))
"""


def test_torch_python_chooses_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(entries(CONDITIONS, ARGUMENTS))
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "kern.py").write_text(KERNELS)
    write_package(tmp_path)
    assert json.loads(run_program(tmp_path, COMPARED)) == []


DTYPED = """\
- func: sel::NAME(Tensor x) -> int
  dispatch:
    CPU:
      - {when: "CONDITION", kernel: yes}
      - no_
"""
OF_DTYPES = """
import warnings, torch, sel_ops
warnings.simplefilter("ignore")
for name, dtype in DTYPES.items():
    x = torch.empty(0, dtype=getattr(torch, dtype))
    asked = [getattr(torch.ops.sel, f"{what}{name}")(x) for what in ("is_", "is_not_")]
    print(name, *asked, int(x.is_floating_point()), int(x.is_complex()))
"""


def test_every_dtype_is_known(tmp_path: Path) -> None:
    """By each of its names; `why --input` knows, too, which are of floating point."""
    conditions = {
        **{f"is_{name}": f"x.dtype == {name}" for name in DTYPES},
        **{f"is_not_{name}": f"x.dtype not in {{{name}, bool}}" for name in DTYPES},
    }
    texts = [
        DTYPED.replace("NAME", name).replace("CONDITION", condition)
        for name, condition in conditions.items()
    ]
    (tmp_path / "ops.yaml").write_text("".join(texts))
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "kern.py").write_text(KERNELS)
    write_package(tmp_path)
    # Quantized tensors have another key.
    plain = sorted(name for name in DTYPES if not name.startswith(("qint", "quint")))
    names = {name: {"byte": "uint8", "char": "int8"}.get(name, name) for name in plain}
    program = OF_DTYPES.replace("DTYPES", repr(names))
    expected = [
        f"{name} 1 0 {int(dtype_named(name).is_floating_point)} {int(dtype_named(name).is_complex)}"
        for name in names
    ]
    assert run_program(tmp_path, program).splitlines() == expected


ODD = """
import torch, sel_ops
from torch._subclasses import FakeTensorMode

class Wrapped(torch.Tensor):
    pass

x = torch.zeros(3, 8)
odd = {
    "subclass": x.as_subclass(Wrapped),
    "parameter": torch.nn.Parameter(x),
    "conjugate": torch.zeros(3, 8, dtype=torch.complex64).conj(),
    "negative": torch.zeros(3, 8, dtype=torch.complex64).conj().imag,
    "inference": None,
    "meta": torch.zeros(3, 8, device="meta"),
}
with torch.inference_mode():
    odd["inference"] = torch.zeros(3, 8)
    print("inference mode", torch.ops.sel.asked(odd["inference"]))
for name, tensor in odd.items():
    print(name, torch.ops.sel.asked(tensor))
with FakeTensorMode() as mode:
    try:
        print("fake", torch.ops.sel.asked(mode.from_tensor(x)))
    except Exception as error:
        print("fake", type(error).__name__)
"""
ENTRY = """\
- func: sel::asked(Tensor x) -> int
  dispatch:
    CPU, Meta:
      - {when: "x.size(-1) == 8 and x.is_contiguous() and x.is_aligned(1) and x.dim() == 2", kernel: yes}
      - no_
"""


def test_tensors_of_other_kinds_are_asked_as_plain_ones(tmp_path: Path) -> None:
    """PyTorch makes plain tensors of conjugates first. Those without memory have no address: the last row runs."""
    (tmp_path / "ops.yaml").write_text(ENTRY)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "kern.py").write_text(KERNELS)
    write_package(tmp_path)
    lines = run_program(tmp_path, ODD).splitlines()
    assert lines == [
        "inference mode 1",
        "subclass 1",
        "parameter 1",
        "conjugate 1",
        "negative 1",
        "inference 1",
        "meta 0",
        "fake 0",
    ]
