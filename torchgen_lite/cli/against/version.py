"""The other version of a project, which `--against` names.

Note [One reader of versions]
Whatever compares takes a `Version`: complete, or Refused says why not. A revision, or a folder with a configuration, is a
project of its own, with its configuration, modules and templates: what that configuration skips, renames or generates
is part of the version. Schema files alone, those that `--schema` names, and those of a PyTorch release have none: they
are read under the current one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.cli.against.git import (
    RevisionError,
    find_commit,
    list_tree,
    write_files,
)
from torchgen_lite.cli.places import shown_folder
from torchgen_lite.cli.reports import with_paths
from torchgen_lite.cli.session import Refused, Session, require
from torchgen_lite.cli.settings import load_settings, split_options
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors
from torchgen_lite.loader.config import CONFIG_FILES, find_in_folder

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Modules, Program
    from torchgen_lite.loader.config import Config

# The kinds of files a project is read from: schemas, configuration, templates, kernel modules.
_SUFFIXES = (".yaml", ".yml", ".toml", ".j2", ".py", ".pyi")


class NotThere(Refused):
    """The revision was read, and does not have the project."""


class Version(NamedTuple):
    """One side of a comparison, complete. `root` is the folder of its files, and `shown` how messages call it."""

    name: str
    program: Program
    root: Path
    shown: str

    def path_of(self, source: Source) -> str:
        """`main:native_functions.yaml`: how messages call a file of this version."""
        if not self.shown:
            return source.path
        # What is outside of the project's folder has an absolute path.
        path = os.path.relpath(self.root / source.path, self.root).replace(os.sep, "/")
        return f"{self.shown}{path}"

    def require(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Raise Refused if there are errors: nothing can be compared with this version."""
        if has_errors(diagnostics):
            message = f"`{self.name}` has errors, so nothing can be compared with it"
            raise Refused(*with_paths(diagnostics, self.path_of), Diagnostic("TG014", message))


@contextmanager
def other_version(
    session: Session,
    against: str,
    current: Program,
    schema: Sequence[str] = (),
    modules: Modules | None = None,
) -> Iterator[Version]:
    """The version that `against` names. Raises Refused.

    `schema` are files of the command line, and `modules` as in `pipeline.load`. Generate from it only
    inside this context, which removes a revision's files, templates included, when it ends.
    """
    with TemporaryDirectory(prefix="torchgen-lite-against-") as name:
        try:
            version = _read(session, against, current, schema, modules, Path(name).resolve())
        except RevisionError as error:
            raise Refused(_no_base(str(error))) from None
        version.require(version.program.diagnostics)
        yield version


def _read(
    session: Session,
    against: str,
    current: Program,
    schema: Sequence[str],
    modules: Modules | None,
    folder: Path,
) -> Version:
    from torchgen_lite.loader.releases import read_release
    from torchgen_lite.loader.sources import read_source
    from torchgen_lite.pipeline import load, unknown_target
    from torchgen_lite.targets import TARGETS

    config, path, here = current.config, Path(against), Path.cwd()
    if against.startswith("torch:") or against.endswith(".whl"):
        release = read_release(against, here)
        sources = _all_read([(release.source, release.diagnostics)])
        return Version(against, _read_alone(current, sources), here, "")
    # An empty text would mean this folder, but is most likely an unset variable.
    is_path = bool(against) and os.path.lexists(path)
    if is_path:
        _require_unambiguous(against, config.root.resolve())
    if is_path and not path.is_dir():
        sources = _all_read([read_source(path, here)])
        return Version(against, _read_alone(current, sources), here, "")
    names = [os.path.relpath(one, config.root) for one in schema] or list(config.schema)
    is_project = not schema and config.operators == "project"
    # A folder may hold the project at its path below this one, or at the top.
    roots = [path / shown_folder(config.root, here), path]
    if not is_path:
        roots = [_write_revision(session, against, config, names, folder)]
    for root in roots:
        version = Version(against, current, root, _shown(root) if is_path else f"{against}:")
        if is_project:
            own, found = _config_in(session, root, config)
            version.require(found)
            if own is not None:
                version.require(
                    [unknown_target(name) for name in own.targets if name not in TARGETS]
                )
                return version._replace(program=load(config=own, modules=modules))
        files = [root / name for name in names if (root / name).is_file()]
        if files:
            sources = _all_read([read_source(one, root) for one in files])
            return version._replace(program=_read_alone(current, sources))
    listed = ", ".join(f"`{name}`" for name in names)
    if is_path:
        raise RevisionError(f"folder `{against}` has no {listed}")
    raise NotThere(_no_base(f"revision `{against}` has no {listed}"))


def _shown(folder: Path) -> str:
    """What messages put before the files of a folder."""
    shown = shown_folder(folder, Path.cwd())
    return f"{shown}/" if shown else ""


def _require_unambiguous(against: str, root: Path) -> None:
    """Raise Refused for a path that git takes for a revision, too: each of the two may be meant."""
    try:
        find_commit(against, root)
    except RevisionError:
        return
    help_ = f"write `./{against}` for the path, or a full name such as `refs/heads/{against}` for the revision"
    message = f"`{against}` is both a path and a git revision"
    raise Refused(Diagnostic("TG014", message, help=help_))


def _all_read(read: Sequence[tuple[Source | None, Sequence[Diagnostic]]]) -> list[Source]:
    """The files, each of which must have been read. Raises Refused."""
    require([replace(one, code="TG014") for _, found in read for one in found])
    return [source for source, _ in read if source is not None]


def _read_alone(current: Program, sources: Sequence[Source]) -> Program:
    """Schema files under the configuration of the current version, and with its modules."""
    from torchgen_lite.analysis.native import load_native
    from torchgen_lite.pipeline import read_program

    config = current.config
    tags = dict(current.tags) if config.operators == "torch" else None
    return read_program(config, sources, load_native(config), (), tags, current.modules)


def _write_revision(
    session: Session, revision: str, config: Config, names: Sequence[str], folder: Path
) -> Path:
    """Write what a revision has of the project to a folder; the result is the project's there."""
    root = config.root.resolve()
    tree = list_tree(revision, root)
    place = root.relative_to(tree.top)

    def inside(paths: Sequence[str]) -> list[str]:
        return [os.path.normpath(place / one).replace(os.sep, "/") for one in paths if one]

    write_files(tree, folder, inside(_config_files(config)), (), ())
    own, _ = _config_in(session, folder / place, config)
    files = names if own is None else (*own.schema, own.native)
    folders = () if own is None else (".", *own.source_roots, *own.template_dirs)
    write_files(tree, folder, inside(files), inside(folders), _SUFFIXES)
    return folder / place


def _config_files(config: Config) -> tuple[str, ...]:
    """The usual names, or the one that `--config` gives."""
    name = config.path.name if config.path is not None else CONFIG_FILES[0]
    return CONFIG_FILES if name in CONFIG_FILES else (name,)


def _config_in(
    session: Session, root: Path, config: Config
) -> tuple[Config | None, Sequence[Diagnostic]]:
    """The configuration in a folder, if it has one, and what is wrong with it."""
    found: list[Diagnostic] = []
    names = _config_files(config)
    own = find_in_folder(root, found) if names is CONFIG_FILES else root / names[0]
    if own is None or not own.is_file():
        return None, found
    _, settings = split_options(session.config)
    there, wrong = load_settings(root, [str(own.resolve()), *settings])
    return there, (*found, *wrong)


def _no_base(message: str) -> Diagnostic:
    hint = "give a schema file, a folder of them, or a revision such as `main` or `HEAD~1`"
    return Diagnostic("TG014", message, help=hint)
