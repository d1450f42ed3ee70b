"""Diagnostics: where text went wrong, what about it, and how that is shown.

A diagnostic is a value. Nothing here prints, raises or reads a file; the codes are one table and
each output format is one file with one function.
"""

from __future__ import annotations

from .code import Severity
from .codes import CODES, Code, explain
from .concise import render_concise
from .full import render_full
from .github import render_github
from .json_format import diagnostic_to_json, render_json
from .model import (
    Diagnostic,
    Label,
    Source,
    Span,
    Spans,
    has_errors,
    sort_diagnostics,
)
from .sarif import render_sarif
from .suggest import did_you_mean, suggest

__all__ = [
    "CODES",
    "Code",
    "Diagnostic",
    "Label",
    "Severity",
    "Source",
    "Span",
    "Spans",
    "diagnostic_to_json",
    "did_you_mean",
    "explain",
    "has_errors",
    "render_concise",
    "render_full",
    "render_github",
    "render_json",
    "render_sarif",
    "sort_diagnostics",
    "suggest",
]
