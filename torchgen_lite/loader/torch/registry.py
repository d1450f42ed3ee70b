"""What a loaded PyTorch has registered: the lines of its dumps."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_LINE = re.compile(r"^(?P<key>\w+)(?:\[alias\])?: (?P<debug>.*) :: .* \[ (?P<how>[\w ]+) \]$")


class Registered(NamedTuple):
    """An operator's kernel: where it was registered, and whether calls pass through it."""

    key: str
    place: str
    is_fallthrough: bool


def registered_kernels(torch: Any, name: str) -> tuple[Registered, ...]:
    """The kernels of an operator, read from `torch._C._dispatch_dump`."""
    matches = (_LINE.match(line) for line in torch._C._dispatch_dump(name).splitlines())
    return tuple(
        Registered(match["key"], match["debug"], "fallthrough" in match["how"])
        for match in matches
        if match
    )
