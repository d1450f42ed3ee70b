"""`init` starts projects that run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result
from tests.cpp.compiling import needs_compiler, quick_compiler
from tests.cpp.cuda_kernel import add_kernels
from tests.cpp_runtime.building import build
from tests.cpp_runtime.building import run as run_program
from tests.forks import COMPILING, run_forked
from torchgen_lite.cli.init import STARTED, TEMPLATES
from torchgen_lite.languages.python.reserved import STANDARD_LIBRARY

Run = Callable[..., Result]

BACKEND = ("--template", "torch-backend-cpp")
TORCH = pytest.param("torch-python", marks=pytest.mark.torch)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(run: Run, *arguments: str) -> None:
    """Start and generate a project, for which `check` and `lint` report nothing."""
    said = run("init", *arguments)
    assert said.code == 0 and "torchgen-lite generate" in said.stderr
    assert run("generate").code == 0
    assert run("check").code == 0
    assert run("lint", "--deny-warnings").code == 0, run("lint").stderr


def run_tests(folder: Path, target: str) -> None:
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if target == "python":
        python = [sys.executable, *command]
        done = subprocess.run(python, cwd=folder, env=environment, capture_output=True, text=True)
    else:
        done = run_forked(command, folder, environment, COMPILING)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("layout", ["flat", "src"])
@pytest.mark.parametrize("target", ["python", TORCH])
def test_a_project_in_python(run: Run, folder: Path, target: str, layout: str) -> None:
    start(run, "--target", target, "--layout", layout, "tiny")
    assert (folder / ("src" if layout == "src" else ".") / "tiny" / "_ops" / "__init__.py").exists()
    tests = [path.relative_to(folder).parts[:-1] for path in folder.rglob("test_*.py")]
    assert tests == [("tests",)] * (2 if target == "torch-python" else 1)
    run_tests(folder, target)


@pytest.mark.slow("a build of what the project has")
@pytest.mark.tools
@needs_compiler
def test_a_project_in_cpp(run: Run, folder: Path) -> None:
    start(run, "--target", "cpp-runtime", "tiny")
    generated = folder / "generated" / "cpp-runtime"
    sources = [*(folder / "src").glob("*.cpp"), *(generated / "src").glob("*.cpp")]
    flags = ["-std=c++17", "-O0", "-I", str(folder / "include"), "-I", str(generated / "include")]
    run_program(build(sources, folder / "program", flags))


@pytest.mark.torch
@pytest.mark.parametrize("target", ["torch-python", "cpp-torch", "cpp-torch-stable"])
def test_a_starter_for_pytorch_shows_what_an_entry_has(run: Run, folder: Path, target: str) -> None:
    """A kernel, a fake, a gradient, and a call that becomes tests."""
    start(run, "--target", target, "tiny")
    shown = (folder / "ops.yaml").read_text()
    for field in ("dispatch", "fake", "derivatives", "samples"):
        assert f"\n  {field}:" in shown
    [generated] = set((folder / "tests").glob("*.py")) - {folder / "tests" / "test_tiny.py"}
    assert "def test_gradcheck(" in generated.read_text()


PUT = """\
- func: tiny::put(Tensor(a!) y) -> ()
  dispatch: {CPU: put_cpu}
  axes: y[*b] -> y[*b]
"""
PUT_CPU = {
    "cpp-torch": "at::Tensor& y) {\n  y.zero_();\n}\n",
    "cpp-torch-stable": "Tensor& y) {\n  torch::stable::zero_(y);\n}\n",
}
TEST_PUT = """

def test_what_only_python_registers() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        torch.ops.tiny.put(y)
        return y

    x = torch.ones(2, 3)
    for composed in (torch.func.functionalize(f), torch.vmap(f)):
        assert composed(x).tolist() == [[0.0] * 3] * 2
