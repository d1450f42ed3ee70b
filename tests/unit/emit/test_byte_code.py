"""Compiled templates are kept with the byte code of modules, and used while their text is the same."""

import errno
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import DictLoader, Environment
from jinja2.bccache import Bucket

from torchgen_lite.emit import templates


def rendered(text: str) -> str:
    made = Environment(loader=DictLoader({"one": text}), bytecode_cache=templates.byte_code())
    return made.get_template("one").render()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    spec = ModuleSpec("templates", None)
    spec.cached = str(tmp_path / "templates.pyc")
    monkeypatch.setattr(templates, "__spec__", spec)
    monkeypatch.setattr(templates, "sys", SimpleNamespace(dont_write_bytecode=False))
    return tmp_path


def test_what_is_kept_is_not_compiled_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered("{{ 1 + 1 }}") == "2"
    assert len(list(folder.iterdir())) == 1

    def compiled(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Environment, "_compile", compiled)
    assert rendered("{{ 1 + 1 }}") == "2"


def test_a_changed_template_is_compiled(folder: Path) -> None:
    assert rendered("{{ 1 + 1 }}") == "2"
    assert rendered("{{ 1 + 2 }}") == "3"
    assert len(list(folder.iterdir())) == 1


def test_where_python_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert templates.byte_code() is not None
    monkeypatch.setattr(templates, "sys", SimpleNamespace(dont_write_bytecode=True))
    assert templates.byte_code() is None


def test_where_there_is_no_byte_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rmdir()
    assert templates.byte_code() is None
    monkeypatch.setattr(templates, "__spec__", ModuleSpec("templates", None))
    assert templates.byte_code() is None


def test_a_full_disk_ends_no_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(Bucket, "write_bytecode", full)
    assert rendered("{{ 1 + 1 }}") == "2"
    assert not list(folder.iterdir())
