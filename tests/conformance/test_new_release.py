"""What new_release.py says about the installed torch, with our tables and with those of another release."""

from __future__ import annotations

import pytest

from tests.conformance import new_release
from tests.installed import KEYS
from torchgen_lite.key_tables import KEY_TABLES

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_nothing_is_unknown() -> None:
    assert list(new_release.differences(torch)) == []


def test_what_is_unknown_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "DeferredInit"
    older = KEYS._replace(functionalities=tuple(n for n in KEYS.functionalities if n != name))
    monkeypatch.setattr(new_release, "table_of", lambda release: older)
    monkeypatch.setattr(new_release, "RELEASES", ())
    monkeypatch.setattr(new_release, "_unread", lambda torch: iter(()))
    monkeypatch.setattr(new_release, "KNOWN_TAGS", {"core": "", "gone": ""})
    monkeypatch.setattr(new_release, "BASE_TYPES", frozenset({"Tensor"}))
    monkeypatch.setattr(new_release, "TYPES_UNTIL", {"int": (9, 9), "Old": (9, 9), "str": (2, 5)})
    monkeypatch.setattr(new_release, "CONTEXT_ATTRIBUTES", frozenset({"gone"}))
    found = list(new_release.differences(torch))
    assert (
        "torchgen_lite/languages/python/reserved.txt: attribute `mark_dirty` of `ctx` is new"
        in found
    )
    assert found[0].startswith("torchgen_lite/key_tables.py: RELEASES has no 2.")
    assert any(f"key `{name}` is new" in line for line in found)
    assert "torchgen_lite/loader/entry/known_tags.py: tag `pointwise` is new" in found
    assert "torchgen_lite/loader/entry/known_tags.py: tag `gone` is gone" in found
    types = [line.partition("type_names.py: ")[2] for line in found if "type_names" in line]
    assert {"type `SymBool` is new", "type `str` is new", "type `Old` is gone"} <= set(types)
    assert not {"type `Tensor` is new", "type `int` is new", "type `str` is gone"} & set(types)


def test_what_keys_stand_for_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ("Functionalize",) if not KEYS.implicit_beside_backends else ()
    table = KEYS._replace(implicit_beside_backends=other)
    monkeypatch.setattr(new_release, "table_of", lambda release: table)
    monkeypatch.setattr(new_release, "_unread", lambda torch: iter(()))
    [line] = new_release.differences(torch)
    assert "a member of CompositeImplicitAutograd, `Functionalize` is " in line
    assert table not in KEY_TABLES
