"""`generate --watch`: generate again whenever a file that the outputs depend on is saved."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.extras import lacks
from torchgen_lite.cli.session import Refused, Session
from torchgen_lite.cli.signals import raise_again
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.emit.templates import template_names

# Editors save a file in several steps, all within this time.
_QUIET_MS = 5
_LONGEST_MS = 200
# How long a change made between a run and the start of watching may go unnoticed.
_FIRST_LOOK_MS = 300
# A run, which passes on each program that it loads.
Generate = Callable[[Callable[[Program], None]], int]


def watch(session: Session, generate: Generate) -> NoReturn:
    """Run `generate` now and after each save, until a signal. It reports each program it loads.

    If a run finds mistakes, it shows the diagnostics and keeps the last good output.
    """
    if not session.is_text:
        message = "`--watch` never ends, so it has text output only: `full` or `concise`."
        raise click.UsageError(message)
    if find_spec("watchfiles") is None:
        raise lacks("`--watch` needs the package watchfiles", "torchgen-lite[watch]")
    try:
        _watch(session, generate)
    except KeyboardInterrupt:
        raise_again()


def _watch(session: Session, generate: Generate) -> NoReturn:
    from watchfiles import watch as wait_for_changes

    files: set[Path] = set()
    _run(session, generate, files)
    seen = _stamps(files)
    while True:
        folders = _folders(files)
        is_told = False
        for changes in wait_for_changes(
            *folders,
            watch_filter=lambda _, path: Path(path) in files or path.endswith(".j2"),
            debounce=_LONGEST_MS,
            step=_QUIET_MS,
            rust_timeout=_FIRST_LOOK_MS,
            yield_on_timeout=True,
            recursive=False,
        ):
            now = _stamps(files)
            if now != seen or any(Path(path) not in files for _, path in changes):
                _run(session, generate, files)
                seen = {**_stamps(files), **now}
                is_told = False
            if _folders(files) != folders:
                break
            if not is_told:
                session.talk(f"watching {counted(len(files), 'file')}; Ctrl-C ends it")
                is_told = True


def _stamps(files: Collection[Path]) -> dict[Path, tuple[int, ...]]:
    """Stamps that tell saves apart: one may come between a run and the start of watching."""
    stamps: dict[Path, tuple[int, ...]] = {}
    for path in files:
        with suppress(OSError):
            stat = path.stat()
            stamps[path] = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    return stamps


def _folders(files: Collection[Path]) -> list[Path]:
    return sorted({path.parent for path in files if path.parent.is_dir()})


def _run(session: Session, generate: Generate, files: set[Path]) -> None:
    """One run. If it fails, watch the files that it read and those of the last run."""
    try:
        generate(lambda program: files.update(inputs_of(program)))
    except Refused as refused:
        session.report(refused.diagnostics, kind="generate")
    # Garbage collection is off during a run; here there is time for it.
    gc.collect()


def inputs_of(program: Program) -> Iterator[Path]:
    """The files that a program is read from, missing ones too, and the project's templates."""
    config = program.config
    names: list[str | Path] = [config.path or "torchgen_lite.toml", *config.schema, config.native]
    names += [source.path for source in program.sources]
    names += [module.source.path for index in program.indexes for module in index.modules]
    for folder in config.template_dirs:
        names += [Path(folder, name) for name in template_names(config.root / folder)]
        # So that its folders are watched for new files.
        names += [Path(root, "any.j2") for root, _, _ in os.walk(config.root / folder)]
    for name in names:
        if name:
            yield (config.root / name).resolve()
