"""`import`: turns an existing library into a schema file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import ATTENTION
from torchgen_lite.cli.pages import is_another, output_option, write_files
from torchgen_lite.cli.session import (
    Refused,
    Session,
    command,
    refuse_to_replace,
    require_places,
    writing,
)
from torchgen_lite.diagnostics import sort_diagnostics
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.config.project import load_config
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES
from torchgen_lite_tools.importing.cpp_files import read_cpp, sources_of
from torchgen_lite_tools.importing.cpp_preprocessor import Macro, parse_macro
from torchgen_lite_tools.importing.entries import write_entries
from torchgen_lite_tools.importing.library import Library
from torchgen_lite_tools.importing.merge import name_kernels, put_together
from torchgen_lite_tools.importing.moving import kernel_headers, undeclarable_kernels
from torchgen_lite_tools.importing.python_registrations import read_python
from torchgen_lite_tools.importing.torch_module import read_modules

# Nothing to show: no source was read.
NOTHING = frozenset({"TG006", "TG011", "TG012", "TG110", "TG117"})

macro_option = click.option(
    "--macro",
    "macros",
    multiple=True,
    metavar="NAME=TEXT",
    help="Define a macro; repeatable.",
)


@command("import")
@click.argument(
    "paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Import this module; repeatable.",
)
@click.option("--namespace", default="", metavar="NAME", help="Only this namespace (default: all).")
@macro_option
@output_option("--output", help="Write the YAML to this file instead of stdout.")
@output_option("--declare", help="Write this header, with the kernels that no header declares.")
def import_command(
    session: Session,
    paths: tuple[Path, ...],
    modules: tuple[str, ...],
    namespace: str,
    macros: tuple[str, ...],
    output: Path | None,
    declare: Path | None,
) -> int:
    """Turn an existing library into YAML: from its C++ and Python (files and folders, of which none is
    run), from what it registers in PyTorch once a MODULE is imported, or from both.

    A macro is `NAME=TEXT` or `NAME(a, b)=TEXT`. Registrations that were not understood are listed,
    with exit code 1; the YAML has the rest.

    \b
    torchgen-lite import csrc > ops.yaml
    torchgen-lite import csrc --macro TORCH_EXTENSION_NAME=mylib
    torchgen-lite import mylib/ops.py csrc --output ops.yaml
    torchgen-lite import csrc --output ops.yaml --declare kernels.h
    torchgen-lite import --module mylib csrc
    """
    if not paths and not modules:
        raise click.UsageError("`import` needs files or folders, or `--module`.")
    require_places({"--output": output, "--declare": declare})
    parsed = parse_macros(macros)
    read = [read_files(session, paths, parsed)] if paths else []
    if modules:
        read.insert(0, read_modules(modules, namespace))
    library = name_kernels(reduce(put_together, read))
    if stopped := [d for d in library.diagnostics if d.code in NOTHING]:
        raise Refused(*stopped)
    if namespace:
        library = library.only(lambda name: name.startswith(f"{namespace}::"))
    text, count, problems = write_entries(library, TORCH_NAMESPACES)
    if declare is not None:
        problems = (*problems, *undeclarable_kernels(library))
    diagnostics = sort_diagnostics([*library.diagnostics, *problems])
    operators = _summary(count, len(diagnostics), namespace)
    files = {}
    if declare is not None:
        declared = kernel_headers(library)[1] or "#pragma once\n"
        files[declare] = (declared, "declarations written to")
    # Never replace a file by an empty one.
    if output is not None and count:
        files[output] = (text, f"{operators}, written to")
    for path, (new, _) in files.items():
        _check_place(path, new, paths)
    session.report(diagnostics, kind="import")
    for kind, names in library.modules.items():
        listed = ", ".join(f'"{name}"' for name in names)
        session.talk(f"the functions are those of `{kind} = [{listed}]`")
    for line in _bound(library):
        session.talk(line)
    if not library.statements and not diagnostics:
        where = _where(library, paths, modules)
        session.warn(f"no TORCH_LIBRARY, no pybind11 module, no torch.library {where}")
        return ATTENTION
    write_files(session, files)
    written = [{"path": str(path), "status": "changed"} for path in files]
    if output in files:
        session.answer("import", "", files=written)
    else:
        session.talk(operators)
        session.answer("import", text, yaml=text, files=written)
    if count:
        return session.exit_code(diagnostics)
    return ATTENTION


def _summary(count: int, problems: int, namespace: str) -> str:
    """`3 operators, 2 things to do by hand`."""
    left = where = ""
    if problems:
        left = f", {counted(problems, 'thing')} to do by hand"
    if namespace and not count:
        where = f" of namespace `{namespace}`"
    return f"{counted(count, 'operator')}{where}{left}"


def _check_place(path: Path, text: str, paths: Sequence[Path]) -> None:
    """Refused where the text would replace another one that is the author's."""
    with writing(path):
        is_new = not path.is_file() or path.read_bytes() == text.encode()
        if not is_new and _is_authors(path, text, paths):
            refuse_to_replace(path, "write to a new file, and copy from that what is missing here")


