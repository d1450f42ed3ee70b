"""What a user may set in `[tool.torchgen_lite.target.cpp-torch-stable]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchgen_lite.languages.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.loader.config.options import TEXT, Kind, Unfit, described
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.options import folder_option

TARGET = "cpp-torch-stable"
_RELEASE = r"([0-9]{1,2})\.([0-9]{1,3})"


def _read_release(value: object) -> Release:
    text = TEXT.read(value)
    match = re.fullmatch(_RELEASE, text, re.ASCII)
    release = (int(match[1]), int(match[2])) if match else (0, 0)
    if release < FIRST_RELEASE:
        raise Unfit(f': `{text}` is not a release such as "2.10"; the first is 2.9')
    return release


@dataclass(frozen=True, slots=True, kw_only=True)
class StableOptions(ModuleOptions):
    folder: str = folder_option(TARGET)
    target_version: Release | None = described(
        Kind("a string", {"type": "string", "pattern": f"^{_RELEASE}$"}, _read_release),
        shown="what the types need",
    )
