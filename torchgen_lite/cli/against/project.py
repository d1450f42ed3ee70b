"""Other versions of a project, with the configuration, modules and templates of that version."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torchgen_lite.cli.against.base import has_its_errors, is_release, load_base, roots_in
from torchgen_lite.cli.against.git import (
    NoRevisionError,
    find_commit,
    no_base,
    write_files,
)
from torchgen_lite.cli.reports import with_paths
from torchgen_lite.cli.session import Refused, Session
from torchgen_lite.cli.settings import load_settings, split_options
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.loader.config import CONFIG_FILES, find_in_folder

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.config import Config


class NotThere(Refused):
    """The revision exists but does not have the project."""


@contextmanager
def project_against(
    session: Session,
    against: str,
    program: Program,
    schema: Sequence[str] = (),
    *,
    lint: bool = False,
) -> Iterator[Program]:
    """The program of the other side; raises Refused if there is none, or it has errors.

    A revision, or a folder with a configuration, is a separate project. Bare schema files and
    those of a PyTorch release are read under the configuration of `program`. Generate from the
    program only inside this context: it removes a revision's files, templates included, on exit.
    """
    from torchgen_lite import pipeline

    config = program.config
    with TemporaryDirectory(prefix="torchgen-lite-against-") as name:
        there = _find_there(session, against, config, schema, Path(name).resolve())
        if there is None:
            old = load_base(against, schema, program)
            if has_errors(old.diagnostics):
                raise Refused(*old.diagnostics)
            yield old
            return
        old = pipeline.load(config=there)
        old = pipeline.lint(old) if lint else old
        found = with_paths(old.diagnostics, lambda path: f"{against}:{path}")
        if has_errors(found):
            raise Refused(*found, has_its_errors(against))
        yield replace(old, diagnostics=tuple(found))


def _find_there(
    session: Session, against: str, config: Config, schema: Sequence[str], folder: Path
) -> Config | None:
    """The configuration of the other version, or None for bare schema files. The files of a
    revision are written to `folder`.
    """
    path = Path(against)
    if schema or is_release(against) or path.is_file():
        return None
    if against and path.is_dir():
        for root in roots_in(path, config):
            if find_in_folder(root, []) is not None:
                return _config_in(session, root, config)
        return None
    try:
        commit = find_commit(against, config.root)
    except NoRevisionError as error:
        raise Refused(no_base(str(error))) from None
    place = config.root.resolve().relative_to(commit.top)
    write_files(commit, folder, _in_repository(place, CONFIG_FILES))
    there = _config_in(session, folder / place, config)
    read = (".", *there.schema, there.native, *there.source_roots, *there.template_dirs)
    write_files(commit, folder, _in_repository(place, read))
    has_schema = any((there.root / name).is_file() for name in there.schema)
    if not has_schema and find_in_folder(there.root, []) is None:
        files = ", ".join(f"`{name}`" for name in there.schema)
        raise NotThere(no_base(f"revision `{against}` has no {files}"))
    return there


def _in_repository(place: Path, names: Collection[str]) -> set[str]:
    """A project's paths relative to the repository's root; `place` is that of the project."""
    return {os.path.normpath(place / name).replace(os.sep, "/") for name in names if name}


def _config_in(session: Session, root: Path, config: Config) -> Config:
    """The configuration in a folder, or ours where it has none yet."""
    _, settings = split_options(session.config)
    own = find_in_folder(root, [])
    if own is None:
        return replace(config, root=root, path=config.path and root / config.path.name)
    there, found = load_settings(root, [str(own), *settings])
    if has_errors(found):
        raise Refused(*found)
    return there
