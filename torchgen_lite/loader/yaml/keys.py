"""What is known of keys by their text alone, to those that read nodes and to those that find mistakes."""

from __future__ import annotations

import re

# A key whose colon has no space behind it: `CPU:kernel`.
GLUED = re.compile(r"(?P<key>\w[\w, ]*):(?!:)(?=\S)")
# The fields of prose, which may go on behind any word: no other language of the files has a `#`.
PROSE = frozenset({"doc", "desc"})
