"""The command group. Each command's module is imported when the command is used, and not before."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec

import click

from torchgen_lite.cli import extras
from torchgen_lite.cli.session import global_options
from torchgen_lite.diagnostics import suggest
from torchgen_lite.loader.sources import blocks_beside
from torchgen_lite.version import __version__

PROGRAM = "torchgen-lite"
# What shells set to ask for completions.
COMPLETE = "_TORCHGEN_LITE_COMPLETE"
TOOLS = "torchgen_lite_tools"


def _commands_of(text: str) -> dict[str, tuple[str, str]]:
    commands = {}
    for line in text.splitlines():
        name, module, help_line = line.split(None, 2)
        commands[name] = module, help_line
    return commands


# The commands in `app.txt` by group: the module and one line of help of each, so that `--help` imports no command.
GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    title: _commands_of(text) for title, text in blocks_beside(__file__).items()
}
COMMANDS: Mapping[str, tuple[str, str]] = {
    name: command for group in GROUPS.values() for name, command in group.items()
}


def _nearest_command(name: str) -> str | None:
    """The command that a word begins, `gen`, or that it is most like."""
    if name.casefold() == "help":
        return f"{PROGRAM} --help"
    begun = [command for command in COMMANDS if command.startswith(name.casefold())]
    if begun and len(name) > 1:
        return begun[0]
    return suggest(name, COMMANDS)


def _of_absent_tools(name: str) -> click.Command:
    """A command of the tools where they are not installed: its help says what it does, and what brings it."""
    needs = f"`{name}` is a command of {extras.TOOLS}"

    def refuse() -> None:
        raise extras.lacks(needs, extras.TOOLS)

    does = COMMANDS[name][1]
    installs = extras.install_command(extras.TOOLS)
    help_ = f"{does}\n\n{needs}, which is not installed.\n\n\b\n{installs}"
    # What the command takes is known to the tools alone.
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        name, callback=refuse, help=help_, short_help=does, context_settings=anything
    )


class LazyGroup(click.Group):
    """A group whose commands live in modules, which are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = COMMANDS[cmd_name][0]
        if home.startswith(TOOLS) and find_spec(TOOLS) is None:
            return _of_absent_tools(cmd_name)
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
            near = _nearest_command(name)
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
    """Generate the code around your PyTorch operators.

    \b
    torchgen-lite init          to start a project
    torchgen-lite generate      after an edit of the schema file
    torchgen-lite check         in CI
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)
    return None
