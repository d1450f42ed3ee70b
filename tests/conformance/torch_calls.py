"""Compile the typed calls of every operator of PyTorch, and see where each of them arrives.

    python -m tests.conformance.torch_calls [--shard N] [--folder DIR] [--jobs N]

`generate --torch --target cpp-torch` writes 16 headers of typed calls. All calls of each are compiled, and linked with
libtorch into one library. Then each call, free function, redispatching function and method is called beside
PyTorch's own, with the same arguments: all of them, and only those without a default. No kernel runs: a key
that catches every call keeps its operator and its arguments, and these have to be the same.

`--shard` selects one of the 16 headers and what belongs to it. `--folder` keeps the results; whatever is already
there is not compiled again.

Prints what each compilation took, how much was compared, and what differs; the exit code is 1 if anything
does. tests/conformance/README.md has the figures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torchgen_lite
from tests.conftest import SHARED_FOLDER
from tests.cpp.compiling import quick_torch
from torchgen_lite.languages.cpp import public
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.signature import KEYSET, CppSignature
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.model import build_operators, torch_layout
from torchgen_lite.targets.cpp_torch.options import TorchOptions
from torchgen_lite.targets.options import AUTOMATIC_SHARDS

SOURCES = Path(__file__).parent / "recorder"


class Compiled(NamedTuple):
    """What became of a file, and what it took."""

    name: str
    ok: bool
    seconds: float
    mebibytes: float


# ---- What is compared


def free_functions(
    functions: Sequence[NativeFunction], *, redispatch: bool
) -> Iterator[tuple[str, CppSignature]]:
    """The name of each free function, as PyTorch has it, and its signature."""
    for function in functions:
        if redispatch or "function" in function.variants:
            for style in public.styles(function):
                signature = public.signature(function, style)
                keyset = (KEYSET,) if redispatch else ()
                parameters = (*keyset, *signature.parameters)
                yield signature.name, CppSignature(signature.name, signature.returns, parameters)


def methods(functions: Sequence[NativeFunction]) -> Iterator[tuple[str, CppSignature]]:
    """The same for methods of `at::Tensor`."""
    for function in functions:
        if "method" in function.variants:
            for style in public.styles(function, "method"):
                signature = public.signature(function, style)
                yield signature.name, signature


def pointer(signature: CppSignature, owner: str = "") -> str:
    """The type of a pointer to a function, or to a method."""
    types = ", ".join(map(str, signature.types))
    return f"{signature.returns} ({owner}*)({types})" + (" const" if owner else "")


def without_defaults(signature: CppSignature, first: int, ours: str, theirs: str) -> Iterator[str]:
    """The comparison of calls that leave out what has a default; `first` is the first position."""
    needed = [str(p.type) for p in signature.parameters if p.default is None]
    if len(needed) < len(signature.parameters):
        call = f"record::compareShort<{', '.join(needed)}>"
        name = f'"{signature.name} with defaults"'
        yield f"  {call}({name}, {first}, FUNCTION({ours}), FUNCTION({theirs}));"


def our_header(name: str, shard: int | None) -> str:
    """The generated header of this name, or the part of it with the operators of a shard.

    Functions are not templates, so a header of theirs has the calls of all its operators compiled.
    """
    return f"aten_ops/{name}.h" if shard is None else f"aten_ops/{name}_{shard}.h"


def check_operators(operators: Sequence[CppOperator], shard: int | None) -> Iterator[str]:
    yield f"#include <ATen/Operators.h>\n#include <{our_header('operators', shard)}>\n"
    yield "void checkOperators() {"
    for flat in [o.flat for o in operators]:
        for call in ("call", "redispatch"):
            ours, theirs = f"&aten_ops::ops::{flat}::{call}", f"&at::_ops::{flat}::{call}"
            yield f'  record::compare("{flat}::{call}", {ours}, {theirs});'
    yield "}"


def check_free_functions(
    operators: Sequence[CppOperator], shard: int | None, *, redispatch: bool
) -> Iterator[str]:
    functions = [o.function for o in operators]
    headers = ("RedispatchFunctions.h", "redispatch_functions")
    file, ours_file = headers if redispatch else ("Functions.h", "functions")
    theirs, ours = ("at::redispatch", "redispatch") if redispatch else ("at", "functions")
    yield f"#include <ATen/{file}>\n#include <{our_header(ours_file, shard)}>\n"
    yield f"void check{'Redispatch' if redispatch else 'Functions'}() {{"
    for name, signature in free_functions(functions, redispatch=redispatch):
        our_name = f"aten_ops::{ours}::{cpp_text.function_name(name)}"
        their_name, type_ = f"{theirs}::{name}", pointer(signature)
        pointers = [f"static_cast<{type_}>(&{n})" for n in (our_name, their_name)]
        yield f'  record::compare("{name}", {", ".join(pointers)});'
        yield from without_defaults(signature, 0, our_name, their_name)
    yield "}"


def check_methods(operators: Sequence[CppOperator]) -> Iterator[str]:
    yield "#include <ATen/Tensor.h>\n#include <aten_ops/methods.h>\n"
    yield "struct Ours : aten_ops::TensorMethods<Ours> {"
    yield "  operator const at::Tensor&() const { return record::tensor(0); }\n};\n"
    yield "void checkMethods() {\n  const Ours ours;\n  const at::Tensor& theirs = record::tensor(0);"
    for name, signature in methods([o.function for o in operators]):
        our_name = cpp_text.function_name(name)
        sides = [
            f"{self}, static_cast<{pointer(signature, f'{owner}::')}>(&{owner}::{method})"
            for self, owner, method in (("ours", "Ours", our_name), ("theirs", "at::Tensor", name))
        ]
        yield f'  record::compare("{name}", {", ".join(sides)});'
        yield from without_defaults(signature, 1, f"ours.{our_name}", f"theirs.{name}")
    yield "}"


def write_comparisons(
    folder: Path, operators: Sequence[CppOperator], shard: int | None
) -> list[Path]:
    """The sources of the program: one file if there is little to compare."""
    texts = {
        "operators": check_operators(operators, shard),
        "functions": check_free_functions(operators, shard, redispatch=False),
        "redispatch": check_free_functions(operators, shard, redispatch=True),
        "methods": check_methods(operators),
    }
    parts = {name: '#include "record.h"\n' + "\n".join(text) + "\n" for name, text in texts.items()}
    main = SOURCES / "record.cpp"
    if len(operators) < 500:
        parts = {"all": "".join(parts.values()) + f'#include "{main.name}"\n'}
    files = {folder / f"check_{name}.cpp": text for name, text in parts.items()}
    for file, text in files.items():
        write(file, text)
    return list(files) if len(files) == 1 else [*files, main]


# ---- How it is compiled


def write(file: Path, text: str) -> None:
    """Write a file unless it already has this text."""
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@cache
def torch_flags() -> tuple[list[str], list[str]]:
    """What compiling and linking with the installed PyTorch needs."""
    from torch.utils.cpp_extension import include_paths, library_paths

    includes = [*include_paths(), sysconfig.get_paths()["include"]]
    folders = [flag for path in library_paths() for flag in (f"-L{path}", f"-Wl,-rpath,{path}")]
    return [f"-isystem{path}" for path in includes], [*folders, "-ltorch", "-ltorch_cpu", "-lc10"]


def compile_file(source: Path, folder: Path, flags: Sequence[str]) -> Compiled | None:
    """Compile one file. None if that was done before, and no header has changed."""
    made = folder / f"{source.stem}.o"
    headers = [*folder.glob("cpp-torch/include/**/*.h"), *SOURCES.glob("*.h")]
    changed = max(file.stat().st_mtime for file in (source, *headers))
    if made.exists() and made.stat().st_mtime > changed:
        return None
    start = time.perf_counter()
    includes = [f"-I{folder / 'cpp-torch' / 'include'}", f"-I{SOURCES}"]
    compiler = ["g++", "-std=c++20", "-fPIC", *torch_flags()[0]]
    # What the tests share of PyTorch's headers is for what is not optimized.
    if "-O0" in flags and SHARED_FOLDER in os.environ:
        compiler = [*quick_torch()]
    command = [*compiler, *flags, *includes, "-c", str(source), "-o", str(made)]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    return Compiled(source.name, process.returncode == 0, seconds, usage.ru_maxrss / 1024)


def compile_files(
    sources: Sequence[Path], folder: Path, flags: Sequence[str], jobs: int
) -> list[str]:
    """Compile them, print what each took, and return the objects."""
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda source: compile_file(source, folder, flags), sources):
            if done is not None:
                print(
                    f"  {done.name:24} {done.seconds:6.1f} s {done.mebibytes:7,.0f} MiB", flush=True
                )
                if not done.ok:
                    raise SystemExit(1)
    return [str(folder / f"{source.stem}.o") for source in sources]


def every_call(namespace: str, header: str, structs: Iterable[str]) -> str:
    """A source that makes all calls of these structs, because only calls that are made get compiled."""
    ops = f"{namespace}::ops"
    calls = [
        f"template struct {namespace}::detail::Calls<{ops}::{flat}, {ops}::{flat}::schema>;\n"
        for flat in structs
    ]
    return f"#include <{namespace}/{header}.h>\n" + "".join(calls)


def build_library(
    folder: Path, shard: int | None, jobs: int, optimized: str = "-O2 -DNDEBUG"
) -> list[CppOperator]:
    """Generate the typed calls, compile them into libaten_ops.so, and return the operators that they call."""
    program = torchgen_lite.load(torch=True)
    for path, text in torchgen_lite.generate(program, targets=["cpp-torch"]).items():
        write(folder / path, text)
    every = program.resolved.operators
    layout = torch_layout([one.function for one in every], TorchOptions())
    operators = [o for o in build_operators(every, layout) if shard in (None, o.shard)]
    print(f"{len(program.functions):,} entries, {len(every):,} with those derived of them", end="")
    print(f", {len(operators):,} in this file" if shard is not None else "", flush=True)

    numbers = range(AUTOMATIC_SHARDS) if shard is None else [shard]
    sources = [folder / f"operators_{number}.cpp" for number in numbers]
    for number, source in zip(numbers, sources):
        flats = [o.flat for o in operators if o.shard == number]
        write(source, every_call("aten_ops", f"operators_{number}", flats))
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    objects = compile_files(sources, folder, [*optimized.split(), *warnings], jobs)
    library = folder / "libaten_ops.so"
    subprocess.run(["g++", "-shared", *objects, "-o", str(library), *torch_flags()[1]], check=True)
    print(f"  {library.name:24} {library.stat().st_size / 2**20:16,.1f} MiB", flush=True)
    return operators


def build_program(
    folder: Path, operators: Sequence[CppOperator], shard: int | None, jobs: int
) -> Path:
    """Compile the comparisons and return the program that makes them."""
    program = folder / "record"
    sources = write_comparisons(folder, operators, shard)
    objects = compile_files(sources, folder, ["-O0"], jobs)
    command = ["g++", *objects, "-o", str(program), *torch_flags()[1]]
    subprocess.run(command, check=True)
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard", type=int, choices=range(AUTOMATIC_SHARDS))
    parser.add_argument("--folder", type=Path)
    parser.add_argument(
        "--optimize", default="-O2 -DNDEBUG", help="for the library, such as --optimize=-O0"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        operators = build_library(folder, options.shard, options.jobs, options.optimize)
        program = build_program(folder, operators, options.shard, options.jobs)
        print(f"  {'in all':24} {time.perf_counter() - start:6.1f} s", flush=True)
        return subprocess.run([str(program)]).returncode


if __name__ == "__main__":
    sys.exit(main())
