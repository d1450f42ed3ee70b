"""`breaking` against a file, a folder and a git revision: exit codes and formats."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from torchgen_lite.diagnostics import read_code

Run = Callable[..., Result]
OLD = "- func: f(Tensor self, int dim=0) -> Tensor\n"
BAD = "- func: f(Tensor self, int dim=1) -> Tensor\n"
GOOD = "- func: f(Tensor self, int dim=0, bool keep=False) -> Tensor\n"
SHOWN = """\
error[TG357]: `f`: the default of argument `dim` changed from `0` to `1`
 --> native_functions.yaml:1:32
  |
1 | - func: f(Tensor self, int dim=1) -> Tensor
  |                                ^ changed
 ::: OLD:native_functions.yaml:1:32
  |
1 | - func: f(Tensor self, int dim=0) -> Tensor
  |                                - was this
  |
  = help: keep the default, or accept the change: `breaking --accept "reason"`
  = witness: `ops.f(self)`
  = effect: changes results

1 breaking change against OLD
for more: torchgen-lite explain TG357
"""


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(project: Path) -> Path:
    """The project in a repository; its tag `v1` has the old schema."""
    (project / "native_functions.yaml").write_text(OLD)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "one")
    git(project, "tag", "v1")
    return project


def test_against_a_revision(run: Run, repository: Path) -> None:
    path = repository / "native_functions.yaml"
    path.write_text(BAD)
    assert run("breaking", "--against", "v1") == Result(1, "", SHOWN.replace("OLD", "v1"))
    path.write_text(GOOD)
    fine = Result(0, "", "1 operator, no breaking changes against HEAD\n")
    assert run("breaking", "--against", "HEAD") == fine
    assert run("breaking", "--against", "HEAD", "-q") == Result(0, "", "")


def test_in_a_folder_of_the_repository(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository / "sub"
    folder.mkdir()
    for name in ("torchgen_lite.toml", "native_functions.yaml"):
        git(repository, "mv", name, f"sub/{name}")
    git(repository, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "two")
    monkeypatch.chdir(folder)
    assert run("breaking", "--against", "main").code == 0
    (folder / "native_functions.yaml").write_text(BAD)
    assert run("breaking", "--against", "main").code == 1
    assert run("breaking", "--against", "v1").code == 2


def test_a_new_schema_file_is_no_change(run: Run, repository: Path) -> None:
    config = 'schema = ["native_functions.yaml", "more.yaml"]\n'
    (repository / "torchgen_lite.toml").write_text(config)
    (repository / "more.yaml").write_text("- func: g(Tensor self) -> Tensor\n")
    assert run("breaking", "--against", "v1").code == 0


@pytest.mark.parametrize("against", ["old/native_functions.yaml", "old"])
def test_against_a_path(run: Run, project: Path, against: str) -> None:
    (project / "native_functions.yaml").write_text(BAD)
    (project / "old").mkdir()
    (project / "old" / "native_functions.yaml").write_text(OLD)
    result = run("breaking", "--against", against)
    assert result.code == 1
    assert " ::: old/native_functions.yaml:1:32\n" in result.stderr


def test_schema_of_the_command_line(run: Run, repository: Path) -> None:
    (repository / "new.yaml").write_text(BAD)
    command = ("breaking", "--against", "native_functions.yaml", "--schema", "new.yaml")
    assert run(*command).code == 1


def test_levels(run: Run, repository: Path) -> None:
    (repository / "native_functions.yaml").write_text(OLD.replace("dim", "axis"))
    assert run("breaking", "--against", "v1").code == 1
    assert run("breaking", "--against", "v1", "--level", "call").code == 0


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("nonsense", "`nonsense` is neither a file nor a git revision"),
        ("--output=x", "`--output=x` is neither a file nor a git revision"),
        ("v1:native_functions.yaml", "`v1:native_functions.yaml` is neither a file nor"),
        ("", "`` is neither a file nor a git revision"),
        ("main\n-x", "is neither a file nor a git revision"),
    ],
)
def test_no_such_version(run: Run, repository: Path, against: str, message: str) -> None:
    result = run("breaking", f"--against={against}")
    assert result.code == 2
    assert "error[TG014]: " in result.stderr and message in result.stderr
    assert not (repository / "x").exists()


def test_outside_a_repository(run: Run, project: Path) -> None:
    result = run("breaking", "--against", "main")
    assert (result.code, "not in a git repository" in result.stderr) == (2, True)


def test_without_git(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "cannot run git" in run("breaking", "--against", "main").stderr


def test_versions_with_errors(run: Run, repository: Path) -> None:
    (repository / "old.yaml").write_text("- func: f(Tensr self) -> Tensor\n")
    result = run("breaking", "--against", "old.yaml")
    assert result.code == 2
    assert "`old.yaml` has errors, so nothing can be compared with it" in result.stderr
    (repository / "native_functions.yaml").write_text("- func: f(Tensr self) -> Tensor\n")
    assert run("breaking", "--against", "v1").code == 1


def test_formats(run: Run, repository: Path) -> None:
    (repository / "native_functions.yaml").write_text(BAD)

    def shown(format_: str) -> Result:
        result = run("breaking", "--against", "v1", "--output-format", format_)
        assert result.code == 1
        return result

    document = json.loads(shown("json").stdout)
    assert (document["kind"], document["ok"], document["summary"]["errors"]) == (
        "breaking",
        False,
        1,
    )
    (found,) = document["diagnostics"]
    assert (found["code"], found["operator"]) == ("TG357", "aten::f")
    (result,) = json.loads(shown("sarif").stdout)["runs"][0]["results"]
    assert result["ruleId"] == "TG357"
    assert "::error title=TG357" in shown("github").stdout
    first, last = shown("concise").stderr.splitlines()
    assert first.startswith("native_functions.yaml:1:32: error[TG357] ")
    assert last == "1 breaking change against v1"


def test_a_derived_operator_that_is_not_derived_any_more(run: Run, repository: Path) -> None:
    path = repository / "native_functions.yaml"
    entry = "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f_cpu\n"
    path.write_text(entry + "  autogen: f.out\n")
    git(repository, "-c", "commit.gpgsign=false", "commit", "-q", "-a", "-m", "two")
    assert run("breaking", "--against", "HEAD").code == 0
    path.write_text(entry)
    result = run("breaking", "--against", "HEAD", "--output-format", "concise")
    assert result.code == 1
    assert "error[TG351] overload 'f.out' was removed: was declared here" in result.stderr
    # With an entry for it, the overload exists again.
    path.write_text(
        entry + "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: f_out\n"
    )
    # In PyTorch the derived kernel serves every backend, the declared one only CPU.
    git(repository, "rm", "-qf", "torchgen_lite.toml")
    git(repository, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "three")
    result = run("breaking", "--against", "HEAD", "--output-format", "concise")
    assert "TG351" not in result.stderr and "TG364" in result.stderr


KERNEL = "  dispatch: {CPU: k}\n"


def test_renames(run: Run, project: Path) -> None:
    (project / "old.yaml").write_text(OLD + KERNEL)
    (project / "native_functions.yaml").write_text(OLD.replace("f(", "g(") + KERNEL)
    result = run("breaking", "--against", "old.yaml", "--output-format", "concise")
    assert result.stderr.startswith(
        "old.yaml:1:9: error[TG350] operator 'f' was renamed to 'g': was declared here "
        "(witness: 'ops.f(self)'; effect: breaks callers; native_functions.yaml:1:9: its new name)\n"
    )


def test_kernels_notice_types_alone(run: Run, project: Path) -> None:
    (project / "old.yaml").write_text(OLD + "- func: h(Tensor self) -> Tensor\n")
    new = "- func: f(Tensor self, SymInt axis) -> Tensor\n- func: h(Tensor self, *, int n=1) -> Tensor\n"
    (project / "native_functions.yaml").write_text(new)
    asked = ("breaking", "--against", "old.yaml", "--output-format", "concise")
    assert run(*asked, "--level", "kernel").stderr.splitlines() == [
        "native_functions.yaml:2:27: error[TG366] 'h': kernels have another type (effect: breaks callers)",
        "1 breaking change against old.yaml",
    ]
    assert "TG353" in run(*asked).stderr and "TG366" not in run(*asked).stderr


def test_a_composite_kernel_for_another(run: Run, project: Path) -> None:
    """Formulas give what the kernel no longer gives by being composed."""
    (project / "torchgen_lite.toml").write_text('targets = ["torch-python"]\n')
    old, kernel = OLD.replace("f(", "lib::f("), "  dispatch: {CompositeExplicitAutograd: f}\n"
    (project / "old.yaml").write_text(old)
    (project / "native_functions.yaml").write_text(old + kernel)
    asked = ("breaking", "--against", "old.yaml", "--output-format", "concise")
    result = run(*asked)
    assert (result.code, result.stderr) == (
        1,
        "native_functions.yaml:2:13: error[TG368] 'lib::f': no gradient is recorded at"
        " 'AutogradOther', 'AutogradCPU', 'AutogradCUDA' and 14 more any more"
        " (witness: 'torch.func.grad(lambda self: torch.ops.lib.f(self).sum())(torch.ones(2, 2))';"
        " effect: changes results; old.yaml:1:9: was this)\n"
        "1 breaking change against old.yaml\n",
    )
    (project / "native_functions.yaml").write_text(f"{old}{kernel}  derivatives: {{self: grad}}\n")
    assert run(*asked).code == 0


def test_causes(run: Run, project: Path) -> None:
    old = OLD + "".join(f"- func: n{i}(Tensor self, Dimname dim) -> Tensor\n" for i in range(3))
    (project / "old.yaml").write_text(old)
    (project / "native_functions.yaml").write_text(BAD)
    lines = run(
        "breaking", "--against", "old.yaml", "--output-format", "concise"
    ).stderr.splitlines()
    assert lines[-3:] == [
        "4 breaking changes against old.yaml",
        "  1 time: a default changed",
        "  3 removed: 3 of them with `Dimname`, which no argument has any more",
    ]


def test_what_is_new(run: Run, project: Path) -> None:
    (project / "old.yaml").write_text(OLD)
    (project / "native_functions.yaml").write_text(GOOD + "- func: g(Tensor self) -> Tensor\n")
    result = run("breaking", "--against", "old.yaml", "--all")
    assert (result.code, result.stdout) == (
        0,
        "new: aten::g\nchanged: f(Tensor self, int dim=0, bool keep=False) -> Tensor\n",
    )
    result = run("breaking", "--against", "old.yaml", "--all", "--output-format", "json")
    assert json.loads(result.stdout)["added"] == ["aten::g"]


def test_against_a_wheel(run: Run, project: Path) -> None:
    with zipfile.ZipFile(project / "torch-1.13.1-any.whl", "w") as wheel:
        wheel.writestr("torchgen/packaged/ATen/native/native_functions.yaml", OLD)
    (project / "native_functions.yaml").write_text(BAD)
    for old in ("torch:1.13", "torch-1.13.1-any.whl"):
        assert run("breaking", "--against", old).code == 1
    assert (
        "there is no wheel of it in this folder"
        in run("breaking", "--against", "torch:1.12").stderr
    )


def test_pages(run: Run, project: Path) -> None:
    old = OLD + "".join(f"- func: n{i}(Tensor self, Dimname dim) -> Tensor\n" for i in range(3))
    (project / "old.yaml").write_text(old)
    (project / "native_functions.yaml").write_text(BAD + "- func: g(Tensor self) -> Tensor\n")
    asked = ("breaking", "--against", "old.yaml", "--output-format", "markdown", "--all")
    result = run(*asked, "--html", "page.html")
    assert (result.code, result.stderr) == (1, "5 findings written to page.html\n")
    shown = result.stdout
    for code, name in (("TG350", "REMOVED"), ("TG357", "DEFAULT")):
        sentence = read_code(code).help.rstrip(".")
        shown = shown.replace(sentence[0].lower() + sentence[1:], name)
    assert shown == """\
