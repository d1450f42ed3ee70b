"""docs/commands.md, the options of each command, is made from the commands: `UPDATE_EXPECT=1` writes it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from tests.conftest import ROOT
from tests.expected import expect
from torchgen_lite.cli.app import GROUPS, PROGRAM, cli
from torchgen_lite.cli.session import global_options

PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands and options

What `torchgen-lite COMMAND --help` prints, of all commands. [The command line](cli.md) shows them at work, with their
exit codes. This page is made from the commands: `UPDATE_EXPECT=1 pytest tests/repo/test_commands_page.py`.
"""


def page() -> str:
    context = click.Context(cli, info_name=PROGRAM)
    lines = [HEAD, "## Options of every command", "", *table(options_of(global_command()))]
    for title, commands in GROUPS.items():
        lines += ["", f"## {title}"]
        for name in commands:
            command = cli.get_command(context, name)
            assert command is not None
            lines += ["", *section(command, name, context)]
    return "\n".join(lines) + "\n"


def global_command() -> click.Command:
    return click.Command(None, params=global_options())


def section(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"### `{name}`", "", "```text", usage, "```", *prose(command.help or ""))
    if isinstance(command, click.Group):
        for child_name, child in command.commands.items():
            yield from ("", *section(child, f"{name} {child_name}".strip(), parent))
    own = [option for option in options_of(command) if option.get_help_record(context)]
    if own:
        yield from ("", *table(own))


def options_of(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option) and not one.hidden]


def prose(help: str) -> Iterator[str]:
    r"""The help as Markdown: paragraphs after `\b` are shown as they are."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(help.partition("\f")[0])):
        if part.startswith("\b"):
            part = "\n".join(("```text", *part.splitlines()[1:], "```"))
        yield from ("", part)


def table(options: list[click.Option]) -> Iterator[str]:
    yield from ("| option | what it does |", "|---|---|")
    context = click.Context(click.Command("x"))
    for option in options:
        record = option.get_help_record(context)
        assert record is not None
        name, text = (part.replace("|", "\\|") for part in record)
        yield f"| `{name}` | {text} |"


def test_the_page_is_what_the_commands_say() -> None:
    expect(PAGE, page())
