"""`table` and `why`: computed dispatch tables and the rules behind them, without importing a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchgen_lite.cli.exit_codes import CANNOT_RUN, FINE
from torchgen_lite.cli.lint import counted
from torchgen_lite.cli.session import Session, global_options
from torchgen_lite.diagnostics import Diagnostic, has_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchgen_lite.cli.tables.explain import Registrations

_SCHEMA = click.option(
    "--schema", multiple=True, metavar="PATH", help="Schema file, instead of the configured."
)
_TORCH = click.option("--torch", is_flag=True, help="What the installed PyTorch has registered.")
_TARGET = click.option(
    "--target",
    metavar="NAME",
    help="What this target registers (default: the first that is configured).",
)
_IMPORT = click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="With --torch: import this first, which registers operators of yours; repeatable.",
)


@click.command("table")
@click.argument("operator", required=False)
@click.option("--key", "keys", multiple=True, metavar="KEY", help="Only this slot; repeatable.")
@click.option("--html", metavar="FILE", help="Write all operators, or one, as a page.")
@_SCHEMA
@_TARGET
@_TORCH
@_IMPORT
@global_options
@click.pass_obj
def table_command(
    session: Session,
    operator: str | None,
    keys: tuple[str, ...],
    html: str | None,
    schema: tuple[str, ...],
    target: str | None,
    torch: bool,
    modules: tuple[str, ...],
) -> int:
    """The computed dispatch table of an operator: which kernel serves each key, by which rule.

    Backend fallbacks, which no schema file names, are PyTorch's where the target is for PyTorch, and those
    that its framework says it has for target `python`.

    \b
    torchgen-lite table aten::add.Tensor
    torchgen-lite table add.Tensor --key CPU --key AutogradCPU
    torchgen-lite table --html tables.html
    """
    if operator is None and html is None:
        raise click.UsageError("`table` needs an operator, or --html for all of them.")
    found = _registrations(session, operator, schema, target, torch, modules)
    if isinstance(found, int):
        return found
    if html is not None:
        from torchgen_lite.cli.tables.html import render_html
        from torchgen_lite.emit.write import replace_file

        title = operator or ("operators of PyTorch" if torch else "operators")
        page = _explained(found, lambda: render_html(found, title))
        try:
            replace_file(Path(html), page)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            session.report([Diagnostic("TG009", f"cannot write `{html}`: {reason}")], kind="table")
            return CANNOT_RUN
        session.talk(f"wrote {html}: {counted(len(found), 'operator')}")
        return FINE
    from torchgen_lite.cli.tables.explain import render_table

    click.echo(
        _explained(found, lambda: "".join(render_table(one, keys) for one in found)), nl=False
    )
    return FINE


@click.command("why")
@click.argument("operator")
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@_SCHEMA
@_TARGET
@_TORCH
@_IMPORT
@global_options
@click.pass_obj
def why_command(
    session: Session,
    operator: str,
    keys: tuple[str, ...],
    schema: tuple[str, ...],
    target: str | None,
    torch: bool,
    modules: tuple[str, ...],
) -> int:
    """Why a call whose arguments have these keys runs that kernel, rule by rule.

    \b
    torchgen-lite why add.Tensor CPU AutogradCPU
    torchgen-lite why add.Tensor Meta --torch
    torchgen-lite why mylib::muladd CPU --torch --import mylib
    """
    found = _registrations(session, operator, schema, target, torch, modules)
    if isinstance(found, int):
        return found
    from torchgen_lite.cli.tables.explain import render_why, why

    text = _explained(found, lambda: "".join(render_why(one, why(one, keys)) for one in found))
    click.echo(text, nl=False)
    return FINE


def _explained(found: list[Registrations], render: Callable[[], str]) -> str:
    """A name of a key that does not exist is a mistake in the command, with a hint."""
    try:
        return render()
    except ValueError as error:
        from torchgen_lite.diagnostics import did_you_mean
        from torchgen_lite.key_tables import registrable_keys

        name = str(error).rpartition(" ")[2]
        hint = did_you_mean(name, registrable_keys(found[0].keys))
        raise click.UsageError(f"{error}{f'; {hint}' if hint else ''}") from None


def _registrations(
    session: Session,
    operator: str | None,
    schema: tuple[str, ...],
    target: str | None,
    torch: bool,
    modules: tuple[str, ...],
) -> list[Registrations] | int:
    """The operators asked for, or the exit code of a schema that does not load."""
    from torchgen_lite.cli.tables.registrations import (
        registrations_of_program,
        registrations_of_torch,
        select_operators,
        why_absent,
    )

    if modules and not torch:
        raise click.UsageError("`--import` is for `--torch`: schema files say all by themselves.")
    if torch:
        try:
            every = list(registrations_of_torch(modules=modules))
        except ModuleNotFoundError:
            raise click.UsageError("PyTorch is not installed.") from None
        except ImportError as error:
            raise click.UsageError(str(error)) from None
        return every if operator is None else _of_name(every, operator, lambda name: "")
    program = session.load(schema=schema or None)
    if has_errors(program.diagnostics):
        session.report(program.diagnostics, kind="table")
        return session.exit_code(program.diagnostics)
    selection = select_operators(program, target, is_foreign=bool(schema))
    if has_errors(selection.diagnostics):
        session.report(selection.diagnostics, kind="table")
        return session.exit_code(selection.diagnostics)
    session.talk(f"registrations of {selection.policy.speaks_of}")
    every = list(registrations_of_program(program, selection))
    if operator is None:
        return every
    return _of_name(every, operator, lambda name: why_absent(program, selection, name))


def _of_name(
    every: list[Registrations], operator: str, why_absent: Callable[[str], str]
) -> list[Registrations]:
    """`aten::add.Tensor`, or without the namespace; `add.default` is `add`."""
    wanted = operator.removesuffix(".default")
    exact = [one for one in every if wanted in (one.name, one.name.partition("::")[2])]
    if exact:
        return [one for one in exact if one.name.startswith("aten::")] or exact
    if reason := why_absent(wanted):
        raise click.UsageError(reason)
    overloads = [one.name for one in every if _base(one.name) in (wanted, f"aten::{wanted}")]
    if overloads:
        raise click.UsageError(f"`{operator}` has several overloads: {', '.join(overloads)}")
    from torchgen_lite.diagnostics import did_you_mean

    names = [one.name for one in every]
    if "::" not in operator:
        names = [name.partition("::")[2] for name in names]
    hint = did_you_mean(operator, names)
    raise click.UsageError(f"No operator `{operator}`{f'; {hint}' if hint else ''}")


def _base(name: str) -> str:
    return name.partition(".")[0]