## 4 breaking changes against old.yaml

| cause |
|---|
| 1 time: a default changed |
| 3 removed: 3 of them with `Dimname`, which no argument has any more |

**what breaks**

| operator | what | finding | witness | place | what to do |
|---|---|---|---|---|---|
| aten::n0 | an operator was removed (TG350) | operator `n0` was removed | `ops.n0(self, dim)` | old.yaml:2 | REMOVED |
| aten::n1 | an operator was removed (TG350) | operator `n1` was removed | `ops.n1(self, dim)` | old.yaml:3 | REMOVED |
| aten::n2 | an operator was removed (TG350) | operator `n2` was removed | `ops.n2(self, dim)` | old.yaml:4 | REMOVED |

**what changes results**

| operator | what | finding | witness | place | what to do |
|---|---|---|---|---|---|
| aten::f | a default changed (TG357) | `f`: the default of argument `dim` changed from `0` to `1` \
| `ops.f(self)` | native_functions.yaml:1 | DEFAULT |

**new**

| operator |
|---|
| aten::g |
"""
    page = (project / "page.html").read_text()
    assert (
        page.count(
            '<td>operator <code>n0</code> was removed</td><td><code>ops.n0(self, dim)</code></td><td class="code"><code>old.yaml:2</code></td>'
        )
        == 1
    )
    assert page.count("<code>aten::n0</code>") == 1
    assert '<tr><td class="code"><code>aten::g</code></td></tr>' in page
    (project / "native_functions.yaml").write_text(old)
    result = run(*asked)
    assert (result.code, result.stdout) == (0, "## 0 breaking changes against old.yaml\n")


@pytest.mark.parametrize("target", ["python", "torch-python"])
def test_a_kernel_that_is_missing_is_an_error(run: Run, project: Path, target: str) -> None:
    """`no breaking changes` was said of a package that `generate` refuses."""
    (project / "torchgen_lite.toml").write_text(
        f'targets = "{target}"\n[target.{target}]\npackage = "ops"\nkernels = ["own"]\n'
    )
    (project / "own.py").write_text("def another(self, dim=0): ...\n")
    for name in ("old.yaml", "native_functions.yaml"):
        (project / name).write_text(OLD.replace("f(", "lib::f(", 1) + KERNEL)
    result = run("breaking", "--against", "old.yaml", "--output-format", "concise")
    assert (result.code, "TG302" in result.stderr) == (1, True)
    assert run("lint").code == 1


FORMULA = "- name: f(Tensor self, int dim=0) -> Tensor\n  self: {}\n"


@pytest.fixture
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed PyTorch, whose files are in this folder, and another one in `old`."""
    kernels = "  dispatch:\n    CPU: f\n"
    for root in (project / "torchgen/packaged", project / "old"):
        native = root if root.name == "old" else root / "ATen/native"
        native.mkdir(parents=True)
        (native / "native_functions.yaml").write_text(OLD + kernels)
        (native / "tags.yaml").write_text("- tag: core\n  desc: x\n")
    (project / "torchgen/packaged/autograd").mkdir()
    formulas = project / "torchgen/packaged/autograd/derivatives.yaml"
    formulas.write_text(FORMULA.format("grad * 2"))
    folders = {"torchgen": [str(project / "torchgen")]}
    found = "torchgen_lite.loader.torch.files._find_package"
    monkeypatch.setattr(found, lambda name: folders.get(name, []))
    return project


