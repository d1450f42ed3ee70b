"""Other versions of the schema files, read under the current configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchgen_lite.cli.against.git import NoRevisionError, find_commit, no_base, show_file
from torchgen_lite.cli.places import shown_folder
from torchgen_lite.cli.session import require
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors, sort_diagnostics

if TYPE_CHECKING:
    from torchgen_lite.analysis.compare import Level
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.config import Config


level_option = click.option(
    "--level",
    type=click.Choice(("source", "call", "kernel")),
    default="source",
    help="What must keep working: source code, calls or kernels (default: source).",
)


@dataclass(frozen=True, slots=True)
class Base:
    """The old version: the sources that were found, or why there are none."""

    sources: tuple[Source, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def load_base(against: str, schema: Sequence[str], program: Program) -> Program:
    """The old version, read like the new one; if it has errors, nothing can be compared."""
    from torchgen_lite.analysis.program import build_program
    from torchgen_lite.analysis.resolve import derive_functions
    from torchgen_lite.loader.native_functions import load_native_functions

    config = program.config
    base = read_base(against, config, [Path(path) for path in schema])
    functions, found = load_native_functions(
        base.sources,
        tags=program.tags,
        extra_fields=config.extra_fields,
        namespace=config.namespace,
        privateuse1=config.privateuse1,
        derive=partial(derive_functions, vocabulary=program.tags),
    )
    old = build_program(
        functions,
        config,
        diagnostics=[*base.diagnostics, *found],
        modules=program.modules,
    )
    if not has_errors(old.diagnostics) or base.diagnostics:
        return old
    return build_program((), config, diagnostics=[*old.diagnostics, has_its_errors(against)])


def breaking_changes(old: Program, new: Program, level: Level) -> tuple[Diagnostic, ...]:
    """What callers can no longer rely on, under the targets of the new version. Raises Refused."""
    from torchgen_lite.analysis.compare import compare_operators
    from torchgen_lite.targets.registered import registering_targets, select_each, side_of

    targets = registering_targets(new)
    after = select_each(new, targets)
    require([one for selection in after for one in selection.diagnostics])
    sides = side_of(old, select_each(old, targets)), side_of(new, after)
    return sort_diagnostics(compare_operators(*sides, level=level))


def has_its_errors(against: str) -> Diagnostic:
    message = f"`{against}` has errors, so nothing can be compared with it"
    return Diagnostic("TG014", message)


def is_release(against: str) -> bool:
    """Whether it names a PyTorch release: `torch:2.9`, or a wheel."""
    return against.startswith("torch:") or against.endswith(".whl")


def read_base(against: str, config: Config, schema: Sequence[Path] = ()) -> Base:
    """The sources of `--against`; `schema` are the files of the command line, if it names any."""
    from torchgen_lite.loader.releases import read_release
    from torchgen_lite.loader.sources import read_source

    if is_release(against):
        release = read_release(against, Path.cwd())
        return Base((release.source,) if release.source else (), release.diagnostics)
    files = list(schema) or [config.root / path for path in config.schema]
    names = [os.path.relpath(path, config.root).replace(os.sep, "/") for path in files]
    folder = Path(against)
    inside = [
        [root / name for name in names if (root / name).is_file()]
        for root in roots_in(folder, config)
    ]
    paths = [folder] if folder.is_file() else next(filter(None, inside), [])
    # An empty text would mean this folder, but is most likely an unset variable.
    if not paths or not against:
        return _read_revision(against, names, config.root)
    sources: list[Source] = []
    diagnostics: list[Diagnostic] = []
    for old in paths:
        source, found = read_source(old, Path.cwd())
        diagnostics += [Diagnostic("TG014", one.message, one.label) for one in found]
        sources += [source] if source is not None else []
    return Base(tuple(sources), tuple(diagnostics))


def roots_in(folder: Path, config: Config) -> tuple[Path, Path]:
    """Where a folder may hold another version of a project: at the project's path below the
    current folder, then at the top."""
    return folder / shown_folder(config.root, Path.cwd()), folder


def _read_revision(revision: str, names: Sequence[str], root: Path) -> Base:
    """The files as git has them at a revision, under names such as `main:native_functions.yaml`.

    A file missing at the revision is new and takes no part; at least one must exist.
    """
    from torchgen_lite.loader.sources import MAX_BYTES, decode_source

    try:
        commit = find_commit(revision, root)
    except NoRevisionError as error:
        return Base(diagnostics=(no_base(str(error)),))
    sources: list[Source] = []
    diagnostics: list[Diagnostic] = []
    for name in names:
        data = show_file(commit, root.resolve() / name)
        if data is None:
            continue
        if len(data) > MAX_BYTES:
            message = f"`{revision}:{name}` has more than the {MAX_BYTES} bytes allowed"
            return Base(diagnostics=(no_base(message),))
        source, found = decode_source(data, f"{revision}:{name}")
        diagnostics += [Diagnostic("TG014", one.message, one.label) for one in found]
        sources += [source] if source is not None else []
    if not sources and not diagnostics:
        files = ", ".join(f"`{name}`" for name in names)
        return Base(diagnostics=(no_base(f"revision `{revision}` has no {files}"),))
    return Base(tuple(sources), tuple(diagnostics))
