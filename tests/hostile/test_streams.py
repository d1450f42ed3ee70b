"""Every command that prints or writes something, where it cannot: exit code 2, no traceback, no half-written file."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.hostile.forked import forked, rehearse
from torchgen_lite.cli.app import cli
from torchgen_lite.emit.write import add_to_file

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
LIBRARY_SCHEMA = """\
- func: lib::f(Tensor x) -> Tensor
  dispatch:
    CPU: f
- func: lib::g(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.dim() == 1, kernel: row}, rest]
"""
LIBRARY = """\
TORCH_LIBRARY(lib, m) {
  m.def("f(Tensor x) -> Tensor");
}
"""
BOUND = """\
at::Tensor f(at::Tensor x);
PYBIND11_MODULE(bound, m) { m.def("f", &f); }
"""
SAYS = (
    "import lib.cpp",
    "coverage --key PrivateUse1",
    "coverage --key PrivateUse1 --output-format json",
    "coverage --key PrivateUse1 --output-format markdown",
    "upgrade --from native.yaml --to newer.yaml",
    "table f --schema member/native_functions.yaml",
    "table --against HEAD",
    "review --against HEAD",
    "why f CPU --schema member/native_functions.yaml",
    "kernels --missing",
    "list ops",
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
    "adopt csrc --dry-run",
    "audit lib.whl",
    "lsp",
)
"""What has its answer on stdout."""
WRITES = (
    ("import lib.cpp --output {}", "lib.yaml"),
    ("import bound.cpp --declare {}", "lib.h"),
    ("coverage --key PrivateUse1 --output {}", "base.json"),
    ("coverage --key PrivateUse1 --html {}", "page.html"),
    ("upgrade --from native.yaml --to newer.yaml --html {}", "page.html"),
    ("breaking --against newer.yaml --html {}", "page.html"),
    ("table --schema member/native_functions.yaml --html {}", "page.html"),
    ("review --against HEAD --summary {}", "page.md"),
    ("review --against HEAD --html {}", "page.html"),
    ("kernels --missing --output {}", "kernels.cpp"),
    ("schema --output {}", "schema.json"),
)
"""What writes the file that is named."""
CHANGES = (
    "adopt csrc",
    "add add.out --dispatch PrivateUse1 --schema ours.yaml --native native.yaml --for-torch 2.9",
    "add --like CPU --calls calls.log --dispatch PrivateUse1 --schema ours.yaml --native native.yaml",
    "breaking --against newer.yaml --accept meant",
    "fmt",
    "generate",
    "generate --target docs --depfile files.d --stamp done",
    "generate member --output-format json",
    "kernels --missing --output kernels.cpp",
    "import lib.cpp --output lib.yaml",
    "lint --fix --unsafe-fixes --schema wrong.yaml",
    "templates export python/package.py.j2 python/register.py.j2 --output-dir mine",
    "init mydev --template torch-backend-cpp",
    "init mylib --target torch-python",
    "upgrade --from native.yaml --to newer.yaml --fix",
)
"""What changes files of the project or begins them; `init` and `adopt` do so in a separate folder."""
READS = (
    "adopt csrc --macro A=1 --package lib_ops --dry-run",
    "audit lib.whl --platform any --abi stable --target cpp-torch --namespace lib --since HEAD --schema ours.yaml --for-torch 2.9",
    "breaking --against newer.yaml --level kernel --all --schema native.yaml --for-torch 2.9",
    "check --target docs --schema native.yaml --for-torch 2.9 --output-dir other",
    "coverage --key PrivateUse1 --only core --like CUDA --fallback --show own --scan scanned.cpp --for-torch 2.9",
    "coverage --key PrivateUse1 --native native.yaml --schema ours.yaml --calls calls.log --against verdicts.json --tests tests.xml",
    "diff --target docs --schema native.yaml --for-torch 2.9 --output-dir other",
    "fmt --check",
    "generate --check --schema native.yaml --for-torch 2.9",
    "generate --diff --output-dir other --allow-empty",
    "import lib.cpp --namespace lib --macro A=1",
    "init --layout src",
    "kernels lib.cpp --target cpp-torch --check",
    "lint --schema wrong.yaml --for-torch 2.9",
    "list ops --format json --schema native.yaml --for-torch 2.9 --output-dir other --target cpp-torch",
    "prove lib.cpp --macro A=1",
    "review --against HEAD --level call",
    "schema --of config",
    "table f --key CPU --fallback PrivateUse1 --schema member/native_functions.yaml --for-torch 2.9 --target cpp-torch",
    "table f --all --schema member/native_functions.yaml",
    "templates check",
    "upgrade --from native.yaml --to newer.yaml --key PrivateUse1 --schema ours.yaml --for-torch 2.9 --fetch",
    "why f CPU --fallback PrivateUse1 --schema member/native_functions.yaml --for-torch 2.9 --target cpp-torch",
    "why g CPU --input x=half[2] --schema member/native_functions.yaml",
    "why f CPU --include Functionalize --exclude AutogradCPU --autocast cpu --inference --schema member/native_functions.yaml",
)
"""What writes nothing, with every option that is in none of the others."""
ELSEWHERE = frozenset({"--torch", "--import", "--module", "--load", "--build", "--test", "--watch"})
"""Options that ask the installed PyTorch, in another process, or run commands, and one whose run has no end; they have
their own tests."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    for name, text in (
        ("torchgen_lite.toml", CONFIG),
        ("ours.yaml", OURS),
        ("native.yaml", NATIVE),
        ("newer.yaml", NATIVE.replace("Tensor other", "Tensor others")),
        ("lib.cpp", LIBRARY),
        ("bound.cpp", BOUND),
        ("csrc/lib.cpp", LIBRARY),
        ("wrong.yaml", LIBRARY_SCHEMA.replace("dispatch", "dispach")),
        (
            "scanned.cpp",
            'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("add.Tensor", add); }\n',
        ),
        ("calls.log", "aten::add.Tensor\n"),
        ("verdicts.json", '{"key": "PrivateUse1", "verdicts": {}}'),
        (
            "tests.xml",
            '<s><testcase classname="KernelsPRIVATEUSE1" name="test_forward_add_Tensor_sim_float32"/></s>',
        ),
        ("member/torchgen_lite.toml", 'targets = ["docs"]\n'),
        ("member/native_functions.yaml", LIBRARY_SCHEMA),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with zipfile.ZipFile(folder / "lib.whl", "w") as wheel:
        wheel.writestr("lib/__init__.py", "")
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    # The copies of the folder share the repository, of which they have a file with its name.
    repository = tmp_path_factory.mktemp("repository") / "git"
    begin = f"init -q -b main --separate-git-dir {repository}"
    for arguments in (begin, "add .", "-c commit.gpgsign=false commit -q -m one"):
        subprocess.run(["git", *identity, *arguments.split()], cwd=folder, check=True)
    (folder / "ours.yaml").write_text(OURS + OURS.replace("add", "mul"))
    (folder / "empty").mkdir()
    commands = [
        *SAYS[:-1],
        *[command.format("nowhere/file") for command, _ in WRITES],
        "init mydev",
    ]
    rehearse(commands, folder)
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


