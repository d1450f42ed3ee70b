"""`kernels`: lists the functions that authors write and where, and adds stubs for missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.pages import Row, columns, output_option
from torchgen_lite.cli.session import (
    Session,
    command,
    require,
    targets_option,
    write_contents,
    writing,
)
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted, ended, quoted
from torchgen_lite.emit import append
from torchgen_lite.emit.append import defined_in_cpp
from torchgen_lite.loader.sources import read_source, shown_path
from torchgen_lite.pipeline import unknown_target
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.generation import named_targets
from torchgen_lite.targets.output import AuthorFunction

_HEADERS = (".cuh", ".h", ".hh", ".hpp")


@command("kernels")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--missing", is_flag=True, help="Write stubs of kernels that are not defined.")
@click.option("--check", is_flag=True, help="Exit with 1 if one is not defined.")
@output_option(
    "--output", help="With `--missing`: the module, source or header to add the stubs to."
)
@targets_option
def kernels_command(
    session: Session,
    sources: Sequence[str],
    missing: bool,
    check: bool,
    output: Path | None,
    targets: Sequence[str],
) -> int:
    """List the kernels and other functions that the schema files name: where they are, and with `-v` their signatures.

    Python functions are looked up in the configured modules, C++ functions in SOURCE. With
    `--missing`, stubs of those that are not found are appended to `--output`, or to the only module;
    existing code is left alone. Without `--output`, C++ declarations are printed.

    \b
    torchgen-lite kernels --missing
    torchgen-lite kernels --missing --output src/cpu.cpp
    torchgen-lite kernels --check
    """
    if missing and check:
        raise click.UsageError("`--check` writes nothing: give it without `--missing`.")
    if output and not missing:
        raise click.UsageError("`--output` is where `--missing` adds stubs: give both.")
    program = session.load()
    require(program.diagnostics)
    functions, diagnostics = _functions(program, targets)
    texts = {}
    outputs = [str(output)] if output and output.exists() else []
    for name in dict.fromkeys([*sources, *outputs]):
        source, unread = read_source(Path(name), Path.cwd())
        diagnostics += unread
        texts[name] = "" if source is None else source.text
    require(diagnostics)
    functions = [_located(function, texts) for function in functions]
    wanted = [function for function in functions if not function.place]
    printed = [f for f in wanted if f.is_cpp and f.declaration and output is None]
    looked_in_none = not texts and any(function.is_cpp for function in functions)
    if looked_in_none and check:
        raise click.UsageError("C++ functions are looked up in SOURCE: give it, as in `src/*.cpp`.")
    rows = list(dict.fromkeys(_row(f, texts, session.verbose) for f in functions))
    lines = map(_declared, printed) if missing else columns(rows, session.width)
    text = ended(lines)
    session.answer("kernels", text, functions=[function._asdict() for function in functions])
    if check and wanted:
        names = quoted(names_of(wanted))
        session.talk(f"{counted(len(wanted), 'function')} not defined: {names}")
        return ATTENTION
    if not missing:
        if looked_in_none:
            session.talk(
                "C++ functions are looked up in SOURCE, as in `torchgen-lite kernels src/*.cpp`."
            )
        return FINE
    if not wanted:
        session.talk("Nothing is missing.")
    begun = [f for f in wanted if f.declaration and f not in printed]
    code = _begin(session, program.config.root, begun, output)
    impossible = [function for function in wanted if not function.declaration]
    if impossible:
        names = quoted(names_of(impossible))
        session.talk(f"not written, for reasons that `torchgen-lite lint` gives: {names}")
        return max(code, ATTENTION)
    return code


def _functions(
    program: Program, targets: Sequence[str]
) -> tuple[list[AuthorFunction], list[Diagnostic]]:
    """The functions of these targets, or of all that are configured."""
    functions: list[AuthorFunction] = []
    diagnostics: list[Diagnostic] = []
    for name in targets or named_targets(program.config):
        if name not in TARGETS:
            diagnostics.append(unknown_target(name))
            continue
        of_target, wrong = TARGETS[name].author_functions(program)
        functions += of_target
        diagnostics += wrong
    return functions, diagnostics


def _located(function: AuthorFunction, texts: Mapping[str, str]) -> AuthorFunction:
    """A C++ function with the first of these files that contains it."""
    if function.is_cpp:
        for name, text in texts.items():
            line = defined_in_cpp(text, function.name)
            if line:
                return function._replace(place=f"{name}:{line}")
    return function


def _row(function: AuthorFunction, texts: Mapping[str, str], with_signature: bool) -> Row:
    """`scale_cpu  kernels.py:7  CPU of mylib::scale`; without files, nobody knows where C++ is."""
    without = "unknown" if function.is_cpp and not texts else "missing"
    row = (function.name, function.place or without, ", ".join(function.uses))
    return (*row, function.declaration) if with_signature else row


def _declared(function: AuthorFunction) -> str:
    declaration = f"{function.declaration};"
    if not function.namespace:
        return declaration
    return f"namespace {function.namespace} {{ {declaration} }}"


def _begin(
    session: Session,
    root: Path,
    wanted: Sequence[AuthorFunction],
    output: Path | None,
) -> int:
    """Add functions to their files."""
    by_file: dict[Path, list[AuthorFunction]] = {}
    if output is not None and output.suffix in _HEADERS:  # Members are declared by their classes.
        wanted = [function for function in wanted if "::" not in function.name]
    for function in wanted:
        paths = [root / name for name in function.files] if output is None else [output]
        if len(paths) != 1:
            places = quoted(function.files) or "no module that is configured"
            message = f"`{function.name}` may be in {places}: say where with `--output FILE`."
            raise click.UsageError(message)
        by_file.setdefault(paths[0], []).append(function)
    contents: dict[Path, str] = {}
    lines = []
    for path, functions in by_file.items():
        place = shown_path(path, Path.cwd())
        try:
            with writing(path):
                text, added = with_functions(path, functions)
        except SyntaxError as error:
            raise click.UsageError(f"`{place}` is not Python: {error.msg}.") from error
        if added:
            contents[path] = text
            names = ", ".join(names_of(added))
            lines.append(f"{counted(len(added), 'function')} added to {place}: {names}")
    write_contents(contents)
    for line in lines:
        session.talk(line)
    return FINE


def with_functions(
    path: Path, functions: Sequence[AuthorFunction]
) -> tuple[str, list[AuthorFunction]]:
    """The text of a file with the functions that it lacks, and these. Raises OSError, SyntaxError.

    Another run may have added some since the lookup.
    """
    text = path.read_text("utf-8") if path.exists() else ""
    added = [function for function in functions if not append.has_function(text, function)]
    if added and added[0].is_cpp:
        if path.suffix in _HEADERS:
            add = append.add_declarations
        else:
            add = append.add_definitions
        return add(text, added), added
    if added:
        return append.add_python(text, added), added
    return text, added
