"""What docs/cli.md shows is what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.blocks import PAGES, blocks
from tests.conftest import Result
from torchgen_lite.cli.app import COMMANDS

PAGE = PAGES["cli"]


def test_every_command_is_documented() -> None:
    assert [name for name in COMMANDS if not re.search(rf"^\| `{name}\b", PAGE, re.M)] == []


def test_the_examples(run: Callable[..., Result], project: Path) -> None:
    old, new = blocks(PAGE, "yaml")
    (project / "native_functions.yaml").write_text(old)
    for arguments in ("init -q -b main", "add .", "-c commit.gpgsign=false commit -q -m one"):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
        subprocess.run(["git", *identity, *arguments.split()], cwd=project, check=True)
    (project / "native_functions.yaml").write_text(new)
    for block in blocks(PAGE, "console"):
        command, _, output = block.partition("\n")
        if "templates check" in command:
            config = project / "torchgen_lite.toml"
            config.write_text('template-dirs = ["mine"]\n' + config.read_text())
        result = run(*shlex.split(command.removeprefix("$ torchgen-lite ")))
        assert result.stdout + result.stderr == output, command
