"""Several projects in one run, and the single document that machine formats give for them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]


@pytest.fixture
def two(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two projects in a folder. `a` is generated; `b`, which pyproject.toml configures, is not."""
    for name, prefix in (("a/torchgen_lite.toml", ""), ("b/pyproject.toml", "tool.torchgen_lite.")):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(f'[{prefix}target.python]\npackage = "ops"\n')
        (path.parent / "native_functions.yaml").write_text("- func: relu(Tensor self) -> Tensor\n")
    monkeypatch.chdir(tmp_path)
    assert run("generate", "a").code == 0
    return tmp_path


@pytest.mark.parametrize(
    "named",
    [
        ("a", "b"),
        ("b", "a", "./b"),
        ("a/torchgen_lite.toml", "b/pyproject.toml"),
        ("--config", "a/torchgen_lite.toml", "--config", "b/pyproject.toml"),
        ("--config", "b/pyproject.toml", "--config", "a/torchgen_lite.toml"),
    ],
)
def test_each_project_is_checked(run: Run, two: Path, named: tuple[str, ...]) -> None:
    result = run("check", *named)
    assert (result.code, result.stdout) == (1, "")
    assert re.search(r"(?m)^a:\n\d+ files up to date in a/generated$", result.stderr)
    assert "b:\nmissing   b/generated/python/ops/__init__.py\n" in result.stderr
    assert run("generate", *named).code == 0
    assert run("check", *named).code == run("check", "b").code == 0
    assert run("check", *named, "-q") == Result(0, "", "")


@pytest.mark.parametrize("members", [["a", "b"], ["*"], ["a", "./b", "a"], ["more", "a"]])
def test_a_workspace_stands_for_its_members(run: Run, two: Path, members: list[str]) -> None:
    (two / "torchgen_lite.toml").write_text(f"[workspace]\nmembers = {json.dumps(members)}\n")
    (two / "more").mkdir()
    if "more" in members:
        (two / "more/torchgen_lite.toml").write_text('[workspace]\nmembers = ["../b"]\n')
    for named in ((), (".",), ("--config", "torchgen_lite.toml")):
        result = run("check", *named, "--output-format", "json")
        files = json.loads(result.stdout)["files"]
        assert result.code == 1 and {file["path"].split("/")[0] for file in files} == {"a", "b"}
    assert run("lint").stderr.count("1 operator, 0 errors, 0 warnings") == 2
    assert run("generate").code == run("check").code == run("diff").code == 0
    assert (run("check", "a").code, run("check", "-q")) == (0, Result(0, "", ""))
    assert "is a workspace" in run("list", "ops").stderr


def test_a_workspace_may_be_a_project_too(run: Run, two: Path) -> None:
    with (two / "a/torchgen_lite.toml").open("a") as file:
        file.write('[workspace]\nmembers = [".", "../b"]\n')
    result = run("check", "a", "--output-format", "json")
    assert {file["path"].split("/")[0] for file in json.loads(result.stdout)["files"]} == {"a", "b"}
    # An option for a single project applies to the workspace's own project.
    assert run("generate", "--config", "a/torchgen_lite.toml", "--output-dir", "new").code == 2
    (two / "native_functions.yaml").write_text("- func: f(Tensor self) -> Tensor\n")
    (two / "torchgen_lite.toml").write_text('[workspace]\nmembers = [".", "a"]\n')
    assert run("generate", "--output-dir", "new").code == 0
    assert (two / "new/python").is_dir() and not (two / "a/new").exists()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ('["a", "c"]', "error[TG001]: `c` has no configuration\n --> torchgen_lite.toml:2:17\n"),
        ('["c*"]', "error[TG001]: `c*` has no configuration\n --> torchgen_lite.toml:2:12\n"),
        ('["/a"]', "error[TG003]: `members`: `/a` is not the path of a folder from here"),
        ('["**/a"]', "error[TG003]: `members`: `**/a` is not the path of a folder from here"),
        ("3", "error[TG003]: `members` takes a list of strings"),
        ('["a"]\nmember = 1', "error[TG002]: unknown configuration key `member`"),
    ],
)
def test_mistakes_in_a_workspace(run: Run, two: Path, members: str, said: str) -> None:
    (two / "torchgen_lite.toml").write_text(f"[workspace]\nmembers = {members}\n")
    result = run("check")
    assert result.code == 2 and said in result.stderr


