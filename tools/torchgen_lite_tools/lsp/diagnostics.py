"""Diagnostics in the form of the protocol, and the edits that they suggest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from torchgen_lite.diagnostics import Diagnostic, Edit, Span, content_of, page_uri, pick_edits
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.places import Units, range_of

_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}
_BEGINNING = types.Range(types.Position(0, 0), types.Position(0, 0))


def publish(analysis: Analysis, about: Path, units: Units) -> dict[Path, list[types.Diagnostic]]:
    """The diagnostics of each file; those without a place go to the start of the file `about`."""
    by_file: dict[Path, list[types.Diagnostic]] = {about: []}
    for diagnostic in analysis.diagnostics:
        if diagnostic.label:
            path = analysis.path_of(diagnostic.label.span.source).resolve()
        else:
            path = about
        by_file.setdefault(path, []).append(_converted(diagnostic, analysis, units))
    return by_file


def location(analysis: Analysis, span: Span, units: Units) -> types.Location:
    return types.Location(analysis.path_of(span.source).as_uri(), range_of(span, units))


def _converted(diagnostic: Diagnostic, analysis: Analysis, units: Units) -> types.Diagnostic:
    """A diagnostic whose message includes the label, help and notes that a terminal shows."""
    content = content_of(diagnostic)
    related = []
    for other in content.others:
        if analysis.path_of(other.span.source).is_absolute():
            related.append(
                types.DiagnosticRelatedInformation(
                    location(analysis, other.span, units), other.text
                )
            )
    return types.Diagnostic(
        range_of(diagnostic.label.span, units) if diagnostic.label else _BEGINNING,
        "\n".join(content.lines),
        _SEVERITY[diagnostic.severity],
        diagnostic.code,
        types.CodeDescription(page_uri(diagnostic.code)),
        source="torchgen-lite",
        related_information=related or None,
    )


def code_actions(
    analysis: Analysis, path: Path, within: types.Range, units: Units
) -> list[types.CodeAction]:
    """The suggestions for a range of a file, and one action that applies the file's safe ones."""
    fixable = []
    for d in analysis.diagnostics:
        if d.fix and analysis.path_of(d.fix.span.source).resolve() == path:
            fixable.append(d)
    actions = []
    for diagnostic in fixable:
        at = range_of(diagnostic.label.span, units) if diagnostic.label else _BEGINNING
        if diagnostic.fix is not None and at.start <= within.end and within.start <= at.end:
            actions.append(
                types.CodeAction(
                    f"{diagnostic.code}: {str(diagnostic.help).removesuffix('?')}",
                    types.CodeActionKind.QuickFix,
                    [_converted(diagnostic, analysis, units)],
                    is_preferred=True,
                    edit=workspace_edit(analysis, [diagnostic.fix], units),
                )
            )
    safe = [diagnostic.safe_fix for diagnostic in fixable]
    shown = next((edit.span.source.path for edit in safe if edit is not None), None)
    if shown is not None:
        edits = pick_edits(safe, shown)
        actions.append(
            types.CodeAction(
                "torchgen-lite: apply every safe suggestion",
                types.CodeActionKind.SourceFixAll,
                edit=workspace_edit(analysis, edits, units),
            )
        )
    return actions


def workspace_edit(analysis: Analysis, edits: Sequence[Edit], units: Units) -> types.WorkspaceEdit:
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        uri = analysis.path_of(edit.span.source).as_uri()
        at = range_of(edit.span, units)
        changes.setdefault(uri, []).append(types.TextEdit(at, edit.text))
    return types.WorkspaceEdit(changes)
