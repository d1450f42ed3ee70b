"""Compiled templates are kept, and used while their text is the same."""

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment, TemplateSyntaxError

from torchgen_lite.emit.templates import ByteCode


def environment(folder: Path, text: str) -> Environment:
    return Environment(
        loader=DictLoader({"one": text}), bytecode_cache=ByteCode(str(folder / "0.pyc"))
    )


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    folder = tmp_path / "made" / "here"
    assert environment(folder, "{{ 1 + 1 }}").get_template("one").render() == "2"
    return folder


def test_what_is_kept_is_not_compiled_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(list(kept.iterdir())) == 1

    def compiled(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Environment, "_compile", compiled)
    assert environment(kept, "{{ 1 + 1 }}").get_template("one").render() == "2"


def test_a_changed_template_is_compiled(kept: Path) -> None:
    assert environment(kept, "{{ 1 + 2 }}").get_template("one").render() == "3"
    with pytest.raises(TemplateSyntaxError):
        environment(kept, "{{ 1 + }}").get_template("one")
    assert len(list(kept.iterdir())) == 1


def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    (tmp_path / "file").write_text("")
    assert environment(tmp_path / "file", "{{ 1 + 1 }}").get_template("one").render() == "2"


def test_where_python_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert environment(tmp_path, "{{ 1 + 1 }}").get_template("one").render() == "2"
    assert not list(tmp_path.iterdir())