def test_projects_and_files_are_formatted(run: Run, two: Path) -> None:
    text = "- dispatch: {CPU: f}\n  func: f(Tensor self) -> Tensor\n"
    for name in ("a/native_functions.yaml", "b/native_functions.yaml", "more.yaml"):
        (two / name).write_text(text)
    (two / "a/torchgen_lite.toml").write_text("extra-fields = ['vendor']\n")
    (two / "a/native_functions.yaml").write_text(f"{text}  vendor: 1\n")
    result = run("fmt", "--check", "a", "b/pyproject.toml", "more.yaml")
    assert (result.code, result.stdout) == (1, "")
    assert re.findall("would reformat (.*)", result.stderr) == [
        "more.yaml",
        "a/native_functions.yaml",
        "b/native_functions.yaml",
    ]
    assert run("fmt", "a", "more.yaml").code == 0
    assert (
        run("fmt", "--check", "a", "more.yaml").code == 0 and run("fmt", "b", "--check").code == 1
    )
    (two / "torchgen_lite.toml").write_text('[workspace]\nmembers = ["*"]\n')
    assert re.findall("would reformat (.*)", run("fmt", "--check").stderr) == [
        "b/native_functions.yaml"
    ]
    assert run("fmt", "c", "--check").code == 2


def test_a_file_is_formatted_as_its_project_reads_it(run: Run, two: Path) -> None:
    """With its keys, tags and namespace, and with what the files before declare."""
    (two / "a/torchgen_lite.toml").write_text(
        'schema = ["ops.yaml", "more.yaml"]\nprivateuse1 = "SIM"\ntags = ["fast"]\nnamespace = "sim"\n'
    )
    (two / "a/ops.yaml").write_text(
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch: {SIM: f_out}\n"
        "- func: g(Tensor self) -> Tensor\n  tags: fast\n  dispatch: {SIM: g}\n"
    )
    more = (
        "- func: f(Tensor self) -> Tensor\n  {}structured_delegate: f.out\n"
        "- func: sim::g\n  dispatch: {{CPU: g_cpu}}\n"
    )
    (two / "a/more.yaml").write_text(more.format("variants:   function\n  "))
    wrong = run("fmt", "--check", "a")
    assert re.findall("would reformat (.*)", wrong.stderr) == ["a/ops.yaml", "a/more.yaml"]
    assert run("fmt", "a").stderr == "2 files reformatted, 0 unchanged\n"
    assert (two / "a/more.yaml").read_text() == more.format("variants: function\n  ")
    assert run("lint", "a").code == 0, run("lint", "a").stderr


def test_pytorchs_operators_are_needed_for_what_refers_to_them(run: Run, two: Path) -> None:
    (two / "a/torchgen_lite.toml").write_text('schema = ["ops.yaml"]\nnative = "nowhere.yaml"\n')
    (two / "a/ops.yaml").write_text("- func: mylib::f(Tensor self) -> Tensor\n")
    assert run("fmt", "--check", "a").code == 0
    (two / "a/ops.yaml").write_text("- func: relu\n  dispatch: {CPU: f}\n")
    result = run("fmt", "--check", "a", "--output-format", "concise")
    assert result.code in (1, 2) and result.stderr.count("nowhere.yaml") == 1
    # What is wrong with a file before is told once, too.
    (two / "a/torchgen_lite.toml").write_text('schema = ["gone.yaml", "ops.yaml", "more.yaml"]\n')
    (two / "a/more.yaml").write_text("- func: f\n")
    result = run("fmt", "--check", "a/ops.yaml", "--config", "a/torchgen_lite.toml")
    assert result.code == 2 and result.stderr.count("gone.yaml") == 1


