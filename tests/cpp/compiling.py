"""What tests of generated C++ share: is it formatted, does it compile, what does the compiler say."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

HAS_COMPILER = shutil.which("g++") is not None
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="g++ is not installed")


class Compiled(NamedTuple):
    """How a compilation ended, and everything that was said."""

    ok: bool
    messages: str


def clang_format() -> str | None:
    """The path of clang-format, or None. Its wheel puts it beside the interpreter."""
    beside = Path(sys.executable).with_name("clang-format")
    return str(beside) if beside.exists() else shutil.which("clang-format")


needs_clang_format = pytest.mark.skipif(
    clang_format() is None, reason="clang-format is not installed"
)


def unformatted(texts: Iterable[str]) -> str:
    """What clang-format would change in any of the texts, as it says it; empty if nothing."""
    program = clang_format()
    assert program is not None
    text = "\n".join(texts)
    done = subprocess.run(
        [program, f"--style=file:{ROOT / '.clang-format'}", "--assume-filename=x.cpp"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    if done.stdout == text:
        return ""
    pairs = zip(text.splitlines(), done.stdout.splitlines())
    return next((f"{old}\n  becomes\n{new}" for old, new in pairs if old != new), "the end differs")


@cache
def torch_flags() -> tuple[str, ...]:
    """What a compiler needs for the headers of the installed PyTorch."""
    import torch
    from torch.utils.cpp_extension import include_paths

    folders = [*include_paths(), sysconfig.get_paths()["include"]]
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return (
        "-std=c++20",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        *(f"-isystem{folder}" for folder in folders),
    )


def check_syntax(
    folder: Path, name: str, *, flags: Sequence[str] = (), includes: Sequence[Path] = ()
) -> Compiled:
    """Compile `folder/name` without making anything of it.

    Warnings count as errors: generated code gives none.
    """
    command = ["g++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    command += [*flags, *(f"-I{path}" for path in includes), name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return Compiled(done.returncode == 0, done.stderr)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write `{path: text}` below a folder."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
