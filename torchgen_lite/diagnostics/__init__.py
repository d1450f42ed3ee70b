"""Diagnostics: where a mistake is, what it is, and how it is shown.

A diagnostic is a value, and nothing here prints. A code is a page of Markdown, the only kind of file that
is read. Each output format is one file with one function, over the parts that `content_of` gives.
"""

from __future__ import annotations

from .code import (
    Code,
    Severity,
    begins_code,
    code_names,
    every_code,
    explain,
    find_page,
    is_of_others,
    page_uri,
    read_code,
)
from .concise import render_concise
from .content import Content, content_of
from .full import colored, plain, render_full
from .github import render_github
from .json_format import diagnostic_to_json, render_json
from .model import (
    Diagnostic,
    Edit,
    Help,
    Label,
    Source,
    Span,
    Suggestion,
    apply_edits,
    has_errors,
    pick_edits,
    sort_diagnostics,
)
from .sarif import render_sarif
from .suggest import did_you_mean, meant, suggest, write_instead

__all__ = [
    "Code",
    "Content",
    "Diagnostic",
    "Edit",
    "Help",
    "Label",
    "Severity",
    "Source",
    "Span",
    "Suggestion",
    "apply_edits",
    "begins_code",
    "code_names",
    "colored",
    "content_of",
    "diagnostic_to_json",
    "did_you_mean",
    "every_code",
    "explain",
    "find_page",
    "has_errors",
    "is_of_others",
    "meant",
    "page_uri",
    "pick_edits",
    "plain",
    "read_code",
    "render_concise",
    "render_full",
    "render_github",
    "render_json",
    "render_sarif",
    "sort_diagnostics",
    "suggest",
    "write_instead",
]
