"""The examples on the pages of codes: the bad one gives exactly its code, the good one gives none."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite.diagnostics import code_names, read_code
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.registry import GROUP

Run = Callable[..., Result]


def write_project(example: str, folder: Path) -> list[str]:
    """Write the files of an example and return its commands."""
    path, commands = "native_functions.yaml", []
    files: dict[str, list[str]] = {}
    for line in example.splitlines():
        if line.startswith("-- ") and line.endswith(" --"):
            path = line[3:-3]
            files[path] = []
        elif line.startswith("$ "):
            commands.append(line[2:])
        else:
            files.setdefault(path, []).append(line)
    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return commands or ["torchgen-lite lint"]


def codes_of(example: str, folder: Path, run: Run) -> set[str]:
    """The codes that the commands of an example report."""
    found: set[str] = set()
    for command in write_project(example, folder):
        program, *arguments = shlex.split(command)
        if program == "torchgen-lite":
            result = run(*arguments, "--output-format", "json")
            if result.stdout.startswith("{"):
                reported = json.loads(result.stdout).get("diagnostics", [])
                found |= {one["code"] for one in reported}
                assert all(one["help"] for one in reported), "each message has a way on"
        else:
            subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
    return found


def _without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchgen_lite.loader.torch.files._find_package", lambda name: [])


def _with_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchgen_lite.cli.settings.load_config", None)
    monkeypatch.setattr("tempfile.tempdir", str(Path.cwd()))


def _as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pass


# g++ takes ten seconds for PyTorch's headers; tests/unit/tools has more of this.
COMPILER = """\
#!/bin/sh
for file; do :; done
grep -q ', float' "$(dirname "$file")/../../adopted_kernels.h" || exit 0
echo "mylib/verify/f.h:4:40: error: mylib::f: kernel 'f' must take 'double'" >&2
exit 1
"""


def _with_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    compiler = Path("compiler").absolute()
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))


def _with_a_broken_target(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("reference", "nowhere_to_be_found:TARGET", GROUP)
    monkeypatch.setitem(vars(TARGETS), "_others", {"reference": entry})


def _with_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHGEN_LITE_RUN_FORMAT", "1")


WHERE = {
    "where `TORCHGEN_LITE_RUN_FORMAT=1` allows commands": _with_consent,
    "with a package that registers a target `reference` but does not have it": _with_a_broken_target,
    "where PyTorch is not installed": _without_pytorch,
    "where PyTorch is installed": _as_it_is,
    "where g++ and auditwheel are installed": _as_it_is,
    "where PyTorch and a C++ compiler are installed": _with_a_compiler,
    "with a fault in torchgen-lite": _with_a_fault,
}


@pytest.mark.parametrize("name", code_names())
def test_the_bad_example_is_bad_and_the_good_one_good(
    name: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = read_code(name)
    if code.where == "where PyTorch is installed":
        pytest.importorskip("torch")
    if code.where == "where g++ and auditwheel are installed":
        pytest.importorskip("auditwheel")
        if shutil.which("g++") is None:
            pytest.skip("g++ is not installed")
    monkeypatch.setenv("CXX", "true")
    for folder in ("good", "bad"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "good")
    assert codes_of(code.good, tmp_path / "good", run) == set()
    if code.where:
        WHERE[code.where](monkeypatch)
    monkeypatch.chdir(tmp_path / "bad")
    assert codes_of(code.bad, tmp_path / "bad", run) == {name}


READERS = (
    *(f"kernels --target {name}" for name in TARGETS if TARGETS[name].author),
    "breaking --against native_functions.yaml",
    "list outputs",
)


@pytest.mark.parametrize("name", code_names())
def test_every_command_answers_for_a_bad_example(
    name: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kernels` needed the C++ type of an argument that has none, and `breaking` its first release."""
    monkeypatch.chdir(tmp_path)
    write_project(read_code(name).bad, tmp_path)
    for command in READERS:
        result = run(*command.split())
        assert "TG900" not in result.stderr, command