"""


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_a_project_for_libtorch(run: Run, folder: Path, target: str) -> None:
    """Its wheel passes its tests away from the project. With a kernel for CUDA, which is left out without it;
    tests/cpp/test_cuda_builds.py runs CMake alone."""
    assert run("init", "--target", target, "tiny").code == 0
    add_kernels(folder, target, "tiny")
    kernels = folder / "src" / "kernels.cpp"
    end = "} // namespace tiny"
    put = f"void put_cpu({PUT_CPU[target]}\n{end}"
    kernels.write_text(kernels.read_text().replace(end, put))
    for name, more in (("ops.yaml", PUT), ("tests/test_tiny.py", TEST_PUT)):
        (folder / name).write_text((folder / name).read_text() + more)
    assert run("generate").code == 0
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = ("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", "dist", ".")
    environment = {**os.environ, "CXX": quick_compiler()}
    subprocess.run([*pip, *build], env=environment, check=True, capture_output=True)
    [wheel] = (folder / "dist").iterdir()
    assert wheel.name.startswith("tiny-0.1.0-py3-none-")
    away = folder / "away"
    unpack = ("install", "--no-deps", "--no-index", "--target", str(away), str(wheel))
    subprocess.run([*pip, *unpack], check=True, capture_output=True)
    (folder / "tests").rename(away / "tests")
    run_tests(away, target)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        *(("--target", target) for target in STARTED),
        *(pytest.param("--template", name, marks=pytest.mark.torch) for name in TEMPLATES),
    ],
)
def test_attributes_fit_the_outputs(run: Run, folder: Path, option: str, name: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitattributes").write_text("*.bin binary")
    start(run, option, name)
    outputs = [line.split()[0] for line in run("list", "outputs").stdout.splitlines()]
    command = ["git", "check-attr", "linguist-generated", *outputs]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    assert {line.rpartition(" ")[2] for line in done.stdout.splitlines()} == {"true"}
    assert (folder / ".gitattributes").read_text().startswith("*.bin binary\n")


@pytest.mark.parametrize("layout", ["flat", "src"])
def test_git_is_given_text_alone(run: Run, folder: Path, layout: str) -> None:
    """Byte code in a folder of generated files is ignored; if it is added all the same, it is no text."""
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("mine/")
    start(run, "--layout", layout, "tiny")
    package = folder / ("src/tiny" if layout == "src" else "tiny") / "_ops"
    compiled = package / "__pycache__" / "a.pyc"
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(b"\0\r\n\0")
    for path in ("mine/x", "build/x", "dist/x", "tiny.egg-info/x"):
        (folder / path).parent.mkdir()
        (folder / path).touch()

    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        return subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True
        ).stdout

    git("add", ".")
    added = git("ls-files").split()
    assert f"{(package / '__init__.py').relative_to(folder).as_posix()}" in added
    assert not any(path.endswith((".pyc", "/x")) for path in added)
    git("add", "--force", str(compiled))
    assert git("ls-files", "--eol", str(compiled)).split()[:2] == ["i/-text", "w/-text"]
    assert (folder / ".gitignore").read_text().splitlines()[0] == "mine/"


@pytest.mark.parametrize("arguments", [("--target", one) for one in STARTED] + [BACKEND])
def test_editors_are_told_of_the_json_schema(
    run: Run, folder: Path, arguments: tuple[str, ...]
) -> None:
    assert run("init", *arguments, "tiny").code == 0
    first = (folder / "ops.yaml").read_text().partition("\n")[0]
    assert first == "# yaml-language-server: $schema=ops.schema.json"
    assert run("schema").stdout == (folder / "ops.schema.json").read_text()


def test_a_device_is_called_as_the_folder_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the folder's name has digits, which PyTorch's device names cannot have, or names another device."""
    for name, device in (("my-chip", "my_chip"), ("chip2", "mylib"), ("xpu", "mylib")):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert run("init", *BACKEND).code == 0
        assert f'backend("{device}")' in Path(device, "__init__.py").read_text()


@pytest.mark.parametrize("name", ["cuda", "mps", "cpu", "xla", "meta", "opengl"])
def test_a_device_is_not_called_as_one_of_pytorch(run: Run, folder: Path, name: str) -> None:
    result = run("init", *BACKEND, name)
    assert (result.code, list(folder.iterdir())) == (2, [])
    assert f"PyTorch already has a device `{name}`: choose another name." in result.stderr
    assert run("init", name).code == 0


def test_nothing_is_written_beside_a_configuration(run: Run, folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.torchgen_lite]\nschema = ["mine.yaml"]\n')
    said = (
        "`pyproject.toml` configures a project here: nothing was written.\n"
        "`torchgen-lite init mylib` starts one in the folder `mylib`.\n"
    )
    assert run("init") == Result(1, "", said)
    assert [path.name for path in folder.iterdir()] == ["pyproject.toml"]


