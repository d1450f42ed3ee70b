"""A depfile for ninja and CMake: the first output depends on every input.

generated/python/ops/__init__.py: native_functions.yaml templates/python/ops.py.j2 pyproject.toml
"""

from __future__ import annotations

from collections.abc import Iterable


def render_depfile(output: str, inputs: Iterable[str]) -> str:
    """One rule, with characters that are special to make escaped."""
    return f"{_escape(output)}: {' '.join(map(_escape, dict.fromkeys(inputs)))}\n"


def _escape(path: str) -> str:
    return path.replace("\\", "/").replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
