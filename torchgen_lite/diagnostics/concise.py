"""One line for each diagnostic, as compilers print them.

native_functions.yaml:14:5: error[TG103] unknown dispatch key 'CPUU' (did you mean 'CPU'?)
"""

from __future__ import annotations

from collections.abc import Iterable

from .model import Diagnostic
from .text import one_line


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics, one on each line; the empty string for none."""
    return "".join(f"{_line(d)}\n" for d in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    place = ""
    if diagnostic.label is not None:
        line, column = diagnostic.start()
        place = f"{diagnostic.path}:{line}:{column}: "
    hint = f" ({diagnostic.help})" if diagnostic.help else ""
    text = f"{diagnostic.message}{hint}".replace("`", "'")
    return one_line(f"{place}{diagnostic.severity}[{diagnostic.code}] {text}")