def test_gradients_of_releases(run: Run, installed: Path) -> None:
    asked = ("breaking", "--torch", "--against", "old/native_functions.yaml")
    (installed / "old/derivatives.yaml").write_text(FORMULA.format("grad"))
    result = run(*asked, "--output-format", "concise")
    assert (result.code, result.stderr) == (
        1,
        "derivatives.yaml:2:9: error[TG376] 'f': the formula of 'self' changed from 'grad' to 'grad * 2' "
        "(witness: 'torch.func.grad(lambda self: torch.ops.aten.f(self).sum())(torch.ones(2, 2))'; "
        "effect: changes results; derivatives.yaml:2:9: was this)\n"
        "1 breaking change against old/native_functions.yaml\n",
    )
    (installed / "old/derivatives.yaml").write_text("[]\n")
    assert run(*asked).code == 0
    with zipfile.ZipFile("torch-2.9.0-py3-none-any.whl", "w") as wheel:
        for name in ("ATen/native/native_functions.yaml", "autograd/derivatives.yaml"):
            path = installed / "torchgen/packaged" / name
            wheel.writestr(f"torchgen/packaged/{name}", path.read_text().replace("* 2", "* 3"))
    assert "TG376" in run("breaking", "--torch", "--against", "torch:2.9").stderr


