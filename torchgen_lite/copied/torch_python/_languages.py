"""What kernels say that they are written in."""

from __future__ import annotations

from collections.abc import Callable


def missing(language: str, needed: str, package: str) -> Callable[[Exception], str]:
    """What to say where a module of kernels cannot be imported, which needs another one: of which package that is."""

    def said(error: Exception) -> str:
        name = error.name if isinstance(error, ModuleNotFoundError) else None
        if name is None or not f"{needed}.".startswith(f"{name}."):
            return str(error)
        return f"it is written in {language}, which is not installed: `pip install {package}`"

    return said
