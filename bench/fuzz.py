"""Feed mutated real entries to the reader; any exception is a bug, and so is a slow input.

    python bench/fuzz.py [--inputs N] [--first N] [--seed N]
    python bench/fuzz.py --coverage [--inputs N] [--seed N]
    python bench/fuzz.py --vendors [--inputs N] [--first N] [--seed N]
    python bench/fuzz.py --grammar [--inputs N] [--first N] [--seed N] [--seeds N] [--cpp N] [--torch]

Each input is a few entries of our own file (and PyTorch's, where it is installed) after a handful of
mutations of characters, words and lines. `--first` makes the inputs before it without reading them, so that a
part of a long run can be repeated. `--coverage` uses atheris, where that is installed, to let coverage
guide the mutations of the same entries. `--grammar` makes schema files and configurations from a grammar
(`fuzz_grammar.py`) for all targets, and checks that accepted input gives valid output (`fuzz_targets.py`).
It does so with `--seeds` seeds, `--inputs` of each; after each seed `--cpp` inputs are given to g++ with the headers of
the installed PyTorch. With `--torch` packages for PyTorch are imported, too. `--vendors` makes files in the
formats of vendors (`fuzz_vendors.py`), about a few operators of PyTorch. An input that fails is printed and the exit code is
not 0.
"""

from __future__ import annotations

import argparse
import random
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.fuzz_targets import CPP, Tally, run_grammar
from torchgen_lite.analysis import build_program
from torchgen_lite.diagnostics import Source, render_full
from torchgen_lite.loader import Config, find_torch_files, load_native_functions
from torchgen_lite.loader.fmt import format_text

ROOT = Path(__file__).parents[1]
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
    functions, found = load_native_functions([source], tags=TAGS)
    program = build_program(functions, Config(ROOT), diagnostics=found, sources=[source], lint=True)
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


def run_seeds(options: argparse.Namespace) -> int:
    """Print a line for each seed, what was found, and the sum at the end."""
    total = Tally()
    flags = dict.fromkeys(CPP, _cpp_flags()) if options.cpp else {}
    for seed in range(options.seed, options.seed + options.seeds):
        tally = run_grammar(options.inputs, seed, options.first, torch=options.torch)
        if options.cpp:
            tally.add(run_grammar(options.cpp, seed, 1_000_000, samples=options.cpp, flags=flags))
        print(*tally.problems, f"seed {seed}: {tally}", sep="\n", flush=True)
        total.add(tally)
    print(f"all {options.seeds} seeds: {total}")
    return 1 if total.problems else 0


def _cpp_flags() -> list[str]:
    from torch.utils.cpp_extension import include_paths

    folders = [*include_paths(), sysconfig.get_paths()["include"]]
    runtime = ROOT / "torchgen_lite" / "cpp" / "include"
    return [f"-I{runtime}", *(f"-isystem{folder}" for folder in folders)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--grammar", action="store_true")
    parser.add_argument("--vendors", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cpp", type=int, default=0)
    parser.add_argument("--torch", action="store_true")
    options = parser.parse_args()
    if options.vendors:
        from bench.fuzz_vendors import run_vendors

        tally = run_vendors(options.inputs, options.seed, options.first)
        print(*tally.problems, tally, sep="\n")
        return 1 if tally.problems else 0
    if options.grammar:
        return run_seeds(options)
    if options.coverage:
        return run_guided(options.inputs, options.seed)
    return run_random(options.inputs, options.seed, options.first)


if __name__ == "__main__":
    sys.exit(main())
