"""`adopt`: moves a library in C++ to generated registrations, as far as entries express it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from torchgen_lite.cli.exit_codes import ATTENTION
from torchgen_lite.cli.places import patch_folder
from torchgen_lite.cli.plans import plan_of
from torchgen_lite.cli.session import Refused, Session, command, require
from torchgen_lite.diagnostics import Diagnostic, Label, Span, sort_diagnostics
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.emit.diff import count_lines, render_diff
from torchgen_lite.emit.plan import Change, Plan
from torchgen_lite.emit.write import WriteError, write_plan
from torchgen_lite.loader.config.options import Unfit
from torchgen_lite.loader.config.project import CONFIG_FILES, find_in_folder
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES
from torchgen_lite.loader.sources import shown_path
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.options import PACKAGE
from torchgen_lite_tools.importing.build_files import with_generated_code
from torchgen_lite_tools.importing.build_flags import flags_of
from torchgen_lite_tools.importing.command import NOTHING, macro_option, parse_macros, read_library
from torchgen_lite_tools.importing.compiling import compile_generated
from torchgen_lite_tools.importing.entries import write_entries
from torchgen_lite_tools.importing.library import Library
from torchgen_lite_tools.importing.merge import is_for_every_build, name_kernels
from torchgen_lite_tools.importing.moving import (
    HEADERS,
    is_stable,
    kernel_headers,
    moving_operators,
    of_another_abi,
    undeclarable_kernels,
    without_statements,
)
from torchgen_lite_tools.importing.registered import SHARED_ENDINGS, Generated
from torchgen_lite_tools.importing.trial import Run, Trial, run_after, run_before, trial_of

_SCHEMA = "ops.yaml"
_DECLARED = "adopted_kernels.h"
_CONFIG = CONFIG_FILES[0]
_NEXT = """
What is left to do:
  torchgen-lite generate{project}{build}
  Run the library's own tests; `torchgen-lite import --module` shows what is registered now."""
_PYTHON = {
    False: """
  For fakes, transforms and tests, add "torch-python" to `targets`, and `[target.torch-python]` with
  `package`, the name of what it writes, and `load`, the module that loads the library.""",
    True: """
  Give entries a `fake:`, `derivatives:` and `samples:`; `{package}` has what they say, and its tests are below
  `generated/torch-python/tests`.""",
}
_LOAD = """
  Say in `load` of `{config}` which module loads the library."""
_COMPILE = """
  Compile `generated/{target}/src/*.cpp` with the kernels; `generated/{target}/include` and the folder
  of `{config}` have headers."""


