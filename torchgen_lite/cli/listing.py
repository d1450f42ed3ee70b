"""`list`: facts for people, scripts and build systems."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.pages import columns
from torchgen_lite.cli.session import Session, command, input_options, require
from torchgen_lite.diagnostics import every_code
from torchgen_lite.diagnostics.text import ended
from torchgen_lite.key_tables import CURRENT, registrable_keys
from torchgen_lite.schema.grouped import without_none

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program

KINDS = ("ops", "targets", "keys", "templates", "inputs", "outputs", "codes", "cmake-dir")
Row = dict[str, object]


@command("list", more_formats=("cmake",))
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--format", "format_", type=click.Choice(("text", "json", "cmake")), hidden=True)
@input_options
def list_command(
    session: Session,
    kind: str,
    format_: str | None,
    schema: Sequence[str],
    output_dir: str | None,
    targets: Sequence[str],
    torch: bool,
) -> int:
    """List operators, targets, dispatch keys, templates, inputs, outputs, diagnostic codes, or the
    folder for CMake.

    \b
    torchgen-lite list ops
    torchgen-lite list ops --output-format json
    torchgen-lite list outputs --output-format cmake
    """
    format_ = format_ or session.output_format
    if kind in _STATIC and (schema or output_dir or targets or torch):
        raise click.UsageError(f"`list {kind}` reads no project: give it no option of one.")
    if kind == "ops" and targets and (format_ != "json" or len(targets) > 1):
        raise click.UsageError(
            "`list ops` takes one `--target`, whose registrations are in its JSON."
        )
    if kind in ("ops", "inputs", "outputs"):
        program = session.load(schema, torch=torch, output_dir=output_dir)
        require(program.diagnostics)
        if kind == "ops" and format_ == "json":
            from torchgen_lite.cli.tables.registrations import known_pytorchs, selection_of
            from torchgen_lite.languages.export import export_program
            from torchgen_lite.targets.registered import adds_to_pytorch

            selection = selection_of(program, next(iter(targets), None))
            is_over = adds_to_pytorch(program, selection.policy)
            beneath = known_pytorchs(session.warn, program) if is_over else {}
            kernels = {name: table.kernels for name, table in beneath.items()}
            registered = selection.registrations(program)
            exported = export_program(program, selection.policy.names, registered, kernels)
            click.echo(json.dumps(exported, indent=2))
            return FINE
        if kind == "ops":
            rows = list(list_ops(program))
        elif kind == "inputs":
            from torchgen_lite.cli.plans import build_inputs
            from torchgen_lite.pipeline import unknown_target
            from torchgen_lite.targets import TARGETS

            require([unknown_target(name) for name in targets if name not in TARGETS])
            rows = [{"name": path} for path in build_inputs(program)]
        else:
            from torchgen_lite.cli.plans import output_folder
            from torchgen_lite.emit.plan import Plan
            from torchgen_lite.pipeline import generate_all

            generated = generate_all(program, targets=targets)
            require(generated.diagnostics)
            root, shown = output_folder(program.config)
            plan = Plan(root, (), shown=shown)
            of = generated.target_of
            rows = [{"name": plan.path(path), "target": of[path]} for path in generated.files]
    else:
        rows = list(_STATIC[kind]())
    if format_ == "sarif":
        session.answer("list", "")
    else:
        click.echo(render_rows(kind, rows, format_, session.width), nl=False)
    return FINE


def render_rows(
    kind: str,
    rows: list[Row],
    format_: str,
    width: int = 0,
) -> str:
    """Text: columns of what is said in words; JSON: the rows; CMake: a list variable of the names."""
    if format_ == "json":
        return json.dumps({"version": 1, "kind": kind, kind: rows}, indent=2) + "\n"
    if format_ == "cmake":
        names = "".join(f"\n  {_cmake_text(str(row['name']))}" for row in rows)
        return f"set(TORCHGEN_LITE_{kind.upper().replace('-', '_')}{names}\n)\n"
    words = [_words_of(row) for row in rows]
    return ended(columns(words, width))


def _words_of(row: Row) -> tuple[str, ...]:
    return tuple([cell for cell in row.values() if isinstance(cell, str)])


def _cmake_text(text: str) -> str:
    """A quoted CMake argument: one list item, except what CMake cannot hold (a single `[` or `]`, a
    trailing `\\`).
    """
    return '"' + re.sub(r'[\\"$;]', r"\\\g<0>", text) + '"'


def list_ops(program: Program) -> Iterator[Row]:
    """Every operator: name, kind, and the keys with kernels, including those made from a backend's
    functional variant.
    """
    from torchgen_lite.analysis.derive.copying import copied_entries

    for operator in (*program.resolved.declared, *program.resolved.copying):
        copied = copied_entries(operator.group, operator.function)
        keys = [kernel.key for kernel in (*operator.kernels, *copied)]
        yield {"name": operator.name, "kind": str(operator.kind), "keys": ", ".join(keys)}


def list_targets() -> Iterator[Row]:
    from torchgen_lite.targets import TARGETS

    for target in TARGETS.values():
        options = [
            {
                "name": declared.name,
                "takes": declared.kind.name,
                "default": declared.default,
                "required": declared.is_required,
                "meaning": declared.doc,
            }
            for declared in target.declared_options().values()
        ]
        yield {"name": target.name, "summary": target.summary, "options": options}


def template_files() -> dict[str, Path]:
    """The templates that can be overridden, those of other packages included, by override name."""
    from torchgen_lite.emit.templates import find_templates, template_names
    from torchgen_lite.targets import TARGETS

    packages = without_none(target.template_package() for target in TARGETS.values())
    files = {}
    for folder in (find_templates(), *(package.folder for package in packages)):
        for name in template_names(folder):
            files[name] = folder / name
    return files


_STATIC: dict[str, Callable[[], Iterable[Row]]] = {
    "targets": list_targets,
    # Those that a kernel may be registered for.
    "keys": lambda: (
        {"name": key, "kind": "alias" if key in CURRENT.aliases else "runtime"}
        for key in registrable_keys(CURRENT)
    ),
    "templates": lambda: ({"name": path} for path in template_files()),
    "codes": lambda: (
        {"name": page.code, "severity": page.severity, "title": page.title} for page in every_code()
    ),
    # The folder that `find_package(torchgen_lite)` needs.
    "cmake-dir": lambda: [{"name": (Path(__file__).parents[1] / "cmake").as_posix()}],
}
