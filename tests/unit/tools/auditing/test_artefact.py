"""Files that are no library, or that a stranger has made, are diagnostics; what is in a wheel stays in its folder."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite_tools.auditing import artefact, elf

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here `audit` would read ours, of 698 operators, each time."""
    monkeypatch.chdir(tmp_path)


def wheel(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for name, data in files.items():
            out.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "content", [b"", b"int f();", b"MZ\0\0", b"PK\3\4", b"PK\5\6" + b"\0" * 30]
)
def test_what_is_neither(tmp_path: Path, run: Run, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    done = run("audit", str(tmp_path / "file"))
    assert done.code == 2
    problem = (
        "it has no files"
        if content.startswith(b"PK\5")
        else "neither a shared library of Linux nor a wheel"
    )
    assert problem in done.stderr
    assert run("audit", str(tmp_path)).code == 2
    assert run("audit", str(tmp_path / "nothing")).code == 2


@pytest.mark.parametrize(
    "name", ["../out.py", "/out.py", "a/../../out.py", "a\\..\\out.py", "C:/out.py"]
)
def test_files_that_would_be_elsewhere(tmp_path: Path, run: Run, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    done = run("audit", str(wheel(folder / "x.whl", {name: "x"})))
    assert done.code == 2
    assert "outside of it" in done.stderr
    assert [*tmp_path.rglob("out.py")] == []


def test_bounds(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(tmp_path / "x.whl", {"a": "x" * 50, "b": "x" * 50})
    assert run("audit", str(path)).code == 0
    monkeypatch.setattr(artefact, "MOST_BYTES", 99)
    done = run("audit", str(path))
    assert (done.code, "more than 99 bytes" in done.stderr) == (2, True)
    monkeypatch.setattr(artefact, "MOST_FILES", 1)
    assert "more than 1 files" in run("audit", str(path)).stderr


def test_a_file_twice_and_a_name_that_is_a_folder(tmp_path: Path, run: Run) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as out:
        out.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            out.writestr("a", "2")
    assert run("audit", str(tmp_path / "x.whl")).code == 2
    assert run("audit", str(wheel(tmp_path / "y.whl", {"a": "1", "a/b": "2"}))).code == 2


def test_a_wheel_of_python_alone(tmp_path: Path, run: Run) -> None:
    done = run("audit", str(wheel(tmp_path / "x-1-py3-none-any.whl", {"x/__init__.py": ""})))
    assert done.code == 0
    assert "not looked at: symbols: there is no shared library of Linux" in done.stdout
    assert "not looked at: registrations: `--load` loads the library" in done.stdout


def library(folder: Path, text: str, *flags: str, name: str = "lib.so") -> Path:
    """A shared library of this text."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    (folder / "lib.cpp").write_text(text)
    command = ["g++", "-shared", "-fPIC", "lib.cpp", "-o", name, *flags]
    subprocess.run(command, cwd=folder, check=True)
    return folder / name


def test_a_library_with_more_symbols_than_are_read(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said of a part of it."""
    pytest.importorskip("auditwheel")
    path = library(tmp_path, '#include <cstdio>\nvoid f() { puts(""); }', "-nostartfiles")
    assert run("audit", str(path)).code == 0
    monkeypatch.setattr(elf, "_MOST", 1)
    done = run("audit", str(path))
    assert (done.code, "more than 1 symbols" in done.stderr) == (2, True)


def test_libraries_that_are_broken(tmp_path: Path, run: Run) -> None:
    """Cut off, and with a byte changed, at many places: read, or refused, and never a traceback."""
    pytest.importorskip("auditwheel")
    path = library(tmp_path, '#include <cstdio>\nvoid f() { puts(""); }', "-nostartfiles")
    data = path.read_bytes()
    found = set()
    for place in range(4, len(data), len(data) // 12):
        for broken in (data[:place], data[:place] + b"\xff" + data[place + 1 :]):
            path.write_bytes(broken)
            done = run("audit", str(path))
            assert done.code in (0, 2), done.stderr
            assert "TG900" not in done.stderr
            found.add(done.code)
    assert found == {0, 2}


def test_without_auditwheel(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = library(tmp_path, "void f() {}")
    monkeypatch.setitem(__import__("sys").modules, "elftools.elf", None)
    done = run("audit", str(path))
    assert (done.code, "TG012" in done.stderr) == (2, True)
    assert 'pip install "auditwheel' in done.stderr
