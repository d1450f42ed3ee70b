"""Diagnostics: where a mistake is, what it is, and how it is shown.

A diagnostic is a value, and nothing here prints. A code is a page of Markdown; nothing else is read but the JSON
Schema of the JSON output. Each output format is one file with one function, over the parts that `content_of` gives.
"""

from __future__ import annotations

# `X as X` exports it (PEP 484).
from .code import Code as Code
from .code import begins_code as begins_code
from .code import code_names as code_names
from .code import documentation as documentation
from .code import every_code as every_code
from .code import explain as explain
from .code import find_page as find_page
from .code import is_of_others as is_of_others
from .code import page_uri as page_uri
from .code import read_code as read_code
from .concise import render_concise as render_concise
from .content import Content as Content
from .content import content_of as content_of
from .full import colored as colored
from .full import plain as plain
from .full import render_full as render_full
from .full import sum_up as sum_up
from .github import render_github as render_github
from .json_format import render_json as render_json
from .model import Diagnostic as Diagnostic
from .model import Diagnostics as Diagnostics
from .model import Edit as Edit
from .model import Help as Help
from .model import Label as Label
from .model import Locate as Locate
from .model import Source as Source
from .model import Span as Span
from .model import Suggestion as Suggestion
from .model import apply_edits as apply_edits
from .model import errors_among as errors_among
from .model import has_errors as has_errors
from .model import not_compared as not_compared
from .model import pick_edits as pick_edits
from .model import placed_at as placed_at
from .model import sort_diagnostics as sort_diagnostics
from .sarif import render_sarif as render_sarif
from .suggest import did_you_mean as did_you_mean
from .suggest import meant as meant
from .suggest import misspelled as misspelled
from .suggest import suggest as suggest
from .suggest import write_instead as write_instead