@pytest.mark.parametrize(
    ("formulas", "reason"),
    [
        (None, "`old/native_functions.yaml` comes without derivatives.yaml"),
        ("- name: nonsense\n", "derivatives.yaml has errors"),
    ],
)
def test_gradients_that_are_not_compared(
    run: Run, installed: Path, formulas: str | None, reason: str
) -> None:
    if formulas is not None:
        (installed / "old/derivatives.yaml").write_text(formulas)
    result = run("breaking", "--torch", "--against", "old/native_functions.yaml")
    said = "1 operator, no breaking changes against old/native_functions.yaml\n"
    assert result == Result(0, "", f"{said}gradients are not compared: {reason}\n")


def test_a_reference_is_the_same_under_the_new_name_of_an_argument(run: Run, project: Path) -> None:
    entry = (
        "- func: lib::f(Tensor {0}) -> Tensor\n  dispatch: {{CPU: f}}\n  derivatives: auto\n"
        "  samples: {{calls: [], reference: {0} * 2}}\n"
    )
    (project / "torchgen_lite.toml").write_text('targets = ["torch-python"]\n')
    (project / "old.yaml").write_text(entry.format("x"))
    (project / "native_functions.yaml").write_text(entry.format("y"))
    said = run("breaking", "--against", "old.yaml", "--output-format", "concise").stderr
    assert "TG353" in said and "TG376" not in said


