"""Whether what a target generates is valid: Python compiles and is imported, stubs parse, C++ passes a compiler."""

from __future__ import annotations

import builtins
import dis
import importlib
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.conftest import SOURCES
from tests.fuzz.grammar import Grammar, Options
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.native import NativeOperators
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.analysis.resolve import derive_functions
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader.config.project import parse_config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.runtime.table import MISSING
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.registered import known_registrations

CPP = ("cpp-torch", "cpp-torch-stable", "cpp-runtime")
PACKAGES = ("python", "torch-python")
SLOW_SECONDS = 2.0
# Modules that have everything that generated code may import from them.
AUTHORS = ("framework", "kernels", "formulas", "fakes")
NONE = NativeOperators()
MODULE_NAMES = ("__annotations__", "__file__", "__module__", "__name__", "__path__")
# What an import reports if the installed PyTorch is not the one that the input is for.
REFUSALS = (
    " is for torch ",
    "no library that is loaded defines it",
    "is not a function of torch",
    "expected ident",
)
TOY = """\
#pragma once
#include <torchgen_lite/runtime.h>
namespace toy {
struct Tensor {
  torchgen_lite::DispatchKeySet key_set() const { return {}; }
};
}  // namespace toy
"""


@dataclass
class Tally:
    """What became of the inputs. `by_target` counts acceptances, `compiled` the inputs whose C++ was compiled."""

    inputs: int = 0
    accepted: int = 0
    by_target: Counter[str] = field(default_factory=Counter)
    compiled: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    problems: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count those of another run, too."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.by_target += other.by_target
        self.compiled += other.compiled
        self.slowest = max(self.slowest, other.slowest)
        self.problems += other.problems

    def __str__(self) -> str:
        targets = ", ".join(f"{name} {self.by_target[name]}" for name in TARGETS)
        compiled = ", ".join(f"{name} {number}" for name, number in self.compiled.items())
        return (
            f"{self.accepted} of {self.inputs} inputs accepted ({targets}; C++ compiled: {compiled or 'none'}); "
            f"slowest {self.slowest:.2f} s, most memory {_most_memory()} MiB; {len(self.problems)} problems"
        )


