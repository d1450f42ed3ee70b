"""A template calls what it uses by name, and the file imports what was called."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite.emit.recorder import NotImported, Recorder
from torchgen_lite.targets.output import CalledModule

Run = Callable[..., Result]

OVERRIDE = """\
{# template-api: 1 #}
{% extends "built-in/python/autograd.py.j2" %}
{% block kernel %}
    {{ framework("NAME") }}(self)
{{ super() -}}
{% endblock %}
"""
BUMP = "\nversions = []\ndef bump_version(array: Array) -> None:\n    versions.append(array)\n"
USE = """\
import tinyarr
from tinyarr import framework
x = tinyarr.autograd.wanted(tinyarr.array([1.0, 2.0]))
x * x
print(len(framework.versions), framework.versions[0] is x)
"""


def test_a_name_is_imported_once_under_its_local_name() -> None:
    framework = Recorder(CalledModule("mine.frame", frozenset({"save", "zeros", "Node"})))
    given = [framework("zeros"), framework("save"), framework("save"), framework("Node", "_Base")]
    assert given == ["_zeros", "_save", "_save", "_Base"]
    assert [*map(str, framework.imported)] == ["Node as _Base", "save as _save", "zeros as _zeros"]
    assert framework("save") == "_save"
    with pytest.raises(NotImported, match="^`zeros` is called below the head, which imports what"):
        framework("zeros", "_empty")
    plain = Recorder(CalledModule("mine.frame"))
    assert (plain("anything"), [*map(str, plain.imported)]) == (
        "_anything",
        ["anything as _anything"],
    )
    with pytest.raises(NotImported, match="^`mine.frame` has no `safe`, which the template calls$"):
        framework("safe")


@pytest.fixture
def arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example `tinyarr`, whose framework has `bump_version`."""
    shutil.copytree(ROOT / "examples/tinyarr", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "src/tinyarr/framework.py").open("a") as file:
        file.write(BUMP)
    config = tmp_path / "pyproject.toml"
    table = "[tool.torchgen_lite]\n"
    config.write_text(config.read_text().replace(table, f'{table}template-dirs = ["mine"]\n'))
    (tmp_path / "mine/python").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def override(project: Path, name: str) -> None:
    (project / "mine/python/autograd.py.j2").write_text(OVERRIDE.replace("NAME", name))


def test_a_call_that_is_added_to_a_template_is_imported(run: Run, arrays: Path) -> None:
    override(arrays, "bump_version")
    assert run("generate").code == 0
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=arrays / "src", capture_output=True, text=True
    )
    assert (done.stderr, done.stdout) == ("", "1 True\n")


def test_a_call_of_an_unknown_name_stops_at_its_line(run: Run, arrays: Path) -> None:
    before = (arrays / "src/tinyarr/_ops/autograd.py").read_text()
    override(arrays, "bump_versoin")
    for command in ("generate", "check"):
        result = run(command)
        assert result.code == 1
        assert result.stderr.startswith("""\
error[TG500]: `tinyarr.framework` has no `bump_versoin`, which the template calls
 --> mine/python/autograd.py.j2:4:19
  |
4 |     {{ framework("bump_versoin") }}(self)
  |                   ^^^^^^^^^^^^ called here
  |
  = help: did you mean `bump_version`?
""")
    assert (arrays / "src/tinyarr/_ops/autograd.py").read_text() == before
    # This renders no template of a project.
    assert run("lint").code == 0
