"""docs/trust.md: commands that are safe on a stranger's branch run nothing of it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Every module and template of the project leaves a file behind when it is run.
TRAP = "open('ran', 'w')"
FILES = {
    "torchgen_lite.toml": """\
targets = ["python", "torch-python"]
template-dirs = ["mine"]
[target.python]
format = "touch ran"
framework = "framework"
kernels = ["kernels"]
formulas = ["formulas"]
[target.torch-python]
package = "ops"
kernels = ["kernels"]
fakes = ["formulas"]
formulas = ["formulas"]
load = "framework"
""",
    "native_functions.yaml": """\
- func: lib::f(Tensor x) -> Tensor
  fake: shape_of
  dispatch:
    CPU: k
  derivatives:
    x: helper(grad)
""",
    "kernels.py": f"{TRAP}\ndef k(x): ...\n",
    "formulas.py": f"{TRAP}\ndef helper(x): ...\ndef shape_of(x): ...\n",
    # What a module imports with `*` is not known, and not looked for.
    "framework.py": f"{TRAP}\nfrom kernels import *\n",
    **{f"{name}.py": TRAP for name in ("torch", "yaml", "jinja2", "conftest", "sitecustomize")},
    "mine/python/package.py.j2": "{# template-api: 1 #}\n{{ 1 // 0 }}\n",
}  # fmt: skip
# Runs as the installed command does: what it runs in the current folder, and what it starts, ends it.
GUARDED = """
import os, sys
folder = os.getcwd()
def hook(event, args):
    ran = getattr(args[0], "co_filename", "") if event == "exec" else ""
    started = list(args[1]) if event == "subprocess.Popen" else [event]
    is_process = event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
    if ran.startswith(folder) or ran.endswith(".j2") or (is_process and started[0] != "git"):
        os.write(2, f"REFUSED {ran or started}".encode())
        os._exit(99)
    if event in ("open", "os.remove", "os.rename", "os.mkdir") and folder in str(args[0]):
        if event != "open" or (args[2] or 0) & (os.O_WRONLY | os.O_RDWR):
            os.write(2, f"REFUSED {event} {args}".encode())
            os._exit(99)
sys.addaudithook(hook)
sys.path.insert(0, sys.argv.pop(1))
from torchgen_lite.cli import main
sys.exit(main(sys.argv[1:], sys.stdout, sys.stderr))
"""
UNGUARDED = """
import sys
sys.path[0] = sys.argv.pop(1)
from torchgen_lite.cli import main
sys.exit(main(sys.argv[1:], sys.stdout, sys.stderr))
"""
EDITED = """
from pathlib import Path
from torchgen_lite_tools.lsp.analysis import analyze
from torchgen_lite_tools.lsp.hover import hover
from torchgen_lite_tools.lsp.places import find_place
path = Path(sys.argv[1]).resolve()
analysis = analyze(path, {path: path.read_text()})
for source in analysis.program.sources:
    for offset in range(len(source.text)):
        hover(analysis, find_place(source, offset))
print("analyzed")
""".join([GUARDED.partition("from torchgen_lite")[0], ""])
SAFE = (
    *("lint", "lint --output-format sarif", "fmt --check", "fmt --diff", "breaking --against HEAD"),
    *(
        "list ops",
        "list ops --format json",
        "list targets",
        "list keys",
        "list templates",
        "list inputs",
        "list codes",
    ),
    *(
        "table lib::f",
        "table --html ../page.html",
        "table --against HEAD",
        "table --against HEAD --output-format markdown",
        "why lib::f CPU",
        "explain TG511",
        "schema",
        "schema --of config",
        "prove .",
        "audit library.whl",
    ),
)


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    command = ["git", *identity, "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    folder = tmp_path / "branch"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    with zipfile.ZipFile(folder / "library.whl", "w") as wheel:
        wheel.writestr("lib/__init__.py", TRAP)
    (tmp_path / "guarded.py").write_text(GUARDED)
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "one")):
        git(folder, *arguments)
    return folder


def guarded(branch: Path, command: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, str(branch.parent / "guarded.py"), str(ROOT), *command.split()]
    return subprocess.run(arguments, cwd=branch, capture_output=True, text=True, check=False)


def test_an_editor_runs_nothing_of_the_branch(branch: Path) -> None:
    """Do what the language server does when a file is opened, without the connection."""
    (branch.parent / "guarded.py").write_text(EDITED)
    done = guarded(branch, "native_functions.yaml")
    assert (done.returncode, done.stdout) == (0, "analyzed\n"), done.stderr
    assert not (branch / "ran").exists()


# A partial clone fetches what it lacks, by the command that its configuration names.
BARE = """\
[core]
repositoryformatversion = 1
bare = true
sshCommand = touch ../ran && false
[extensions]
partialClone = origin
[remote "origin"]
url = ssh://nowhere.invalid/x
promisor = true
"""


@pytest.mark.parametrize("command", ["breaking", "table", "diff", "review"])
def test_a_folder_that_looks_like_a_bare_repository_is_a_folder(branch: Path, command: str) -> None:
    project = branch / "project"
    (project / "objects").mkdir(parents=True)
    (project / "refs").mkdir()
    (project / "config").write_text(BARE)
    (project / "HEAD").write_text("1" * 40)
    (project / "torchgen_lite.toml").touch()
    (project / "native_functions.yaml").write_text("- func: lib::f(Tensor x) -> Tensor\n")
    # Git finds a repository here and runs its command; otherwise the test would prove nothing.
    subprocess.run(["git", "show", "HEAD:x"], cwd=project, check=False, capture_output=True)
    assert (branch / "ran").exists()
    (branch / "ran").unlink()
    git(branch, "add", ".")
    git(branch, "commit", "-q", "-m", "two")
    run = [sys.executable, "-c", UNGUARDED, str(ROOT), command, "--against", "HEAD~0"]
    done = subprocess.run(run, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert not (branch / "ran").exists()


@pytest.mark.parametrize("command", SAFE)
def test_a_safe_command_runs_nothing_of_the_branch(branch: Path, command: str) -> None:
    done = guarded(branch, command)
    assert done.returncode in (0, 1), done.stderr
    assert "TG900" not in done.stderr
    assert not (branch / "ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        "check",
        "diff",
        "diff --against HEAD",
        "review --against HEAD",
        "list outputs",
        "templates check",
    ],
)
def test_templates_are_run_by_these_alone(branch: Path, command: str) -> None:
    assert guarded(branch, command).stderr.startswith("REFUSED")
    assert not (branch / "ran").exists()
