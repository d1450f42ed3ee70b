"""generated/ is what the schema says, byte for byte, and `check` sees every way in which it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The quick tier runs `check` itself.
pytestmark = pytest.mark.tools


def cli(*arguments: str, cwd: Path = ROOT, seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "torchgen_lite", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree generated again. Tests that change it put it back."""
    folder = tmp_path_factory.mktemp("fresh")
    done = cli("generate", "--output-dir", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def test_the_checked_in_tree_is_fresh(fresh: Path) -> None:
    assert tree(fresh) == tree(ROOT / "generated")


def test_hash_seed_and_working_directory_do_not_matter(fresh: Path, tmp_path: Path) -> None:
    done = cli("generate", "--output-dir", str(tmp_path), cwd=ROOT / "docs", seed="4242")
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path) == tree(fresh)


def a_file(folder: Path) -> Path:
    return folder / "python" / "torchgen_lite_ops" / "operators.py"


def test_check_passes_on_a_fresh_tree(fresh: Path) -> None:
    assert cli("check", "--output-dir", str(fresh)).returncode == 0


def test_check_names_a_changed_file(fresh: Path) -> None:
    path = a_file(fresh)
    before = path.read_bytes()
    path.write_bytes(before[:-2] + b"#\n")
    try:
        done = cli("check", "--output-dir", str(fresh))
    finally:
        path.write_bytes(before)
    assert done.returncode == 1
    assert "operators.py" in done.stderr and "changed" in done.stderr


def test_check_names_a_missing_file(fresh: Path) -> None:
    path = a_file(fresh)
    before = path.read_bytes()
    path.unlink()
    try:
        done = cli("check", "--output-dir", str(fresh))
    finally:
        path.write_bytes(before)
    assert done.returncode == 1
    assert "operators.py" in done.stderr and "missing" in done.stderr


def test_check_names_an_orphan_which_generate_deletes(fresh: Path) -> None:
    orphan = a_file(fresh).with_name("old_ops.py")
    orphan.write_bytes(a_file(fresh).read_bytes())
    done = cli("check", "--output-dir", str(fresh))
    assert done.returncode == 1
    assert "old_ops.py" in done.stderr and "orphan" in done.stderr
    assert cli("generate", "--output-dir", str(fresh)).returncode == 0
    assert not orphan.exists()


def test_a_second_run_touches_nothing(fresh: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in fresh.rglob("*") if path.is_file()}
    assert cli("generate", "--output-dir", str(fresh)).returncode == 0
    assert before == {path: path.stat().st_mtime_ns for path in fresh.rglob("*") if path.is_file()}


def test_the_diff_is_a_patch_that_git_applies(tmp_path: Path) -> None:
    """A changed, a missing and an orphaned file: `diff | git apply` puts all three right."""
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    (tmp_path / "ops.yaml").write_text("- func: mylib::twice(Tensor self) -> Tensor\n")
    assert cli("generate", cwd=tmp_path).returncode == 0
    package = tmp_path / "generated" / "python" / "ops"
    fresh = tree(tmp_path)
    stubs = package / "operators.py"
    stubs.write_text(stubs.read_text().replace("def twice", "def thrice"))
    (package / "old_ops.py").write_bytes((package / "ops.py").read_bytes())
    (package / "ops.py").unlink()
    patch = cli("diff", cwd=tmp_path)
    assert patch.returncode == 1
    applied = subprocess.run(
        ["git", "apply", "-"], cwd=tmp_path, input=patch.stdout, capture_output=True, text=True
    )
    assert applied.returncode == 0, applied.stderr + patch.stdout
    assert tree(tmp_path) == fresh
