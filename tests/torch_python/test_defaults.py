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


# Each kind of default: what the schema says, its value, and another one, in Python.
KINDS = {
    "int a=3": ("3", "4"),
    "int a=Mean": ("1", "0"),
    "int a=float": ("6", "0"),
    "SymInt a=3": ("3", "4"),
    "float a=2": ("2.0", "0.5"),
    "float a=-1e-5": ("-1e-5", "0.5"),
    "bool a=True": ("True", "False"),
    "str a='mean'": ("'mean'", "'sum'"),
    "Scalar a=1": ("1", "2.5"),
    "Scalar a=1.5": ("1.5", "2"),
    "Scalar a=True": ("True", "3"),
    "complex a=2j": ("2j", "1 + 1j"),
    "ScalarType a=float": ("torch.float32", "torch.int64"),
    "Layout a=strided": ("torch.strided", "torch.sparse_coo"),
    "MemoryFormat a=contiguous_format": ("torch.contiguous_format", "torch.channels_last"),
    "Device a='cpu'": ("torch.device('cpu')", "torch.device('meta')"),
    'Device a="cuda:1"': ("torch.device('cuda:1')", "torch.device('cpu')"),
    "int? a=3": ("3", "None"),
    "float? a=0.5": ("0.5", "None"),
    "bool? a=False": ("False", "None"),
    "str? a='x'": ("'x'", "None"),
    "Scalar? a=2": ("2", "None"),
    "ScalarType? a=double": ("torch.float64", "None"),
    "MemoryFormat? a=contiguous_format": ("torch.contiguous_format", "None"),
    "int? a=None": ("None", "7"),
    "SymInt? a=None": ("None", "7"),
    "float? a=None": ("None", "0.5"),
    "bool? a=None": ("None", "True"),
    "str? a=None": ("None", "'x'"),
    "Scalar? a=None": ("None", "7"),
    "ScalarType? a=None": ("None", "torch.int64"),
    "Layout? a=None": ("None", "torch.strided"),
    "MemoryFormat? a=None": ("None", "torch.channels_last"),
    "Device? a=None": ("None", "torch.device('meta')"),
    "int[] a=[1, 2]": ("[1, 2]", "[]"),
    "int[] a=[]": ("[]", "[3]"),
    "int[2] a=1": ("[1, 1]", "[3, 4]"),
    "SymInt[2] a=1": ("[1, 1]", "[3, 4]"),
    "int[] a=[Mean, 5]": ("[1, 5]", "[3]"),
    "float[] a=[0.5]": ("[0.5]", "[]"),
    "bool[2] a=True": ("[True, True]", "[True, False]"),
    "int[]? a=None": ("None", "[3, 4]"),
    "int[2]? a=None": ("None", "[3, 4]"),
    "float[]? a=None": ("None", "[0.5]"),
}
EVERYWHERE = """\
- func: defaults::{name}(Tensor x, {argument}) -> Tensor
  dispatch: {{CPU: kernel}}
  fake: fake
  vmap: vmap
  derivatives: {{x: "backward(grad, a)", result: "forward(x_t, a)"}}

- func: defaults::{name}_reference(Tensor x, {argument}) -> Tensor
  dispatch: {{CPU: reference}}
  fake: {{like: x}}
  decompose: onnx
  samples: {{calls: [(randn(3))], reference: reference}}

"""
# The defaults of an author's functions are not those of the schema, and never arrive.
RECORDING = """\
import torch

seen = {}


def note(where, value):
    seen[where] = list(value) if isinstance(value, (list, tuple)) else value


def kernel(x, a):
    note("kernel", a)
    return x + 0


def fake(x, a=...):
    note("fake", a)
    return torch.empty_like(x)


def vmap(info, in_dims, x, a=...):
    note("vmap", a)
    return x + 0, in_dims[0]


def backward(grad, a):
    note("backward", a)
    return grad


def forward(x_t, a):
    note("forward", a)
    return x_t


def reference(x, a=...):
    note("reference", a)
    return x + 0
"""
# The same with a name, where `a` is keyword-only.
ALL_OF_THEM = """
import recording
import torch
import typed
from torch import _decomp
from typed import functions

kinds = {kinds!r}
x = torch.ones(2)


def run(op, given, by_name):
    recording.seen.clear()

    def call(x):
        return op(x, **dict(zip("a", given))) if by_name else op(x, *given)

    call(x)
    call(torch.ones(2, device="meta"))
    call(x.clone().requires_grad_()).sum().backward()
    torch.func.jvp(call, (x,), (x,))
    torch.vmap(call)(x)
    return dict(recording.seen)


def referred(op, given, by_name):
    found = []
    for function in (op, _decomp.decomposition_table[op.default]):
        recording.seen.clear()
        if by_name:
            function(x, **dict(zip("a", given)))
        else:
            function(x, *given)
        found.append(recording.seen["reference"])
    return dict(enumerate(found))


wheres = "kernel fake backward forward vmap".split()
count = 0
for number, (default, other) in enumerate(kinds.values()):
    default, other = eval(default), eval(other)
    for prefix in ("p", "k"):
        op = getattr(torch.ops.defaults, f"{{prefix}}{{number}}")
        function = getattr(functions, f"{{prefix}}{{number}}")
        reference = getattr(torch.ops.defaults, f"{{prefix}}{{number}}_reference")
        for by_name in (False, True)[prefix == "k" :]:
            for given, wanted in (((), default), ((default,), default), ((other,), other)):
                got = {{**run(op, given, by_name), **referred(reference, given, by_name)}}
                assert len(got) == len(wheres) + 2
                function(x, **dict(zip("a", given))) if prefix == "k" else function(x, *given)
                got["function"] = recording.seen["kernel"]
                for where, value in got.items():
                    is_same = value == wanted and type(value) is type(wanted)
                    assert is_same, (prefix, list(kinds)[number], given, where, value)
                    count += 1
print(count)
"""


@pytest.mark.torch
def test_every_kind_of_default_arrives_as_what_a_caller_gives(tmp_path: Path) -> None:
    """PyTorch leaves out what equals a default, and keeps the number of a dtype; authors see neither."""
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\npackage = "typed"\n'
        + "".join(f'{option} = ["recording"]\n' for option in ("kernels", "fakes", "formulas"))
    )
    (tmp_path / "recording.py").write_text(RECORDING)
    entries = [
        EVERYWHERE.format(name=f"{prefix}{number}", argument=f"{star}{argument}")
        for number, argument in enumerate(KINDS)
        for prefix, star in (("p", ""), ("k", "*, "))
    ]
    (tmp_path / "ops.yaml").write_text("".join(entries))
    write_package(tmp_path)
    count = run_program(tmp_path, ALL_OF_THEM.format(kinds=KINDS))
    assert int(count) == len(KINDS) * 3 * 3 * 8
