"""The scripts of this folder that CI does not run in full: each on something small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import libraries, old_releases, releases
from tests.conftest import ROOT

ENTRIES = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  variants: function, method
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
"""


def test_files_of_other_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("1.0", ENTRIES), ("1.1", ENTRIES.replace("Tensor other", "Tnsor other"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "native_functions.yaml").write_text(text)
    monkeypatch.setattr("sys.argv", ["old_releases", str(tmp_path / "1.0")])
    assert old_releases.main() == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["1.0", "2", "2"]
    monkeypatch.setattr("sys.argv", ["old_releases", str(tmp_path / "1.1")])
    assert old_releases.main() == 1
    assert "TG2" in capsys.readouterr().out


def test_libraries_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    sources = str(ROOT / "tests" / "adopt" / "cpp")
    assert libraries.main([sources]) == 0
    [row] = capsys.readouterr().out.splitlines()[2:]
    # The block whose namespace is a macro is refused as a whole, with the names that are in it.
    assert row.split(" | ")[:6] == ["| cpp", "32", "12", "1", "10", "3"]
    assert libraries.main([sources, "EXTENSION_NAME=adopt", "--verbose"]) == 0
    row, *reported = capsys.readouterr().out.splitlines()[2:]
    assert row.split(" | ")[:6] == ["| cpp", "32", "35", "0", "0", "20"]
    assert "TG606" in row and "TG601" not in row and "TG606" in reported[0]


@pytest.mark.parametrize("part", releases.PARTS, ids=lambda part: part.title)
def test_what_is_tested_with_other_releases_exists(part: releases.Part) -> None:
    paths = [*part.paths, *([f"examples/{part.example}"] if part.example else [])]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
