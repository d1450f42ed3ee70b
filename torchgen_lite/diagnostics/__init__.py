"""Diagnostics: where a mistake is, what it is, and how it is shown.

A diagnostic is a value. Nothing here prints, raises or reads a file; the codes are one table and
each output format is one file with one function.
"""

from __future__ import annotations

from .code import Severity
from .codes import CODES, Code, add_codes, begins_code, explain, is_of_others
from .concise import render_concise
from .fixes import apply_edits, pick_edits
from .full import render_full
from .github import render_github
from .json_format import diagnostic_to_json, render_json
from .model import (
    Diagnostic,
    Edit,
    Label,
    Source,
    Span,
    Suggestion,
    has_errors,
    sort_diagnostics,
)
from .sarif import render_sarif
from .suggest import did_you_mean, meant, suggest, write_instead

__all__ = [
    "CODES",
    "Code",
    "Diagnostic",
    "Edit",
    "Label",
    "Severity",
    "Source",
    "Span",
    "Suggestion",
    "add_codes",
    "begins_code",
    "apply_edits",
    "diagnostic_to_json",
    "did_you_mean",
    "explain",
    "has_errors",
    "is_of_others",
    "meant",
    "pick_edits",
    "render_concise",
    "render_full",
    "render_github",
    "render_json",
    "render_sarif",
    "sort_diagnostics",
    "suggest",
    "write_instead",
]
