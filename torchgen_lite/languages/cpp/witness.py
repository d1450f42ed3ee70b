"""A call that shows a change, as a line of C++: `lib::functions::f(at::ones({2, 2}), 0);`."""

from __future__ import annotations

from torchgen_lite.analysis.comparison.witness import Given
from torchgen_lite.formulas import model as nodes
from torchgen_lite.languages.cpp.signature import CppParameter, CppSignature
from torchgen_lite.languages.cpp.text import function_name
from torchgen_lite.languages.cpp.types import bare

_WORDS = {"True": "true", "False": "false", "None": "::std::nullopt"}


def line(namespace: str, signature: CppSignature, given: list[Given]) -> str:
    """The call with these arguments, and with the defaults of those before them."""
    values = {argument.argument.name: argument.value for argument in given}
    passed: list[str] = []
    count = 0
    for parameter in signature.parameters:
        passed.append(_passed(parameter, values.get(parameter.name)))
        if parameter.name in values or parameter.default is None:
            count = len(passed)
    listed = ", ".join(passed[:count])
    return f"{namespace}::functions::{function_name(signature.name)}({listed});"


def _passed(parameter: CppParameter, value: nodes.Expression | None) -> str:
    """The value, if C++ has it; the default, or one of the class as it is made from nothing."""
    text = ""
    is_made = isinstance(value, nodes.Call)
    if value is not None and (not is_made or "at::Tensor" in str(parameter.type)):
        text = _written(value)
    return text or str(parameter.default or f"{bare(parameter.type)}()")


def _written(node: nodes.Expression) -> str:
    """A literal, a list of literals or `at::ones({2})`; empty for any other value."""
    match node:
        case nodes.Literal(text):
            return text
        case nodes.Unary(operator, operand):
            return f"{operator}{_written(operand)}"
        case nodes.Name(text):
            return _WORDS.get(text, "")
        case nodes.ListDisplay(items):
            return f"{{{', '.join(map(_written, items))}}}"
        case nodes.Call(nodes.Name("ones"), arguments):
            return f"at::ones({{{', '.join(map(_written, arguments))}}})"
    return ""
