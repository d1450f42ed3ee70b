"""What docs/ci.md offers, run: the action, the workflow, the GitLab job and the hooks, each in a repository of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/review.yml").read_text())
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
PAGE = (ROOT / "docs/ci.md").read_text("utf-8")
OLD = "- func: lib::f(Tensor self, int dim=0) -> Tensor\n"
NEW = "- func: lib::f(Tensor self, int dim=1) -> Tensor\n"
# What GitHub puts in place of expressions, in a pull request for `main`.
VALUES = {
    "inputs.against": "origin/main",
    "inputs.projects": "",
    "inputs.package || github.action_path": "/the/action",
}


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    command = ["git", *identity, "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def shell(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub's `shell: bash` does, where pip only says what it is to install."""
    bin = folder.parent / "bin"
    bin.mkdir(exist_ok=True)
    python = shlex.quote(sys.executable)
    (bin / "torchgen-lite").write_text(f'#!/bin/sh\nexec {python} -m torchgen_lite "$@"\n')
    (bin / "python").write_text('#!/bin/sh\necho "python $*"\n')
    for path in bin.iterdir():
        path.chmod(0o755)
    given = {
        **os.environ,
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    given.pop("TORCHGEN_LITE_OUTPUT_FORMAT", None)
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=folder, env={**given, **environment}, capture_output=True, text=True
    )


def run_steps(folder: Path, steps: list[dict[str, Any]], **common: str) -> tuple[int, str, str]:
    """The steps that run something, one after the other: exit code of the last, output of all, and the summary."""
    summary = folder.parent / "summary.md"
    summary.touch()
    said, code = "", 0
    for step in steps:
        if "run" in step and not code:
            own = {name: VALUES[value[4:-3]] for name, value in step.get("env", {}).items()}
            done = shell(folder, step["run"], **common, **own, GITHUB_STEP_SUMMARY=str(summary))
            said, code = said + done.stdout + done.stderr, done.returncode
    return code, said, summary.read_text()


