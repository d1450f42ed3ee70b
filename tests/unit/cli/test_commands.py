"""The smaller commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from torchgen_lite.cli.app import COMMANDS, GROUPS
from torchgen_lite.cli.extras import TOOLS, install_command
from torchgen_lite.version import __version__

Run = Callable[..., Result]


def test_version(run: Run) -> None:
    assert run("--version") == Result(0, f"torchgen-lite, version {__version__}\n", "")


VENDOR = """\
backend: NPU
cpp_namespace: npu
all_version: [v2.1, v2.13]
custom:
  - func: old_op(Tensor self) -> Tensor
    op_api: [v2.1, v2.2]
  - func: new_op(Tensor self) -> Tensor
    op_api: [v2.13, newest]
"""


def test_the_release_that_version_ranges_are_read_for(run: Run, project: Path) -> None:
    (project / "vendor.yaml").write_text(VENDOR)
    for release, name in (("2.1", "npu::old_op"), ("2.13", "npu::new_op")):
        asked = ("--schema", "vendor.yaml", "--for-torch", release)
        assert run("list", "ops", *asked).stdout.split() == [name, "functional", "PrivateUse1"]
        assert run("lint", *asked).code == 0
    result = run("lint", "--for-torch", "newest", "--output-format", "concise")
    assert result.code == 2
    assert "is not a release" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert command == "templates" or f"torchgen-lite {command}" in result.stdout
    assert "--max-diagnostics" not in result.stdout
    assert result.stdout.endswith("\n  Options of every command: torchgen-lite --help\n")


def test_options_of_every_command_are_listed_once(run: Run) -> None:
    text = run("--help").stdout
    assert "  --max-diagnostics N  " in text and "[x>=0]" not in text
    assert (
        "--output-format [full|concise|json|github|sarif|markdown]" in run("table", "--help").stdout
    )


def test_help_groups_the_commands(run: Run) -> None:
    text = run("--help").stdout
    for title, commands in GROUPS.items():
        _, _, rest = text.partition(f"\n{title}:\n")
        lines = rest.partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in lines] == list(commands)
        assert max(map(len, lines)) < 80
    first_screen = "\n".join(text.splitlines()[:24])
    assert "Daily use:" in first_screen and "Setup:" not in first_screen
    assert text.index("Setup:") < text.index("Options:")


def test_lint(run: Run, project: Path) -> None:
    assert run("lint").code == 0
    (project / "native_functions.yaml").write_text("- func: f(Tensor self -> Tensor\n")
    result = run("lint")
    assert result.code == 1
    assert "--> native_functions.yaml:1:" in result.stderr


def test_lint_knows_what_targets_write(run: Run, project: Path) -> None:
    (project / "torchgen_lite.toml").write_text("""\
