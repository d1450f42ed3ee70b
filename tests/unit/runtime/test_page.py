"""The program of docs/runtime.md runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "runtime.md"


def test_every_block_of_the_page_runs() -> None:
    """In a separate process, since the page registers fallbacks for every operator of its process."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.S | re.M)
    assert len(blocks) == PAGE.read_text("utf-8").count("\n```\n") == 10
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:Warning only once", "-c", "".join(blocks)],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
