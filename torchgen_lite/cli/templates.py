"""`templates export` and `templates check`: overriding what the generator prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.listing import template_files
from torchgen_lite.cli.plans import carry_out
from torchgen_lite.cli.session import EPILOG, Session, command, require, unknown, writing
from torchgen_lite.diagnostics import Diagnostic, did_you_mean, has_errors
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.emit.plan import Change, Plan
from torchgen_lite.emit.render import build_environment, load_template
from torchgen_lite.emit.template_errors import RenderError
from torchgen_lite.emit.templates import template_names, with_api
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all, template_packages
from torchgen_lite.targets import TARGETS


@command("export")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--output-dir",
    "folder",
    default="templates",
    metavar="DIR",
    help="Where to (default: templates).",
)
def export(session: Session, names: Sequence[str], folder: str) -> int:
    """Export built-in templates. Existing files are left alone.

    \b
    torchgen-lite templates export python/register.py.j2 --output-dir overrides
    """
    known = template_files()
    require([unknown("template", name, known) for name in names if name not in known])
    wanted = {name: Path(folder, name) for name in names or known}
    with writing():
        there = [name for name, path in wanted.items() if path.exists()]
        texts = [(n, with_api(known[n].read_text("utf-8"))) for n in wanted if n not in there]
    root = Path(folder)
    changes = [Change(name, "create", None, text) for name, text in texts]
    carry_out(Plan(root, changes, shown=root.as_posix()))
    for name, path in wanted.items():
        session.talk(f"{'exists ' if name in there else 'written'}  {path.as_posix()}")
    exported = f"{counted(len(texts), 'file')} written to {folder}"
    session.talk(f'{exported}; add `template-dirs = ["{folder}"]` to the configuration')
    written = [wanted[name].as_posix() for name, _ in texts]
    session.answer("templates", "", files=[{"path": path, "status": "created"} for path in written])
    return FINE


@command("check", short_help="Check overrides.")
def check(session: Session) -> int:
    """Check overrides: render everything with them, and report files that override nothing.

    \b
    torchgen-lite templates check
    """
    program = session.load()
    generated = generate_all(program)
    diagnostics = [*generated.diagnostics]
    known = template_files()
    root = program.config.root
    folders = program.config.template_dirs
    overrides = [(folder, name) for folder in folders for name in template_names(root / folder)]
    for folder, name in overrides:
        if name not in known:
            message = f"`{folder}/{name}` does not override any template"
            diagnostics.append(Diagnostic("TG502", message, help=did_you_mean(name, known)))
    if not has_errors(diagnostics):
        diagnostics += _check_each(program.config, [name for _, name in overrides if name in known])
    session.report(diagnostics, kind="templates")
    if not diagnostics:
        session.talk(f"{len(known)} templates, {counted(len(overrides), 'override')}, no mistake")
    if has_errors(diagnostics):
        return session.exit_code(diagnostics)
    if diagnostics:
        return ATTENTION
    return FINE


templates_command = click.Group(
    "templates",
    [export, check],
    help="Export built-in templates to override, or check overrides.",
    epilog=EPILOG,
)


def _check_each(config: Config, names: Sequence[str]) -> Iterator[Diagnostic]:
    """Mistakes in overrides of templates that no configured target uses."""
    packages = template_packages(TARGETS)
    for name in dict.fromkeys(names):
        try:
            load_template(build_environment(config.template_folders, packages), name, config.root)
        except RenderError as error:
            yield from error.diagnostics
