"""Feed mutated real entries to the reader; any exception is a bug, and so is a slow input.

    python -m tests.fuzz [--inputs N] [--first N] [--seed N]
    python -m tests.fuzz --coverage [--inputs N] [--seed N]
    python -m tests.fuzz --vendors [--inputs N] [--first N] [--seed N]
    python -m tests.fuzz --pairs [--inputs N] [--first N] [--seed N]
    python -m tests.fuzz --formulas [--inputs N] [--first N] [--seed N]
    python -m tests.fuzz --twins [--inputs N] [--first N] [--seed N] [--seeds N]
    python -m tests.fuzz --programs [--inputs N] [--first N] [--seed N]
    python -m tests.fuzz --grammar [--inputs N] [--first N] [--seed N] [--seeds N] [--cpp N] [--torch]

Each input is a few entries of our own file (and PyTorch's, where it is installed) after a handful of
mutations of characters, words and lines. `--first` makes the inputs before it without reading them, so that a
part of a long run can be repeated. `--coverage` uses atheris, where that is installed, to let coverage
guide the mutations of the same entries. `--grammar` makes schema files and configurations from a grammar
(`grammar.py`) for all targets, and checks that accepted input gives valid output (`targets.py`).
It does so with `--seeds` seeds, `--inputs` of each; after each seed `--cpp` inputs are given to g++ with the headers of
the installed PyTorch, and the packages of all of them to `mypy --strict`. With `--torch` packages for PyTorch are imported, too. `--vendors` makes files in the
formats of vendors (`vendors.py`), about a few operators of PyTorch. `--pairs` compares two versions of a schema with the
calls that each takes (`pairs.py`). `--formulas` computes random formulas in the targets for Python and by a plain evaluator
(`formulas.py`). `--twins` makes random operators in every target, `--inputs` of each seed, and compares all that is done
to them with the same expression in PyTorch (`twins.py`). `--programs` makes whole programs with their configuration (`programs.py`), and checks what targets make
of them, what changes with an edit, and what `breaking` says of it (`whole.py`, `versions.py`). An input that fails is printed and the exit code is not 0.
"""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import tempfile

from tests.conftest import ROOT, SHARED_FOLDER
from tests.fuzz.entries import run_guided, run_random
from tests.fuzz.formulas import run_formulas
from tests.fuzz.pairs import run_pairs
from tests.fuzz.targets import CPP, PACKAGES, Tally, run_grammar
from tests.fuzz.twins import run_twins
from tests.fuzz.vendors import run_vendors
from tests.fuzz.whole import run_programs


def run_seeds(options: argparse.Namespace) -> int:
    """Print a line for each seed, what was found, and the sum at the end."""
    total = Tally()
    compilers = dict.fromkeys(CPP, _compiler()) if options.cpp else {}
    for seed in range(options.seed, options.seed + options.seeds):
        tally = run_grammar(options.inputs, seed, options.first, torch=options.torch)
        if options.cpp:
            tally.add(
                run_grammar(
                    options.cpp,
                    seed,
                    1_000_000,
                    samples=options.cpp,
                    compilers=compilers,
                    typed=PACKAGES,
                )
            )
        print(*tally.problems, f"seed {seed}: {tally}", sep="\n", flush=True)
        total.add(tally)
    print(f"all {options.seeds} seeds: {total}")
    return 1 if total.problems else 0


def run_operators(options: argparse.Namespace) -> int:
    """Print what is wrong with the operators of each seed."""
    is_right = True
    with tempfile.TemporaryDirectory() as folder:
        # All seeds share the precompiled headers.
        os.environ.setdefault(SHARED_FOLDER, folder)
        for seed in range(options.seed, options.seed + options.seeds):
            problems = run_twins(options.inputs, seed, options.first)
            is_right = is_right and not problems
            said = f"seed {seed}: {options.inputs} operators, {len(problems)} problems"
            print(*problems, said, sep="\n", flush=True)
    return 0 if is_right else 1


def _compiler() -> list[str]:
    from torch.utils.cpp_extension import include_paths

    folders = [*include_paths(), sysconfig.get_paths()["include"]]
    runtime = ROOT / "torchgen_lite" / "cpp" / "include"
    return ["g++", f"-I{runtime}", *(f"-isystem{folder}" for folder in folders)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--grammar", action="store_true")
    parser.add_argument("--vendors", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--formulas", action="store_true")
    parser.add_argument("--twins", action="store_true")
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cpp", type=int, default=0)
    parser.add_argument("--torch", action="store_true")
    options = parser.parse_args()
    if options.vendors or options.programs:
        run = run_vendors if options.vendors else run_programs
        tally = run(options.inputs, options.seed, options.first)
        print(*tally.problems, tally, sep="\n")
        return 1 if tally.problems else 0
    if options.twins:
        return run_operators(options)
    if options.pairs or options.formulas:
        check, what = (run_pairs, "pairs") if options.pairs else (run_formulas, "formulas")
        problems = check(options.inputs, options.seed, options.first)
        print(*problems, f"{options.inputs} {what}, {len(problems)} problems", sep="\n")
        return 1 if problems else 0
    if options.grammar:
        return run_seeds(options)
    if options.coverage:
        return run_guided(options.inputs, options.seed)
    return run_random(options.inputs, options.seed, options.first)


if __name__ == "__main__":
    sys.exit(main())
