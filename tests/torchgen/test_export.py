"""The JSON export of all of PyTorch."""

from __future__ import annotations

import json

import pytest

from tests.torchgen.conftest import Theirs
from tests.torchgen.exceptions import NO_VARIABLE
from torchgen_lite.analysis.program import Program
from torchgen_lite.languages.export import EXPORT_VERSION, export_program

pytestmark = pytest.mark.torch


def test_everything_is_there(program: Program, theirs: Theirs) -> None:
    exported = json.loads(json.dumps(export_program(program)))
    assert exported["version"] == EXPORT_VERSION
    assert len(exported["ops"]) == len(theirs.functions)
    assert len(exported["groups"]) == len(theirs.groups)
    assert len(exported["view_groups"]) == len(theirs.view_groups)
    names = {
        f"{f['namespace']}::{f['name']}" + (f".{f['overload']}" if f["overload"] else "")
        for f in exported["ops"]
    }
    assert names == set(theirs.functions)
    for function in exported["ops"]:
        assert function["group"] is None or function["group"] in names
        assert function["structured_delegate"] is None or function["structured_delegate"] in names
        assert function["view"] is None or function["view"]["of"] in names


def test_every_schema_of_the_jit() -> None:
    """Operators of every kind can be exported, even with dictionaries, classes and type variables."""
    torch = pytest.importorskip("torch")
    from torchgen_lite.analysis.resolve import Resolved
    from torchgen_lite.languages.export import export_operator
    from torchgen_lite.loader.entry.entry import NativeFunction
    from torchgen_lite.schema import FunctionSchema

    schemas = [
        FunctionSchema.parse(str(s))
        for s in torch._C._jit_get_all_schemas()
        if s.name not in NO_VARIABLE.names
    ]
    resolved = Resolved(tuple([NativeFunction(s, s.namespace or "aten") for s in schemas]))
    assert len(resolved.operators) >= len(schemas) > 4000
    for operator in resolved.operators:
        assert json.dumps(export_operator(operator, {}))
