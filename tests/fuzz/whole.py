"""What has to be so of whole programs: for each one of them, and for each pair of one and what an edit makes of it."""

from __future__ import annotations

import random
import re
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from tests.fuzz.entries import mutate
from tests.fuzz.programs import Case, Programs, mark, mistaken
from tests.fuzz.targets import AUTHORS, SLOW_SECONDS, Tally, Workshop, as_toml
from tests.fuzz.versions import EDITS, wrong_verdicts
from tests.registered_text import registered
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.native import NO_NATIVE
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source, has_errors, render_concise, render_full
from torchgen_lite.loader.config.project import parse_config
from torchgen_lite.loader.python.kernel_modules import KernelIndex, KernelModule
from torchgen_lite.pipeline import generate_all, lint, read_program
from torchgen_lite.targets.generation import generation_of

Texts = Mapping[str, Mapping[str, str]]
ROOT = Path(tempfile.gettempdir())


def loaded(case: Case, text: str | None = None) -> Program:
    """The program, linted, or that of another text, with modules that define every kernel and function that it names."""
    path = ROOT / "torchgen_lite.toml"
    config, found = parse_config(Source(path.name, as_toml(case.options)), path, [])
    if has_errors(found):
        return build_program((), config, diagnostics=found, sources=())
    sources = [Source("ops.yaml", case.text if text is None else text)]
    functions = read_program(config, sources, NO_NATIVE, modules={}).functions
    names = {kernel.kernel for function in functions for kernel in own_kernels(function)}
    names |= {f"meta_{function.func.flat_name}" for function in functions}
    names |= {str(function.vmap) for function in functions if function.vmap}
    # A name of C++ is in no module of Python.
    names = {"helper", "fake_of", *[name for name in names if "::" not in name]}
    indexes = {name: _module(name, names) for name in AUTHORS}
    modules = {
        target: {name: indexes[name] for name in AUTHORS if name in options}
        for target, options in case.options.items()
        if target
    }
    return lint(read_program(config, sources, NO_NATIVE, found, modules=modules))


def _module(name: str, names: set[str]) -> KernelIndex:
    """A module as if it had been read; a framework may have other names, too."""
    imported = frozenset({"*"} if name == "framework" else ())
    module = KernelModule(name, Source(f"{name}.py", ""), dict.fromkeys(names, 1), {}, imported)
    return KernelIndex((module,), {one: [module] for one in names})


def texts_of(program: Program) -> Texts:
    """What each of the configured targets that accepts the program makes of it, by path."""
    found = {}
    for target in () if program.has_errors else program.config.targets:
        generated = generate_all(program, targets=[target])
        if not has_errors(generated.diagnostics):
            found[target] = generated.files
    return found


# Places in the schema file, and what is printed once for several operators: conditions, and the first that has one.
_SHARED = re.compile(r"^\s*#\s*(if|endif|else|error)|^\s*$")
_MARK = re.compile(r"q\d+q")


def lines_of(path: str, text: str) -> Counter[str]:
    """The lines of a file that say something of operators, without their order."""
    if path.endswith("_places.py"):
        return Counter()
    return Counter(line for line in text.split("\n") if not _SHARED.match(line))


def wrong_lines(before: Texts, after: Texts, at: int | None) -> Iterator[str]:
    """Lines that differ, of other groups than that `at` which the edit was made; with None, none may differ."""
    own = None if at is None else mark(at)
    for target in before.keys() & after.keys():
        old, new = before[target], after[target]
        for path in sorted(old.keys() | new.keys()):
            was, now = lines_of(path, old.get(path, "")), lines_of(path, new.get(path, ""))
            for line in [*(was - now), *(now - was)]:
                marks = set(_MARK.findall(line))
                if own is None or (marks and own not in marks):
                    yield f"{path}: {line}"


