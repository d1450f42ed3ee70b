"""`templates export` and `templates check`: overriding what the generator prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchgen_lite.cli.exit_codes import ATTENTION, CANNOT_RUN, FINE
from torchgen_lite.cli.listing import template_files
from torchgen_lite.cli.session import Session, global_options, writing
from torchgen_lite.diagnostics import Diagnostic, did_you_mean, has_errors

if TYPE_CHECKING:
    from torchgen_lite.loader.config import Config


@click.group("templates")
def templates_command() -> None:
    """Copy built-in templates to override them, or check overrides."""


@templates_command.command("export")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--to", "folder", default="templates", metavar="DIR", help="Where to (templates).")
@global_options
@click.pass_obj
def export(session: Session, names: tuple[str, ...], folder: str) -> int:
    """Copy built-in templates; files that exist are left alone.

    \b
    torchgen-lite templates export python/register.py.j2 --to overrides
    """
    known = template_files()
    unknown = [name for name in names if name not in known]
    if unknown:
        found = [
            Diagnostic("TG012", f"unknown template `{name}`", help=did_you_mean(name, known))
            for name in unknown
        ]
        session.report(found, kind="templates")
        return CANNOT_RUN
    written: list[str] = []
    for name in names or known:
        destination = Path(folder, name)
        if destination.exists():
            session.talk(f"exists    {destination.as_posix()}")
            continue
        with writing(destination.as_posix()):
            destination.parent.mkdir(parents=True, exist_ok=True)
            destination.write_bytes(known[name].read_bytes())
        session.talk(f"exported  {destination.as_posix()}")
        written.append(destination.as_posix())
    session.talk(
        f'{len(written)} exported; add `template-dirs = ["{folder}"]` to the configuration'
    )
    session.answer("templates", "", files=[{"path": path, "status": "created"} for path in written])
    return FINE


@templates_command.command("check")
@global_options
@click.pass_obj
def check(session: Session) -> int:
    """Render everything with the configured overrides, and look for files that override nothing.

    \b
    torchgen-lite templates check
    """
    from torchgen_lite.pipeline import generate_all

    program = session.load()
    generated = generate_all(program)
    found = [*generated.diagnostics]
    known = template_files()
    overrides = list(_overrides(program.config))
    for folder, name in overrides:
        if name not in known:
            message = f"`{folder}/{name}` overrides no template"
            found.append(Diagnostic("TG502", message, help=did_you_mean(name, known)))
    if not has_errors(found):
        found += _check_each(program.config, [name for _, name in overrides if name in known])
    session.report(found, kind="templates")
    if not found:
        session.talk(f"{len(known)} templates, every override renders")
    return session.exit_code(found) if has_errors(found) else (ATTENTION if found else FINE)


def _overrides(config: Config) -> Iterator[tuple[str, str]]:
    """Folder and name of each template in the configured folders."""
    from torchgen_lite.emit.templates import template_names

    for folder in config.template_dirs:
        for name in template_names(config.root / folder):
            yield folder, name


def _check_each(config: Config, names: Sequence[str]) -> Iterator[Diagnostic]:
    """What is wrong with overrides of templates that the configured targets do not use."""
    from torchgen_lite.emit.render import RenderError, build_environment, load_template
    from torchgen_lite.pipeline import template_packages
    from torchgen_lite.targets import TARGETS

    folders = tuple(str(config.root / folder) for folder in config.template_dirs)
    packages = template_packages(TARGETS)
    for name in dict.fromkeys(names):
        try:
            load_template(build_environment(folders, packages), name, config.root)
        except RenderError as error:
            yield error.diagnostic
