"""The JSON form of diagnostics, version 1: fields may be added within a version, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .model import Diagnostic, Edit, has_errors

JSON_VERSION = 1


def diagnostic_to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """One diagnostic as JSON data; `path`, `start` and `end` are null without a place."""
    data: dict[str, object] = {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "help": diagnostic.help and str(diagnostic.help),
        "notes": list(diagnostic.notes),
        "path": diagnostic.path or None,
        "start": None,
        "end": None,
        "operator": diagnostic.operator or None,
        "effect": diagnostic.effect or None,
        "fix": _fix(diagnostic.fix),
        "related": [
            {
                "message": label.text,
                "path": label.span.source.path,
                "start": _position(label.span.source.line_column(label.span.start)),
                "end": _position(label.span.source.line_column(label.span.end)),
            }
            for label in diagnostic.secondary
        ],
    }
    if diagnostic.label is not None:
        data["start"] = _position(diagnostic.start())
        data["end"] = _position(diagnostic.end())
        data["label"] = diagnostic.label.text
    return data


def _fix(edit: Edit | None) -> dict[str, object] | None:
    """An edit: a place, and the text that replaces the text there."""
    if edit is None:
        return None
    source, start, end = edit.span
    return {
        "path": source.path,
        "start": _position(source.line_column(start)),
        "end": _position(source.line_column(end)),
        "text": edit.text,
    }


def _position(line_column: tuple[int, int]) -> dict[str, int]:
    return {"line": line_column[0], "column": line_column[1]}


def json_document(
    diagnostics: Sequence[Diagnostic],
    *,
    kind: str = "lint",
    ok: bool | None = None,
    summary: Mapping[str, int] | None = None,
    extra: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """The whole object that `--output-format json` prints; `extra` adds fields such as `files`."""
    errors = sum(d.severity == "error" for d in diagnostics)
    return {
        "version": JSON_VERSION,
        "kind": kind,
        "ok": not has_errors(diagnostics) if ok is None else ok,
        "summary": {
            "errors": errors,
            "warnings": len(diagnostics) - errors,
            **(summary or {}),
        },
        **(extra or {}),
        "diagnostics": [diagnostic_to_json(d) for d in diagnostics],
    }


def render_json(diagnostics: Sequence[Diagnostic], *, kind: str = "lint") -> str:
    """`json_document` as text."""
    return json.dumps(json_document(diagnostics, kind=kind), indent=2) + "\n"


def json_format_schema() -> dict[str, object]:
    """The JSON Schema (Draft-07) of the JSON output."""
    position = {
        "type": ["object", "null"],
        "required": ["line", "column"],
        "properties": {
            "line": {"type": "integer", "minimum": 1},
            "column": {"type": "integer", "minimum": 1},
        },
    }
    text_or_null = {"type": ["string", "null"]}
    fix = {
        "type": ["object", "null"],
        "required": ["path", "start", "end", "text"],
        "properties": {
            "path": {"type": "string"},
            "start": position,
            "end": position,
            "text": {"type": "string"},
        },
    }
    related = {
        "type": "object",
        "required": ["message", "path", "start", "end"],
        "properties": {
            "message": {"type": "string"},
            "path": {"type": "string"},
            "start": position,
            "end": position,
        },
    }
    diagnostic = {
        "type": "object",
        "required": ["code", "severity", "message", "path", "start", "end"],
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{2,8}[0-9]{3}$"},
            "severity": {"enum": ["error", "warning"]},
            "message": {"type": "string"},
            "label": {"type": "string"},
            "help": text_or_null,
            "notes": {"type": "array", "items": {"type": "string"}},
            "path": text_or_null,
            "start": position,
            "end": position,
            "operator": text_or_null,
            "effect": {"enum": ["breaks callers", "changes results", "may change", None]},
            "fix": fix,
            "related": {"type": "array", "items": related},
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
            **{
                name: {"type": "array", "items": {"type": "object"}}
                for name in ("files", "operators", "calls", "codes", "changes")
            },
            "diagnostics": {"type": "array", "items": diagnostic},
        },
    }
