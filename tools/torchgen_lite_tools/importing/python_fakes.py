"""The fakes of a Python file, read from its text: nothing is imported, so nothing has to be installed."""

from __future__ import annotations

import ast
import re

from torchgen_lite.diagnostics import Diagnostic, Label, Source
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.kernel_modules import line_span, signature_of
from torchgen_lite_tools.importing.library import Extra, Library

_FAKES = ("register_fake", "impl_abstract")
# Calls that define, implement or fake operators.
_REGISTERS = frozenset({*_FAKES, "custom_op", "triton_op", "register_kernel", "define", "impl"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read_fakes(source: Source, library: Library) -> None:
    """Add the fakes that are registered for names of operators: by decorators, and by calls that pass a function of the
    module. How many other registrations there are is reported."""
    if not re.search(r"\blibrary\b|\b_custom_op", source.text):
        return
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        label = Label(line_span(source, getattr(error, "lineno", None) or 1), "here")
        library.diagnostics.append(Diagnostic("TG601", "this file is not Python", label))
        return
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, _FUNCTIONS)]
    by_name = {one.name: one for one in tree.body if isinstance(one, _FUNCTIONS)}
    decorated = {call: function for function in functions for call in function.decorator_list}
    calls = [one for one in nodes if isinstance(one, ast.Call) and _word(one) in _REGISTERS]
    unread = list[ast.Call]()
    for call in calls:
        name, *passed = [*call.args[:2], None]
        function = decorated.get(call) or (
            by_name.get(ast.unparse(passed[0])) if passed[0] else None
        )
        text = name.value if isinstance(name, ast.Constant) else None
        if _word(call) in _FAKES and function and isinstance(text, str) and "::" in text:
            span = line_span(source, call.lineno)
            library.extras.append(Extra(text, "fake", function.name, signature_of(function), span))
        else:
            unread.append(call)
    library.statements += len(calls)
    if unread:
        label = Label(line_span(source, min(call.lineno for call in unread)), "the first of them")
        message = f"{counted(len(unread), 'registration')} of this Python module not read"
        library.diagnostics.append(Diagnostic("TG612", message, label))


def _word(call: ast.Call) -> str:
    """The last word of the name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
