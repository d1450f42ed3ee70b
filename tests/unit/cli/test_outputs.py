"""Files that options of a command name: all of them are written, or none, and each of them is another one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite.emit.write import replace_files

Run = Callable[..., Result]

KERNEL = """\
#include <torch/library.h>
at::Tensor scale(const at::Tensor& x) { return x; }
TORCH_LIBRARY(mylib, m) {
  m.def("scale(Tensor x) -> Tensor");
  m.impl("scale", c10::DispatchKey::CPU, TORCH_FN(scale));
}
"""
# A command with two options that name files; the last one lists operators of PyTorch.
COMMANDS = [
    (("import", "kernels.cpp"), "--output", "--declare"),
    (("generate",), "--depfile", "--stamp"),
    (("review", "--against", "HEAD"), "--summary", "--html"),
    (("coverage", "--key", "CPU"), "--output", "--html"),
]


@pytest.fixture
def files(project: Path) -> Path:
    """A project in git, with C++."""
    (project / "kernels.cpp").write_text(KERNEL)
    git = ("git", "-c", "user.name=me", "-c", "user.email=me@here")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "all")):
        subprocess.run([*git, *command], cwd=project, check=True)
    return project


def listed(project: Path) -> list[Path]:
    return sorted(path for path in project.rglob("*") if ".git" not in path.parts)


@pytest.mark.parametrize(("command", "first", "second"), COMMANDS)
@pytest.mark.parametrize("path", ["./{}", "{}"])
def test_two_options_do_not_name_one_file(
    run: Run, files: Path, command: Sequence[str], first: str, second: str, path: str
) -> None:
    """The YAML of `import --declare x --output x` replaced the header, and nobody said so."""
    before = listed(files)
    result = run(*command, first, "x.yaml", second, path.format("x.yaml"))
    assert (result.code, result.stdout, listed(files)) == (2, "", before)
    assert f"`{first}` and `{second}` name the same file" in result.stderr


@pytest.mark.parametrize(("command", "first", "second"), COMMANDS)
@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("place", ["missing/b.txt", "folder"])
def test_nothing_is_written_unless_all_can_be(
    run: Run,
    files: Path,
    command: Sequence[str],
    first: str,
    second: str,
    is_swapped: bool,
    place: str,
) -> None:
    """`import --declare k.h --output missing/ops.yaml` failed, and left `k.h` behind."""
    (files / "folder").mkdir()
    before = listed(files)
    good, bad = (second, first) if is_swapped else (first, second)
    result = run(*command, good, "a.txt", bad, place)
    assert (result.code, result.stdout, listed(files)) == (2, "", before)
    assert f"error[TG009]: cannot write `{place}`" in result.stderr


@pytest.mark.parametrize(
    ("command", "first", "second"),
    [*COMMANDS[:-1], pytest.param(*COMMANDS[-1], marks=pytest.mark.torch)],
)
def test_both_are_written(
    run: Run, files: Path, command: Sequence[str], first: str, second: str
) -> None:
    assert run(*command, first, "a.yaml", second, "b.h").code in (0, 1)
    assert (files / "a.yaml").exists() and (files / "b.h").exists()


def test_a_build_file_may_be_in_the_folder_of_the_outputs(run: Run, files: Path) -> None:
    """It is there once the outputs are."""
    assert run("generate", "--depfile", "generated/ops.d").code == 0
    assert (files / "generated" / "ops.d").exists()


def test_of_several_files_none_is_replaced_if_one_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match="Is a directory") as caught:
        replace_files({tmp_path / "a": "new", tmp_path / "b": "new"})
    assert caught.value.filename == str(tmp_path / "b")
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
