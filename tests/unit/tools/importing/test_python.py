"""`import` of modules: which package a function belongs to, and the schemas that are registered."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from torchgen_lite_tools.importing.python_recorder import author_of, is_within
from torchgen_lite_tools.importing.torch_schemas import registered_schema


def function_of(path: Path) -> FunctionType:
    names: dict[str, FunctionType] = {}
    exec(compile("def f(): pass", path, "exec"), names)
    return names["f"]


def test_a_folder_beside_pytorch_is_not_pytorch(tmp_path: Path) -> None:
    home = str(tmp_path / "torch")
    theirs, ours = function_of(tmp_path / "torch/a.py"), function_of(tmp_path / "torchx/a.py")
    assert is_within(theirs, home)
    assert not is_within(ours, home)
    assert author_of(theirs, home) is None
    assert author_of(ours, home) is ours


# Each default as it is written for libtorch, and as its value is written; "" for the same text.
DEFAULTS = {
    "float a=-0.0": "",
    "float a=1e300": "float a=1e+300",
    "float a=0.30000000000000004": "",
    "float? a=1e-12": "",
    "float[] a=[-0.0, 1e-05]": "",
    "float[2] a=1.0": "",
    "float[2] a=[1.0, 2.0]": "",
    "Scalar a=-0.0": "",
    "Scalar a=True": "",
    "complex a=1j": "",
    'str a="é"': "",
    'str a="=x, int b=..."': "",
    r"str a='a\n\t\\\''": r"str a=" + r'"a\n\t\\' + "'\"",
    "str a='\"'": r'str a="\""',
    r'str a="\001\177"': "",
    'Device a="cpu"': "",
    "Device? a='cuda:1'": 'Device? a="cuda:1"',
    "int[2] a=1": "",
    "int[2] a=[1, 2]": "",
    "int[1]? a=1": "",
    "SymInt[2] a=1": "",
    "bool[3] a=[True, False, True]": "",
    "Tensor? a=None": "",
    "int a=Mean": "int a=1",
    "ScalarType a=float32": "ScalarType a=6",
    "Tensor(a!)? a=None": "",
}


@pytest.mark.torch
def test_a_default_is_its_value() -> None:
    import torch

    library = torch.library.Library("imported_defaults", "DEF")
    for number, (given, expected) in enumerate(DEFAULTS.items()):
        library.define(f"f{number}({given}) -> ()")
        schema, why = registered_schema(torch, f"imported_defaults::f{number}", "")
        assert str(schema) == f"imported_defaults::f{number}({expected or given}) -> ()", why
        mine = torch._C.parse_schema(str(schema)).arguments[0].default_value
        theirs = torch._C._get_schema(f"imported_defaults::f{number}", "").arguments[0]
        assert repr(mine) == repr(theirs.default_value)


@pytest.mark.torch
def test_the_schemas_of_all_operators_are_those_registered() -> None:
    """The values of defaults, and everything but the order of aliases in a union."""
    import torch

    def values(schema: Any) -> list[str]:
        return [repr(a.default_value) for a in schema.arguments if a.has_default_value()]

    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.partition(".")
        if name == "static_runtime::select_tensor" or "schema: (none)" in torch._C._dispatch_dump(
            name
        ):
            continue
        theirs = torch._C._get_schema(base, overload)
        if "PyObject" in str(
            theirs
        ):  # Of torch.distributed, where it is imported: PyTorch cannot read it again.
            continue
        mine, why = registered_schema(torch, base, overload)
        read = torch._C.parse_schema(str(mine))
        assert (str(read), values(read)) == (str(theirs), values(theirs)), why


@pytest.mark.torch
def test_a_default_that_no_schema_can_say(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    float_ = torch._C.FloatType.get()
    argument = torch._C.Argument("a", float_, None, float("nan"), False, None)
    schema = torch._C.FunctionSchema("l::f", "", [argument], [], False, False)
    monkeypatch.setattr(torch._C, "_get_schema", lambda *names: schema)
    assert registered_schema(torch, "l::f", "")[1] == "a schema has no word for the default `nan`"
