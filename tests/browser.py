"""A page as Chromium shows it: what programs see of it, and a picture."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"]
DARK = "--force-dark-mode"
_skip = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def in_a_browser(test: Callable[..., None]) -> Callable[..., None]:
    """A test that is run where there is Chromium, on one Python."""
    return pytest.mark.tools(_skip(test))


def show(address: str, *flags: str) -> str:
    """The page after its scripts have run, as HTML. With `--screenshot=FILE` there is a PNG of it, too."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, "--dump-dom", *flags, address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


def assert_picture(path: Path) -> None:
    """A PNG with something on it."""
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000
