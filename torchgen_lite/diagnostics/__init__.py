"""Diagnostics: where text went wrong, what about it, and how that is shown.

A diagnostic is a value. Nothing here prints, raises or reads a file; the codes are one table and
each output format is one file with one function.
"""

from __future__ import annotations

from torchgen_lite.diagnostics.code import Severity
from torchgen_lite.diagnostics.codes import CODES, Code, explain
from torchgen_lite.diagnostics.concise import render_concise
from torchgen_lite.diagnostics.full import render_full
from torchgen_lite.diagnostics.github import render_github
from torchgen_lite.diagnostics.json_format import diagnostic_to_json, render_json
from torchgen_lite.diagnostics.model import (
    Diagnostic,
    Label,
    Source,
    Span,
    has_errors,
    sort_diagnostics,
)
from torchgen_lite.diagnostics.sarif import render_sarif
from torchgen_lite.diagnostics.suggest import did_you_mean, suggest

__all__ = [
    "CODES",
    "Code",
    "Diagnostic",
    "Label",
    "Severity",
    "Source",
    "Span",
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
