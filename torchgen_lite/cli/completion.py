"""`completion SHELL`: a script for the shell to source."""

from __future__ import annotations

import click

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.session import Session, command


@command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion_command(session: Session, shell: str) -> int:
    """Print a completion script for a shell.

    \b
    torchgen-lite completion bash > ~/.local/share/bash-completion/completions/torchgen-lite
    """
    from click.shell_completion import get_completion_class

    from torchgen_lite.cli.app import COMPLETE, PROGRAM, cli

    kind = get_completion_class(shell)
    assert kind is not None  # click has one for each of the choices.
    # The class asks the shell for its version only to complete, not to print the script.
    script = kind(cli, {}, PROGRAM, COMPLETE)
    click.echo(script.source_template % script.source_vars())
    return FINE
