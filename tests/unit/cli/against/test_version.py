"""The other version of a project: read whole and under its own configuration, or not compared with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.unit.cli.against.conftest import git

Run = Callable[..., Result]
F = "- func: lib::f(Tensor self) -> Tensor\n"
G = "- func: lib::g(Tensor self, int n) -> Tensor\n"
COMMANDS = ("breaking", "review", "diff", "table")
CONFIG = 'schema = ["ops.yaml", "more.yaml"]\ntargets = ["torch-python", "cpp-runtime"]\n'
OPTIONS = '[target.cpp-runtime]\ntensor = "toy::Tensor"\n'


@pytest.fixture
def versions(project: Path) -> Path:
    """A project of two schema files and two targets, committed as `main`."""
    (project / "torchgen_lite.toml").write_text(CONFIG + OPTIONS)
    (project / "native_functions.yaml").unlink()
    (project / "ops.yaml").write_text(F)
    (project / "more.yaml").write_text(G)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "one")
    return project


def found(run: Run, against: str = "main") -> list[tuple[str, str]]:
    """The codes and operators of breaking changes, which `breaking` and `review` agree on."""
    run("generate")
    answers = []
    for command in ("breaking", "review"):
        result = run(command, "--against", against, "--output-format", "json")
        diagnostics = json.loads(result.stdout)["diagnostics"]
        answers.append([(one["code"], one["operator"]) for one in diagnostics])
        assert result.code == bool(diagnostics), result
    assert answers[0] == answers[1]
    return answers[0]


def test_a_schema_file_that_is_gone(run: Run, versions: Path) -> None:
    (versions / "more.yaml").unlink()
    config = CONFIG.replace(', "more.yaml"', "") + OPTIONS
    (versions / "torchgen_lite.toml").write_text(config)
    assert found(run) == [("TG350", "lib::g")]


def test_a_schema_file_that_has_another_name(run: Run, versions: Path) -> None:
    git(versions, "mv", "more.yaml", "others.yaml")
    (versions / "torchgen_lite.toml").write_text(CONFIG.replace("more", "others") + OPTIONS)
    assert found(run) == []
    (versions / "others.yaml").write_text("")
    assert found(run) == [("TG350", "lib::g")]


def test_another_namespace(run: Run, versions: Path) -> None:
    (versions / "ops.yaml").write_text(F.replace("lib::", ""))
    config = versions / "torchgen_lite.toml"
    config.write_text('namespace = "lib"\n' + CONFIG + OPTIONS)
    assert found(run) == []
    config.write_text('namespace = "lib2"\n' + CONFIG + OPTIONS)
    # The package and the C++ namespace have their names after the first namespace.
    assert found(run) == [("TG350", "lib::f"), ("TG381", "lib::g"), ("TG381", "lib::g")]


def test_an_operator_that_is_skipped(run: Run, versions: Path) -> None:
    config = versions / "torchgen_lite.toml"
    config.write_text(f'{CONFIG}[target.torch-python]\nskip = ["lib::g"]\n{OPTIONS}')
    assert found(run) == [("TG375", "lib::g")]
    result = run("breaking", "--against", "main", "--output-format", "concise")
    assert result.stderr.startswith(
        "more.yaml:1:9: error[TG375] 'lib::g': target 'torch-python' no longer has it"
        " (witness: 'lib_ops.g(torch.ones(2, 2), 1)'; effect: breaks callers)\n"
    )
    git(versions, "commit", "-qam", "skipped")
    assert found(run) == []


def test_a_target_that_is_left_out(run: Run, versions: Path) -> None:
    config = versions / "torchgen_lite.toml"
    config.write_text(CONFIG.replace(', "cpp-runtime"', ""))
    assert found(run) == [("TG375", "lib::g"), ("TG375", "lib::f")]
    git(versions, "commit", "-qam", "one target")
    config.write_text(CONFIG + OPTIONS)
    assert found(run, "HEAD") == []


def test_a_configuration_of_another_name(run: Run, versions: Path) -> None:
    """`--config` names the same file of both versions, if both have it."""
    git(versions, "mv", "torchgen_lite.toml", "ci.toml")
    git(versions, "commit", "-qm", "renamed")
    (versions / "torchgen_lite.toml").write_text('schema = ["more.yaml"]\n')
    asked = ("breaking", "--config", "ci.toml", "--against", "HEAD")
    assert run(*asked).stderr == "2 operators, no breaking changes against HEAD\n"
    (versions / "ci.toml").write_text(CONFIG.replace(', "more.yaml"', "") + OPTIONS)
    assert "TG350" in run(*asked).stderr


def test_mistakes_of_its_configuration(run: Run, versions: Path) -> None:
    config = versions / "torchgen_lite.toml"
    unknown = CONFIG.replace("cpp-runtime", "nonsense")
    for wrong, code in (("schema = 1\n", "TG003"), (unknown, "TG008")):
        config.write_text(wrong)
        git(versions, "commit", "-qam", "wrong")
        config.write_text(CONFIG + OPTIONS)
        for command in COMMANDS:
            result = run(command, "--against", "HEAD", "--output-format", "concise")
            assert (result.code, code in result.stderr) == (2, True), (command, result.stderr)
            assert "'HEAD' has errors, so nothing can be compared with it" in result.stderr


def test_a_file_that_it_names_and_does_not_have(run: Run, versions: Path) -> None:
    git(versions, "rm", "-q", "more.yaml")
    git(versions, "commit", "-qm", "half")
    (versions / "more.yaml").write_text(G)
    for command in COMMANDS:
        result = run(command, "--against", "HEAD", "--output-format", "concise")
        assert (result.code, "HEAD:" in result.stderr) == (2, True), (command, result.stderr)


def assert_unread(run: Run, against: str, reason: str) -> None:
    for command in COMMANDS:
        result = run(command, "--against", against, "--output-format", "concise")
        assert (result.code, result.stdout) == (2, ""), (command, result)
        assert result.stderr.startswith("error[TG014] "), (command, result.stderr)
        assert reason in result.stderr, (command, result.stderr)


def changed(project: Path) -> None:
    """A second commit that changes every file; the first is `HEAD~1`."""
    for name in ("ops.yaml", "more.yaml", "torchgen_lite.toml"):
        path = project / name
        path.write_text(path.read_text() + "# two\n")
    git(project, "commit", "-qam", "two")


def test_a_clone_without_files_whose_origin_is_gone(
    run: Run,
    versions: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed(versions)
    there = tmp_path_factory.mktemp("clone")
    git(versions, "config", "uploadpack.allowFilter", "true")
    git(there, "clone", "-q", "--filter=blob:none", f"file://{versions}", "project")
    (versions / ".git").rename(versions / "gone")
    monkeypatch.chdir(there / "project")
    assert_unread(run, "HEAD~1", "'HEAD~1' cannot be read: ")


def test_a_shallow_clone_has_no_other_commit(
    run: Run,
    versions: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed(versions)
    there = tmp_path_factory.mktemp("clone")
    git(there, "clone", "-q", "--depth=1", f"file://{versions}", "project")
    monkeypatch.chdir(there / "project")
    assert_unread(run, "HEAD~1", "'HEAD~1' is neither a file nor a git revision")


@pytest.mark.parametrize("name", ["HEAD^{tree}", "HEAD:ops.yaml", "HEAD:torchgen_lite.toml"])
def test_an_object_that_is_missing(run: Run, versions: Path, name: str) -> None:
    command = ["git", "rev-parse", name]
    hash_ = subprocess.run(command, cwd=versions, capture_output=True, text=True).stdout.strip()
    (versions / ".git/objects" / hash_[:2] / hash_[2:]).unlink()
    assert_unread(run, "main", "cannot be read: ")


@pytest.mark.parametrize("failing", ["rev-parse", "ls-tree", "cat-file"])
def test_a_git_that_fails(
    run: Run, versions: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    (versions / "bin").mkdir()
    fake = versions / "bin/git"
    real = shutil.which("git")
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = {failing} ] && {{ echo "fatal: no" >&2; exit 128; }}\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{versions / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert_unread(run, "main", "'main' cannot be read: no")


def test_a_git_that_stops_early(run: Run, versions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It exits with 0, and has written half of a file."""
    (versions / "bin").mkdir()
    fake = versions / "bin/git"
    real = shutil.which("git")
    fake.write_text(
        f'#!/bin/sh\n[ "$2" = --batch ] && {{ {real} "$@" | head -c 60; exit 0; }}\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{versions / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert_unread(run, "main", "cannot be read: git does not have it")


def test_links_are_not_followed(run: Run, versions: Path) -> None:
    (versions / "more.yaml").rename(versions / "target.yaml")
    (versions / "more.yaml").symlink_to("target.yaml")
    git(versions, "add", ".")
    git(versions, "commit", "-qm", "link")
    assert_unread(run, "HEAD", "'HEAD:more.yaml' is a symbolic link, which is not followed")


def test_a_file_that_is_too_large(
    run: Run, versions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("loader.sources", "cli.against.git"):
        monkeypatch.setattr(f"torchgen_lite.{module}.MAX_BYTES", 200)
    (versions / "more.yaml").write_text(G + "# long\n" * 100)
    git(versions, "commit", "-qam", "large")
    (versions / "more.yaml").write_text(G)
    result = run("breaking", "--against", "HEAD", "--output-format", "concise")
    assert (result.code, "has more than the 200 bytes allowed" in result.stderr) == (2, True)


NAMES = (
    *("feature/#12", "a,b", "a=b", "50%", "it's", "a$b", "a&b", "a(b)", "wow!", "für"),
    *("+x", "a;b", 'a"b', "{a}", "a|b", "a`b", "a]b"),
)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_branch(run: Run, versions: Path, name: str) -> None:
    git(versions, "branch", name)
    (versions / "more.yaml").write_text("")
    result = run("breaking", "--against", name, "--output-format", "concise")
    assert (result.code, "TG350" in result.stderr) == (1, True), result


@pytest.mark.parametrize("name", ["", "-x", "--all", "^main", "main..main", "main:", "main\n"])
def test_what_is_no_commit(run: Run, versions: Path, name: str) -> None:
    for command in COMMANDS:
        result = run(command, f"--against={name}")
        assert (result.code, "error[TG014]: " in result.stderr) == (2, True), command


def test_a_folder_and_a_branch_of_one_name(run: Run, versions: Path) -> None:
    git(versions, "branch", "dev")
    (versions / "dev").mkdir()
    shutil.copy(versions / "ops.yaml", versions / "dev")
    (versions / "more.yaml").write_text("")
    assert_unread(run, "dev", "'dev' is both a path and a git revision")
    help_ = "write `./dev` for the path, or a full name such as `refs/heads/dev` for the revision"
    assert help_ in run("breaking", "--against", "dev").stderr
    assert found(run, "refs/heads/dev") == [("TG350", "lib::g")]
    assert found(run, "./dev") == []


def test_a_project_that_was_moved(
    run: Run, versions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken for a new one, in which nothing can break."""
    there = versions / "moved"
    there.mkdir()
    for name in ("torchgen_lite.toml", "ops.yaml", "more.yaml"):
        (versions / name).rename(there / name)
    monkeypatch.chdir(there)
    assert_unread(
        run, "main", "'main' does not have this project, unless it is what was in 'main:.'"
    )
    (there / "more.yaml").write_text("")
    git(versions, "worktree", "add", "-q", "-f", "--detach", "old", "main")
    assert found(run, "../old") == [("TG350", "lib::g")]


def test_a_project_beside_others_is_new(
    run: Run, versions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(versions, versions / "new", ignore=shutil.ignore_patterns(".git"))
    monkeypatch.chdir(versions / "new")
    run("generate")
    assert run("review", "--against", "main").code == 0
