"""How folders are named in messages and in patches."""

from __future__ import annotations

import os
from pathlib import Path


def shown_folder(folder: Path, root: Path) -> str:
    """The output folder for readers: relative to this folder, or else to the project's root."""
    for base in (Path.cwd(), root):
        relative = _relative(folder, base)
        if relative is not None:
            return relative
    return folder.as_posix()


def patch_folder(folder: Path) -> str:
    """The folder as `git apply` expects it: relative to the repository's root."""
    here = Path.cwd()
    top = repository_of(here) or here
    relative = _relative(folder, top)
    return folder.as_posix() if relative is None else relative


def repository_of(folder: Path) -> Path | None:
    """The root of the repository that a folder is in."""
    for above in (folder, *folder.parents):
        if (above / ".git").exists():
            return above
    return None


def is_passed_over(folder: Path) -> bool:
    """Whether `git apply`, run here, skips files in that folder: it only patches below this one."""
    here = Path.cwd()
    return not (here / ".git").exists() and _relative(folder, here) is None


def _relative(folder: Path, base: Path) -> str | None:
    """The path relative to `base`, `""` for `base` itself, None outside of it."""
    try:
        relative = os.path.relpath(folder, base).replace(os.sep, "/")
    except ValueError:  # On another drive.
        return None
    if relative == ".." or relative.startswith("../"):
        return None
    return "" if relative == "." else relative
