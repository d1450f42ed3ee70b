"""One line for each diagnostic, as compilers print them.

native_functions.yaml:14:5: error[TG103] unknown dispatch key 'CPUU': not a key (did you mean 'CPU'?)
"""

from __future__ import annotations

from collections.abc import Iterable

from .content import content_of, place
from .model import Diagnostic
from .text import ended, one_line


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics, one on each line; the empty string for none."""
    return ended(map(_line, diagnostics))


def _line(diagnostic: Diagnostic) -> str:
    headline, more = content_of(diagnostic).in_two
    where = f"{place(diagnostic.label.span)}: " if diagnostic.label is not None else ""
    text = (f"{headline} ({more})" if more else headline).replace("`", "'")
    return one_line(f"{where}{diagnostic.severity}[{diagnostic.code}] {text}")
