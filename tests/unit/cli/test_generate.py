"""`generate`, `check` and `diff` in a small project."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite.version import __version__

Run = Callable[..., Result]


def test_generate_then_check(run: Run, project: Path) -> None:
    first = run("generate")
    assert (first.code, first.stdout, first.stderr) == (0, "", "12 files written in generated\n")
    again = run("generate")
    assert (again.code, again.stderr) == (0, "12 files unchanged in generated\n")
    assert run("check") == Result(0, "", "12 files up to date in generated\n")
    assert run("check", "-q") == run("-q", "check") == Result(0, "", "")


def test_check_names_what_is_out_of_date(run: Run, project: Path) -> None:
    run("generate")
    package = project / "generated/python/ops"
    (package / "ops.py").write_bytes((package / "ops.py").read_bytes().replace(b"relu", b"rely", 1))
    (package / "py.typed").unlink()
    header = (package / "ops.pyi").read_text().split("\n")[0]
    (package / "old.py").write_text(f"{header}\n")
    (package / "mine.py").write_text("# by hand\n")
    result = run("check")
    assert result == Result(
        1,
        "",
        "orphan    generated/python/ops/old.py      (no longer produced)\n"
        "changed   generated/python/ops/ops.py      +1 -1\n"
        "missing   generated/python/ops/py.typed\n"
        "3 files out of date. Run `torchgen-lite generate` and commit the result.\n",
    )
    assert run("generate").stderr == (
        "deleted   generated/python/ops/old.py    (no longer produced)\n"
        "2 files written, 1 deleted, 10 unchanged in generated\n"
    )
    assert run("check").code == 0
    assert (package / "mine.py").exists()


def test_check_message(run: Run, project: Path) -> None:
    (project / "torchgen_lite.toml").write_text('check-message = "See CONTRIBUTING.md."\n')
    assert run("check").stderr.endswith("commit the result.\nSee CONTRIBUTING.md.\n")


def test_diff_is_a_patch_that_git_applies(run: Run, project: Path) -> None:
    run("generate")
    (project / "native_functions.yaml").write_text("- func: gelu(Tensor self) -> Tensor\n")
    result = run("diff")
    assert result.code == 1
    assert "--- a/generated/python/ops/ops.py\n+++ b/generated/python/ops/ops.py\n" in result.stdout
    subprocess.run(["git", "apply", "-"], cwd=project, input=result.stdout.encode(), check=True)
    assert run("check").code == 0


def test_dry_run_prints_the_plan(run: Run, project: Path) -> None:
    result = run("generate", "--dry-run")
    assert result.code == 0
    assert result.stdout.splitlines()[0] == "missing   generated/python/ops/__init__.py"
    assert not (project / "generated").exists()


def test_a_dry_run_says_what_the_run_says(run: Run, project: Path) -> None:
    """It ended with 0 where `generate --deny-warnings` ends with 1."""
    (project / "native_functions.yaml").write_text(
        "- func: f(Tensor self) -> Tensor\n  doc: Rule #1\n"
    )
    for denied, code in (((), 0), (("--deny-warnings",), 1)):
        result = run("generate", "--dry-run", *denied)
        assert result.code == code
        assert "warning[TG131]" in result.stderr


def test_a_target_that_is_asked_for_twice_is_generated_once(run: Run, project: Path) -> None:
    twice = run("generate", "--target", "python", "--target", "python")
    assert (twice.code, "written in generated" in twice.stderr) == (0, True)


@pytest.mark.parametrize(
    "options",
    [
        *("--check --dry-run", "--diff --dry-run", "--check --diff --dry-run"),
        *("--check --depfile d", "--diff --stamp s", "--dry-run --depfile d --stamp s"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    run: Run, project: Path, options: str
) -> None:
    """`--check --dry-run` ended with 0 where files were out of date."""
    result = run("generate", *options.split())
    assert result.code == 2
    assert ": give " in result.stderr
    assert {path.suffix for path in project.iterdir()} == {".toml", ".yaml"}


def test_every_error_in_one_run_and_nothing_written(run: Run, project: Path) -> None:
    (project / "native_functions.yaml").write_text(
        "- func: f(Tensor self) -> Tensr\n- func: g(Tensor self) -> Tensor\n  dispatch:\n    CPUU: g_cpu\n"
    )
    result = run("generate", "--output-format", "concise")
    assert result.code == 1
    assert [line.split(" ")[1] for line in result.stderr.splitlines()[:-1]] == [
        "error[TG202]",
        "error[TG103]",
    ]
    assert result.stderr.endswith("2 errors; nothing was written.\n")
    assert not (project / "generated").exists()


def test_an_unmarked_file_in_the_way(run: Run, project: Path) -> None:
    path = project / "generated/python/ops/ops.py"
    path.parent.mkdir(parents=True)
    path.write_text("# by hand\n")
    result = run("generate")
    assert result.code == 1
    assert "`generated/python/ops/ops.py` was not generated and is in the way" in result.stderr
    assert [p.name for p in path.parent.iterdir()] == ["ops.py"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["generate", "--target", "pyton"], "unknown target `pyton`"),
        (["generate", "--schema", "absent.yaml"], "cannot read `absent.yaml`"),
        (["--config", "absent.toml", "check"], "absent.toml"),
        (["check", "--config", "nonsense = 1"], "unknown configuration key `nonsense`"),
        (["check", "--config", "target.python.pakage = 'x'"], "did you mean `package`?"),
        (["genrate"], "Did you mean `generate`?"),
        (["check", "--nonsense"], "--nonsense"),
        ([], "Usage: torchgen-lite"),
    ],
)
def test_exit_code_2(run: Run, project: Path, arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_folder_without_a_schema_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "empty")
    result = run("generate")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == """\
