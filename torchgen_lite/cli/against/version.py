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
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from torchgen_lite.analysis.native import load_native
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.against import git
from torchgen_lite.cli.places import shown_folder
from torchgen_lite.cli.reports import with_paths
from torchgen_lite.cli.session import Refused, Session, require
from torchgen_lite.cli.settings import load_settings, split_options
from torchgen_lite.diagnostics import Diagnostic, Source, has_errors
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.loader.config.project import CONFIG_FILES, Config, find_in_folder
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.torch.releases import INSTALLED, read_release
from torchgen_lite.pipeline import Generated, generate_all, load, read_program

# The kinds of files a project is read from: schemas, configuration, templates, kernel modules.
_SUFFIXES = (".yaml", ".yml", ".toml", ".j2", ".py", ".pyi")


class NotThere(Refused):
    """The revision was read, and does not have the project."""


class Version(NamedTuple):
    """One side of a comparison, complete. `root` is the folder of its files, and `shown` how messages call `top`, which
    is that folder or, of a revision, the one of the repository.

    Programs that make files run in `home`, the current version's folder: of a revision, only what is read is there.
    """

    name: str
    program: Program
    root: Path
    shown: str
    home: Path | None = None
    top: Path | None = None

    def path_of(self, source: Source) -> str:
        """`main:native_functions.yaml`: how messages call a file of this version."""
        if not self.shown:
            return source.path
        # What is outside of the project's folder has an absolute path.
        path = os.path.relpath(self.root / source.path, self.top or self.root)
        return f"{self.shown}{path.replace(os.sep, '/')}"

    def require(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Raise Refused if there are errors: nothing can be compared with this version."""
        if has_errors(diagnostics):
            message = f"`{self.name}` has errors, so nothing can be compared with it"
            raise Refused(*with_paths(diagnostics, self.path_of), Diagnostic("TG014", message))

    def generate(self, targets: Sequence[str] = ()) -> Generated:
        """What it generates. Raises Refused if that has errors."""
        generated = generate_all(self.program, targets=targets, home=self.home)
        self.require(generated.diagnostics)
        return generated


@contextmanager
def other_version(
    session: Session,
    against: str,
    current: Program,
    schema: Sequence[str] = (),
) -> Iterator[Version]:
    """The version that `against` names. Raises Refused.

    `schema` are files of the command line. Generate from it only inside this context, which removes a revision's
    files, templates included, when it ends.
    """
    asked = _Asked(session, against, current, schema)
    with TemporaryDirectory(prefix="torchgen-lite-against-") as name:
        try:
            version = _read(asked, Path(name).resolve())
        except git.RevisionError as error:
            raise Refused(_no_base(str(error))) from None
        version.require(version.program.diagnostics)
        yield version._replace(home=current.config.root)


class _Asked(NamedTuple):
    session: Session
    against: str
    current: Program
    schema: Sequence[str]

    @property
    def names(self) -> list[str]:
        """The schema files, from the root of the project."""
        config = self.current.config
        return [os.path.relpath(path, config.root) for path in self.schema] or list(config.schema)

    def alone(self, sources: Sequence[Source], root: Path, shown: str = "") -> Version:
        """Schema files under the configuration of the current version, and with its modules."""
        return Version(self.against, read_alone(self.current, sources), root, shown)


def _read(asked: _Asked, folder: Path) -> Version:
    """From wherever it is; a revision is written to `folder` first."""
    against = asked.against
    root = asked.current.config.root
    here = Path.cwd()
    if against.startswith("torch:") or against.endswith(".whl"):
        release = read_release(against, here)
        return asked.alone(_all_read([(release.source, release.diagnostics)]), here)
    # An empty text would mean this folder, but is most likely an unset variable.
    if not against or not os.path.lexists(against):
        there = _write_revision(asked, folder)
        version = _read_folder(asked, there, f"{against}:", folder)
        if version is None:
            raise NotThere(_no_base(f"revision `{against}` has no {quoted(asked.names)}"))
        return version
    _require_unambiguous(against, root.resolve())
    path = Path(against)
    if not path.is_dir():
        return asked.alone(_all_read([read_source(path, here)]), here)
    # A folder may hold the project at its path below this one, or at the top.
    for candidate in (path / shown_folder(root, here), path):
        shown = shown_folder(candidate, here)
        version = _read_folder(asked, candidate, f"{shown}/" if shown else "", candidate)
        if version is not None:
            return version
    raise git.RevisionError(f"folder `{against}` has no {quoted(asked.names)}")


def _read_folder(asked: _Asked, root: Path, shown: str, top: Path) -> Version | None:
    """A project with its own configuration, or schema files alone; None if there is neither."""
    config = asked.current.config
    if not asked.schema and config.operators == "project":
        version = Version(asked.against, asked.current, root, shown, top=top)
        project, problems = _config_in(asked.session, root, config)
        version.require(problems)
        if project is not None:
            return version._replace(program=load(config=project))
    files = [root / name for name in asked.names if (root / name).is_file()]
    sources = _all_read([read_source(file, root) for file in files])
    return asked.alone(sources, root, shown)._replace(top=top) if sources else None


def _require_unambiguous(against: str, root: Path) -> None:
    """Raise Refused for a path that git takes for a revision, too: each of the two may be meant."""
    try:
        git.find_commit(against, root)
    except git.RevisionError:
        return
    help_ = f"write `./{against}` for the path, or a full name such as `refs/heads/{against}` for the revision"
    message = f"`{against}` is both a path and a git revision"
    raise Refused(Diagnostic("TG014", message, help=help_))


def _all_read(read: Sequence[tuple[Source | None, Sequence[Diagnostic]]]) -> list[Source]:
    """The files, each of which must have been read. Raises Refused."""
    require(
        [replace(diagnostic, code="TG014") for _, diagnostics in read for diagnostic in diagnostics]
    )
    return [source for source, _ in read if source is not None]


def read_alone(current: Program, sources: Sequence[Source]) -> Program:
    """Schema files under the configuration of the current version, and with its modules."""
    config = current.config
    tags = dict(current.tags) if config.operators == "torch" else None
    return read_program(config, sources, load_native(config), (), tags, current.modules)


def with_gradients(old: Version, new: Program) -> tuple[Version, Program, str]:
    """Two releases of PyTorch with their formulas, which stand in a file of their own (`derivatives.yaml`);
    or as they are, and why gradients are not compared.
    """
    before = read_release(old.name, Path.cwd()).formulas
    after = read_release(INSTALLED, Path.cwd()).formulas
    if before is None or after is None:
        return old, new, f"gradients are not compared: `{old.name}` comes without derivatives.yaml"
    sides = (old.program, before), (new, after)
    was, now = (read_alone(new, [*side.sources, formulas]) for side, formulas in sides)
    if was.has_errors or now.has_errors:
        return old, new, "gradients are not compared: derivatives.yaml has errors"
    return old._replace(program=was), now, ""


def _write_revision(asked: _Asked, folder: Path) -> Path:
    """Write what a revision has of the project to a folder; the result is the project's there."""
    config = asked.current.config
    root = config.root.resolve()
    tree = git.list_tree(asked.against, root)
    place = PurePosixPath(root.relative_to(tree.top).as_posix())
    _require_not_moved(asked, tree, place)

    def inside(paths: Sequence[str]) -> list[str]:
        return [os.path.normpath(place / path).replace(os.sep, "/") for path in paths if path]

    git.write_files(tree, folder, inside(_config_files(config)), (), ())
    project, _ = _config_in(asked.session, folder / place, config)
    files = asked.names if project is None else (*project.schema, project.native)
    folders = () if project is None else (".", *project.source_roots, *project.template_dirs)
    git.write_files(tree, folder, inside(files), inside(folders), _SUFFIXES)
    return folder / place


def _require_not_moved(asked: _Asked, tree: git.Tree, place: PurePosixPath) -> None:
    """Raise Refused if a project is gone from the working tree, and this one, which is new, may be that."""
    names = {_config_files(asked.current.config)[0], *asked.names}
    against = asked.against
    gone = set()
    for path in tree.entries:
        if path.name in names and not (tree.top / path).exists():
            gone.add(path.parent)
    is_there = any(PurePosixPath(os.path.normpath(place / name)) in tree.entries for name in names)
    if gone and not is_there:
        listed = ", ".join(sorted(f"`{against}:{folder}`" for folder in gone))
        message = f"`{against}` does not have this project, unless it is what was in {listed}"
        help_ = f"if it was moved: `git worktree add OLD {against}`, and name its folder in `OLD`"
        raise Refused(Diagnostic("TG014", message, help=help_))


def _config_files(config: Config) -> tuple[str, ...]:
    """The usual names, or the one that `--config` gives."""
    name = config.path.name if config.path is not None else CONFIG_FILES[0]
    return CONFIG_FILES if name in CONFIG_FILES else (name,)


def _config_in(
    session: Session, root: Path, config: Config
) -> tuple[Config | None, Sequence[Diagnostic]]:
    """The configuration in a folder, if it has one, and what is wrong with it."""
    problems: list[Diagnostic] = []
    names = _config_files(config)
    file = find_in_folder(root, problems) if names is CONFIG_FILES else root / names[0]
    if file is None or not file.is_file():
        return None, problems
    _, settings = split_options(session.config)
    there, wrong = load_settings(root, [str(file.resolve()), *settings])
    return there, (*problems, *wrong)


def _no_base(message: str) -> Diagnostic:
    hint = "give a schema file, a folder of them, or a revision such as `main` or `HEAD~1`"
    return Diagnostic("TG014", message, help=hint)
