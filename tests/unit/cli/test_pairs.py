"""Options of a command, two by two: the second has an effect beside the first, or the two are refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
# Not as `fmt` writes it.
OPS = """\
- func: my::f(Tensor self, float s=1.0) -> Tensor
  variants:   function
  dispatch:
    CPU: f
- func: my::g(Tensor self) -> Tensor
  dispatch:
    CUDA: g
"""
GONE = "- func: theirs::h(Tensor self) -> Tensor\n"
FILES = {
    "torchgen_lite.toml": 'schema = ["ops.yaml"]\ntargets = ["python", "torch-stubs"]\n'
    '[target.python]\npackage = "ops"\nkernels = ["kernels"]\n',
    "ops.yaml": OPS,
    "old.yaml": OPS.replace("CUDA", "CPU").replace("float s=1.0", "int s=1") + GONE,
    "missing.yaml": OPS.replace("CUDA: g", "CUDA: missing"),
    "kernels.py": "def f(self, s): ...\n\n\ndef g(self): ...\n",
}
LISTED = ("--output-format json", "--output-format cmake", "--target torch-stubs")
OPTIONS = {
    "generate": (
        *("--check", "--diff", "--dry-run", "--depfile d", "--stamp s", "--output-dir o"),
        *("--target torch-stubs", "--schema old.yaml", "--output-format json"),
    ),
    "table my::g": (
        *("--key CPU", "--all", "--html t.html", "--against old.yaml", "--target python"),
        *("--fallback PrivateUse1", "--schema old.yaml", "--output-format json"),
    ),
    "kernels --config schema='missing.yaml'": (
        "--missing",
        "--check",
        "--output k.py",
        "--target torch-stubs",
        "-v",
    ),
    "list ops": (*LISTED, "--schema old.yaml"),
    "list outputs": (*LISTED, "--schema old.yaml", "--output-dir o"),
    "list keys": (*LISTED, "--schema old.yaml", "--output-dir o"),
    "breaking --against old.yaml": (
        *("--level kernel", "--all", "--html b.html", "--accept meant"),
        *("--output-format json", "--output-format markdown", "--schema old.yaml"),
    ),
    "fmt": ("--check", "--diff", "--output-format json"),
}
# The first does what the second asks for, or has nothing that the second could be about.
CONTAINED = {
    ("generate", "--diff", "--check"),
    ("fmt", "--diff", "--check"),
    ("table my::g", "--output-format json", "--all"),
    # No function of an author is called there.
    ("kernels --config schema='missing.yaml'", "--target torch-stubs", "--check"),
    # Both versions are one.
    ("breaking --against old.yaml", "--schema old.yaml", "--level kernel"),
}


@pytest.fixture
def outcome(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[int, object]]:
    """The exit code of a command line in a new project, and all that it says and leaves."""
    numbers = itertools.count()

    def ran(line: str) -> tuple[int, object]:
        folder = tmp_path / str(next(numbers)) / "project"
        folder.mkdir(parents=True)
        monkeypatch.chdir(folder)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        result = run(*line.split())
        assert "TG900" not in result.stderr
        left = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return result.code, (result.stdout, result.stderr, left)

    return ran


@pytest.mark.parametrize("command", OPTIONS)
def test_no_option_is_without_effect_beside_another(
    outcome: Callable[[str], tuple[int, object]], command: str
) -> None:
    """`table --key` was of no use beside `--html`, and `breaking --html` wrote no page beside `--accept`."""
    plain = outcome(command)
    alone = {option: outcome(f"{command} {option}") for option in OPTIONS[command]}
    useless = []
    for first, second in itertools.permutations(alone, 2):
        is_one_option = first.split()[0] == second.split()[0]
        has_effect = alone[second] != plain and 2 not in (alone[first][0], alone[second][0])
        if is_one_option or not has_effect or (command, first, second) in CONTAINED:
            continue
        both = outcome(f"{command} {first} {second}")
        if both == alone[first]:
            useless.append((first, second))
    assert useless == []