@pytest.fixture
def pull_request(tmp_path: Path) -> Path:
    """A checkout of one commit, as actions/checkout makes it: `main` is in the remote alone."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / "torchgen_lite.toml").write_text('[target.python]\npackage = "ops"\n')
    (origin / "native_functions.yaml").write_text(OLD)
    assert shell(origin, "torchgen-lite generate -q").returncode == 0
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "one")
    git(origin, "checkout", "-qb", "change")
    (origin / "native_functions.yaml").write_text(NEW)
    git(origin, "commit", "-qam", "two")
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", origin.as_uri(), str(checkout))
    return checkout


@pytest.mark.tools
def test_the_action(pull_request: Path) -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert "github.base_ref" in ACTION["inputs"]["against"]["default"]
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"])
    code, said, summary = run_steps(pull_request, ACTION["runs"]["steps"])
    assert code == 1
    assert said.startswith("python -I -m pip install --quiet /the/action\n")
    assert "::error title=TG357,file=native_functions.yaml,line=1" in said
    assert "::error title=TG016,file=generated/python/ops/" in said
    assert summary.startswith("## Review against `origin/main`\n")
    assert "| breaking | 1 breaking change |" in summary


@pytest.mark.tools
def test_a_pull_request_without_fault(pull_request: Path) -> None:
    more = "- func: lib::g(Tensor self) -> Tensor\n"
    (pull_request / "native_functions.yaml").write_text(OLD + more)
    assert shell(pull_request, "torchgen-lite generate -q").returncode == 0
    code, said, summary = run_steps(pull_request, ACTION["runs"]["steps"])
    assert (code, "::" in said) == (0, False), said
    assert "| check | up to date |\n| breaking | none |" in summary


@pytest.mark.tools
def test_the_workflow_runs_what_the_action_runs(pull_request: Path) -> None:
    steps = WORKFLOW["jobs"]["review"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    assert runs == [step["run"] for step in ACTION["runs"]["steps"]]
    given = WORKFLOW[True]["workflow_call"]["inputs"]
    assert set(ACTION["inputs"]) <= set(given)
    assert given["package"]["required"]
    environment = {"AGAINST": "origin/main", "PACKAGE": "/the/action", "PROJECTS": "."}
    assert set(WORKFLOW["jobs"]["review"]["env"]) == set(environment)
    code, said, summary = run_steps(pull_request, steps, **environment)
    assert (code, "TG357" in summary) == (1, True), said


def test_no_step_has_an_expression_in_its_script() -> None:
    """Expressions in a script are a way in: a branch may be called `$(...)`."""
    for step in (*ACTION["runs"]["steps"], *WORKFLOW["jobs"]["review"]["steps"]):
        assert "${{" not in step.get("run", "")


def test_no_step_imports_from_the_checkout() -> None:
    """`python -m` alone has the current folder first on the path: a `pip.py` of the branch would run."""
    scripts = [step.get("run", "") for step in ACTION["runs"]["steps"]]
    scripts += [step.get("run", "") for step in WORKFLOW["jobs"]["review"]["steps"]]
    for call in re.findall(r"python .*", "\n".join([*scripts, PAGE])):
        assert call.startswith("python -I "), call


@pytest.mark.tools
def test_several_projects(pull_request: Path) -> None:
    for name in ("a", "b"):
        (pull_request / name).mkdir()
        (pull_request / name / "torchgen_lite.toml").write_text("")
        (pull_request / name / "native_functions.yaml").write_text(OLD)
    git(pull_request, "add", ".")
    git(pull_request, "commit", "-qm", "more")
    git(pull_request, "update-ref", "refs/remotes/origin/main", "HEAD")
    review = ACTION["runs"]["steps"][-1]["run"]
    done = shell(
        pull_request,
        review,
        AGAINST="origin/main",
        PROJECTS="a b",
        GITHUB_STEP_SUMMARY=str(pull_request / "page.md"),
    )
    assert done.returncode == 1, "nothing is generated"
    titles = re.findall("^## .*", (pull_request / "page.md").read_text(), re.M)
    assert titles == ["## `a` against `origin/main`", "## `b` against `origin/main`"]


@pytest.mark.tools
def test_the_job_for_gitlab(pull_request: Path) -> None:
    job = next(b for b in re.findall(r"```yaml\n(.*?)```", PAGE, re.S) if "gitlab" in b)
    script = "\n".join(yaml.safe_load(job)["operators"]["script"])
    command = ["git", "rev-parse", "main"]
    base = subprocess.check_output(command, cwd=pull_request.parent / "origin", text=True).strip()
    done = shell(pull_request, script, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == 1, done.stderr
    package = "git+https://github.com/OWNER/torchgen_lite@REVISION"
    assert done.stdout.startswith(f"python -I -m pip install {package}\n## Review")
    assert "TG357" in (pull_request / "review.md").read_text()


@pytest.mark.tools
def test_the_commands_for_anywhere_else(pull_request: Path) -> None:
    [line] = re.findall(r"```bash\n(.*?)```", PAGE, re.S)
    assert shell(pull_request, line).returncode == 1
    git(pull_request, "fetch", "-q", "origin", "+main:refs/remotes/origin/main")
    git(pull_request, "checkout", "-q", "origin/main")
    assert shell(pull_request, line).returncode == 0


@pytest.mark.tools
def test_the_hooks(pull_request: Path) -> None:
    configured = yaml.safe_load(PAGE.split("# .pre-commit-config.yaml\n")[1].split("```")[0])
    assert {hook["id"] for hook in configured["repos"][0]["hooks"]} == set(HOOKS)
    assert all(hook["pass_filenames"] is False for hook in HOOKS.values())

    def hook(name: str) -> int:
        return shell(pull_request, HOOKS[f"torchgen-lite-{name}"]["entry"]).returncode

    assert (hook("check"), hook("lint"), hook("fmt")) == (1, 0, 0)
    assert shell(pull_request, "torchgen-lite generate").returncode == hook("check") == 0
    schema = pull_request / "native_functions.yaml"
    schema.write_text(NEW.replace(": lib", ":   lib"))
    assert hook("fmt") == 0
    assert schema.read_text() == NEW
    schema.write_text(NEW.replace("Tensor self", "Tensr self"))
    assert hook("lint") == 1


@pytest.mark.parametrize("name", ["native_functions.yaml", "ops.yml"])
def test_hooks_look_at_schema_files(name: str) -> None:
    for hook in HOOKS.values():
        assert hook.get("always_run") or re.search(hook["files"], name)


def test_there_are_two_tiers() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    tiers = re.search(r"usage: \.ci/run \[(.*?)\]", script)
    assert tiers is not None
    page = (ROOT / "CONTRIBUTING.md").read_text()
    assert [tier for tier in tiers[1].split("|") if f"`.ci/run {tier}`" not in page] == []
    assert [p for p in re.findall(r"\btests/[\w/.]+", script) if not (ROOT / p).exists()] == []
    done = subprocess.run([ROOT / ".ci" / "run", "fast"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "usage: .ci/run [quick|full]\n")
