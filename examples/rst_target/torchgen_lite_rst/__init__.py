"""A target of its own: the reference of a schema's operators in reStructuredText."""

from dataclasses import dataclass
from typing import NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.loader.config.options import TEXT, option
from torchgen_lite.targets.output import OutputFile, Target, TargetResult


@dataclass(frozen=True)
class RstOptions:
    """Options of the target: what `[target.rst]` of a configuration may say."""

    title: str = option("The title of the reference.", TEXT, "Operators")
    file: str = option("The file, below the output folder.", TEXT, "operators.rst")


def build(program: Program, options: RstOptions) -> TargetResult:
    """One file, and a warning for each operator of which it has little to say."""
    operators = program.resolved.declared
    context = {"title": options.title, "operators": [view(operator) for operator in operators]}
    found = [undocumented(operator) for operator in operators if not operator.function.doc]
    return TargetResult([OutputFile(options.file, "rst/operators.rst.j2", context)], tuple(found))


class View(NamedTuple):
    """What the template prints of an operator."""

    name: str
    schema: str
    doc: str
    facts: list[tuple[str, str]]


def view(operator: Operator) -> View:
    kernels = ", ".join(f"``{kernel.kernel}`` ({kernel.key})" for kernel in operator.kernels)
    facts = [("Kernels", kernels), ("Tags", ", ".join(operator.tags))]
    doc = (operator.function.doc or "").strip()
    return View(operator.name, str(operator.schema), doc, [fact for fact in facts if fact[1]])


def undocumented(operator: Operator) -> Diagnostic:
    """RST001 at the operator's name."""
    span = operator.schema.name_span
    label = Label(span, "no `doc:`") if span else None
    return Diagnostic("RST001", f"`{operator.name}` has no description", label)


TARGET = Target(
    "rst",
    "a reference of the operators in reStructuredText",
    "torchgen_lite_rst:build",
    "torchgen_lite_rst:RstOptions",
    templates="torchgen_lite_rst",
)
