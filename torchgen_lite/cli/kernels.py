"""`kernels`: lists the functions that authors write and where, and adds stubs for missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.session import Session, global_options, require, writing
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.emit import append
from torchgen_lite.emit.append import defined_in_cpp
from torchgen_lite.emit.write import replace_file
from torchgen_lite.loader.sources import read_source, shown_path
from torchgen_lite.pipeline import unknown_target
from torchgen_lite.targets import DEFAULT_TARGETS, TARGETS
from torchgen_lite.targets.output import AuthorFunction

_HEADERS = (".cuh", ".h", ".hh", ".hpp")


@click.command("kernels")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--missing", is_flag=True, help="Write stubs of the kernels that are not defined anywhere."
)
@click.option(
    "--to",
    metavar="FILE",
    help="With `--missing`: the module, source or header to add the stubs to.",
)
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only this target.")
@global_options
@click.pass_obj
def kernels_command(
    session: Session,
    sources: tuple[str, ...],
    missing: bool,
    to: str | None,
    targets: tuple[str, ...],
) -> int:
    """List the kernels and other functions that the schema files name, and where they are.

    Python functions are looked up in the configured modules, C++ functions in SOURCE. With
    `--missing`, stubs of those that are not found are appended to `--to`, or to the only module;
    existing code is left alone. Without `--to`, C++ declarations are printed.

    \b
    torchgen-lite kernels --missing
    torchgen-lite kernels --missing --to src/cpu.cpp
    """
    program = session.load()
    require(program.diagnostics)
    functions, found = _functions(program, targets)
    texts = {}
    for name in dict.fromkeys([*sources, *([to] if to and Path(to).exists() else [])]):
        source, unread = read_source(Path(name), Path.cwd())
        found += unread
        texts[name] = "" if source is None else source.text
    require(found)
    functions = [_located(one, texts) for one in functions]
    wanted = [one for one in functions if not one.place]
    printed = [one for one in wanted if one.is_cpp and to is None]
    lines = map(_declared, printed) if missing else map(_line, functions)
    session.answer("kernels", "".join(lines), functions=[one._asdict() for one in functions])
    if not missing:
        return FINE
    if not wanted:
        session.talk("Nothing is missing.")
    wanted = [one for one in wanted if one not in printed]
    return _begin(session, program.config.root, wanted, to)


def _functions(
    program: Program, targets: Sequence[str]
) -> tuple[list[AuthorFunction], list[Diagnostic]]:
    """The functions of these targets, or of all that are configured."""
    functions: list[AuthorFunction] = []
    found: list[Diagnostic] = []
    for name in targets or program.config.targets or DEFAULT_TARGETS:
        if name not in TARGETS:
            found.append(unknown_target(name))
            continue
        own, wrong = TARGETS[name].author_functions(program)
        functions += own
        found += wrong
    return functions, found


def _located(function: AuthorFunction, texts: Mapping[str, str]) -> AuthorFunction:
    """A C++ function with the first of these files that contains it."""
    if not function.is_cpp:
        return function
    for name, text in texts.items():
        line = defined_in_cpp(text, function.name)
        if line:
            return function._replace(place=f"{name}:{line}")
    return function


def _line(function: AuthorFunction) -> str:
    """`kernels.py:7  def scale_cpu(self: Tensor) -> Tensor  # CPU, Meta of mylib::scale`."""
    sign = "//" if function.is_cpp else "#"
    uses = ", ".join(function.uses)
    return f"{function.place or 'missing'}  {function.declaration}  {sign} {uses}\n"


def _declared(function: AuthorFunction) -> str:
    declaration = f"{function.declaration};"
    if not function.namespace:
        return f"{declaration}\n"
    return f"namespace {function.namespace} {{ {declaration} }}\n"


def _begin(session: Session, root: Path, wanted: Sequence[AuthorFunction], to: str | None) -> int:
    """Add functions to their files."""
    by_file: dict[Path, list[AuthorFunction]] = {}
    if to is not None and Path(to).suffix in _HEADERS:  # Members are declared by their classes.
        wanted = [one for one in wanted if "::" not in one.name]
    for one in wanted:
        if to is not None:
            by_file.setdefault(Path(to), []).append(one)
        elif len(one.files) == 1:
            by_file.setdefault(root / one.files[0], []).append(one)
        else:
            places = ", ".join(f"`{name}`" for name in one.files) or "no module that is configured"
            raise click.UsageError(f"`{one.name}` may be in {places}: say where with `--to FILE`.")
    try:
        with writing():
            for path, own in by_file.items():
                added = ", ".join(one.name for one in add_functions(path, own))
                if added:
                    session.talk(f"{added}  added to {shown_path(path, Path.cwd())}")
    except SyntaxError as error:
        raise click.UsageError(f"`{to}` is not Python: {error.msg}.") from error
    return FINE


def add_functions(path: Path, functions: Sequence[AuthorFunction]) -> list[AuthorFunction]:
    """Add the functions that a file lacks, creating it and its folder if needed. Raises OSError, SyntaxError.

    Another run may have added some since the lookup.
    """
    text = path.read_text("utf-8") if path.exists() else ""
    added = [one for one in functions if not append.has_function(text, one)]
    path.parent.mkdir(parents=True, exist_ok=True)
    if added and added[0].is_cpp:
        add = append.add_declarations if path.suffix in _HEADERS else append.add_definitions
        replace_file(path, add(text, added))
    elif added:
        replace_file(path, append.add_python(text, added))
    return added