error[TG007]: there is no `native_functions.yaml` here
  = help: write `schema = ["ops.yaml"]` in the configuration, or give `--schema ops.yaml`; \
`torchgen-lite init` starts a project

1 error; nothing was written.
for more: torchgen-lite explain TG007
"""
    (tmp_path / "empty" / "torchgen_lite.toml").write_text("")
    assert "`torchgen-lite init`" not in run("generate").stderr
    # A file that may be meant is named.
    (tmp_path / "empty" / ".hidden.yaml").write_text("")
    (tmp_path / "empty" / "npu_native_functions.yaml").write_text("backend: NPU\n")
    assert "or give `--schema npu_native_functions.yaml`" in run("lint").stderr
    (tmp_path / "empty" / "other.yaml").write_text("")
    assert "or give `--schema ops.yaml`" in run("lint").stderr


def test_an_empty_schema_deletes_nothing(run: Run, project: Path) -> None:
    (project / "native_functions.yaml").write_text("# Nothing yet.\n")
    assert run("generate").code == 0, "a project that starts"
    (project / "native_functions.yaml").write_text("- func: relu(Tensor self) -> Tensor\n")
    run("generate")
    (project / "native_functions.yaml").write_text("")
    for command in (("generate",), ("generate", "--dry-run")):
        result = run(*command)
        assert (result.code, result.stdout) == (1, "")
        assert result.stderr == (
            "error[TG018]: `native_functions.yaml` has no operators, but the outputs have some\n"
            "  = help: `--allow-empty` writes outputs without any\n\n1 error; nothing was written.\n"
            "for more: torchgen-lite explain TG018\n"
        )
    assert run("check").code == 1
    assert run("generate", "--allow-empty").code == 0
    assert run("check").code == run("generate").code == 0


def test_an_internal_error_is_exit_code_2_and_says_what_to_report(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise RuntimeError("no such luck\nat all")

    monkeypatch.setattr("torchgen_lite.cli.generate.generate_all", fail)
    monkeypatch.setattr("tempfile.tempdir", str(project))
    result = run("generate", "--target", "a b")
    [report] = project.glob("torchgen-lite-crash-*.txt")
    head = "error[TG900]: internal error: RuntimeError: no such luck\n  = help: please report it in the issue tracker of torchgen-lite, with "
    assert result == Result(2, "", f"{head}the text of `{report}` and the entry that causes it\n")
    text = report.read_text()
    assert text.startswith(f"torchgen-lite {__version__}\n")
    assert platform.python_version() in text and platform.platform() in text
    assert "\ncommand: torchgen-lite generate --target 'a b'\nTraceback (most recent" in text
    assert text.endswith("\nRuntimeError: no such luck\nat all\n")
    printed = run("generate", "--target", "a b", "-v").stderr
    assert f"\n{head}what follows and the entry that causes it\n\ntorchgen-lite " in printed
    assert printed.endswith("\nRuntimeError: no such luck\nat all\n")
    monkeypatch.setattr("tempfile.tempdir", str(project / "nowhere"))
    assert f"{head}what follows" in run("generate").stderr


def test_interruption(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **keywords: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("torchgen_lite.cli.generate.generate_all", interrupt)
    assert run("generate").code == 130


def test_json(run: Run, project: Path) -> None:
    data = json.loads(run("check", "--output-format", "json").stdout)
    assert (data["version"], data["kind"], data["ok"]) == (1, "check", False)
    assert data["summary"]["missing"] == 12
    assert data["files"][0] == {
        "path": "generated/python/ops/__init__.py",
        "target": "python",
        "status": "missing",
        "added": data["files"][0]["added"],
        "removed": 0,
    }


def test_github(run: Run, project: Path) -> None:
    lines = run("check", "--output-format", "github").stdout.splitlines()
    path = "generated/python/ops/ops.py"
    assert (
        f"::error title=TG016,file={path},line=1,endLine=1,col=1,endColumn=2::`{path}` is out of date: missing"
        "%0Ahelp: run `torchgen-lite generate`"
    ) in lines


def test_depfile(run: Run, project: Path) -> None:
    assert run("generate", "--depfile", "ops.d").code == 0
    text = (project / "ops.d").read_text()
    assert text.startswith("generated/python/ops/__init__.py: ")
    assert "native_functions.yaml " in text and "torchgen_lite.toml " in text
    assert "version.py\n" in text, "another release makes other files"


def test_a_depfile_for_outputs_elsewhere_names_them_in_full(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "build").mkdir()
    monkeypatch.chdir(project / "build")
    assert run("generate", "--depfile", "ops.d").code == 0
    text = (project / "build/ops.d").read_text()
    assert text.startswith(f"{project.as_posix()}/generated/python/ops/__init__.py: ")


def test_the_stamp_is_new_after_each_run_and_the_outputs_are_not(run: Run, project: Path) -> None:
    command = ("generate", "--depfile", "ops.d", "--stamp", "ops.stamp")
    assert run(*command).code == 0
    assert (project / "ops.d").read_text().startswith("ops.stamp: ")
    output = project / "generated/python/ops/ops.py"
    for path in (project / "ops.stamp", output):
        os.utime(path, (1, 1))
    assert run(*command).code == 0
    assert (project / "ops.stamp").stat().st_mtime > 1
    assert output.stat().st_mtime == 1


def test_a_stamp_is_not_touched_when_something_is_wrong(run: Run, project: Path) -> None:
    (project / "native_functions.yaml").write_text("- func: relu(Tensr self) -> Tensor(\n")
    assert run("generate", "--stamp", "ops.stamp").code == 1
    assert not (project / "ops.stamp").exists()


def test_a_depfile_that_cannot_be_written(run: Run, project: Path) -> None:
    result = run("generate", "--depfile", "nowhere/ops.d")
    assert result.code == 2
    assert "cannot write `nowhere/ops.d`: no such file" in result.stderr
    assert not (project / "generated").exists()


def test_an_output_that_cannot_be_written_is_named_in_full(run: Run, project: Path) -> None:
    result = run("generate", "--output-dir", "/proc/nowhere")
    assert result.code == 2
    assert "cannot write `/proc/nowhere/python/ops/__init__.py`: " in result.stderr


def test_config_of_the_command_line(run: Run, project: Path) -> None:
    assert run("generate", "--config", "output-dir = 'elsewhere'").code == 0
    assert (project / "elsewhere/python/ops/ops.py").exists()


def test_settings_of_the_command_line_add_up(run: Run, project: Path) -> None:
    """Each setting replaces what it names; the target's other options in the file stay."""
    (project / "torchgen_lite.toml").write_text(
        '[target.python]\npackage = "first"\ndispatcher = "own"\n'
    )
    before = ("--config", "output-dir = 'elsewhere'")
    behind = ("--config", "target.python.package = 'other'", "--config", "targets = ['python']")
    assert run(*before, "generate", *behind).code == 0
    assert (project / "elsewhere/python/other/ops.py").exists()
    assert "Dispatcher()" in (project / "elsewhere/python/other/libraries.py").read_text()