def wrong_edit(made: Programs, case: Case, program: Program, texts: Texts) -> Iterator[str]:
    """What is wrong after an edit: lines of other operators, or the verdict of `breaking`."""
    make = made.chooser.choice(EDITS)
    edit = make(made, case, program)
    if edit is None:
        return
    new = loaded(edit.case)
    for problem in wrong_verdicts(made, case, edit, program, new):
        yield f"{make.__name__}: {problem}\n{edit.case.text}"
    after = texts_of(new)
    # Without formulas a package counts no versions, and docs show how all targets call an operator.
    is_local = edit.at is not None or edit.case.options == case.options
    if is_local and texts.keys() == after.keys() and _records(texts) == _records(after):
        at = len(case.groups) if len(edit.case.groups) > len(case.groups) else edit.at
        for line in islice(wrong_lines(texts, after, at), 3):
            yield f"{make.__name__}: changes a line of another operator: {line}\n{edit.case.text}"


def _records(texts: Texts) -> bool:
    return any("/nodes" in path for path in texts.get("python", ()))


def wrong_registrations(case: Case, program: Program, texts: Texts) -> Iterator[str]:
    """Where what is generated registers something else than the list of a target, or two targets differ."""
    kept: dict[str, set[tuple[str, str]]] = {}
    for target in [one.name for one in generation_of(program).registering]:
        options, selection = case.options[target], generation_of(program).asked(target)
        listed = {(o.operator.name, o.key) for o in selection.registrations(program)}
        names = {operator.name for operator in selection.operators}
        for function in program.functions:
            skipped = function.name in options.get("skip", ())  # type: ignore[operator]
            if (
                function.name not in names
                and not skipped
                and not selection.refused.get(function.name)
            ):
                yield f"{target} leaves out {function.name}, and says nothing"
        # Their kernels are those of another library.
        if (
            "kernels" not in options
            and target in ("python", "torch-python")
            or "calls-only" in options
        ):
            continue
        text = registered(target, texts[target])
        if listed != text:
            yield f"{target} lists, and does not register {sorted(listed - text)}, or the other way round {sorted(text - listed)}"
        for function in program.functions:
            if function.name in names:
                own = {(function.name, kernel.key) for kernel in own_kernels(function)}
                kept.setdefault(function.name, own & listed)
                if kept[function.name] != own & listed:
                    yield f"{target} has other kernels of {function.name} than another target"


def wrong_mistake(made: Programs, case: Case) -> Iterator[str]:
    """A mistaken program has no errors, or they have places."""
    other = mistaken(made, case)
    text = mutate(other.text, made.chooser) if made.often(0.3) else other.text
    program = loaded(other, text)
    found = list(program.diagnostics)
    for target in () if program.has_errors else program.config.targets:
        found += generate_all(program, targets=[target]).diagnostics
    render_full(found)
    render_concise(found)
    for one in found:
        # The configuration is right, so what is wrong has a place in the schema file.
        if one.label is None and one.code not in PLACELESS:
            yield f"{one.code} has no place: {one.message}\n{text}"


PLACELESS: tuple[str, ...] = ()


def problems_of(made: Programs, namespace: str, workshop: Workshop) -> Iterator[str]:
    """What is wrong with one program, with a mistake in it, and with the next version of it."""
    case = made.case(namespace)
    for problem in workshop.check_program(lambda: loaded(case)):
        yield f"{problem}\n{case.text}"
    yield from wrong_mistake(made, case)
    taken = [*texts_of(loaded(case))]
    if not taken:
        return
    # Of the targets, those that accept the program; docs show what these say.
    options = {**case.options, "": {**case.options[""], "targets": taken}}
    case = case._replace(options=options)
    program = loaded(case)
    texts = texts_of(program)
    for problem in wrong_registrations(case, program, texts):
        yield f"{problem}\n{case.text}"
    yield from wrong_edit(made, case, program, texts)


def run_programs(count: int, seed: int, first: int = 0) -> Tally:
    """What became of the inputs; each problem names its input, which `first` repeats alone."""
    workshop = Workshop()
    tally = workshop.tally
    for number in range(first, first + count):
        made = Programs(random.Random(f"programs {seed} {number}"))
        began = time.process_time()
        try:
            found = [*problems_of(made, f"fz{seed}_{number}", workshop)]
        except Exception as error:
            found = ["".join(traceback.format_exception(error)[-4:])]
        spent = time.process_time() - began
        tally.slowest = max(tally.slowest, spent)
        found += [f"{spent:.1f} s"] if spent > SLOW_SECONDS else []
        tally.problems += [f"seed {seed}, input {number}: {problem}" for problem in found]
    workshop.close()
    return tally
