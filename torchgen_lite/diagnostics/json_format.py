"""The JSON form of diagnostics, version 1: fields may be added within a version, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .model import Diagnostic, Span, errors_among

JSON_VERSION = 1


def diagnostic_to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """One diagnostic as JSON data; `path`, `start` and `end` are null without a place."""
    data: dict[str, object] = {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "help": diagnostic.way_on or None,
        "notes": list(diagnostic.notes),
        "path": diagnostic.path or None,
        "start": None,
        "end": None,
        "operator": diagnostic.operator or None,
        "effect": diagnostic.effect or None,
        "witness": diagnostic.witness or None,
        "fix": None,
        "related": [
            {"message": label.text, **_place(label.span)} for label in diagnostic.secondary
        ],
    }
    if diagnostic.label is not None:
        data |= {**_place(diagnostic.label.span), "label": diagnostic.label.text}
    if diagnostic.fix is not None:
        data["fix"] = {**_place(diagnostic.fix.span), "text": diagnostic.fix.text}
    return data


def _place(span: Span) -> dict[str, object]:
    names = ("line", "column")
    source, start, end = span
    return {
        "path": source.path,
        "start": dict(zip(names, source.line_column(start))),
        "end": dict(zip(names, source.line_column(end))),
    }


def render_json(
    diagnostics: Sequence[Diagnostic],
    *,
    kind: str = "lint",
    ok: bool | None = None,
    summary: Mapping[str, int] | None = None,
    extra: Mapping[str, object] | None = None,
) -> str:
    """The whole object that `--output-format json` prints; `extra` adds fields such as `files`."""
    errors = len(errors_among(diagnostics))
    document = {
        "version": JSON_VERSION,
        "kind": kind,
        "ok": not errors if ok is None else ok,
        "summary": {"errors": errors, "warnings": len(diagnostics) - errors, **(summary or {})},
        **(extra or {}),
        "diagnostics": list(map(diagnostic_to_json, diagnostics)),
    }
    return json.dumps(document, indent=2) + "\n"


def json_format_schema() -> Any:
    """The JSON Schema (Draft-07) of the JSON output; it is the same for every project, so it is a file."""
    return json.loads(Path(__file__).with_suffix(".schema.json").read_text("utf-8"))