def test_a_partial_run_deletes_only_beside_its_own_files(run: Run, project: Path) -> None:
    run("generate")
    (project / "other.yaml").write_text("- func: f(Tensor x) -> Tensor\n")
    # For another schema, the options in the configuration do not apply, so its package has another name.
    (project / "torchgen_lite.toml").write_text('[target.python]\npackage = "first"\n')
    assert run("generate").stderr.endswith("\n12 files written, 12 deleted in generated\n")
    assert run("generate", "--schema", "other.yaml").stderr == "12 files written in generated\n"


@pytest.mark.parametrize("schema", ["lib.yaml", "native_functions.yaml"])
def test_nothing_of_another_project_is_deleted_or_overwritten(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, schema: str
) -> None:
    """This holds whatever the name of the other project's schema file, if it has its own folder."""
    library = project / "third_party/lib"
    (library / ".git").mkdir(parents=True)
    (library / "torchgen_lite.toml").write_text(f'schema = "{schema}"\n')
    (library / schema).write_text("- func: g(Tensor self) -> Tensor\n")
    monkeypatch.chdir(library)
    assert run("generate").stderr == "12 files written in generated\n"
    own = project / "own"
    (own / ".git").mkdir(parents=True)
    (own / "native_functions.yaml").write_text("- func: f(Tensor self) -> Tensor\n")
    monkeypatch.chdir(own)
    for output in ("..", "../third_party", "../third_party/lib"):
        written = run("generate", "--output-dir", output).stderr
        assert written == f"12 files written in {own}/{output}\n"
    assert run("generate", "--output-dir", "..").stderr == f"12 files unchanged in {own}/..\n"
    taken = run("generate", "--output-dir", "../third_party/lib/generated")
    monkeypatch.chdir(library)
    if schema == "lib.yaml":
        assert taken.code == 1
        assert "TG010" in taken.stderr and "another project generated it" in taken.stderr
        assert run("check").stderr == "12 files up to date in generated\n"
    monkeypatch.chdir(project)
    assert "deleted" not in run("generate", "--config", "output-dir = '.'").stderr


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("output", ["../b/generated", "../shared", ".."])
def test_projects_with_schema_files_of_one_name_know_their_outputs_apart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    for name, folder in (("a", output), ("b", "generated" if "b" in output else output)):
        (tmp_path / name / ".git").mkdir(parents=True)
        config = f'schema = "ops.yaml"\noutput-dir = "{folder}"\ntargets = ["python"]\n'
        (tmp_path / name / "torchgen_lite.toml").write_text(config)
        (tmp_path / name / "ops.yaml").write_text(f"- func: {name}(Tensor self) -> Tensor\n")
    monkeypatch.chdir(tmp_path / "b")
    assert run("generate").stderr.startswith("12 files written in ")
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path / "a")
    refused = run("generate")
    assert refused.code == 1
    assert "TG010" in refused.stderr and "another project generated it" in refused.stderr
    assert contents(tmp_path) == before
    # If their files have different names, neither project touches the other's.
    package = ("--config", "target.python.package = 'other'")
    assert run("generate", *package).stderr.startswith("12 files written in ")
    assert run("check", *package).code == 0
    monkeypatch.chdir(tmp_path / "b")
    assert run("generate").stderr.startswith("12 files unchanged in ")


