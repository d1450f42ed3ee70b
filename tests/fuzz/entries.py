"""Real entries with a few mutations, which the reader takes without an exception, and soon."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.conftest import ROOT
from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source, render_full
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.loader.torch.files import find_torch_files

TAGS = ("core", "pointwise", "inplace_view")
SLOW_SECONDS = 1.0
SNIPPETS = (
    "Tensor Tensor? Tensor(a!) Tensor! int[2] Dict( Future( ( ) [ ] , * ! ? = | : -> ... :: . - & "
    "*a &a !!x << {} [] >- |+ ' \" # \\ CPU Math func: dispatch: tags: op: kernels: backend: null ~ "
    "1e400 -inf 0x1 \t \r \x00 \ud800 \u2028 \ufeff é 漢"
).split(" ") + ["\n", "\n  ", "\n- ", "    ", "(" * 40, "[" * 40, "," * 40, "x" * 5000]


def entries() -> list[str]:
    """Real entries as text."""
    paths = [ROOT / "native_functions.yaml"]
    files, _ = find_torch_files()
    if files is not None:
        paths.append(files.native_functions)
    found: list[str] = []
    for path in paths:
        found += ["- func" + part for part in path.read_text("utf-8").split("\n- func")[1:]]
    return found


def mutate(text: str, chooser: random.Random) -> str:
    """A few changes at random places."""
    for _ in range(chooser.randint(1, 6)):
        at = chooser.randint(0, len(text))
        end = min(len(text), at + chooser.choice((0, 0, 1, 1, 2, 5, 20)))
        kind = chooser.randint(0, 4)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + chooser.choice(SNIPPETS) + text[end:]
        elif kind == 2:
            text = text[:at] + text[at:end] * 3 + text[end:]
        elif kind == 3:
            other = chooser.randint(0, len(text))
            text = text[:at] + text[other : other + 20] + text[end:]
        else:
            text = text[:at] + chr(chooser.randint(0, 0x2FF)) + text[end:]
    return text


def read(text: str) -> None:
    """Everything that happens to a file between reading and printing."""
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source], Dialect(TAGS))
    program = lint_program(
        build_program(functions, Config(ROOT), diagnostics=found, sources=[source])
    )
    render_full(program.diagnostics)


def check(text: str, *, also_format: bool) -> str | None:
    """What is wrong with reading this input, or None."""
    began = time.process_time()
    try:
        read(text)
        if also_format:
            once = format_text(text)[0]
            if format_text(once)[0] != once:
                return "fmt is not idempotent"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    spent = time.process_time() - began
    return f"{spent:.1f} s" if spent > SLOW_SECONDS else None


def run_random(count: int, seed: int, first: int) -> int:
    chooser = random.Random(seed)
    real = entries()
    began = time.process_time()
    for number in range(first + count):
        text = "\n".join(chooser.choices(real, k=chooser.choice((1, 1, 2))))
        text = mutate(text, chooser)
        if number < first:
            continue
        wrong = check(text, also_format=number % 16 == 0)
        if wrong is not None:
            print(f"seed {seed}, input {number}: {wrong}\n{text!r}")
            return 1
    rate = count / (time.process_time() - began)
    print(f"{count} inputs from {first}, seed {seed}: no exception, {rate:.0f} inputs/s")
    return 0


def run_guided(count: int, seed: int) -> int:
    """Let libFuzzer choose; it ends the process itself, with a message and another exit code if something fails."""
    try:
        import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        print("atheris is not installed; run without --coverage", file=sys.stderr)
        return 2

    def one(data: bytes) -> None:
        began = time.process_time()
        read(data.decode("utf-8", "replace"))
        spent = time.process_time() - began
        if spent > SLOW_SECONDS:
            raise RuntimeError(f"{spent:.1f} s")

    atheris.instrument_all()
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(entries()):
            Path(folder, str(number)).write_text(text, "utf-8")
        atheris.Setup(
            [sys.argv[0], f"-runs={count}", f"-seed={seed + 1}", "-max_len=4096", folder], one
        )
        atheris.Fuzz()
    return 0
