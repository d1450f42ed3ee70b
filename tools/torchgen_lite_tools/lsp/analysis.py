"""What is known about a project while its files are being edited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic, Source, Span
from torchgen_lite.loader.config.project import Config, load_config
from torchgen_lite.pipeline import lint, lint_targets, load

# How an entry begins in a file that no configuration names; other YAML files are ignored.
_ENTRY = re.compile(r"(?m)^- +(?:func|\"func\")\s*:")


@dataclass(frozen=True)
class Analysis:
    """A program built from possibly unsaved texts, and what was found about it."""

    root: Path
    program: Program
    diagnostics: tuple[Diagnostic, ...]

    def path_of(self, source: Source) -> Path:
        return self.root / source.path

    def defined_at(self, name: str) -> Span | None:
        """Where a Python module defines a kernel, a fake or another function that entries name."""
        return next(filter(None, [index.place(name) for index in self.program.indexes]), None)


def project_of(path: Path) -> Path:
    """The configuration that names a schema file, or else the file itself. Files with the same
    result are analyzed together.
    """
    config, _ = load_config(path.parent)
    if config.path is not None and _names(config, path):
        return config.path
    return path


def _names(config: Config, path: Path) -> bool:
    """Whether the configuration names a schema file."""
    return any(path == (config.root / name).resolve() for name in config.schema)


def analyze(path: Path, texts: Mapping[Path, str]) -> Analysis | None:
    """Everything about the project of a schema file, or None for other files.

    `texts` override files on disk. No code of the project runs: modules are not imported and
    templates not rendered.
    """
    config, problems = load_config(path.parent)
    is_named = _names(config, path)
    if is_named and config.path is not None:
        program = lint(load(config=config, texts=texts))
        return Analysis(config.root, program, (*problems, *lint_targets(program)))
    if not is_named and not _ENTRY.search(texts.get(path, "")):
        return None
    program = lint(load(path, config=config, texts=texts))
    return Analysis(config.root, program, program.diagnostics)


def find_operator(analysis: Analysis, name: str, beside: str) -> Operator | None:
    """The operator with this name; the namespace of the surrounding entry may be omitted."""
    namespace = beside.rpartition("::")[0] or analysis.program.config.namespace
    resolved = analysis.program.resolved
    if namespace and "::" not in name:
        whole = f"{namespace}::{name}"
    else:
        whole = name
    return resolved.find(whole) or resolved.find(name)