@pytest.mark.parametrize("name", ["op\0s.yaml", "loop.yaml"])
def test_a_marker_whose_schema_file_cannot_be(project: Path, run: Run, name: str) -> None:
    assert run("generate").code == 0
    output = project / "generated"
    (output / "loop.yaml").symlink_to("loop.yaml")
    package = next(output.rglob("functions.py"))
    stray = package.with_name("stray.py")
    schema = next(project.glob("*.yaml")).name
    stray.write_text(package.read_text().replace(schema, name))
    assert name in stray.read_text()
    assert run("generate").code == 0


def test_the_result_depends_on_nothing_else(project: Path) -> None:
    outputs = []
    for seed, folder in (("1", project), ("2", project / "sub")):
        folder.mkdir(exist_ok=True)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "torchgen_lite", "generate"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        files = sorted((project / "generated").rglob("*.py*"))
        outputs.append({p.name: p.read_bytes() for p in files})
        for path in files:
            path.unlink()
    assert outputs[0] == outputs[1] and len(outputs[0]) == 11


@pytest.mark.parametrize(
    ("config", "code", "place"),
    [
        ('targets = ["pyhton"]\n', "TG008", "torchgen_lite.toml:1:12"),
        ('[target.python]\npakage = "x"\n', "TG510", "torchgen_lite.toml:2:1"),
        ('[target.python]\nkernels = ["nope"]\n', "TG311", "torchgen_lite.toml:2:12"),
    ],
)
def test_a_wrong_setting_is_shown_where_it_stands(
    run: Callable[..., Result], project: Path, config: str, code: str, place: str
) -> None:
    (project / "torchgen_lite.toml").write_text(config)
    result = run("--output-format", "concise", "generate")
    assert result.code in (1, 2)
    assert result.stderr.startswith(f"{place}: error[{code}]")


