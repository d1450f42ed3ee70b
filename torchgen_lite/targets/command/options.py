"""What a user may set in `[tool.torchgen_lite.target.command]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.loader.config.options import matching, number, option, table_of
from torchgen_lite.targets.options import COMMAND, folder_option

TARGET = "command"
_NAME = matching(r"[A-Za-z0-9_][A-Za-z0-9_-]*", "is not the name of a folder")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOptions:
    programs: Mapping[str, str] = option(
        'Commands by the name of the folder of their files: `perl = "perl tools/bindings.pl"`. Each gets the operators as '
        "JSON and gives files; it runs only if the environment has `TORCHGEN_LITE_RUN_FORMAT=1`.",
        table_of(COMMAND, key=_NAME),
        {},
    )
    folder: str = folder_option(TARGET, others=(".",))
    seconds: int = option("How long a program may run.", number(1, 3600), 60)
