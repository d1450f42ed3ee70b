"""PyTorch's tags, for files that come without a tags.yaml: the lines of `known_tags.txt`."""

from __future__ import annotations

from torchgen_lite.loader.sources import lines_beside
from torchgen_lite.loader.versions import parse_version

_ROWS = [line.split(" ", 2) for line in lines_beside(__file__)]

KNOWN_TAGS = {name: meaning for name, _, meaning in _ROWS}
TAGS_SINCE = {name: parse_version(since) for name, since, _ in _ROWS if since != "-"}
"""The release that added each of these tags; 2.6 already has all others."""
