"""The command group. Each command's module is imported when the command is used, and not before."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec

import click

from torchgen_lite.cli import extras
from torchgen_lite.cli.session import global_options
from torchgen_lite.diagnostics import suggest
from torchgen_lite.version import __version__

PROGRAM = "torchgen-lite"
# What shells set to ask for completions.
COMPLETE = "_TORCHGEN_LITE_COMPLETE"
TOOLS = "torchgen_lite_tools"
# By group: name, module and one line of help, so that `--help` imports no command. Modules are in `torchgen_lite.cli`, but
# for those of the distribution `torchgen-lite-tools`.
GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Daily use": {
        "generate": ("generate", "Write the generated code."),
        "check": ("generate", "Check that generated code is up to date."),
        "diff": ("generate", "Show what `generate` would change, as a patch."),
        "lint": ("lint", "Report mistakes in the schema files."),
        "fmt": ("fmt", "Format the schema files."),
        "kernels": ("kernels", "List the kernels to write; `--missing` writes stubs."),
    },
    "Review": {
        "review": ("review", "Summarize a change on one page, for a pull request."),
        "breaking": ("breaking", "List incompatible changes since another version."),
    },
    "Inspect": {
        "table": ("tables.commands", "Show the computed dispatch table of an operator, or of all."),
        "why": ("tables.commands", "Show why a call with these keys runs that kernel."),
        "list": ("listing", "List operators, targets, keys, templates, outputs or codes."),
        "explain": ("explain", "Explain a diagnostic code, with examples."),
    },
    "Backends": {
        "coverage": (f"{TOOLS}.backends.coverage", "Show how much of PyTorch a backend covers."),
        "upgrade": (f"{TOOLS}.backends.upgrade", "Show what a new PyTorch changes for a backend."),
        "add": (f"{TOOLS}.backends.add", "Copy entries from PyTorch, for kernels of a backend."),
    },
    "Migration": {
        "prove": (
            f"{TOOLS}.importing.prove",
            "Compare kernels and fakes of a library with its schemas.",
        ),
        "import": (f"{TOOLS}.importing.command", "Turn an existing library into a schema file."),
        "adopt": (f"{TOOLS}.importing.adopt", "Move a library in C++ to generated registrations."),
    },
    "Setup": {
        "init": ("init", "Start a project in this folder."),
        "lsp": (f"{TOOLS}.lsp.command", "Run the language server, for editors."),
        "templates": ("templates", "Export templates to override, or check overrides."),
        "schema": ("json_schema", "Print the JSON Schema of the YAML, for editors."),
        "completion": ("completion", "Print a completion script for a shell."),
    },
}
COMMANDS: Mapping[str, tuple[str, str]] = {
    name: command for group in GROUPS.values() for name, command in group.items()
}


class LazyGroup(click.Group):
    """A group whose commands live in modules, which are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = COMMANDS[cmd_name][0]
        if home.startswith(TOOLS) and find_spec(TOOLS) is None:
            if ctx.resilient_parsing:
                # A shell asks for names.
                return click.Command(cmd_name, short_help=COMMANDS[cmd_name][1])
            raise extras.lacks(f"`{cmd_name}` is a command of {extras.TOOLS}", extras.TOOLS)
        module = importlib.import_module(
            home if home.startswith(TOOLS) else f"torchgen_lite.cli.{home}"
        )
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            near = suggest(name, COMMANDS)
            hint = f" Did you mean `{near}`?" if near else ""
            raise click.UsageError(f"No such command `{name}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands first: the options are common to every command and rarely needed here."""
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{n:{width}}", help_) for n, (_, help_) in commands.items()])
        click.Command.format_options(self, ctx, formatter)


@click.group(
    cls=LazyGroup,
    params=global_options(),
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", prog_name=PROGRAM)
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Generate operator bindings from native_functions.yaml.

    \b
    torchgen-lite init          to start a project
    torchgen-lite generate      after an edit of the schema file
    torchgen-lite check         in CI
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)
    return None