@command("adopt")
@click.argument(
    "folder", default=".", metavar="[DIR]", type=click.Path(exists=True, file_okay=False)
)
@macro_option
@click.option("--dry-run", is_flag=True, help="Write nothing; print a patch.")
@click.option(
    "--package",
    default="",
    metavar="NAME",
    help="Also generate this package in Python: typed functions, fakes, transforms, tests.",
)
@click.option(
    "--load",
    multiple=True,
    metavar="MODULE|PATH",
    help="Compare what this module or shared library registers, before and after; repeatable.",
)
@click.option(
    "--build", default="", metavar="COMMAND", help="With --load: build with this, before and after."
)
@click.option(
    "--test", default="", metavar="COMMAND", help="With --load: test with this, before and after."
)
def adopt_command(
    session: Session,
    folder: str,
    macros: tuple[str, ...],
    dry_run: bool,
    package: str,
    load: tuple[str, ...],
    build: str,
    test: str,
) -> int:
    """Move a library in C++ to generated registrations: write the schema file and the configuration, declare the kernels
    that no header declares, take the registrations out of the sources below DIR (default: this folder), and add the
    generated code to `CMakeLists.txt` and `setup.py` where their text shows how.

    An operator moves whole or not at all, and only if its generated registrations compile, where there is a compiler
    (`$CXX`). What stays is listed with its reason, registers as before beside the generated code, and the exit code is
    1.

    With --package, the project also has what PyTorch lets only Python register: a package that loads the module of
    --load, and adds to its operators what entries say later.

    With --load, the code is generated, too, and PyTorch is asked before and after what the library registers: schemas,
    tags and dispatch tables. The commands are yours and run in DIR. Nothing moves if one fails before; whatever
    differs or fails after is an error.

    \b
    torchgen-lite adopt --dry-run
    torchgen-lite adopt --macro TORCH_EXTENSION_NAME=mylib && torchgen-lite generate
    torchgen-lite adopt --package mylib_ops --load mylib
    torchgen-lite adopt --build make --load build/libmylib.so --test "pytest -q"
    """
    root = Path(folder)
    python = _python_of(package, load)
    trial = trial_of(root, build, test, load)
    if trial and dry_run:
        raise click.UsageError("`--dry-run` writes nothing, so there is nothing to `--load`.")
    configured = find_in_folder(root, [])
    if configured is not None:
        rest = "`torchgen-lite import` prints the entries of what still registers by hand"
        raise click.UsageError(f"`{configured}` configures this folder already; {rest}.")
    library = name_kernels(read_library(session, [root], parse_macros(macros)))
    if stopped := [diagnostic for diagnostic in library.diagnostics if diagnostic.code in NOTHING]:
        raise Refused(*stopped)
    problems = [*library.diagnostics, *_not_moving(library)]
    names, compiled = _compiling(session, root, library, problems, macros, python)
    left = [s.span for s in library.read if not s.operators or not s.operators <= names]
    session.report(sort_diagnostics(problems), kind="adopt")
    if not names and not problems:
        session.warn(_nothing_found(library))
    changes, by_hand, untouched = _changes(root, library, names, python) if names else ([], [], [])
    before = None
    if trial and changes:
        before = _trial_before(session, root, trial, names, changes)
    _write_or_show(session, root, changes, dry_run)
    moved = _Moved(names, list(map(_shown, left)), changes, by_hand, untouched, compiled)
    moved.say(session, dry_run)
    data = moved.data()
    if trial and before:
        differences, report = _trial_after(session, root, trial, before)
        problems = [*problems, *differences]
        data = {**data, **report}
    elif trial:
        session.talk("nothing moved, so nothing was built or compared")
    session.answer("adopt", "", **data)
    if changes and not dry_run and not trial:
        session.talk(_next_steps(root, changes, by_hand, _target(library), python))
    if left or not names:
        return ATTENTION
    return session.exit_code(problems)


def _shown(span: Span) -> str:
    return f"{span.source.path}:{span.line}"


def _nothing_found(library: Library) -> str:
    files = counted(library.files, "file")
    return f"no TORCH_LIBRARY in {files} of C++; `torchgen-lite import` reads Python and pybind11"


class _Python(NamedTuple):
    """The package that the target torch-python writes, "" for none, and the module that loads the library, if that is
    known."""

    package: str
    load: str


def _python_of(package: str, load: Sequence[str]) -> _Python:
    """What the options say. A shared library is no module."""
    if package:
        try:
            PACKAGE.read(package)
        except Unfit as problem:
            raise click.UsageError(f"`--package`{problem}") from None
    modules = [module for module in load if not module.endswith(SHARED_ENDINGS)]
    return _Python(package, modules[0] if modules else "")


class _Moved(NamedTuple):
    """What moves, and what stays: `left` are the places of statements, and `by_hand` and `untouched` are about builds."""

    names: frozenset[str]
    left: Sequence[str]
    changes: Sequence[Change]
    by_hand: Sequence[str]
    untouched: Sequence[str]
    compiled: Sequence[str]

    @property
    def lines(self) -> tuple[int, int]:
        """How many are written, and how many are gone."""
        written, gone = zip((0, 0), *map(count_lines, self.changes))
        return sum(written), sum(gone)

    def say(self, session: Session, dry_run: bool) -> None:
        for line in self.compiled:
            session.talk(line)
        would = "would move" if dry_run else "moved"
        session.talk(f"{counted(len(self.names), 'operator')} {would}{_what_stays(self.left)}")
        written, gone = self.lines
        if self.changes:
            session.talk(f"{counted(gone, 'line')} gone, {written} written")
        for line in self.by_hand:
            session.talk(f"by hand  {line}")
        if self.untouched:
            session.talk(f"nothing to do  {', '.join(self.untouched)}")

    def data(self) -> dict[str, object]:
        """The same for programs."""
        written, gone = self.lines
        return {
            "moved": sorted(self.names),
            "by_hand": ", ".join(self.left),
            "build": self.by_hand,
            "unchanged": self.untouched,
            "compiled": self.compiled,
            "files": [{"path": change.path, "status": change.action} for change in self.changes],
            "lines": {"gone": gone, "written": written},
        }


