"""Where the built-in templates are."""

from __future__ import annotations

from pathlib import Path


def find_templates() -> Path:
    """Inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent / "templates"