def test_a_file_that_is_named_twice_is_formatted_once(run: Run, two: Path) -> None:
    (two / "f.yaml").write_text("- dispatch: {CPU: f}\n  func: f(Tensor self) -> Tensor\n")
    (two / "g.yaml").symlink_to("f.yaml")
    result = run("fmt", "--check", "f.yaml", "./f.yaml", "g.yaml")
    assert result.stderr.endswith("1 file not formatted. Run `torchgen-lite fmt`.\n")


def test_settings_are_put_over_each(run: Run, two: Path) -> None:
    assert run("generate", "a", "b", "--config", "output-dir = 'out'").code == 0
    assert (two / "a/out/python/ops").is_dir() and (two / "b/out/python/ops").is_dir()


def test_mistakes_are_where_they_are_seen_from_here(run: Run, two: Path) -> None:
    for name in ("a", "b"):
        (two / name / "native_functions.yaml").write_text("- func: f(Tensor self) -> Tensr\n")
    lines = run("lint", "a", "b", "--output-format", "concise").stderr.splitlines()
    assert [line.split(" ")[0] for line in lines if "TG202" in line] == [
        "a/native_functions.yaml:1:27:",
        "b/native_functions.yaml:1:27:",
    ]
    assert (
        "--> b/native_functions.yaml:1:27\n" in run("--config", "b/pyproject.toml", "lint").stderr
    )


def test_one_document_for_all(run: Run, two: Path) -> None:
    data = json.loads(run("check", "a", "b", "--output-format", "json").stdout)
    count = data["summary"]["unchanged"]
    assert (data["kind"], data["ok"], count > 0) == ("check", False, True)
    assert data["summary"]["missing"] == data["summary"]["errors"] == count
    assert {file["path"].split("/")[0] for file in data["files"]} == {"a", "b"}
    assert {found["path"].split("/")[0] for found in data["diagnostics"]} == {"b"}
    assert {found["code"] for found in data["diagnostics"]} == {"TG016"}
    [log] = json.loads(run("check", "a", "b", "--output-format", "sarif").stdout)["runs"]
    assert len(log["results"]) == count


def test_each_is_compared_with_its_own_past(run: Run, two: Path) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    for line in ("init -q -b main", "add .", "commit -qm one"):
        subprocess.run(["git", *identity, *line.split()], cwd=two, check=True)
    for name in ("a", "b"):
        (two / "old" / name).mkdir(parents=True)
        old = two / name / "native_functions.yaml"
        (two / "old" / name / old.name).write_text(old.read_text())
        old.write_text(f"- func: {name}(Tensor self) -> Tensor\n")
    for against in ("main", "old"):
        result = run("breaking", "--against", against, "a", "b", "--output-format", "json")
        paths = [found["path"] for found in json.loads(result.stdout)["diagnostics"]]
        # A removed operator is shown at its old place.
        assert (result.code, len(paths)) == (1, 2)
        where = "main:" if against == "main" else "old/"
        assert paths == [f"{where}{name}/native_functions.yaml" for name in ("a", "b")]


COMPARING = ("breaking --against main", "review --against main", "diff --against main")