def _not_moving(library: Library) -> list[Diagnostic]:
    """What entries, or a header, cannot express."""
    return [
        *write_entries(library, TORCH_NAMESPACES)[2],
        *undeclarable_kernels(library),
        *of_another_abi(library),
    ]


def _compiling(
    session: Session,
    root: Path,
    library: Library,
    problems: list[Diagnostic],
    macros: Sequence[str],
    python: _Python,
) -> tuple[frozenset[str], list[str]]:
    """The operators that move, and what was compiled of them; what does not compile is a problem, and stays."""
    flags = None
    while names := moving_operators(library, problems):
        written = _project(root, library, names, python)
        if flags is None:
            flags = flags_of(
                root, [_below(root, statement.span.source.path) for statement in library.read]
            )
            flags = flags._replace(words=[*flags.words, *(f"-D{macro}" for macro in macros)])
        moved = library.only(names.__contains__)
        lines, errors = compile_generated(session, root, moved, written, flags)
        if not errors:
            return names, lines
        problems += [_not_compiling(moved, name, error) for name, error in errors.items()]
        library.refused |= errors.keys()
    return names, []


def _not_compiling(library: Library, name: str, error: str) -> Diagnostic:
    """TG619, at a kernel of the operator, or where it is defined."""
    spans = {one.name: one.span for one in library.definitions}
    spans |= {one.name: one.span for one in library.implementations}
    span = spans[name]
    label = Label(span, error) if span else None
    return Diagnostic("TG619", f"what is generated for `{name}` does not compile", label)


def _target(library: Library) -> str:
    return "cpp-torch-stable" if is_stable(library) else "cpp-torch"


def _next_steps(
    root: Path, changes: Sequence[Change], by_hand: Sequence[str], target: str, python: _Python
) -> str:
    """What to run, and what to write into a build file that was not patched."""
    project = "" if root.resolve() == Path.cwd() else f" {shown_path(root, Path.cwd())}"
    is_built = any(change.path.endswith(("CMakeLists.txt", "setup.py")) for change in changes)
    build = "" if is_built and not by_hand else _COMPILE.format(config=_CONFIG, target=target)
    text = _NEXT.format(build=build, project=project)
    text += _PYTHON[bool(python.package)].format(package=python.package)
    if python.package and not python.load:
        text += _LOAD.format(config=_CONFIG)
    return text


def _write_or_show(session: Session, root: Path, changes: list[Change], dry_run: bool) -> None:
    if dry_run and session.is_text:
        session.print_patch(render_diff(changes, patch_folder(root.resolve())))
    elif not dry_run:
        _write(root, changes)
    _list_changes(session, changes)


def _what_stays(places: Sequence[str]) -> str:
    """The statements that the author has to move."""
    if not places:
        return ""
    return f", {counted(len(places), 'statement')} by hand: {', '.join(places)}"


def _trial_before(
    session: Session, root: Path, trial: Trial, names: frozenset[str], changes: list[Change]
) -> Run:
    """Run the trial. Raises Refused, too, if that changes a file that is to be written."""
    stood = _standing(root, changes)
    before = run_before(session, trial, names)
    for path, text in _standing(root, changes).items():
        if text != stood[path]:
            message = f"cannot write `{path}`: `--build` or `--test` has changed it"
            raise Refused(Diagnostic("TG009", message))
    return before


def _standing(root: Path, changes: list[Change]) -> dict[str, bytes | None]:
    """What is in the files that will change; None for one that is not there."""
    paths = {one.path: root / one.path for one in changes}
    return {name: path.read_bytes() if path.is_file() else None for name, path in paths.items()}


def _list_changes(session: Session, changes: list[Change]) -> None:
    for change in changes:
        done = "created" if change.old is None else "changed"
        more = (change.new or "").count("\n") - (change.old or "").count("\n")
        session.talk(f"{done}  {more:+5} lines  {change.path}")