targets = ["python", "torch-python"]
target.python = {folder = ".", package = "ops"}
target.torch-python = {folder = ".", package = "ops"}
""")
    for asked in ((), ("--schema", "native_functions.yaml")):
        result = run("lint", "--output-format", "concise", *asked)
        assert result.code == 1
        assert "targets 'python' and 'torch-python' both write 'ops/__init__.py'" in result.stderr


@pytest.mark.parametrize("format_", ["full", "concise", "json", "github", "sarif"])
def test_formats_of_diagnostics(run: Run, project: Path, format_: str) -> None:
    (project / "native_functions.yaml").write_text(
        "- func: f(Tensor self) -> Tensor\n  dispach: x\n"
    )
    result = run("lint", "--output-format", format_)
    assert result.code == 1
    assert "TG102" in (result.stderr if format_ in ("full", "concise") else result.stdout)


def test_color(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "native_functions.yaml").write_text("- func: f(\n")
    assert "\x1b[" not in run("lint").stderr
    assert "\x1b[" in run("lint", "--color", "always").stderr
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("lint").stderr
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("lint").stderr


def test_explain(run: Run) -> None:
    assert run("explain", "TG103").stdout.startswith("TG103: unknown dispatch key (error)\n")
    assert run("explain", "tg103").code == 0
    result = run("explain", "TG1033")
    assert (result.code, result.stdout) == (2, "")
    assert "did you mean `TG103`?" in result.stderr


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_every_command_has_every_format(run: Run, project: Path, format_: str) -> None:
    """stdout has one document; commands with their own format, such as a JSON Schema or a script, keep it."""
    asked = {
        "init": "files",
        "kernels": "functions",
        "kernels --missing": "functions",
        "explain TG103": "codes",
        "table relu": "operators",
        "why relu CPU": "calls",
        "templates export python/ops.py.j2": "files",
        "templates check": "diagnostics",
        "list codes": "codes",
        "generate": "files",
        "fmt": "diagnostics",
    }
    for line, name in asked.items():
        result = run(*line.split(), "--output-format", format_)
        document = json.loads(result.stdout)
        # The project is configured already.
        code = 1 if line == "init" else 0
        assert (result.code, name in document) == (code, format_ == "json"), line


def test_verbose(run: Run, project: Path) -> None:
    settings = ("--config", "target.python.skip = ['aten::relu']", "-v")
    first, again = (run("generate", *settings) for _ in range(2))
    lines = [re.sub(r"\d+\.\d+ s|\d+ files", "N", line) for line in first.stderr.splitlines()]
    assert lines[:-1] == [
        "read      torchgen_lite.toml",
        "read      native_functions.yaml (2 lines)",
        "read      in N: 1 operator",
        "rendered  python: N",
        "skipped   python: aten::relu",
        "rendered  in N",
    ]
    assert "unchanged generated/python/ops/ops.py\n" in again.stderr
    assert "rendered" not in run("check").stderr


def test_meta_kernels_are_for_targets_that_trace(run: Run, project: Path) -> None:
    (project / "native_functions.yaml").write_text(
        "- func: mylib::relu(Tensor self) -> Tensor\n  dispatch: {CPU: relu}\n"
    )
    asked = ("lint", "--output-format", "concise", "--config")
    fake = "fake:"
    for targets, has_advice, has_fakes in (
        ('["python", "cpp-runtime"]', False, False),
        ('["cpp-torch"]', True, False),
        ('["python", "torch-python"]', True, True),
    ):
        said = run(*asked, f"targets = {targets}").stderr
        assert ("TG409" in said, fake in said) == (has_advice, has_fakes), targets


@pytest.mark.parametrize(
    ("entry", "target", "is_served"),
    [
        ("relu(Tensor self) -> Tensor\n  fake: {like: self}", "torch-python", True),
        ("relu(Tensor self) -> Tensor\n  fake: {like: self}", "cpp-torch", False),
        ("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "torch-python", True),
        ("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "cpp-torch", False),
    ],
)
def test_meta_is_served_as_the_table_says(
    run: Run, project: Path, entry: str, target: str, is_served: bool
) -> None:
    text = f"- func: mylib::{entry}\n  dispatch: {{CPU: relu}}\n"
    (project / "native_functions.yaml").write_text(text)
    settings = ("--config", f'targets = ["{target}"]')
    name = entry.partition("(")[0]
    cell = run("table", f"mylib::{name}", "--key", "Meta", *settings).stdout
    assert ("PyTorch's Meta fallback" not in cell) is is_served, cell
    assert ("TG409" not in run("lint", *settings).stderr) is is_served


def test_list_ops(run: Run, project: Path) -> None:
    assert run("list", "ops").stdout == "aten::relu  functional  CompositeImplicitAutograd\n"
    data = json.loads(run("list", "ops", "--output-format", "json").stdout)
    assert (data["ops"][0]["namespace"], data["ops"][0]["name"]) == ("aten", "relu")


def test_list_outputs_for_cmake(run: Run, project: Path) -> None:
    lines = run("list", "outputs", "--output-format", "cmake").stdout.splitlines()
    assert lines[0] == "set(TORCHGEN_LITE_OUTPUTS"
    assert lines[1] == '  "generated/python/ops/__init__.py"'
    assert lines[-1] == ")"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("targets", "python a Python package for the runtime dispatcher"),
        ("templates", "python/operators.py.j2"),
    ],
)
def test_list(run: Run, kind: str, line: str) -> None:
    # The distance between columns depends on the longest name.
    assert line in [" ".join(found.split()) for found in run("list", kind).stdout.splitlines()]


def test_list_targets_has_their_options(run: Run) -> None:
    data = json.loads(run("list", "targets", "--output-format", "json").stdout)
    options = {target["name"]: target["options"] for target in data["targets"]}
    assert [option["name"] for option in options["torch-stubs"]] == ["format"]
    assert options["torch-python"][-2] == {
        "name": "autograd",
        "takes": "true or false",
        "default": None,
        "required": False,
        "meaning": "Whether `derivatives:` are registered here.",
    }


def test_list_keys_and_codes(run: Run) -> None:
    assert "AutogradCPU" in run("list", "keys").stdout
    assert "TG103" in run("list", "codes").stdout


def test_fmt(run: Run, project: Path) -> None:
    path = project / "native_functions.yaml"
    assert run("fmt", "--check").code == 0
    path.write_text("- func: relu(Tensor self) -> Tensor\n  variants:   function,method\n")
    result = run("fmt", "--check")
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr == (
        "would reformat native_functions.yaml\n1 file not formatted. Run `torchgen-lite fmt`.\n"
    )
    assert "+  variants: function, method\n" in run("fmt", "--diff").stdout
    assert run("fmt").stderr == "1 file reformatted, 0 unchanged\n"
    assert path.read_text() == "- func: relu(Tensor self) -> Tensor\n  variants: function, method\n"


def test_schema(run: Run, project: Path) -> None:
    assert json.loads(run("schema").stdout)["title"] == "native_functions.yaml"
    assert json.loads(run("schema", "--of", "output").stdout)["title"] == "torchgen-lite output"
    assert json.loads(run("schema", "--of", "config").stdout)["title"] == "torchgen_lite.toml"
    assert run("schema", "--output", "s.json").code == 0
    assert json.loads((project / "s.json").read_text())["type"] == "array"


def test_overriding_a_template(run: Run, project: Path) -> None:
    assert run("templates", "export", "python/registration.py.j2").code == 0
    assert run("templates", "export", "python/package.py.j2", "--output-dir", "mine").code == 0
    path = project / "mine/python/package.py.j2"
    path.write_text(path.read_text() + "# ours\n")
    (project / "torchgen_lite.toml").write_text('template-dirs = ["mine"]\n')
    assert run("templates", "check").code == 0
    run("generate")
    assert (project / "generated/python/ops/__init__.py").read_text().endswith("# ours\n")
    path.write_text("{# template-api: 1 #}{{ nonsense }}\n")
    result = run("check")
    assert result.code == 1
    assert "mine/python/package.py.j2:1:25" in result.stderr
    (project / "mine/python/functons.py.j2").write_text("")
    assert "did you mean" in run("templates", "check").stderr
    assert run("templates", "export", "nonsense").code == 2


def test_init_then_generate(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init").code == 0
    assert run("generate").code == 0
    assert run("check").code == 0
    before = {p: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    assert run("init").code == 1
    assert {p: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_are_not_waited_for(run: Run, project: Path) -> None:
    """Opening the pipe would block each of these commands."""
    os.mkfifo(project / ".gitattributes")
    for command in (
        ("schema", "--output", ".gitattributes"),
        ("table", "--html", ".gitattributes"),
        ("generate", "--depfile", ".gitattributes"),
    ):
        result = run(*command)
        assert result.code == 2
        assert "error[TG009]: cannot write `.gitattributes`: not a regular file" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Run, shell: str) -> None:
    assert "_TORCHGEN_LITE_COMPLETE" in run("completion", shell).stdout


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("torchgen_lite", ["yaml", "jinja2", "click", "black"]),
        ("torchgen_lite.cli.app", ["yaml", "jinja2", "black"]),
        ("torchgen_lite.pipeline", ["jinja2", "click", "black"]),
        ("torchgen_lite.targets.python.kernels", ["torchgen_lite.runtime"]),
    ],
)
def test_start_up_is_lean(module: str, absent: list[str]) -> None:
    program = f"import sys, {module}; print([m for m in {absent} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


# What torchgen-lite-tools and the extra `watch` bring.
OF_EXTRAS = ("torchgen_lite_tools", "tree_sitter", "lsprotocol", "pygls", "watchfiles")


def test_everyday_commands_import_neither_black_nor_what_extras_bring(project: Path) -> None:
    program = (
        "import sys\nfrom torchgen_lite.cli import main\n"
        "codes = [main([c], sys.stdout, sys.stderr) for c in ('generate', 'check', 'lint')]\n"
        f"print(codes, sorted({{'black', *{OF_EXTRAS}}} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "[0, 0, 0] []\n"


@pytest.mark.parametrize(
    ("command", "wanted", "said"),
    [
        (["import", "a.cpp"], TOOLS, "`import` is a command of torchgen-lite-tools"),
        (["lsp"], TOOLS, "`lsp` is a command of torchgen-lite-tools"),
        (["coverage", "relu", "--calls"], TOOLS, "`coverage` is a command of torchgen-lite-tools"),
        (
            ["generate", "--watch"],
            "torchgen-lite[watch]",
            "`--watch` needs the package watchfiles",
        ),
    ],
)
def test_a_command_names_what_it_needs_and_how_it_is_installed(
    project: Path, command: list[str], wanted: str, said: str
) -> None:
    (project / "a.cpp").write_text("")
    program = (
        f"import sys\nsys.modules.update(dict.fromkeys({OF_EXTRAS}))\n"
        "from torchgen_lite.cli import main\n"
        f"sys.exit(main({command}, sys.stdout, sys.stderr))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    help_ = install_command(wanted)
    assert result.returncode == 2
    more = "for more: torchgen-lite explain TG012"
    assert result.stderr == f"error[TG012]: {said}\n  = help: {help_}\n{more}\n"


def test_the_help_of_a_command_that_is_not_installed() -> None:
    program = (
        f"import sys\nsys.modules.update(dict.fromkeys({OF_EXTRAS}))\n"
        "from torchgen_lite.cli import main\n"
        "sys.exit(main(['coverage', '--help'], sys.stdout, sys.stderr))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "Show how much of PyTorch a backend covers." in result.stdout
    assert (
        "`coverage` is a command of torchgen-lite-tools, which is not installed." in result.stdout
    )
    assert f"\n  {install_command(TOOLS)}\n" in result.stdout


def test_a_shell_completes_commands_that_are_not_installed() -> None:
    program = (
        f"import sys\nsys.modules.update(dict.fromkeys({OF_EXTRAS}))\n"
        "from torchgen_lite.cli import main\n"
        "sys.exit(main([], sys.stdout, sys.stderr))"
    )
    environment = {"_TORCHGEN_LITE_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT), "COMP_WORDS": "torchgen-lite co", **environment},
        capture_output=True,
        text=True,
    )
    assert (result.stdout, result.stderr) == ("plain,coverage\nplain,completion\n", "")


def test_list_inputs_for_cmake(run: Run, project: Path) -> None:
    text = run("list", "inputs", "--output-format", "cmake").stdout
    assert text.startswith(f'set(TORCHGEN_LITE_INPUTS\n  "{project}/native_functions.yaml"\n')
    assert f'\n  "{project}/torchgen_lite.toml"\n' in text


def test_list_cmake_dir_names_the_folder_for_find_package(run: Run) -> None:
    [name] = run("list", "cmake-dir").stdout.splitlines()
    assert (Path(name) / "torchgen_lite-config.cmake").is_file()
    assert f'set(TORCHGEN_LITE_CMAKE_DIR\n  "{name}"\n)\n' == (
        run("list", "cmake-dir", "--output-format", "cmake").stdout
    )
