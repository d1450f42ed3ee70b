"""The C++ that results from hostile text compiles: for every field of the YAML, whatever is accepted, in one run of a compiler.

The C++ of the runtime's target is compiled for everything, that for libtorch for all reserved words and some of the rest.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler, quick_torch, torch_flags
from tests.fuzz.targets import TOY
from tests.hostile.test_fields import CODE, entries, read
from tests.hostile.text import HOSTILE, RESERVED, places
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.emit.append import add_declarations
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

_RESERVED = re.compile(rf"\b(?:{'|'.join(RESERVED)})\b(?!\.)")
PLAIN = "- func: lib::f(Tensor self, str s='a') -> Tensor\n  dispatch:\n    CPU: f\n"
RUNTIME = ("g++", f"-I{ROOT / 'torchgen_lite' / 'cpp' / 'include'}")
# The compiler of each target: code for the stable ABI has no other headers.
LIBTORCH = {"cpp-torch": quick_torch, "cpp-torch-stable": lambda: ("g++", *torch_flags())}


def accepted(target: str, step: int = 1) -> Iterator[Mapping[str, str]]:
    """The files of what a target takes, where they differ from all earlier ones; each in its own namespace.

    Of inputs with reserved words every `step`th is tried, of others one in `step * step`.
    """
    seen: set[frozenset[str]] = set()
    for number, (field, text) in enumerate(entries()):
        if number % (step if _RESERVED.search(text) else step * step):
            continue
        # A function of no namespace has the namespace of PyTorch: the same names are tried in another one.
        program = read(text)
        if program.has_errors or field in CODE or program.functions[0].namespace == "aten":
            continue
        texts = frozenset(generate_all(program, targets=[target]).files.values())
        if texts and texts not in seen:
            seen.add(texts)
            own = read(text.replace("lib::", f"lib{len(seen)}::"))
            yield generate_all(own, targets=[target]).files


# The author's expressions and types.
_CODE = {"constants", "types", "tensor"}


def configured(target: str) -> Iterator[Mapping[str, str]]:
    """The same for the strings of the configuration. Headers that they name are there."""
    usual = {"tensor": "toy::Tensor"} if target == "cpp-runtime" else {}
    seen: set[frozenset[str]] = set()
    for option, value in _options(target):
        config = Config(Path("nowhere"), target_options={target: {**usual, option: value}})
        texts = frozenset(generate_all(_program("lib", config), targets=[target]).files.values())
        if texts and texts not in seen:
            seen.add(texts)
            program = _program(f"lib{len(seen)}", config)
            kernels, _ = TARGETS[target].author_functions(program)
            header = add_declarations("", kernels) if option == "kernel-headers" else ""
            names = value if isinstance(value, list) and option.endswith("headers") else ()
            headers = {f"{target}/include/{name}": header for name in names}
            yield {**headers, **generate_all(program, targets=[target]).files}


def _options(target: str) -> Iterator[tuple[str, object]]:
    for option in TARGETS[target].declared_options().values():
        for text in (*HOSTILE, *RESERVED) if option.name not in _CODE else ():
            named = f"{text}.{option.name}" if option.name.endswith("headers") else text
            yield from ((option.name, value) for value in places(option.schema, named))


def _program(namespace: str, config: Config) -> Program:
    source = Source("ops.yaml", PLAIN.replace("lib::", f"{namespace}::"))
    functions, _ = load_native_functions([source])
    return build_program(functions, config)


def compile_all(
    target: str,
    folder: Path,
    compiler: Sequence[str],
    inputs: Iterable[Mapping[str, str]],
    first: str = "",
) -> tuple[int, str]:
    """How many inputs there were, and what a compiler says about their files in one translation unit, behind `first`."""
    (folder / "first.h").write_text(first)
    lines = ['#include "first.h"']
    number = 0
    for number, files in enumerate(inputs, 1):
        for path, text in files.items():
            if path.endswith("/module.cpp"):
                if "PyInit__C" in text:
                    continue  # One is enough for a module of Python.
                text = re.sub(r"\b(slots|definition)\b", rf"\1_{number}", text)
            text = text.replace("wrapper_Composite", f"wrapper_{number}_Composite")
            text = text.replace("choose_CPU_", f"choose_{number}_CPU_")
            inside = path.partition("/include/")[2]
            place = folder / (inside or f"{number}/{path.rpartition('/')[2]}")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            lines += [f'#include "{place}"'] * path.endswith(".cpp")
    unit = folder / "all.cpp"
    unit.write_text("\n".join(lines))
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-w", f"-I{folder}"]
    run = subprocess.run([*command, str(unit)], capture_output=True, text=True, check=False)
    return number, run.stderr


@pytest.mark.slow("a compilation of what every field gives")
@needs_compiler
def test_cpp_of_the_runtime_compiles(tmp_path: Path) -> None:
    number, said = compile_all("cpp-runtime", tmp_path, RUNTIME, accepted("cpp-runtime"), TOY)
    assert said == ""
    assert number > 300


@needs_compiler
def test_names_of_the_configuration_compile(tmp_path: Path) -> None:
    number, said = compile_all("cpp-runtime", tmp_path, RUNTIME, configured("cpp-runtime"), TOY)
    assert said == ""
    assert number > 50


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", LIBTORCH)
def test_cpp_for_libtorch_compiles(tmp_path: Path, target: str) -> None:
    number, said = compile_all(target, tmp_path, LIBTORCH[target](), accepted(target, 4))
    assert said == ""
    assert number > 50


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("target", LIBTORCH)
def test_names_of_the_configuration_compile_for_libtorch(tmp_path: Path, target: str) -> None:
    number, said = compile_all(target, tmp_path, LIBTORCH[target](), configured(target))
    assert said == ""
    assert number > 40
