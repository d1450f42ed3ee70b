"""What a release needs beside code: metadata, addresses, workflows, forms, the lock. They agree, and linters accept them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from trove_classifiers import classifiers

from tests.conftest import ROOT
from torchgen_lite.loader.config.project import tomllib
from torchgen_lite.version import __version__

DISTRIBUTIONS = (".", "runtime", "reference", "tools")
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
CONFIG = GITHUB / "ISSUE_TEMPLATE" / "config.yml"
# Where addresses of the project may be.
TEXTS = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "*.yml", "*.cff", "docs/*.md", ".github/**/*.*", "*/pyproject.toml")
    for path in (*ROOT.glob(pattern), ROOT / "pyproject.toml")
    if path.name != "RELEASING.md"
)
# What American spelling writes otherwise; the brackets keep this line from finding itself.
BRITISH = re.compile(
    r"(?:behavi|col|fav|neighb|hon)o[u]r|(?:cent|met)r[e](?:d|s)?\b"
    r"|(?:label|cancel|model|signal|travel)l(?:ed(?!by)|er|ing)"
    r"|(?:normal|optim|initial|recogn|memo|summar|special|vector|parenthes|serial)i[s](?:e|ing|ation)"
    r"|analy[s](?:ed|er|ing)\b|misspel[t]|toward[s]"
)
SPELLED = {".py", ".md", ".j2", ".h", ".cpp", ".css", ".js", ".html", ".yaml", ".txt", ".toml"}
ADDRESS = re.compile(r"(https?://[^\s\"'`()<>]*?/|uses: [^\s/]+/)torchgen_lite\b")


def project(folder: str, root: Path = ROOT) -> dict[str, Any]:
    with (root / folder / "pyproject.toml").open("rb") as stream:
        found: dict[str, Any] = tomllib.load(stream)["project"]
    return found


def addresses(root: Path) -> set[str]:
    """Each address of the project in its texts, up to the name of the repository."""
    return {one for path in TEXTS for one in ADDRESS.findall((root / path).read_text("utf-8"))}


def test_distributions_agree() -> None:
    first, *others = map(project, DISTRIBUTIONS)
    python = [c for c in first["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert [c.rpartition(".")[2] for c in python] == ["10", "11", "12", "13", "14"]
    assert first["requires-python"] == ">=3.10"
    for other in others:
        for key in ("authors", "urls", "license", "requires-python"):
            assert other[key] == first[key]
        assert set(other["classifiers"]) <= set(first["classifiers"])
    assert set(first["classifiers"]) <= set(classifiers)
    assert "PyTorch" in first["description"]


def test_a_distribution_needs_another_one_of_the_same_release() -> None:
    needed = map(Requirement, [r for one in DISTRIBUTIONS for r in project(one)["dependencies"]])
    ours = [(r.name, str(r.specifier)) for r in needed if r.name.startswith("torchgen-lite")]
    same = f"=={__version__}"
    assert ours == [("torchgen-lite-runtime", same), ("torchgen-lite", same)]


def test_an_address_has_one_spelling() -> None:
    """`OWNER` is in place of an account until there is one; RELEASING.md replaces it."""
    home = project(".")["urls"]["Homepage"].removesuffix("torchgen_lite")
    owner = home.removeprefix("https://github.com/")
    assert re.fullmatch(r"[\w-]+/", owner)
    assert addresses(ROOT) == {home, f"uses: {owner}"}
    # The pages of diagnostics would lead there.
    assert "OWNER" not in project(".")["urls"].get("Documentation", "")


@pytest.mark.tools
def test_the_owner_is_put_in_as_the_page_says(tmp_path: Path) -> None:
    for path in TEXTS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    [command] = re.findall(r"\n +(git grep .*)\n", (ROOT / "RELEASING.md").read_text())
    script = f"git init -q && git add . && {command}"
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, check=True)
    assert addresses(tmp_path) == {"https://github.com/ACCOUNT/", "uses: ACCOUNT/"}
    assert project("runtime", tmp_path)["urls"]["Homepage"].endswith("ACCOUNT/torchgen_lite")


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    assert cited["license"] == project(".")["license"]
    assert [one["name"] for one in cited["authors"]] == [
        one["name"] for one in project(".")["authors"]
    ]


def run_tool(name: str, *arguments: str | Path) -> None:
    program = Path(sys.executable).with_name(name)
    if not program.exists():
        pytest.skip("needs the extra `test`")
    done = subprocess.run(
        [program, *arguments],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.tools
@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-actions", [ROOT / "action.yml"]),
        ("dependabot", [GITHUB / "dependabot.yml"]),
        ("github-issue-forms", [form for form in FORMS if form != CONFIG]),
        ("github-issue-config", [CONFIG]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_have_the_shape_that_their_readers_publish(schema: str, paths: list[Path]) -> None:
    run_tool("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)


@pytest.mark.tools
def test_workflows_give_nothing_to_an_attacker() -> None:
    config = ("--config", GITHUB / "zizmor.yml")
    run_tool("zizmor", "--offline", "--quiet", *config, GITHUB, ROOT / "action.yml")


def test_workflows_run_what_the_script_runs() -> None:
    steps = [
        step["run"]
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    script = (ROOT / ".ci" / "run").read_text()
    assert {".ci/run quick", ".ci/run full"} <= set(steps)
    tests = [step.removeprefix("python") for step in steps if "pytest" in step]
    assert tests and all(step in script for step in tests)


def test_hooks_run_what_the_quick_tier_runs() -> None:
    configured = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    [local] = configured["repos"]
    assert {hook["language"] for hook in local["hooks"]} == {"system"}
    script = (ROOT / ".ci" / "run").read_text().replace('"$bin/', "").replace('"', "")
    assert [hook["entry"] for hook in local["hooks"] if hook["entry"] not in script] == []


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements-dev.lock").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    matches = [re.fullmatch(r"([\w.-]+)==([\w.]+)", pin) for pin in pins]
    assert all(matches), "names and versions, no addresses and no folders"
    return {m[1].lower().replace("_", "-"): m[2] for m in matches if m}


def test_the_lock_is_for_today_s_extras() -> None:
    pins, first = locked(), project(".")
    extras = first["optional-dependencies"]
    wanted = [*first["dependencies"], *project("tools")["dependencies"]]
    wanted += [one for extra in ("cpp", "docs", "test", "watch") for one in extras[extra]]
    environment = {"python_version": "3.11"}
    for requirement in map(Requirement, wanted):
        name = requirement.name.lower().replace("_", "-")
        marker = requirement.marker
        if name != "torchgen-lite" and (marker is None or marker.evaluate(environment)):
            assert name in pins and requirement.specifier.contains(pins[name]), requirement


def test_nothing_says_to_install_what_is_not_released() -> None:
    """Until there is a release, a name in the package index is an error, or somebody else's."""
    for path in TEXTS:
        said = re.findall(r"pip install[^\n`&]*torchgen-lite(?![\w-])", (ROOT / path).read_text())
        assert said == [], path


def test_spelling_is_american() -> None:
    folders = (
        "bench",
        "docs",
        "examples",
        "reference",
        "runtime",
        "templates",
        "tests",
        "torchgen_lite",
    )
    paths = [*ROOT.glob("*.*"), *(path for one in folders for path in (ROOT / one).rglob("*"))]
    found = {
        path.relative_to(ROOT).as_posix(): word[0]
        for path in paths
        if path.suffix in SPELLED and path.is_file() and "node_modules" not in path.parts
        # A pattern that ignores case takes three times as long.
        for word in [BRITISH.search(path.read_text("utf-8", "replace").lower())]
        if word
    }
    assert found == {}
