"""What the worker of the playground calls: a request gives an answer, both as JSON.

This is `lint`, `generate`, `table` and `why` of the command line, for a project of one schema file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.native import read_native
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.tables.explain import render_table, render_why, why
from torchgen_lite.diagnostics import Diagnostic, Source, Span, content_of
from torchgen_lite.emit.render import Rendered
from torchgen_lite.loader.config import Config
from torchgen_lite.pipeline import generate_all, lint, read_program
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.registered import registrations_of_program, select_operators

SCHEMA = "ops.yaml"
# The entries of PyTorch's operators that the example of a backend refers to.
NATIVE = "aten.yaml"
OPTIONS = {"cpp-runtime": {"tensor": "toy::Tensor", "headers": ["toy/tensor.h"]}}
UNKNOWN = """\
{name} is an operator of PyTorch: its own kernels decide, too, which are known where torch is installed.
In your project run

    torchgen-lite table {name}
    torchgen-lite why {name} PrivateUse1 AutogradPrivateUse1
"""


def targets() -> str:
    """The targets, with a line about each."""
    return json.dumps([[name, target.summary] for name, target in TARGETS.items()])


class Playground:
    """One project; it keeps what is the same in the next answer."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        self.native = read_native(NATIVE, self.root)
        self.rendered = Rendered()

    def answer(self, request: str) -> str:
        """`{text, target, view, operator, keys}` gives diagnostics and, by the view, files or a table."""
        asked = json.loads(request)
        target = asked["target"]
        config = Config(
            self.root,
            self.root / "torchgen_lite.toml",
            schema=(SCHEMA,),
            targets=(target,),
            native=NATIVE,
            target_options=OPTIONS,
        )
        text = asked["text"]
        program = lint(read_program(config, [Source(SCHEMA, text)], self.native))
        done = generate_all(program, rendered=self.rendered)
        said = {"diagnostics": [_said(one, text) for one in done.diagnostics]}
        if asked["view"] == "files":
            return json.dumps({**said, "files": dict(done.files)})
        return json.dumps({**said, **_dispatch(program, target, asked["operator"], asked["keys"])})


def _said(one: Diagnostic, text: str) -> dict[str, Any]:
    """A diagnostic with its place in the schema file, and the edit that it suggests."""
    content = content_of(one)
    label = one.label.span if one.label else None
    place = label if label and label.source.path == SCHEMA else None
    return {
        "code": one.code,
        "severity": one.severity,
        "message": content.headline,
        "remarks": [f"{word}: {text}" for word, text in content.remarks],
        "line": place.line if place else None,
        "span": _units(place, text) if place else None,
        "fix": [*_units(one.fix.span, text), one.fix.text] if one.fix else None,
    }


def _units(span: Span, text: str) -> list[int]:
    """Where a span is for JavaScript, which counts in units of UTF-16."""
    return [len(text[:at].encode("utf-16-le")) // 2 for at in (span.start, span.end)]


def _dispatch(program: Program, target: str, operator: str, keys: list[str]) -> dict[str, Any]:
    """The operators; the table of one of them, and why a call with these keys runs what it runs."""
    if program.has_errors:
        return {"operators": []}
    selection = select_operators(program, target if TARGETS[target].selector else None)
    every = {one.name: one for one in registrations_of_program(program, selection, {})}
    if not every:
        return {"operators": []}
    chosen = every.get(operator, next(iter(every.values())))
    found = {"operators": list(every), "operator": chosen.name, "whose": selection.policy.speaks_of}
    if selection.policy.in_pytorch and chosen.name.partition("::")[0] in TORCH_NAMESPACES:
        return {**found, "table": UNKNOWN.format(name=chosen.name), "why": ""}
    return {
        **found,
        "table": render_table(chosen),
        "why": render_why(chosen, why(chosen, keys)),
    }
