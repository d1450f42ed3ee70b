"""Whether what a target generates is valid: Python compiles and is imported, stubs parse, C++ passes a compiler."""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.fuzz_grammar import Grammar
from torchgen_lite.analysis import build_program
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader import Config, load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

ROOT = Path(__file__).parents[1]
CPP = ("cpp-torch", "cpp-torch-stable", "cpp-runtime")
SLOW_SECONDS = 2.0
TOY = """\
#pragma once
#include <torchgen_lite/runtime.h>
namespace toy {
struct Tensor {
  torchgen_lite::DispatchKeySet key_set() const { return {}; }
};
}  // namespace toy
"""


class Workshop:
    """A folder where what was accepted is imported and compiled."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.accepted = dict.fromkeys(TARGETS, 0)
        self.samples: dict[str, list[Path]] = {target: [] for target in CPP}
        sys.path.insert(0, str(self.root))

    def close(self) -> None:
        sys.path.remove(str(self.root))
        self.folder.cleanup()

    def check(
        self, texts: Sequence[str], options: Mapping[str, Mapping[str, object]], sample: bool
    ) -> Iterator[str]:
        """What is wrong with an input. With `sample`, its C++ is kept for the compiler."""
        began = time.process_time()
        try:
            program = _program(texts, Config(self.root, target_options=options))
            for target in () if program.has_errors else TARGETS:
                yield from self._target(program, target, sample)
        except Exception as error:
            yield f"{type(error).__name__}: {error}"
        spent = time.process_time() - began
        if spent > SLOW_SECONDS:
            yield f"{spent:.1f} s"

    def _target(self, program: Program, target: str, sample: bool) -> Iterator[str]:
        generated = generate_all(program, targets=[target])
        if has_errors(generated.diagnostics):
            return
        self.accepted[target] += 1
        for path, text in generated.files.items():
            if path.endswith((".py", ".pyi")):
                try:
                    compile(text, path, "exec")
                except SyntaxError as error:
                    yield f"{path}: {error}: {text.splitlines()[(error.lineno or 1) - 1]}"
        if target == "python":
            yield from self._import(
                generated.files, program.config.target_options[target]["package"]
            )
        if target in CPP and sample:
            self._keep(generated.files, target)

    def _import(self, files: Mapping[str, str], package: object) -> Iterator[str]:
        _write(self.root, {path.removeprefix("python/"): text for path, text in files.items()})
        importlib.invalidate_caches()
        try:
            importlib.import_module(str(package))
        except Exception as error:
            yield f"import: {type(error).__name__}: {error}"
        for name in [n for n in sys.modules if n.startswith(str(package).partition(".")[0])]:
            del sys.modules[name]

    def _keep(self, files: Mapping[str, str], target: str) -> None:
        """Each input has a folder of its own, which is an include directory."""
        folder = self.root / target / str(len(self.samples[target]))
        _write(folder, {path.removeprefix(f"{target}/"): text for path, text in files.items()})
        self.samples[target].append(folder)

    def compile(self, target: str, flags: Sequence[str]) -> str:
        """What g++ says of all the samples of a target in one translation unit."""
        (self.root / "toy.h").write_text(TOY)
        unit = self.root / f"{target}.cpp"
        folders = self.samples[target]
        lines = [f'#include "{path}"' for f in folders for path in sorted(f.rglob("*.cpp"))]
        unit.write_text("\n".join(['#include "toy.h"'] * (target == "cpp-runtime") + lines))
        command = ["g++", "-std=c++20", "-fsyntax-only", "-fmax-errors=40", "-w", *flags]
        command += [f"-I{path}" for path in (self.root, *(f / "include" for f in folders))]
        return subprocess.run(
            [*command, str(unit)], capture_output=True, text=True, check=False
        ).stderr


def _program(texts: Sequence[str], config: Config) -> Program:
    sources = [Source(f"{number}.yaml", text) for number, text in enumerate(texts)]
    functions, found = load_native_functions(sources)
    return build_program(functions, config, diagnostics=found, sources=sources, lint=True)


def _write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def run_grammar(
    count: int,
    seed: int,
    first: int = 0,
    *,
    samples: int = 0,
    flags: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Everything that is wrong; each problem names its input, which `first` repeats alone."""
    workshop, problems = Workshop(), []
    for number in range(first, first + count):
        chooser = random.Random(f"{seed} {number}")
        sample = number - first < samples
        grammar, namespace = Grammar(chooser, is_plain=sample), f"fz{seed}_{number}"
        texts = grammar.files(namespace)
        for problem in workshop.check(texts, grammar.options(namespace), sample):
            problems.append(f"seed {seed}, input {number}: {problem}\n{texts!r}")
    for target, given in (flags or {}).items():
        problems += filter(None, [workshop.compile(target, given)])
    accepted = ", ".join(f"{name} {number}" for name, number in workshop.accepted.items())
    print(
        f"{count} inputs from {first}, seed {seed}; accepted: {accepted}; {len(problems)} problems"
    )
    workshop.close()
    return problems
