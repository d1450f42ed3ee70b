"""Who owns a generated file.

Note [Ownership by marker]
A file belongs to us if its first line carries our marker and names a schema file of this run. Such
a file in the output folder that is not in the plan is an orphan and is deleted. Any other file in
the way is an error, unless it equals what would be written; files not in the way are ignored. A
schema file may have been renamed: inside the project, names of files that no longer exist count as
ours. A project that writes outside its own folder names its schema files relative to there
(`../lib/ops.yaml`), since other projects may write there, too, from files of the same name. No list
of files has to be kept or can be lost.

Note [One name, two projects]
Other names are relative to a project, and `--output-dir` may be anywhere: `ops.yaml` in the output
folder of another project belongs to that project. So names are looked up from the output folder
upwards until a schema file of this run is reached. A file found on the way claims the files in the
output folder of its project or, without a configuration, those beside it and one folder below.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from torchgen_lite.emit.header import marked_sources
from torchgen_lite.loader.config.project import Config, find_in_folder, load_config


class Owner:
    """Decides which marked files in `root` are this project's; without a `project`, all that its
    sources made."""

    def __init__(
        self,
        files: Mapping[str, str],
        root: Path,
        project: Path | None,
        schemas: Collection[Path],
    ) -> None:
        self.root = root.resolve()
        self.project = project and project.resolve()
        self.sources = {name for text in files.values() for name in marked_sources(text)}
        self.schemas = {path.resolve() for path in schemas}
        if self.project is not None and not schemas:
            self.schemas = {self.project / name for name in self.sources}
        self.is_alone = self.project is None or self.project in self.root.parents
        # Most files have the same names in their headers.
        self._claims = cache(lambda named: tuple(self._find_claims(named)))

    def wrote(self, path: str, text: str) -> bool:
        """Whether the file with this text (or first line) comes from a schema file of this run, or
        a deleted one."""
        named = marked_sources(text)
        if not named or self.project is None:
            return bool(named)
        if any(self._is_ours(self.root / name) for name in named):
            return True
        if self.sources.intersection(named):
            file = self.root / path
            return not any(folder in file.parents for folder in self._claims(named))
        # A name that leads out of the output folder belongs to a project beside it.
        known = (n.startswith("../") or os.path.lexists(self.project / n) for n in named)
        return self.is_alone and not any(known)

    def _is_ours(self, path: Path) -> bool:
        # The name was read from disk: it may contain a NUL, or be a symlink loop.
        try:
            return path.resolve() in self.schemas
        except (OSError, ValueError, RuntimeError):
            return False

    def _find_claims(self, named: tuple[str, ...]) -> Iterator[Path]:
        """The folders in which files with these names belong to other projects."""
        assert self.project is not None
        for folder in (self.root, *self.root.parents):
            paths = [folder / name for name in named]
            if any(map(self._is_ours, paths)):
                return
            if not any(path.is_file() for path in paths):
                continue
            configuration = find_in_folder(folder, [])
            is_above = folder in (self.project, *self.project.parents)
            if configuration is not None or is_above:
                config = load_config(folder, configuration)[0] if configuration else Config(folder)
                yield (folder / config.output_dir).resolve()
            elif folder in (self.root, self.root.parent):
                yield folder
