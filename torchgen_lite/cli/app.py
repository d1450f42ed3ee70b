"""The command group. Each command's module is imported when the command is used, and not before."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

from torchgen_lite.cli.session import global_options
from torchgen_lite.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

# Name, module and one line of help; the help of the whole is shown without importing any of them.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "generate": ("generate", "Write the outputs."),
    "check": ("generate", "Is everything up to date? Writes nothing."),
    "diff": ("generate", "What `generate` would change, as a patch."),
    "lint": ("lint", "Diagnostics of the schema files."),
    "fmt": ("fmt", "Canonical form of the schema files."),
    "breaking": ("breaking", "Incompatible changes since another version."),
    "add": ("backends.add", "Entries of PyTorch, for kernels of a backend."),
    "coverage": ("backends.coverage", "What a backend has of the operators of PyTorch."),
    "upgrade": ("backends.upgrade", "What a new PyTorch changes for a backend."),
    "import": ("importing", "Turn an existing library into a schema file."),
    "kernels": ("kernels", "The kernels to write; `--missing` begins them."),
    "list": ("listing", "Operators, targets, keys, templates, outputs, codes."),
    "table": (
        "tables.commands",
        "The computed dispatch table of an operator, or of all as a page.",
    ),
    "why": ("tables.commands", "Why a call with these keys runs that kernel."),
    "explain": ("explain", "The long text of a diagnostic code."),
    "schema": ("json_schema", "JSON Schema of the YAML, for editors."),
    "templates": ("templates", "Export templates to override, or check overrides."),
    "init": ("init", "Start a project in this folder."),
    "completion": ("completion", "Completion script for a shell."),
}


class LazyGroup(click.Group):
    """A group whose commands live in modules of `torchgen_lite.cli`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"torchgen_lite.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise click.UsageError(f"No such command `{name}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@global_options
@click.version_option(__version__, "--version", prog_name="torchgen-lite")
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Generate operator bindings from native_functions.yaml.

    \b
    torchgen-lite generate      after an edit of native_functions.yaml
    torchgen-lite check         in CI
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)
    return None