@pytest.mark.parametrize(
    "command", ["check", "diff", "lint", "fmt --check", "generate", *COMPARING]
)
@pytest.mark.parametrize("mistake", ["schema", "configuration", "nothing"])
def test_what_is_refused_in_one_project_stops_no_other(
    run: Run, two: Path, command: str, mistake: str
) -> None:
    """`breaking` ended with the first project that had an error, which it found in a file of the folder it ran in."""
    identity = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    for line in ("init -q -b main", "add .", "commit -qm one"):
        subprocess.run(["git", *identity, *line.split()], cwd=two, check=True)
    changed = "- func: relu(Tensor self, Tensor b) -> Tensor\n"
    (two / "b/native_functions.yaml").write_text(changed)
    if mistake == "schema":
        (two / "a/native_functions.yaml").write_text("- func: f(Tensor self) -> Tensr\n")
    elif mistake == "configuration":
        (two / "a/torchgen_lite.toml").write_text("no-such-option = 1\n")
    both = run("--output-format", "concise", *command.split(), "a", "b")
    (two / "b/native_functions.yaml").write_text(changed)
    alone = run("--output-format", "concise", *command.split(), "b")
    # The worst of both: `b` is not generated and its schema has changed.
    of_b = int(command.startswith(("check", "breaking", "review")) or command == "diff")
    of_a = {"schema": 1, "configuration": 2, "nothing": 0}[mistake]
    assert (both.code, alone.code) == (max(of_a, of_b), of_b)
    assert both.stdout.endswith(alone.stdout)
    if command != "generate":
        assert both.stderr.endswith(alone.stderr)
    wrong = re.findall(r"^\S+?(?=:\d+:\d+: error)", both.stderr, re.M)
    assert all((two / path.removeprefix("main:")).exists() for path in wrong)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "a", "nowhere"), "error[TG001]: there is no `nowhere`"),
        (("check", "."), "error[TG001]: `.` has no configuration"),
        (
            ("check", "a/native_functions.yaml"),
            "error[TG001]: `a/native_functions.yaml` is a schema file, and no project\n"
            "  = help: leave it out, or write `--schema a/native_functions.yaml`\n",
        ),
        (
            ("lint", "a", "b/native_functions.yaml"),
            "Error: Schema files and projects exclude each other.",
        ),
        (
            ("lint", "a/native_functions.yaml", "--torch"),
            "Error: Schema files and `--torch` exclude each other.",
        ),
        (
            ("check", "a", "b", "--schema", "x.yaml"),
            "`--schema` applies to one project, but 2 are named",
        ),
        (
            ("generate", "a", "b", "--stamp", "x"),
            "`--stamp` applies to one project, but 2 are named",
        ),
        (
            ("list", "ops", "--config", "a/torchgen_lite.toml", "--config", "b/pyproject.toml"),
            "error[TG015]: `--config` names 2 files, but this command applies to one project",
        ),
    ],
)
def test_what_is_refused(run: Run, two: Path, arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert said in result.stderr


def test_options_of_the_command_line_hold_for_schema_files_of_the_command_line(
    run: Run, two: Path
) -> None:
    (two / "theirs.yaml").write_text("- func: f(Tensor self) -> Tensor\n")
    asked = ("list", "outputs", "--config", "a/torchgen_lite.toml", "--schema", "theirs.yaml")
    result = run(*asked)
    assert result.code == 0 and "__init__.py" in result.stdout
    assert "/python/aten_ops/" not in result.stdout
    package = ("--config", "target.python.package = 'theirs'")
    assert "generated/python/theirs/__init__.py" in run(*asked, *package).stdout


@pytest.mark.parametrize("format_", ["json", "github", "sarif"])
@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        (("check",), 1, "TG016"),
        (("diff",), 1, "TG016"),
        (("fmt", "--check"), 1, "TG017"),
        (("fmt", "--diff"), 1, "TG017"),
        (("lint", "--deny-warnings"), 1, "TG4"),
        (("lint", "--schemas"), 2, "TG015"),
        (("nonsense",), 2, "TG015"),
        (("generate", "--schema", "nowhere.yaml"), 2, "TG006"),
        (("lint",), 0, ""),
        (("generate",), 0, ""),
    ],
)
def test_machines_are_told_what_the_exit_code_says(
    run: Run, project: Path, format_: str, arguments: tuple[str, ...], code: int, reported: str
) -> None:
    (project / "native_functions.yaml").write_text(
        "- dispatch: {CPU: f}\n  func: f_(Tensor self, *, bool out=False) -> Tensor\n"
    )
    result = run(*arguments, "--output-format", format_)
    assert result.code == code
    assert reported in result.stdout
    if format_ == "json":
        document = json.loads(result.stdout)
        assert document["ok"] == (code == 0)
    elif format_ == "sarif":
        assert bool(json.loads(result.stdout)["runs"][0]["results"]) >= bool(code)
