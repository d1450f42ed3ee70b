"""What tests of generated C++ share: is it formatted, does it compile, what does the compiler say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, SHARED_FOLDER

HAS_COMPILER = shutil.which("g++") is not None


def _clang() -> str | None:
    """The newest `clang++`. Packages of distributions have the version in its name."""
    names = ["clang++", *(f"clang++-{version}" for version in range(15, 30))]
    installed = [path for path in map(shutil.which, names) if path is not None]
    return installed[-1] if installed else None


# What compiles in tests. Of a precompiled header, clang reads only what a source uses, and takes a fifth of the time of
# g++. That builds an example of each kind, the C++ runtime with sanitizers and as its page does, and refuses wrong kernels
# in the words of the docs; so generated code is without a warning of either.
QUICK = _clang() or "g++"
# Options for all messages, each with all places from which a template is used.
EVERY_ERROR = (
    "-fmax-errors=0" if QUICK == "g++" else "-ferror-limit=0",
    "-ftemplate-backtrace-limit=0",
)
COMPILERS = tuple(dict.fromkeys(("g++", QUICK)))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="g++ is not installed")


_WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")


class Compiled(NamedTuple):
    """How a compilation ended, and all its output."""

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
    folder: Path,
    name: str,
    *,
    compiler: Sequence[str] = ("g++",),
    flags: Sequence[str] = (),
    includes: Sequence[Path] = (),
) -> Compiled:
    """Compile `folder/name` without making anything of it.

    Warnings count as errors: generated code gives none.
    """
    command = [
        *compiler,
        "-fsyntax-only",
        *_WARNINGS,
        *flags,
        *(f"-I{path}" for path in includes),
        name,
    ]
    done = subprocess.run(command, cwd=folder, env=_in_english(), capture_output=True, text=True)
    return Compiled(done.returncode == 0, done.stderr)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write `{path: text}` below a folder."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


# What nearly every generated source includes. With it parsed once, a library takes a third of the time.
_PRECOMPILED = """\
#include <ATen/ATen.h>
#include <ATen/core/op_registration/adaption.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>
"""
_LIBRARY_FLAGS = ("-O0", "-fPIC")
# Without collecting garbage below two gigabytes, which would be up to a tenth of the time.
_OF_GCC = "--param=ggc-min-heapsize=2097152"
# With what the headers use of templates, which is compiled once, then. g++ does so with each source.
_OF_CLANG = ("-fpch-instantiate-templates",)


def quick_torch() -> tuple[str, ...]:
    """A compiler with its flags for code of which it is no question whether its own `#include` lines are enough:
    PyTorch's headers are one precompiled header.
    """
    return (QUICK, *_with_precompiled("precompiled", _PRECOMPILED, QUICK))


def with_torch() -> tuple[str, ...]:
    """The flags of the same for g++, where its messages are read."""
    return _with_precompiled("precompiled", _PRECOMPILED, "g++")


# Headers that parse long and that several of ours include; each includes the next one.
_LONG = (
    "torch/csrc/autograd/VariableTypeUtils.h",
    "ATen/core/dispatch/Dispatcher.h",
    "ATen/core/Tensor.h",
)


def long_include(text: str, others: Mapping[str, str]) -> str | None:
    """Which of these a header of this text includes, itself or by what it includes of the others, which have names."""
    included = _included(text, others)
    return next((header for header in _LONG if header in included), None)


def with_header(header: str | None, program: str = QUICK) -> tuple[str, ...]:
    """A compiler with its flags where this header of PyTorch is there already: for a header that includes it, so that no
    `#include` which is missing is hidden.
    """
    if header is None:
        return (program, *torch_flags())
    name = Path(header).stem
    return (program, *_with_precompiled(f"only_{name}", f"#include <{header}>\n", program))


def _included(text: str, others: Mapping[str, str]) -> set[str]:
    """What a header always includes, itself or by others."""
    always = re.split("^#if", text, maxsplit=1, flags=re.M)[0]
    found = set(re.findall(r'^#include [<"](.*)[>"]', always, re.M))
    for name in found & others.keys():
        found |= _included(others[name], others)
    return found


@cache
def _with_precompiled(name: str, text: str, compiler: str) -> tuple[str, ...]:
    """`torch_flags` where a text precedes each source, precompiled.

    It is up to half a gigabyte and takes most of a minute, so the processes of a run of tests share it: the first that
    asks makes it in the folder of the run, and the others wait.
    """
    # Imported here: Windows has none, and does not compile.
    import fcntl

    flags = [*_LIBRARY_FLAGS, *torch_flags()]
    if compiler == "g++":
        flags.append(_OF_GCC)
        made, more = f"{name}.h.gch", ()
    else:
        made, more = f"{name}.h.pch", _OF_CLANG
    folder = _folder_of(compiler)
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / made).exists():
            write_files(folder, {f"{name}.h": text})
            command = [compiler, *flags, *more, "-x", "c++-header", f"{name}.h", "-o", made]
            subprocess.run(command, cwd=folder, check=True)
    return (*flags, "-include", str(folder / f"{name}.h"), "-Winvalid-pch")


def _folder_of(compiler: str) -> Path:
    """Where the processes of one run share what this compiler has made."""
    folder = Path(os.environ[SHARED_FOLDER]) / Path(compiler).name
    folder.mkdir(exist_ok=True)
    return folder


def quick_compiler(compiler: str = QUICK) -> str:
    """A program for the builds of CMake and setuptools: a compiler that has read PyTorch's headers before."""
    _with_precompiled("precompiled", _PRECOMPILED, compiler)
    folder = _folder_of(compiler)
    script = Path(__file__).with_name("quick_compiler.sh")
    words = ["exec", str(script), compiler, str(folder / "precompiled.h")]
    program = folder / "c++"
    # Other processes may be running it.
    new = folder / f"c++.{os.getpid()}"
    new.write_text(f'#!/bin/sh\n{shlex.join(words)} "$@"\n')
    new.chmod(0o755)
    new.replace(program)
    return str(program)


