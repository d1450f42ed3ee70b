"""The shape of the export: programs in other languages read it, so what they find there stays, or the version changes.

`UPDATE_EXPECT=1` records a shape that has more, or one of another version.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from torchgen_lite import load
from torchgen_lite.languages.export import EXPORT_VERSION, export_program

RECORDED = Path(__file__).with_name("export_shape.json")
# Entries that together have a value for each field.
ENTRIES = """\
- func: my::neg(Tensor self, *, float s=1.0) -> Tensor
  doc: Minus self.
  structured_delegate: my::neg.out
  tags: pointwise
- func: my::neg.out(Tensor self, *, float s=1.0, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: neg_out}
- func: my::neg_(Tensor(a!) self, *, float s=1.0) -> Tensor(a!)
  structured_delegate: my::neg.out
- func: my::rows(Tensor(a) self, int? n=None) -> (Tensor(a) some, Tensor)
  variants: function, method
  dispatch: {CompositeExplicitAutograd: rows, CUDA: rows_cuda}
- func: aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)
  dispatch: {ZeroTensor: view}
- func: aten::squeeze(Tensor(a) self) -> Tensor(a)
  dispatch: {ZeroTensor: squeeze}
- func: aten::squeeze_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CompositeExplicitAutograd: squeeze_}
- func: aten::squeeze_copy(Tensor self) -> Tensor
  dispatch: {CompositeExplicitAutograd: squeeze_copy}
- func: aten::view_copy(Tensor self, SymInt[] size) -> Tensor
  dispatch: {CompositeExplicitAutograd: view_copy}
"""
# Objects whose keys are names of other things.
TABLES = ("dispatch", "registered", "registered_by_pytorch")
Shape = Mapping[str, list[str]]


def shape_of(value: Any) -> dict[str, list[str]]:
    """The kinds of values at each path: `.ops[].name` has strings."""
    kinds: dict[str, set[str]] = {}
    for path, kind in _kinds(value, ""):
        kinds.setdefault(path, set()).add(kind)
    return {path: sorted(found) for path, found in sorted(kinds.items())}


def _kinds(value: Any, path: str) -> Iterator[tuple[str, str]]:
    yield path, type(value).__name__
    if isinstance(value, dict):
        is_table = path.rpartition(".")[2] in TABLES
        for key, one in value.items():
            yield from _kinds(one, f"{path}{{}}" if is_table else f"{path}.{key}")
    if isinstance(value, list):
        for one in value:
            yield from _kinds(one, f"{path}[]")


def breaks(old: Shape, new: Shape) -> list[str]:
    """What a program that reads the old shape does not find in the new one, or finds of another kind."""
    found = []
    for path, kinds in old.items():
        more = set(new.get(path, ())) - set(kinds)
        if path not in new:
            found.append(f"{path} is gone")
        elif more:
            found.append(f"{path} may be {', '.join(sorted(more))}, and was {', '.join(kinds)}")
    return found


def exported(folder: Path) -> list[dict[str, Any]]:
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    program = load(root=folder)
    assert not program.has_errors, program.diagnostics
    beneath = {"aten::view": {"ZeroTensor": "here.cpp:1"}}
    # As JSON has it; without a configuration there is no target.
    text = json.dumps([export_program(program, ["python"], None, beneath), export_program(program)])
    found: list[dict[str, Any]] = json.loads(text)
    return found


@pytest.mark.torch
def test_the_shape_is_that_of_its_version(tmp_path: Path) -> None:
    shape = shape_of(exported(tmp_path))
    recorded = (
        json.loads(RECORDED.read_text()) if RECORDED.exists() else {"version": 0, "shape": {}}
    )
    broken = breaks(recorded["shape"], shape)
    if recorded["version"] == EXPORT_VERSION:
        assert broken == [], "increase EXPORT_VERSION, and say in CHANGELOG.md what programs do"
    else:
        assert broken or not recorded["shape"], "nothing breaks: EXPORT_VERSION stays"
    now = {"version": EXPORT_VERSION, "shape": shape}
    if os.environ.get("UPDATE_EXPECT"):
        RECORDED.write_text(json.dumps(now, indent=1) + "\n")
        recorded = now
    assert recorded == now, "UPDATE_EXPECT=1 records it"


def test_what_breaks_a_program() -> None:
    old = shape_of({"ops": [{"name": "a", "view": None, "tags": ["x"]}]})
    assert breaks(old, old) == []
    assert (
        breaks(old, shape_of({"ops": [{"name": "a", "view": None, "tags": ["x"], "more": 1}]}))
        == []
    )
    new = shape_of({"ops": [{"name": 1, "view": {"of": "b"}}]})
    assert breaks(old, new) == [
        ".ops[].name may be int, and was str",
        ".ops[].tags is gone",
        ".ops[].tags[] is gone",
        ".ops[].view may be dict, and was NoneType",
    ]


def test_a_table_has_one_kind_of_values() -> None:
    assert shape_of({"dispatch": {"CPU": {"kernel": "f"}, "CUDA": {"kernel": "g"}}}) == {
        "": ["dict"],
        ".dispatch": ["dict"],
        ".dispatch{}": ["dict"],
        ".dispatch{}.kernel": ["str"],
    }
