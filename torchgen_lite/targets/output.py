"""What a target gives to `emit`: which template makes which file, from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.config import locate_option
from torchgen_lite.targets.options import OptionError

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file: its path below the output directory, its template, and the names the template may use.

    `is_marked` is False for the rare file whose format has no room for our header (`py.typed`, whose text a
    type checker compares); such a file is not ours to change or delete once it differs.
    """

    path: str
    template: str
    context: Mapping[str, object]
    is_marked: bool = True


@dataclass(frozen=True, slots=True)
class TargetResult:
    """The files of a target, not yet rendered, and what it found wrong."""

    files: tuple[OutputFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """An output family: its name, what it is, and the function that builds it, as `module:function`.

    The module is imported when the target is built, so that a run pays for what it generates.
    """

    name: str
    summary: str
    builder: str

    def build(self, program: Program, options: Mapping[str, object]) -> TargetResult:
        """The files of the target: a pure function of the program and the target's options.

        A builder raises `OptionError` for an option that is wrong.
        """
        module, _, function = self.builder.partition(":")
        build: Callable[[Program, Mapping[str, object]], TargetResult] = getattr(
            import_module(module), function
        )
        try:
            return build(program, options)
        except OptionError as error:
            place = locate_option(program.config, f"target.{self.name}", error.option)
            problem = Diagnostic("TG510", str(error), place, help=error.help)
            return TargetResult(diagnostics=(problem,))
