"""ARCHITECTURE.md names what exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_walk_is_short_and_names_files_that_exist() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    walk = page.partition("## The walk\n")[2].partition("\n## ")[0]
    for what, most in (("operator", 11), ("error", 5), ("new field", 8), ("new target", 3)):
        section = walk.partition(f"**One {what}**")[2].partition("\n**One")[0]
        paths = re.findall(r"`([\w/]+/[\w./]+\.(?:py|pyi\.j2|cpp\.j2))`", section)
        assert 0 < len(set(paths)) <= most, what
        for path in paths:
            root = ROOT if path.startswith("templates/") else ROOT / "torchgen_lite"
            assert (root / path).is_file(), path