def test_nothing_is_written_into_a_part_of_a_project(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who enters the package that `init` made, and types `init` there, would have a project in a project."""
    assert run("init", "tiny").code == 0
    monkeypatch.chdir(folder / "tiny")
    before = sorted(Path().iterdir())
    said = run("init")
    assert (said.code, sorted(Path().iterdir())) == (1, before)
    assert said.stderr.startswith(f"`{folder.resolve().as_posix()}/torchgen_lite.toml` configures")
    # An empty folder, and one with a name, are meant.
    (folder / "tiny" / "inner").mkdir()
    assert run("init", "other").code == 0
    monkeypatch.chdir(folder / "tiny" / "inner")
    assert run("init").code == 0


@pytest.mark.parametrize("target", ["python", "torch-python"])
def test_before_anything_is_generated_the_failing_line_says_what_to_do(
    target: str, run: Run, folder: Path
) -> None:
    assert run("init", "--target", target, "tiny").code == 0
    done = subprocess.run([sys.executable, "-c", "import tiny"], capture_output=True, text=True)
    assert "No module named 'tiny._ops'" in done.stderr
    assert "# written by `torchgen-lite generate`\n" in done.stderr


def test_a_folder_with_files_gets_a_folder_for_the_project(run: Run, folder: Path) -> None:
    """What the message before says works; hidden files, as those of a new clone, are no files in the way."""
    (folder / ".git").mkdir()
    (folder / "notes.txt").touch()
    said = run("init", "tiny")
    assert (said.code, "\n  cd tiny\n  torchgen-lite generate\n" in said.stderr) == (0, True)
    assert sorted(path.name for path in folder.iterdir()) == [".git", "notes.txt", "tiny"]
    assert (folder / "tiny" / "tiny" / "kernels.py").exists()
    assert run("init", "tiny").code == 1
    (folder / "notes.txt").unlink()
    (folder / "tiny").rename(folder / ".tiny")
    assert run("init", "tiny").code == 0
    assert (folder / "tiny" / "kernels.py").exists()


def test_the_first_target_is_for_pytorch(run: Run, folder: Path) -> None:
    assert run("init", "tiny").code == 0
    assert 'targets = ["torch-python"]' in (folder / "torchgen_lite.toml").read_text()
    assert ".venv/" in (folder / ".gitignore").read_text().splitlines()


def test_what_exists_stays(run: Run, folder: Path) -> None:
    (folder / "ops.yaml").write_text("# mine\n")
    assert "exists   ops.yaml\n" in run("init").stderr
    assert (folder / "ops.yaml").read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("in_the_way", "is_folder", "reason"),
    [
        ("tests", False, "`{0}tests`: a file is where a folder should be"),
        ("tests/test_tiny.py", True, "`{0}tests/test_tiny.py`: not a regular file"),
        ("ops.yaml", True, "`{0}ops.yaml`: not a regular file"),
        (".gitignore", True, "`{0}.gitignore`: not a regular file"),
        (".", False, "`tiny`: a file is where a folder should be"),
    ],
)
@pytest.mark.parametrize("home", ["", "tiny"])
def test_nothing_is_written_unless_all_can_be(
    run: Run, folder: Path, home: str, in_the_way: str, is_folder: bool, reason: str
) -> None:
    """What is said to be in the way is: `tests`, which is a file, and not a file in it."""
    if home:
        (folder / "notes.txt").touch()
    elif in_the_way == ".":
        return
    path = folder / home / in_the_way
    (path if is_folder else path.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        path.touch()
    before = sorted(folder.rglob("*"))
    result = run("init", "tiny")
    assert (result.code, sorted(folder.rglob("*"))) == (2, before)
    assert f"cannot write {reason.format(home and home + '/')}" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("a-b",),
        ("aten",),
        ("class",),
        ("template",),
        ("--target", "cpp-torch", "--layout", "src"),
        (*BACKEND, "--layout", "src"),
        (*BACKEND, "--target", "cpp-torch"),
        (*BACKEND, "mine2"),
    ],
)
def test_what_cannot_be(run: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    assert run("init", *arguments).code == 2
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        *((f"--target={name}",) for name in STARTED),
        # Its kernels are for PyTorch's operators.
        pytest.param(BACKEND, marks=pytest.mark.torch),
    ],
)
@pytest.mark.parametrize("name", ["gamma", "index", "NAN", "linux", "time", "generated", "ops"])
def test_what_is_started_generates(
    run: Run, folder: Path, option: tuple[str, ...], name: str
) -> None:
    """A project called `gamma`, which is a function of C, was begun, and `generate` refused its namespace."""
    result = run("init", *option, name)
    is_in_python = option in (("--target=python",), ("--target=torch-python",))
    refused = {"time"} if is_in_python else {"gamma", "index", "NAN", "linux", "time"}
    assert (result.code == 2) == (name in refused), result.stderr
    if result.code == 2:
        assert "choose another name" in result.stderr
        return
    assert run("generate").code == 0


def test_modules_of_every_supported_python_are_refused_by_each(run: Run, folder: Path) -> None:
    """`distutils` is in 3.10 and 3.11 alone, `compression` in 3.14: the running Python was asked for its own."""
    public = {name for name in sys.stdlib_module_names if name[0] != "_"}
    assert public - STANDARD_LIBRARY == set()
    for name in ("distutils", "asyncore", "tomllib", "compression"):
        result = run("init", name)
        assert (result.code, list(folder.iterdir())) == (2, [])
        assert f"`{name}` is a module of Python" in result.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_waited_for(run: Run, folder: Path) -> None:
    os.mkfifo(folder / ".gitattributes")
    result = run("init")
    assert result.code == 2
    assert "error[TG009]: cannot write `.gitattributes`: not a regular file" in result.stderr