def test_a_module_that_is_not_found_is_the_only_error(run: Run, project: Path) -> None:
    text = '[target.python]\nkernels = ["nope"]\nformulas = ["nor_this"]\n'
    (project / "torchgen_lite.toml").write_text(text)
    result = run("--output-format", "concise", "generate")
    assert [line.split("]")[0] for line in result.stderr.splitlines() if "error[" in line] == [
        "torchgen_lite.toml:2:12: error[TG311",
        "torchgen_lite.toml:3:13: error[TG311",
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("command", ["lint", "generate"])
def test_a_schema_that_is_no_file_is_refused_at_once(run: Run, project: Path, command: str) -> None:
    os.mkfifo(project / "pipe.yaml")
    for path in ("pipe.yaml", "/dev/zero"):
        result = run(command, "--schema", path)
        assert result.code == 2
        assert f"error[TG006]: cannot read `{path}`: not a regular file\n" in result.stderr


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nimport os\n.yaml", "a\\nimport os\\n.yaml"),
        ("a\r.yaml", "a\\r.yaml"),
        ("a\u2028.yaml", "a\\u2028.yaml"),
        ("a\udcff.yaml", "a\\udcff.yaml"),
    ],
)
def test_the_name_of_a_schema_file_is_one_line_of_text(
    run: Run, project: Path, name: str, shown: str
) -> None:
    (project / name).write_text("- func: f(Tensor x) -> Tensor\n")
    result = run("generate", "--schema", name)
    assert result.code == 2
    assert result.stderr.startswith(f"error[TG006]: cannot read `{shown}`: its name has control")
    assert not (project / "generated").exists()


@pytest.mark.parametrize(
    ("setting", "code"),
    [('template-dirs = ["{}"]', 1), ('schema = "{}"', 2), ('output-dir = "{}"', 2)]
    + [('target.python.kernels = ["{}"]', 1), ('target.python.package = "{}"', 1)],
)
def test_names_that_are_too_long(run: Run, project: Path, setting: str, code: int) -> None:
    (project / "torchgen_lite.toml").write_text(setting.replace("{}", 300 * "x"))
    assert run("generate").code == code
    for command in (("check",), ("templates", "check"), ("list", "inputs")):
        assert "TG900" not in run(*command).stderr


