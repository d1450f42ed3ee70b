"""Commands that read files made by others: no traceback, exit code 1 or 2, and no half-written file."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from torchgen_lite.cli import main

MEMBER = "torchgen/packaged/ATen/native/native_functions.yaml"
OURS = "- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    PrivateUse1: k\n"
NATIVE = "- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: k\n"
Make = Callable[[Path], object]


def packed(data: bytes) -> Make:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(MEMBER, data)

    return make


def broken(path: Path) -> None:
    """A member that is not what its compression says."""
    packed(os.urandom(4096) + b"a" * 4096)(path)
    data = bytearray(path.read_bytes())
    data[120:400] = bytes(280)
    path.write_bytes(data)


def packed_otherwise(path: Path) -> None:
    """A broken member with another compression."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as wheel:
        wheel.writestr(MEMBER, os.urandom(4096))
    data = bytearray(path.read_bytes())
    data[120:400] = bytes(280)
    path.write_bytes(data)


def sealed(path: Path) -> None:
    """A member that needs a password."""
    packed(NATIVE.encode())(path)
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(40 << 20)


FILES: dict[str, Make] = {
    "nothing": lambda path: None,
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "loop": lambda path: path.symlink_to(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "long": sparse,
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(100)),
    "latin": lambda path: path.write_bytes(b"- func: \xe9\xff\n"),
    "utf-16": lambda path: path.write_bytes(OURS.encode("utf-16")),
    "marked": lambda path: path.write_bytes(b"\xef\xbb\xbf" + b"\r- func\r\r"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "deep-map": lambda path: path.write_text('{"a":' * 100_000),
    "numbers": lambda path: path.write_text("[1" + "0" * 100_000 + "]"),
    "verdicts": lambda path: path.write_text('{"verdicts": [1]}'),
    "aliases": lambda path: path.write_text("- &a [x]\n- &b [*a, *a]\n- *c\n- {<<: *a}\n"),
    "tags": lambda path: path.write_text("- !!python/object/apply:os.system [exit]\n"),
    "empty.whl": lambda path: path.write_bytes(b""),
    "text.whl": lambda path: path.write_text(NATIVE),
    "pipe.whl": os.mkfifo,
    "folder.whl": Path.mkdir,
    "other.whl": lambda path: zipfile.ZipFile(path, "w").close(),
    "bomb.whl": packed(bytes(64 << 20)),
    "latin.whl": packed(b"- func: \xe9\xff\n"),
    "deep.whl": packed(b"[" * 100_000),
    "broken.whl": broken,
    "lzma.whl": packed_otherwise,
    "sealed.whl": sealed,
}
COMMANDS = (
    "coverage --key PrivateUse1 --native native.yaml --schema {}",
    "coverage --key PrivateUse1 --native {}",
    "coverage --key PrivateUse1 --native native.yaml --calls {}",
    "coverage --key PrivateUse1 --native native.yaml --against {}",
    "coverage --key PrivateUse1 --native native.yaml --scan {}",
    "coverage --key PrivateUse1 --native native.yaml --html {}",
    "coverage --key PrivateUse1 --native native.yaml --output {}",
    "upgrade --from {} --to native.yaml --fix",
    "upgrade --from native.yaml --to {} --fix",
    "upgrade --from native.yaml --to native.yaml --schema {} --fix",
    "add mul.Tensor --native {}",
    "add add.Tensor --native native.yaml --schema {}",
    "breaking --against {}",
    "breaking --against native.yaml --schema {}",
    "lint --config {}",
    "lint --schema {}",
    "lint --fix --schema {}",
    "lint {}",
    "fmt {}",
    "generate --schema {}",
    "check --schema {} --target docs",
    "generate --depfile {} --dry-run",
    "table --against {}",
    "table add.Tensor --schema {}",
    "diff --against {}",
    "review --against {}",
    "review --against HEAD --summary {}",
    "review --against HEAD --html {}",
    "import {}",
    "import {} --output other.yaml",
    "import native.yaml --output {}",
    "kernels --missing --output {}",
    "templates export --output-dir {}",
    "init {}",
    "init --template torch-backend-cpp {}",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ours.yaml"]\n')
    (tmp_path / "ours.yaml").write_text(OURS)
    (tmp_path / "native.yaml").write_text(NATIVE)
    return tmp_path


def run(command: list[str]) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(command, out, err)
    return code, out.getvalue() + err.getvalue()


def wrong(project: Path, command: list[str]) -> Iterator[str]:
    """What a command should not have done."""
    code, said = run(command)
    if code not in (0, 1, 2) or "TG900" in said or "Traceback" in said:
        yield f"{' '.join(command)}: exit code {code}\n{said[-1500:]}"
    for name, text in (("ours.yaml", OURS), ("native.yaml", NATIVE)):
        if (project / name).read_text() != text:
            yield f"{' '.join(command)}: {name} is changed"
            (project / name).write_text(text)
    yield from (f"{' '.join(command)}: {path.name} is left" for path in project.glob("*tmp*"))


@pytest.mark.parametrize("name", FILES)
def test_files_of_others(project: Path, name: str) -> None:
    path = project / name
    found = []
    releases = ("--native {}", "--from {}", "upgrade --from native.yaml", "breaking --against {}")
    for command in COMMANDS:
        if name.endswith(".whl") and not any(place in command for place in releases):
            continue
        FILES[name](path)
        found += wrong(project, [word.replace("{}", name) for word in command.split()])
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    assert found == []


REPORTS = (
    "table add.Tensor --html {}",
    "table --html {}",
    "table --against native.yaml --html {}",
    "review --against native.yaml --html {}",
    "breaking --against native.yaml --html {}",
    "schema --output {}",
    "schema --of config --output {}",
    "coverage --key PrivateUse1 --native native.yaml --html {}",
    "coverage --key PrivateUse1 --native native.yaml --output {}",
    "upgrade --from native.yaml --to native.yaml --html {}",
    "import native.cpp --output {}",
    "import native.cpp --declare {} --output new.yaml",
    "generate --depfile {}",
    "generate --stamp {}",
    "generate --stamp new.stamp --depfile {}",
)
LIBRARY = 'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor"); m.impl("f", &f); }\n'
AUTHORS = ("ours.yaml", "torchgen_lite.toml", "native.cpp", "kernels.py", "notes.md")


@pytest.mark.parametrize("command", REPORTS)
def test_no_report_replaces_a_file_of_the_author(project: Path, command: str) -> None:
    (project / "native.cpp").write_text(LIBRARY)
    (project / "kernels.py").write_text("def k(self, other): ...\n")
    (project / "notes.md").write_text("# Notes\n\n- see: the paper\n")
    before = {name: (project / name).read_bytes() for name in AUTHORS}
    for name in AUTHORS:
        code, said = run(command.format(name).split())
        assert (project / name).read_bytes() == before[name], said
        assert code == 2 and "TG009" in said, f"{name}: {code}\n{said}"


@pytest.mark.parametrize("command", REPORTS)
def test_a_report_replaces_an_earlier_one(project: Path, command: str) -> None:
    (project / "native.cpp").write_text(LIBRARY)
    name = "new.h" if "--declare" in command else "report"
    for _ in range(3):
        code, said = run(command.format(name).split())
        assert code in (0, 1) and "TG009" not in said, said
        assert (project / name).is_file(), said


@pytest.mark.parametrize("suffix", ["", ".yaml", ".whl"])
@pytest.mark.parametrize("option", ["native", "schema", "output-dir", "template-dirs"])
def test_a_name_that_no_disk_takes_is_a_diagnostic(project: Path, option: str, suffix: str) -> None:
    usual = "" if option == "schema" else 'schema = ["ours.yaml"]\n'
    (project / "torchgen_lite.toml").write_text(f'{usual}{option} = "{"x" * 300}{suffix}"\n')
    for command in ("lint", "generate", "check", "list ops", "breaking --against native.yaml"):
        code, said = run(command.split())
        assert code in (0, 1, 2) and "TG900" not in said and "Traceback" not in said, said