def _trial_after(
    session: Session, root: Path, trial: Trial, before: Run
) -> tuple[list[Diagnostic], dict[str, object]]:
    """Generate, and run the trial again; what stands in the way is a finding, since everything has moved."""
    try:
        generated = _generate(session, root)
    except Refused as refused:
        session.report(refused.diagnostics, kind="adopt")
        return [*refused.diagnostics], {}
    return run_after(session, trial, before, generated)


def _generate(session: Session, root: Path) -> Generated:
    """Generate the code of the new configuration; what it is to register of the operators that moved."""
    project = replace(session, config=(str(root / _CONFIG), *session.config))
    program = project.load()
    made = generate_all(program)
    plan = plan_of(program, made)
    require([*made.diagnostics, *plan.diagnostics])
    _write(plan.root, list(plan.changes))
    session.talk(f"{counted(len(made.files), 'file')} generated")
    selection = generation_of(program).shown
    moved = {operator.name: set[str]() for operator in selection.operators}
    added = {operator.name: set[str]() for operator in selection.operators}
    for registration in selection.registrations(program):
        (moved if registration.kernel else added)[registration.operator.name].add(registration.key)
    return Generated(moved, added, tuple(made.files))


def _write(root: Path, changes: list[Change]) -> None:
    """Write all files, or leave every one as it was."""
    try:
        write_plan(Plan(root, tuple(changes)))
    except WriteError as error:
        back = [Change(change.path, "update", change.new, change.old) for change in changes]
        with suppress(WriteError):
            write_plan(
                Plan(root, tuple(change for change in back if (root / change.path).exists()))
            )
        raise Refused(Diagnostic("TG009", str(error))) from None


def _changes(
    root: Path, library: Library, names: frozenset[str], python: _Python
) -> tuple[list[Change], list[str], list[str]]:
    """The files that are written: those of the project, the sources without registrations, and what builds them; what
    there is to do by hand about the build; the build files that need no change."""
    moved = library.only(names.__contains__)
    texts, _ = without_statements(library, names)
    written = _project(root, library, names, python)
    made = [Change(path, "create", None, text) for path, text in written.items()]
    registered = [
        _below(root, source.path) for source, _ in texts if not source.path.endswith(HEADERS)
    ]
    devices = {
        implementation.key
        for implementation in moved.implementations
        if not is_for_every_build(implementation.key)
    }
    generated = f"generated/{_target(library)}"
    build = with_generated_code(root, registered, devices, written, generated)
    cut = [
        Change(_below(root, source.path), "update", source.text, text)
        for source, text in [*texts, *build.changed]
    ]
    return [*made, *cut], build.by_hand, build.untouched


def _project(
    root: Path, library: Library, names: frozenset[str], python: _Python
) -> dict[str, str]:
    """The files of the project to which these operators move. Raises Refused if one is there."""
    moved = library.only(names.__contains__)
    _, is_fragment = without_statements(library, names)
    headers, declared = kernel_headers(moved)
    paths = [_below(root, header) for header in headers]
    written = {_SCHEMA: write_entries(moved, frozenset())[0]}
    if declared:
        written[_DECLARED] = declared
        paths.append(_DECLARED)
    written[_CONFIG] = _configuration(_target(library), paths, is_fragment, python)
    for path in written:
        if (root / path).exists():
            help_ = "`adopt` writes this file: delete the one that is there, or rename it"
            raise Refused(Diagnostic("TG009", f"cannot write `{path}`: it exists", help=help_))
    return written


def _below(root: Path, path: str) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _configuration(target: str, headers: list[str], is_fragment: bool, python: _Python) -> str:
    targets = [target, "torch-python"] if python.package else [target]
    lines = [
        f'schema = ["{_SCHEMA}"]',
        f"targets = {json.dumps(targets)}",
        "",
        f"[target.{target}]",
    ]
    lines += [f"kernel-headers = {json.dumps(headers)}"]
    lines += ['library = "fragment"'] if is_fragment else []
    lines += ['module = ""']
    if python.package:
        lines += ["", "[target.torch-python]", f"package = {json.dumps(python.package)}"]
        lines += [f"load = {json.dumps(python.load)}"] if python.load else []
    return "\n".join([*lines, ""])