def test_names_that_are_not_utf_8(project: Path) -> None:
    """Folders, build files and an orphan may have names that are not UTF-8."""
    output = os.fsdecode(b"\xff")

    def start(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "torchgen_lite", *arguments, "--output-dir", output]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=environment, capture_output=True)

    done = start("generate", "--depfile", f"{output}.d")
    assert (done.returncode, done.stderr) == (0, b"12 files written in \\udcff\n")
    assert (project / f"{output}.d").read_bytes().startswith(b"\xff/python/ops/__init__.py: ")
    header = (project / output / "python/ops/ops.py").read_text().split("\n")[0]
    (project / output / f"{output}.py").write_text(header)
    assert start("check", "--output-format", "github").stdout.startswith(b"::error title=TG016")
    assert start("check", "--output-format", "json").returncode == 1
    subprocess.run(["git", "apply", "-"], input=start("diff").stdout, check=True)
    assert start("check").returncode == 0


def test_a_run_that_fails_half_way_says_what_heals_it(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("generate")
    before = {path: path.read_bytes() for path in (project / "generated").rglob("*.py*")}
    schema = project / "native_functions.yaml"
    schema.write_text(schema.read_text().replace("relu", "silu"))
    moved = list[str]()
    real = os.replace

    def failing(source: str, destination: str) -> None:
        if moved:
            raise OSError(5, "Input/output error")
        moved.append(str(destination))
        real(source, destination)

    monkeypatch.setattr(os, "replace", failing)
    result = run("generate")
    assert result.code == 2
    assert (
        "other files are new already: `check` names those that are not, the next run writes them"
    ) in result.stderr
    assert {str(path) for path, old in before.items() if path.read_bytes() != old} == {*moved}
    monkeypatch.setattr(os, "replace", real)
    named = run("check").stderr
    assert "changed " in named and Path(moved[0]).name not in named
    assert run("generate").code == run("check").code == 0


def test_a_file_system_without_permissions(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of networks refuse `chmod`."""
    run("generate")
    schema = project / "native_functions.yaml"
    schema.write_text(schema.read_text().replace("relu", "silu"))

    def refused(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refused)
    assert run("generate").code == run("check").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--schema", "a\0b.yaml"],
        ["generate", "-o", "a\0b"],
        ["import", "a\0b.cpp"],
        ["fmt", "a\0b"],
        ["\0"],
    ],
)
def test_a_path_with_a_nul_character(arguments: list[str], run: Run, project: Path) -> None:
    result = run(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.endswith(
        "an argument has a NUL character, which no path and no name has\n"
    )


def test_a_target_that_is_named_twice_is_generated_once(run: Run, project: Path) -> None:
    once = run("generate", "--dry-run", "--target", "python")
    assert once.code == 0
    assert run("generate", "--dry-run", "--target", "python", "--target", "python") == once


@pytest.mark.parametrize("command", ["generate", "check", "diff", "lint"])
def test_options_of_a_target_that_nothing_generates(run: Run, project: Path, command: str) -> None:
    """Without `targets` there is one default, and tables of others are no wish to generate them."""
    configuration = "[target.torch-python]\nkernels = []\n"
    (project / "torchgen_lite.toml").write_text(configuration)
    result = run(command)
    assert result.code == 2
    assert "without `targets` only `python` is generated" in result.stderr
    assert 'write `targets = ["torch-python"]` at the beginning of the file' in result.stderr
    (project / "torchgen_lite.toml").write_text(f"[target.python]\n{configuration}")
    assert "TG003" not in run(command).stderr
    (project / "torchgen_lite.toml").write_text(configuration)
    if command == "generate":
        assert run("generate", "--target", "python").code == 0