def test_a_value_of_a_reference_that_changes_is_seen(run: Run, project: Path) -> None:
    entry = (
        "- func: lib::f(Tensor x) -> Tensor\n  dispatch: {{CPU: f}}\n  derivatives: auto\n"
        "  samples: {{calls: [], reference: {{let: {{a: x * {0}}}, result: a}}}}\n"
    )
    (project / "torchgen_lite.toml").write_text('targets = ["torch-python"]\n')
    (project / "old.yaml").write_text(entry.format("2"))
    (project / "native_functions.yaml").write_text(entry.format("3"))
    said = run("breaking", "--against", "old.yaml", "--output-format", "concise").stderr
    assert (
        "error[TG376] 'lib::f': the formula of 'x' changed from 'auto ((a := x * 2, a)[-1])' "
        "to 'auto ((a := x * 3, a)[-1])'" in said
    )


OPTIONS = ("kernels", "fakes", "formulas")
CONFIGURED = '[target.torch-python]\nkernels = ["own"]\nfakes = ["own"]\nformulas = ["own"]\n'
UNREADABLE = {"missing": None, "no Python": "def f(:\n", "no text": b"\xff\xfe\x00"}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("side", ["old", "new"])
@pytest.mark.parametrize("what", UNREADABLE)
def test_a_module_that_cannot_be_read_is_refused(
    run: Run, project: Path, option: str, side: str, what: str
) -> None:
    """Else `no breaking changes` would be a verdict on functions that nobody has compared."""
    old = project / "old"
    old.mkdir()
    for folder in (old, project):
        (folder / "native_functions.yaml").write_text(OLD.replace("f(", "lib::f(", 1))
        (folder / "own.py").write_text("def f(self, dim=0): ...\n")
        (folder / "torchgen_lite.toml").write_text('targets = ["torch-python"]\n' + CONFIGURED)
    asked = ("breaking", "--against", "old")
    assert run(*asked).code == 0
    folder = old if side == "old" else project
    configuration = folder / "torchgen_lite.toml"
    text = configuration.read_text()
    configuration.write_text(text.replace(f'{option} = ["own"]', f'{option} = ["other"]'))
    content = UNREADABLE[what]
    if content is not None:
        (folder / "other.py").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    result = run(*asked, "--output-format", "json")
    found = {one["code"] for one in json.loads(result.stdout)["diagnostics"]}
    assert (result.code, found & {"TG117", "TG311"} != set()) == (2 if side == "old" else 1, True)
    assert ("TG014" in found) is (side == "old")
