"""Every command that says or writes something, where it cannot: exit 2, no traceback, and no file by halves."""

from __future__ import annotations

import io
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from torchgen_lite.cli import main, run

NATIVE = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: mul
"""
OURS = """\
- func:   add.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    PrivateUse1: add
"""
CONFIG = 'schema = ["ours.yaml"]\nnative = "native.yaml"\ntargets = ["cpp-torch"]\n'
LIBRARY_SCHEMA = "- func: lib::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f\n"
LIBRARY = """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor");
}
"""
SAYS = (
    "import lib.cpp",
    "coverage --key PrivateUse1",
    "coverage --key PrivateUse1 --output-format json",
    "coverage --key PrivateUse1 --output-format markdown",
    "upgrade --from native.yaml --to newer.yaml",
    "table add.Tensor",
    "table --against HEAD",
    "review --against HEAD",
    "why add.Tensor PrivateUse1",
    "kernels --missing",
    "list ops",
    "generate --output-format json",
    "generate --dry-run",
    "diff",
    "schema",
    "breaking --against newer.yaml --output-format json",
    "completion bash",
    "diff --against HEAD",
    "explain TG101",
    "fmt --diff",
    "import lib.cpp --output-format json",
    "lint --output-format sarif",
    "list codes",
    "list outputs",
    "upgrade --from native.yaml --to newer.yaml --output-format json",
    "lsp",
)
"""What has its answer on stdout."""
WRITES = (
    ("import lib.cpp --to {}", "lib.yaml"),
    ("coverage --key PrivateUse1 --write {}", "base.json"),
    ("coverage --key PrivateUse1 --html {}", "page.html"),
    ("upgrade --from native.yaml --to newer.yaml --html {}", "page.html"),
    ("breaking --against newer.yaml --html {}", "page.html"),
    ("table --html {}", "page.html"),
    ("review --against HEAD --summary {}", "page.md"),
    ("kernels --missing --to {}", "kernels.cpp"),
    ("schema --output {}", "schema.json"),
)
"""What writes the file that is named."""
CHANGES = (
    "add add.out",
    "fmt",
    "generate",
    "generate --target docs",
    "generate member",
    "import lib.cpp --to lib.yaml",
    "lint --fix --unsafe-fixes --schema wrong.yaml",
    "templates export python/package.py.j2 python/register.py.j2",
    "init mydev --template torch-backend-cpp",
    "init mylib --target torch-python",
    "upgrade --from native.yaml --to newer.yaml --fix",
)
"""What changes files of the project or begins them; `init` does so in a folder of its own."""
AS_USUAL = -1
HELLO = (
    b'Content-Length: 58\r\n\r\n{"jsonrpc": "2.0", "id": 1, "method": "initialize"'
    b', "params": {}}'
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    for name, text in (
        ("torchgen_lite.toml", CONFIG),
        ("ours.yaml", OURS),
        ("native.yaml", NATIVE),
        ("newer.yaml", NATIVE.replace("Tensor other", "Tensor others")),
        ("lib.cpp", LIBRARY),
        ("wrong.yaml", LIBRARY_SCHEMA.replace("dispatch", "dispach")),
        ("member/torchgen_lite.toml", 'targets = ["docs"]\n'),
        ("member/native_functions.yaml", LIBRARY_SCHEMA),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    for arguments in ("init -q -b main", "add .", "-c commit.gpgsign=false commit -q -m one"):
        subprocess.run(["git", *identity, *arguments.split()], cwd=folder, check=True)
    (folder / "ours.yaml").write_text(OURS + OURS.replace("add", "mul"))
    (folder / "empty").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # What is imported once is there in every fork.
        patch.chdir(folder)
        for command in (*SAYS[:-1], *[command for command, _ in WRITES], "init mydev"):
            words = ["nowhere/file" if word == "{}" else word for word in command.split()]
            main(words, io.StringIO(), io.StringIO())
    for made in ("generated", "mydev"):
        shutil.rmtree(folder / made, ignore_errors=True)
    return folder


@pytest.fixture
def project(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(original, folder)
    monkeypatch.chdir(folder)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if ".git" not in path.parts
    }


def forked(
    command: str,
    stdout: int | None = AS_USUAL,
    stderr: int | None = AS_USUAL,
    most: int = -1,
    begin: Callable[[], object] = lambda: None,
) -> tuple[int, str]:
    """The exit code of the console script with these as its streams (None: closed), and what the usual ones have.

    No file may have more than `most` bytes, as on a disk that is full. `begin` runs before it.
    """
    said, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            asked, asking = os.pipe()
            os.write(asking, HELLO)
            os.close(asking)
            os.dup2(asked, 0)
            for number, name, given in ((1, "stdout", stdout), (2, "stderr", stderr)):
                if given is None:
                    os.close(number)
                    setattr(sys, name, None)
                else:
                    os.dup2(writing if given == AS_USUAL else given, number)
                    setattr(sys, name, os.fdopen(number, "w", closefd=False))
            sys.stdin = os.fdopen(0, closefd=False)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            sys.argv = ["torchgen-lite", *command.split()]
            begin()
            run()
        except SystemExit as stopped:
            os._exit(int(stopped.code or 0))
        finally:
            os._exit(70)
    os.close(writing)
    with open(said, encoding="utf-8") as pipe:
        text = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def is_refused(code: int, said: str) -> bool:
    return code == 2 and "Traceback" not in said and "TG900" not in said


FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="no /dev/full here")


@needs_full
@pytest.mark.parametrize("command", SAYS)
def test_stdout_is_full_or_closed(project: Path, command: str) -> None:
    with open(FULL, "w") as full:
        for stream in (full.fileno(), None):
            code, said = forked(command, stdout=stream)
            assert is_refused(code, said), said
    assert not [name for name in content(project) if "tmp" in name]


def unwritable(project: Path) -> Iterator[str]:
    """Places where no file can be: a folder, below a file, in a folder that is not there, on a full disk."""
    (project / "taken").mkdir()
    yield "taken"
    yield "native.yaml/file"
    yield "nowhere/file"
    if os.path.exists(FULL):
        yield FULL


@pytest.mark.parametrize(("command", "name"), WRITES)
def test_files_that_cannot_be_written(project: Path, command: str, name: str) -> None:
    for place in unwritable(project):
        before = content(project)
        code, said = forked(command.format(place))
        assert is_refused(code, said), (place, said)
        assert content(project) == before, place


@pytest.mark.parametrize("command", CHANGES)
def test_the_disk_is_full(project: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    if command.startswith("init"):
        monkeypatch.chdir(project / "empty")
    before = content(project)
    for most in (0, 20):
        code, said = forked(command, most=most)
        assert is_refused(code, said), (most, said)
        assert content(project) == before, most
    assert forked(command)[0] < 2
    assert content(project) != before


@needs_full
@pytest.mark.parametrize(("command", "name"), WRITES)
def test_nobody_hears_that_a_file_is_written(project: Path, command: str, name: str) -> None:
    """Without stderr, the file is there as a whole or not at all."""
    forked(command.format(name))
    whole = (project / name).read_bytes()
    (project / name).unlink()
    with open(FULL, "w") as full:
        for stream in (full.fileno(), None):
            forked(command.format(name), stderr=stream)
            path = project / name
            assert not path.exists() or path.read_bytes() == whole
            path.unlink(missing_ok=True)
