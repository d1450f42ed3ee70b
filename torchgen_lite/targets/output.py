"""What a target gives to `emit`: which template makes which file, from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file: its path below the output directory, its template, and the names the template may use."""

    path: str
    template: str
    context: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TargetResult:
    """The files of a target, not yet rendered, and what it found wrong."""

    files: tuple[OutputFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """An output family. `build` is a pure function of the program and the target's options."""

    name: str
    summary: str
    build: Callable[[Program, Mapping[str, object]], TargetResult]
