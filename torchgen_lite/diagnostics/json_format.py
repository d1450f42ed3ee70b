"""The JSON form of diagnostics, version 1: fields may be added within a version, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .model import Diagnostic, Span, has_errors

JSON_VERSION = 1
_EFFECTS = ("breaks callers", "changes results", "breaks promises", "may change")


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
        "fix": None,
        "related": [{"message": one.text, **_place(one.span)} for one in diagnostic.secondary],
    }
    if diagnostic.label is not None:
        data |= {**_place(diagnostic.label.span), "label": diagnostic.label.text}
    if diagnostic.fix is not None:
        data["fix"] = {**_place(diagnostic.fix.span), "text": diagnostic.fix.text}
    return data


def _place(span: Span) -> dict[str, object]:
    source, *offsets = span
    positions = [dict(zip(("line", "column"), source.line_column(at))) for at in offsets]
    return {"path": source.path, "start": positions[0], "end": positions[1]}


def render_json(
    diagnostics: Sequence[Diagnostic],
    *,
    kind: str = "lint",
    ok: bool | None = None,
    summary: Mapping[str, int] | None = None,
    extra: Mapping[str, object] | None = None,
) -> str:
    """The whole object that `--output-format json` prints; `extra` adds fields such as `files`."""
    errors = sum(d.severity == "error" for d in diagnostics)
    document = {
        "version": JSON_VERSION,
        "kind": kind,
        "ok": not has_errors(diagnostics) if ok is None else ok,
        "summary": {"errors": errors, "warnings": len(diagnostics) - errors, **(summary or {})},
        **(extra or {}),
        "diagnostics": [diagnostic_to_json(d) for d in diagnostics],
    }
    return json.dumps(document, indent=2) + "\n"


def json_format_schema() -> dict[str, object]:
    """The JSON Schema (Draft-07) of the JSON output."""
    text, number = {"type": "string"}, {"type": "integer", "minimum": 1}
    text_or_null = {"type": ["string", "null"]}
    position = _object({"line": number, "column": number}) | {"type": ["object", "null"]}
    place = {"path": text, "start": position, "end": position}
    fix = _object({**place, "text": text}) | {"type": ["object", "null"]}
    objects = {"type": "array", "items": {"type": "object"}}
    diagnostic = {
        "type": "object",
        "required": ["code", "severity", "message", "path", "start", "end"],
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{2,8}[0-9]{3}$"},
            "severity": {"enum": ["error", "warning"]},
            "message": text,
            "label": text,
            "help": text_or_null,
            "notes": {"type": "array", "items": text},
            "path": text_or_null,
            "start": position,
            "end": position,
            "operator": text_or_null,
            "effect": {"enum": [*_EFFECTS, None]},
            "fix": fix,
            "related": {"type": "array", "items": _object({"message": text, **place})},
        },
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "torchgen-lite output",
        "type": "object",
        "required": ["version", "kind", "ok", "summary", "diagnostics"],
        "properties": {
            "version": {"const": JSON_VERSION},
            "kind": {"type": "string"},
            "ok": {"type": "boolean"},
            "summary": {"type": "object", "additionalProperties": {"type": "integer"}},
            **dict.fromkeys(("files", "operators", "calls", "codes", "changes"), objects),
            "diagnostics": {"type": "array", "items": diagnostic},
        },
    }


def _object(properties: dict[str, object]) -> dict[str, object]:
    """An object that has all of these properties."""
    return {"type": "object", "required": list(properties), "properties": properties}