def _is_authors(path: Path, text: str, paths: Sequence[Path]) -> bool:
    """Whether a file is a schema file of a project, or a source: one that was read, or does not begin as the text does."""
    place, *read = [Path(os.path.realpath(one)) for one in (path, *paths)]
    if path.suffix in (".yaml", ".yml"):
        config, _ = load_config(place.parent)
        schema = [os.path.realpath(config.root / name) for name in config.schema]
        return config.path is not None and str(place) in schema
    return is_another(path, text) or any(map(place.is_relative_to, read))


def _where(library: Library, paths: Sequence[Path], modules: Sequence[str]) -> str:
    """Where nothing was found."""
    if paths:
        return f"in {counted(library.files, 'file')}"
    return f"once `{modules[0]}` is loaded"


def _bound(library: Library) -> Iterator[str]:
    """How many functions each file binds with pybind11, and how many of them became entries; how many registrations of
    each Python file were read."""
    labels = []
    for diagnostic in library.diagnostics:
        if diagnostic.code == "TG614" and diagnostic.label:
            labels.append(diagnostic.label)
    unread = Counter(label.span.source.path for label in labels)
    for path, binder in library.binders.items():
        proposed = library.proposed[path]
        left = unread[path]
        bindings = counted(proposed + left, "binding")
        yield f"{path}: {bindings} of {binder}, {proposed} proposed, {left} not read"
    converted = library.converted.intersection(
        definition.name for definition in library.definitions
    )
    if converted:
        operators = counted(len(converted), "operator")
        headers, undeclared = kernel_headers(library.only(converted.__contains__))
        listed = ", ".join(f'"{header}"' for header in headers)
        named = f"`kernel-headers = [{listed}]`" if headers else "`kernel-headers`"
        more = ", with the one of `--declare` for others" if undeclared else ""
        yield f"the kernels of {operators} have numbers of other types, and keep them: {named}{more}"
    for path, (met, left) in library.python.items():
        yield f"{path}: {counted(met + left, 'registration')} in Python, {met} read, {left} not read"


def parse_macros(given: Sequence[str]) -> dict[str, Macro]:
    """The macros of the command line, by name."""
    macros = {}
    for text in given:
        macro = parse_macro(text)
        if macro is None:
            raise click.UsageError(f"`--macro {text}` is neither NAME=TEXT nor NAME(a, b)=TEXT.")
        macros[macro.name] = macro
    return macros


def read_library(session: Session, paths: Sequence[Path], macros: dict[str, Macro]) -> Library:
    """The library according to its C++."""
    text = read_cpp(paths, macros, partial(session.progress, label="parsing"))
    session.note(f"{counted(text.statements, 'registration')} in the files")
    return text


def read_files(session: Session, paths: Sequence[Path], macros: dict[str, Macro]) -> Library:
    """The library according to its C++ and its Python."""
    python = [path for path in paths if path.is_dir() or path.suffix == ".py"]
    library = read_library(session, [path for path in paths if path.suffix != ".py"], macros)
    read_python(sources_of(python, (".py",), library.diagnostics), library)
    library.shorten()
    return library
