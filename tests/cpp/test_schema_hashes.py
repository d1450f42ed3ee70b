"""A build without the generator stops where a schema file is another than its code is from."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.cpp.torch_ops import has_programs

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(not has_programs("cmake"), reason="CMake is not installed"),
]

ENTRY = "- func: mylib::f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n"
# What CMake could take for its own.
TEXTS = {
    "plain": "",
    "variables": "# ${CMAKE_VERSION} $ENV{PATH} @VERSION@\n",
    "lists": "# a;b;[c;d] ]] [[ [=[\n",
    "quotes": '# "a" \\" \\n \\\\ \\; \\\n',
    "letters": "# größer, 長さ, \U0001f600\n",
    "carriage returns": "# a\r\n# b\r\n",
    "no end of line": "# the end",
}
NAMES = ["ops.yaml", "schemas/more ops.yaml", "$x;y.yaml"]


def _configured(folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", ".", "-B", "build"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_a_change_is_noticed(run: Callable[..., Result], project: Path, target: str) -> None:
    (project / "native_functions.yaml").unlink()
    listed = ", ".join(f'"{name}"' for name in NAMES)
    (project / "torchgen_lite.toml").write_text(
        f'schema = [{listed}]\ntargets = ["{target}"]\n[target.{target}]\nschema-hashes = true\n'
    )
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(consumer LANGUAGES NONE)\n"
        f"include(generated/{target}/schema_hashes.cmake)\n"
    )
    first, *others = [project / name for name in NAMES]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("# Nothing yet.\n")
    for text in TEXTS.values():
        first.write_bytes((ENTRY + text).encode())
        assert run("generate").code == 0
        built = _configured(project)
        assert built.returncode == 0, built.stderr
        # With the other ends of lines, it is the same file.
        first.write_bytes((ENTRY + text).replace("\r\n", "\n").replace("\n", "\r\n").encode())
        assert _configured(project).returncode == 0
    for path in (first, *others):
        before = path.read_bytes()
        path.write_bytes(before + b"# Another.\n")
        stopped = _configured(project)
        assert stopped.returncode != 0
        assert "run\n  `torchgen-lite generate`" in stopped.stderr.replace("run `", "run\n  `")
        assert path.name in stopped.stderr
        path.write_bytes(before)
    # An sdist may come without them.
    for path in (first, *others):
        path.unlink()
    assert _configured(project).returncode == 0


def test_only_where_it_is_asked_for(run: Callable[..., Result], project: Path) -> None:
    (project / "torchgen_lite.toml").write_text('targets = ["cpp-torch"]\n')
    (project / "native_functions.yaml").write_text(ENTRY)
    assert run("generate").code == 0
    assert not list(project.rglob("*.cmake"))


def test_schema_files_beside_the_project_have_no_place_in_it(
    run: Callable[..., Result], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So there is no file with the others alone, which a build would pass."""
    (project / "native_functions.yaml").write_text(ENTRY)
    folder = project / "inner"
    folder.mkdir()
    (folder / "own.yaml").write_text(ENTRY.replace("::f", "::g"))
    (folder / "torchgen_lite.toml").write_text(
        'schema = ["own.yaml", "../native_functions.yaml"]\ntargets = ["cpp-torch"]\n'
        "[target.cpp-torch]\nschema-hashes = true\n"
    )
    monkeypatch.chdir(folder)
    assert run("generate").code == 0
    assert list(folder.rglob("register.cpp"))
    assert not list(folder.rglob("schema_hashes.cmake"))


def test_without_a_comparison_there_is_no_file(run: Callable[..., Result], project: Path) -> None:
    """A build that includes it stops, and says so."""
    (project / "native_functions.yaml").write_text(ENTRY)
    options = 'targets = ["cpp-torch"]\n[target.cpp-torch]\nschema-hashes = true\n'
    (project / "torchgen_lite.toml").write_text(options)
    assert run("generate", "--output-dir", str(project / "away")).code == 0
    assert list((project / "away").rglob("register.cpp"))
    assert not list(project.rglob("schema_hashes.cmake"))