class Modules(MetaPathFinder):
    """Generated packages are imported from here, not from files; each text is compiled once."""

    def __init__(self) -> None:
        self.codes: dict[str, tuple[CodeType | None, bool]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The loader is this object, too."""
        found = self.codes.get(fullname)
        if found is None:
            return None
        return spec_from_loader(fullname, self, origin=fullname, is_package=found[1])  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """As usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the code, as a file's."""
        code = self.codes[module.__name__][0]
        module.__file__ = module.__name__
        if code is not None:
            exec(code, module.__dict__)

    def run(self, codes: Mapping[str, CodeType], package: str, read: Callable[[str], None]) -> None:
        """Import a package and all its modules, let `read` look at them, and forget them."""
        for path, code in codes.items():
            name = path.removesuffix(".py").replace("/", ".")
            self.codes[name.removesuffix(".__init__")] = (code, name.endswith(".__init__"))
        self.codes.setdefault(package.partition(".")[0], (None, True))
        open_module = _compiled("def __getattr__(name): return type(name, (), {})")
        self.codes |= dict.fromkeys(AUTHORS, (open_module, False))
        try:
            for name in sorted(self.codes):
                importlib.import_module(name)
            read(package)
        finally:
            for name in self.codes:
                sys.modules.pop(name, None)
            self.codes.clear()


class Workshop:
    """Where what was accepted is imported and compiled. With `torch`, packages for PyTorch are imported, too."""

    def __init__(self, *, torch: bool = False) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.torch = torch
        self.tally = Tally()
        self.samples: dict[str, list[Path]] = {target: [] for target in CPP}
        self.modules = Modules()
        if torch:
            importlib.import_module("torch")
        sys.meta_path.insert(0, self.modules)

    def close(self) -> None:
        sys.meta_path.remove(self.modules)
        self.folder.cleanup()

    def check(
        self, texts: Sequence[str], toml: str, sample: bool, native: NativeOperators = NONE
    ) -> Iterator[str]:
        """What is wrong with an input, whose operators of PyTorch are those of `native`."""
        path = self.root / "torchgen_lite.toml"
        yield from self.check_program(lambda: _program(texts, toml, path, native), sample)

    def check_program(self, read: Callable[[], Program], sample: bool = False) -> Iterator[str]:
        """What is wrong with what targets make of a program, or with reading it.

        With `sample`, its C++ is kept for the compiler; others have one target of C++.
        """
        began = time.process_time()
        accepted = self.tally.by_target.total()
        try:
            program = read()
            cpp = CPP[self.tally.inputs % len(CPP)]
            for target in () if program.has_errors else TARGETS:
                if target not in CPP or target == cpp or sample:
                    yield from self._target(program, target, sample)
        except Exception as error:
            yield f"{type(error).__name__}: {error}"
        spent = time.process_time() - began
        self.tally.inputs += 1
        self.tally.accepted += self.tally.by_target.total() > accepted
        self.tally.slowest = max(self.tally.slowest, spent)
        if spent > SLOW_SECONDS:
            yield f"{spent:.1f} s"

    def _target(self, program: Program, target: str, sample: bool) -> Iterator[str]:
        generated = generate_all(program, targets=[target])
        if has_errors(generated.diagnostics):
            return
        self.tally.by_target[target] += 1
        codes: dict[str, CodeType] = {}
        for path, text in generated.files.items():
            if path.endswith((".py", ".pyi")):
                try:
                    codes[path] = _compiled(text)
                    # This takes longer than compiling. Stubs declare what they do not define.
                    is_read = path.endswith(".py") and self.tally.inputs % 32 == 0
                    for name in unknown_names(codes[path]) if is_read else ():
                        yield f"{path}: name {name} is not defined"
                except SyntaxError as error:
                    yield f"{path}: {error}: {text.splitlines()[(error.lineno or 1) - 1]}"
        if target == "python" or (target == "torch-python" and self.torch):
            yield from self._import(codes, target, program)
        if target in CPP and sample:
            self._keep(generated.files, target)
        if target in PACKAGES and sample:
            folder = f"{program.config.target_options[target].get('folder', target)}/"
            own = {path.removeprefix(folder): text for path, text in generated.files.items()}
            modules = {path: text for path, text in own.items() if path.endswith((".py", ".pyi"))}
            _write(self.root / "packages" / target, modules)

    def _import(
        self, codes: Mapping[str, CodeType], target: str, program: Program
    ) -> Iterator[str]:
        options = program.config.target_options[target]
        package, folder = str(options["package"]), str(options.get("folder", target))
        own = {
            path.removeprefix(f"{folder}/"): code
            for path, code in codes.items()
            if path.endswith(".py") and "/test_" not in path
        }
        found: list[str] = []

        def read(name: str) -> None:
            # Without modules that kernels come from, a package leaves them to others, and `table` shows them all the same.
            if target == "python" and program.module_functions(target, "kernels") is not None:
                found.extend(wrong_tables(program, sys.modules[f"{name}.libraries"].dispatcher))

        try:
            self.modules.run(own, package, read)
            yield from found
        except Exception as error:
            if not any(said in str(error) for said in REFUSALS):
                yield f"{target}, import: {type(error).__name__}: {error}"
        known = sys.modules.get("_torchgen_lite_registrations")
        for registered in known.packages.values() if known else ():
            for library in registered["libraries"].values():
                library._destroy()
        if known:
            known.packages.clear()

    def _keep(self, files: Mapping[str, str], target: str) -> None:
        """Each input has its own folder, which is an include directory."""
        number = len(self.samples[target])
        folder = self.root / target / str(number)
        own = {
            path: _LOCAL.sub(rf"\1_{number}_{i}", text) if path.endswith(".cpp") else text
            for i, (path, text) in enumerate(files.items())
        }
        _write(folder, {path.removeprefix(f"{target}/"): text for path, text in own.items()})
        self.samples[target].append(folder)

    def check_types(self, target: str) -> str:
        """What `mypy --strict` says of all the packages that a target made of samples.

        It does not read torch, which takes a minute: what is of torch may be anything.
        """
        folder = self.root / "packages" / target
        if not folder.exists():
            return ""
        write_authors(folder)
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file="]
        command += [
            "--follow-imports=silent",
            "--allow-subclassing-any",
            "--allow-untyped-decorators",
        ]
        command += ["--no-warn-unused-ignores", "--no-warn-return-any", "--exclude=test_"]
        command += ["--no-site-packages", "--disable-error-code=import-not-found"]
        # The namespace of an operator may be a folder of the same name in several packages.
        command += ["--explicit-package-bases", "."]
        environment = {**os.environ, "MYPYPATH": os.pathsep.join(SOURCES)}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        return done.stdout + done.stderr

    def compile(self, target: str, compiler: Sequence[str]) -> str:
        """What a compiler says about all the samples of a target in one translation unit."""
        (self.root / "toy.h").write_text(TOY)
        unit = self.root / f"{target}.cpp"
        folders = self.samples[target]
        self.tally.compiled[target] += len(folders)
        lines = [f'#include "{path}"' for f in folders for path in sorted(f.rglob("*.cpp"))]
        unit.write_text("\n".join(['#include "toy.h"'] * (target == "cpp-runtime") + lines))
        command = [*compiler, "-std=c++20", "-fsyntax-only", "-w"]
        command += [f"-I{path}" for path in (self.root, *(f / "include" for f in folders))]
        return subprocess.run(
            [*command, str(unit)], capture_output=True, text=True, check=False
        ).stderr


def write_authors(folder: Path) -> None:
    """Modules in which authors have whatever generated code imports, of any type."""
    text = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"
    _write(folder, {f"{name}.pyi": text for name in AUTHORS})


def wrong_tables(program: Program, dispatcher: Any) -> Iterator[str]:
    """Where the dispatcher of an imported package has another table than `table` shows, or other operators."""
    selection = TARGETS["python"].select(program)
    live = {
        operator.full_name: {
            key: (cell.origin, cell.fallthrough) for key, cell in operator.computed_table().items()
        }
        for operator in dispatcher.operators()
    }
    said = {
        one.name: {
            cell.key: (cell.origin, cell.falls_through)
            for cell in table(one)
            if cell.origin != MISSING
        }
        for one in known_registrations(program, selection)
    }
    for name in {**said, **live}:
        if said.get(name) != live.get(name):
            yield f"{name}: `table` says {said.get(name)}, and the dispatcher has {live.get(name)}"


# Names that each file defines for itself, which clash when the files are compiled together.
_LOCAL = re.compile(r"\b(find(?=<|\(\))|wrapper_\w+)")


# Some files are the same in all packages.
@lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compile(text, "generated", "exec")


def unknown_names(module: CodeType) -> set[str]:
    """The names that a module reads but that nothing defines."""
    known, read = {*vars(builtins), *MODULE_NAMES}, set()
    codes = [module]
    for code in codes:
        codes += [value for value in code.co_consts if isinstance(value, CodeType)]
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("STORE_NAME", "STORE_GLOBAL"):
                known.add(instruction.argval)
            elif instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
                read.add(instruction.argval)
    return read - known


def _program(texts: Sequence[str], toml: str, path: Path, native: NativeOperators) -> Program:
    config, found = parse_config(Source(path.name, toml), path, [])
    if has_errors(found):
        return build_program((), config, diagnostics=found, sources=())
    sources = [Source(f"{number}.yaml", text) for number, text in enumerate(texts)]
    functions, found = load_native_functions(
        sources,
        Dialect(for_torch=native.version),
        derive=derive_functions,
        native=native.functions,
    )
    return lint_program(
        build_program(
            functions,
            config,
            diagnostics=found,
            sources=sources,
            native=native,
        )
    )


def as_toml(options: Options) -> str:
    """A configuration with the options of each target. JSON's texts, numbers and lists are TOML's."""
    lines = []
    for target, values in options.items():
        lines += [f"[target.{target}]"] if target else []
        for key, value in values.items():
            table = value if isinstance(value, dict) else None
            lines += [f"{key} = {json.dumps(value)}"] if table is None else []
            lines += [f"{key}.{json.dumps(k)} = {json.dumps(v)}" for k, v in (table or {}).items()]
    return "\n".join(lines)


def _write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_grammar(
    count: int,
    seed: int,
    first: int = 0,
    *,
    samples: int = 0,
    compilers: Mapping[str, Sequence[str]] | None = None,
    torch: bool = False,
    typed: Sequence[str] = (),
) -> Tally:
    """What became of the inputs; each problem names its input, which `first` repeats alone.

    The first `samples` of them are made for the compiler: the C++ of all goes into one file for each target in `compilers`.
    """
    workshop = Workshop(torch=torch)
    problems = workshop.tally.problems
    for number in range(first, first + count):
        chooser = random.Random(f"{seed} {number}")
        sample = number - first < samples
        grammar, namespace = Grammar(chooser, is_plain=sample), f"fz{seed}_{number}"
        texts, toml = grammar.files(namespace), as_toml(grammar.options(namespace))
        for problem in workshop.check(texts, toml, sample):
            problems.append(f"seed {seed}, input {number}: {problem}\n{texts!r}\n{toml!r}")
    for target, given in (compilers or {}).items():
        problems += filter(None, [workshop.compile(target, given)])
    for target in typed:
        problems += filter(None, [workshop.check_types(target)])
    workshop.close()
    return workshop.tally