def is_refused(code: int, said: str) -> bool:
    return code == 2 and "Traceback" not in said and "TG900" not in said


def options(command: click.Command, name: str = "") -> Iterator[tuple[str, str]]:
    """Every command with its own options; those that all commands share belong to the group."""
    of_all = {option for one in cli.params for option in one.opts}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            assert inner is not None
            yield from options(inner, f"{name} {word}".strip())
        return
    yield name, ""
    for one in command.params:
        if (
            isinstance(one, click.Option)
            and not of_all & {*one.opts}
            and one.opts[0] not in ELSEWHERE
        ):
            yield name, one.opts[0]


def test_every_option_of_every_command_is_tried() -> None:
    """A new command has to be in one of the lists above: it is stopped, or shown to write nothing."""
    tried = set()
    for line in (*SAYS, *[command for command, _ in WRITES], *CHANGES, *READS):
        words = line.split()
        name = " ".join(words[:2]) if words[0] == "templates" else words[0]
        tried |= {(name, ""), *[(name, word) for word in words if word.startswith("--")]}
    assert set(options(cli)) - tried == set()


FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="no /dev/full here")


@needs_full
@pytest.mark.parametrize("command", SAYS)
def test_stdout_is_full_or_closed(project: Path, command: str) -> None:
    for stream in (FULL, None):
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


# One file is written as a whole or not at all, and is named.
ALL = (*CHANGES, *[command.format(name) for command, name in WRITES])


@pytest.mark.parametrize("command", ALL)
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


def test_what_cannot_be_added_as_a_whole_is_not_added(tmp_path: Path) -> None:
    """A disk that is full in the middle of a page; a pipe that nobody reads is not waited for."""
    (tmp_path / "page.md").write_text("before\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        for name in ("page.md", "new.md"):
            with pytest.raises(OSError, match="File too large"):
                add_to_file(tmp_path / name, "a line\n" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        add_to_file(tmp_path / "pipe", "a line")
    assert content(tmp_path) == {"page.md": b"before\n", "pipe": b""}


@needs_full
@pytest.mark.parametrize(("command", "name"), WRITES)
def test_nobody_hears_that_a_file_is_written(project: Path, command: str, name: str) -> None:
    """Without stderr, the file is there as a whole or not at all."""
    forked(command.format(name))
    whole = (project / name).read_bytes()
    (project / name).unlink()
    for stream in (FULL, None):
        forked(command.format(name), stderr=stream)
        path = project / name
        assert not path.exists() or path.read_bytes() == whole
        path.unlink(missing_ok=True)
