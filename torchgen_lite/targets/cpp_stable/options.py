"""What a user may set in `[tool.torchgen_lite.target.cpp-torch-stable]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from torchgen_lite.dialects.stable import FIRST_RELEASE, Release
from torchgen_lite.targets.cpp.options import (
    LibraryOptions,
    load_library_options,
)
from torchgen_lite.targets.options import OptionError, check_known, text_option, texts_option

TARGET = "cpp-torch-stable"
KNOWN_OPTIONS = (
    *(f.name.replace("_", "-") for f in fields(LibraryOptions)),
    "target-version",
    "skip",
)
_RELEASE = re.compile(r"([0-9]{1,2})\.([0-9]{1,3})", re.ASCII)


@dataclass(frozen=True, slots=True)
class StableOptions:
    """Options of the target.

    `library`: those of every library. `skip`: operators that the target leaves out.
    `target_version`: the oldest libtorch that the library runs with; None for what its types need.
    """

    library: LibraryOptions
    target_version: Release | None = None
    skip: tuple[str, ...] = ()


def load_options(values: Mapping[str, object]) -> StableOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    check_known(values, TARGET, KNOWN_OPTIONS)
    library = load_library_options(values, TARGET)
    return StableOptions(library, _release(values), texts_option(values, "skip"))


def _release(values: Mapping[str, object]) -> Release | None:
    if "target-version" not in values:
        return None
    text = text_option(values, "target-version", "")
    match = _RELEASE.fullmatch(text)
    release = (int(match[1]), int(match[2])) if match else (0, 0)
    if release < FIRST_RELEASE:
        message = f'`target-version`: `{text}` is no release such as "2.10"; the first is 2.9'
        raise OptionError("target-version", message)
    return release
