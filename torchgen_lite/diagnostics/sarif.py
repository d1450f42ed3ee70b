"""SARIF 2.1.0, which code-scanning services read."""

from __future__ import annotations

from collections.abc import Sequence

from .code import explain, page_uri, read_code
from .content import content_of
from .model import Diagnostic, Edit, Span

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(diagnostics: Sequence[Diagnostic], *, version: str = "0") -> str:
    """One SARIF log with one run; its rules are the pages of the codes."""
    import json

    used = sorted({d.code for d in diagnostics})
    results = [_result(d, used.index(d.code)) for d in diagnostics]
    driver = {
        "name": "torchgen-lite",
        "version": version,
        "rules": list(map(_rule, used)),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    known = read_code(code)
    return {
        "id": code,
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.explanation},
        "help": {"text": explain(known)},
        "helpUri": page_uri(code),
        "defaultConfiguration": {"level": known.severity},
    }


def _result(diagnostic: Diagnostic, index: int) -> dict[str, object]:
    content = content_of(diagnostic)
    result = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": diagnostic.severity,
        "message": {"text": "\n".join(content.lines)},
        "partialFingerprints": {"torchgenLite/v1": _fingerprint(diagnostic)},
    }
    if diagnostic.label is not None:
        result["locations"] = [_location(diagnostic.label.span)]
    properties = []
    if diagnostic.effect:
        properties.append(("effect", diagnostic.effect))
    if diagnostic.witness:
        properties.append(("witness", diagnostic.witness))
    if properties:
        result["properties"] = dict(properties)
    edit = diagnostic.fix
    if edit is not None:
        result["fixes"] = [_fix(edit, str(diagnostic.help))]
    if content.others:
        result["relatedLocations"] = [
            {"id": number, **_location(label.span), "message": {"text": label.text}}
            for number, label in enumerate(content.others)
        ]
    return result


def _fix(edit: Edit, text: str) -> dict[str, object]:
    replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
    artifact = {"artifactLocation": _artifact(edit.span), "replacements": [replacement]}
    return {"description": {"text": text}, "artifactChanges": [artifact]}


def _location(at: Span) -> dict[str, object]:
    return {"physicalLocation": {"artifactLocation": _artifact(at), "region": _region(at)}}


def _artifact(span: Span) -> dict[str, object]:
    # Imported here, like the two others: all runs import the renderers, but few write SARIF.
    from urllib.parse import quote

    return {"uri": quote(span.source.path)}


def _region(span: Span) -> dict[str, object]:
    line, column = span.source.line_column(span.start)
    end_line, end_column = span.source.line_column(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _fingerprint(diagnostic: Diagnostic) -> str:
    """A hash of code, operator and message, but not of the place: it is stable when lines move."""
    import hashlib

    identity = "\0".join((diagnostic.code, diagnostic.operator, diagnostic.message))
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]
