"""The signature of a Python function, read from its source."""

from __future__ import annotations

import ast
from typing import NamedTuple


class PythonSignature(NamedTuple):
    """The parameters of a function, and its line.

    `defaults` counts the positional parameters that have a default. `by_keyword` has each
    keyword-only parameter and whether it has a default. `positional_only` counts the first
    parameters that keywords can't name.
    """

    name: str
    line: int
    positional: tuple[str, ...]
    defaults: int = 0
    by_keyword: tuple[tuple[str, bool], ...] = ()
    takes_more: bool = False
    takes_keywords: bool = False
    positional_only: int = 0

    @property
    def required(self) -> tuple[str, ...]:
        """Positional parameters without a default."""
        return self.positional[: len(self.positional) - self.defaults]


def read_python_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> PythonSignature:
    """The signature of a `def`."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    keywords = tuple(
        (argument.arg, default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
    )
    return PythonSignature(
        node.name,
        node.lineno,
        tuple(argument.arg for argument in positional),
        len(arguments.defaults),
        keywords,
        arguments.vararg is not None,
        arguments.kwarg is not None,
        len(arguments.posonlyargs),
    )
