"""Programs that make files, in any language: each gets the export as JSON, and gives `{path: text}` and findings.

Note [Programs as targets]
A command in a configuration is code of whoever wrote the configuration. So the target only says what is to be run; the
pipeline runs it where files are made, and only where the environment says so (`emit/programs.py`). `lint` runs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.export import export_program
from torchgen_lite.targets.command.options import TARGET, CommandOptions
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.output import AskedProgram, Findings, TargetResult, wrong_option

_CODES = {"error": "TG564", "warning": "TG565"}


def build_command(program: Program, options: CommandOptions) -> TargetResult:
    """The programs that the options name."""
    # The programs are for the operators of the project, and for a file of others there are none.
    if not options.programs and program.config.operators == "project":
        message = "`programs` names no command"
        help_ = 'write `programs = {perl = "perl tools/bindings.pl"}`'
        return TargetResult(
            diagnostics=[wrong_option(program.config, TARGET, "programs", message, help_)]
        )
    return TargetResult(programs=list(_asked(program, options)))


def _asked(program: Program, options: CommandOptions) -> Iterator[AskedProgram]:
    within = "" if options.folder == "." else f"{options.folder}/"
    for name, command in options.programs.items():
        yield AskedProgram(
            name,
            command,
            f"{within}{name}",
            options.seconds,
            partial(_export, program, name),
            partial(_findings, program, name),
        )


def _export(program: Program, name: str) -> Mapping[str, object]:
    """What a program is told: the export, with what all targets of the project register."""
    selection = generation_of(program).asked(None)
    registered = [] if selection.diagnostics else selection.registrations(program)
    exported = export_program(program, selection.policy.names, registered)
    return {**exported, "program": name}


def _findings(program: Program, name: str, objects: Sequence[Mapping[str, str]]) -> Findings:
    """Diagnostics of what a program found, at the operators that it names, or at a field of them."""
    for answer in objects:
        code = _CODES[answer["severity"]]
        message = f"{name}: {answer['message']}"
        help_ = answer.get("help") or None
        operator = program.resolved.by_name.get(answer.get("op", ""))
        if operator is None:
            yield Diagnostic(code, message, help=help_)
            continue
        place = operator.function.place(answer.get("field", ""))
        yield finding(operator.function, code, message, place, "here", help_)