def compile_library(
    folder: Path,
    sources: Sequence[str],
    *,
    apart: Sequence[str] = (),
    flags: Sequence[str] = (),
    includes: Sequence[Path] = (),
) -> Path:
    """Compile and link a library that `torch.ops.load_library` takes. Warnings count as errors.

    The sources are compiled together, but for those that have to be `apart`; libraries may be among these.
    """
    done = try_library(folder, [together(folder, sources), *apart], flags=flags, includes=includes)
    assert done.ok, done.messages
    return folder / "library.so"


def try_library(
    folder: Path,
    sources: Sequence[str],
    *,
    compiler: Sequence[str] = (),
    flags: Sequence[str] = (),
    includes: Sequence[Path] = (),
) -> Compiled:
    """The same, where it is a question whether that compiles, with another compiler if one is given."""
    import torch

    libraries = Path(torch.__file__).parent / "lib"
    command = [*(compiler or quick_torch()), "-shared", *_WARNINGS, *flags]
    command += [*(f"-I{path}" for path in includes), *sources, "-o", "library.so"]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-ltorch", "-ltorch_cpu", "-lc10"]
    done = subprocess.run(command, cwd=folder, env=_in_english(), capture_output=True, text=True)
    return Compiled(done.returncode == 0, done.stderr)


def together(folder: Path, sources: Sequence[str]) -> str:
    """One source in the folder that includes all of them.

    Behind PyTorch's headers, a source takes seconds for what these use of templates before any of ours is compiled.
    """
    # Limited API or not is the decision of module.cpp, so it comes before all else.
    ordered = sorted(sources, key=lambda path: Path(path).name != "module.cpp")
    write_files(folder, {"together.cpp": "".join(f'#include "{path}"\n' for path in ordered)})
    return "together.cpp"


def _in_english() -> dict[str, str]:
    """Messages in plain English and ASCII, whatever the user's language."""
    return {**os.environ, "LC_ALL": "C"}
