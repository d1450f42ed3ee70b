"""The signature of a Python function, read from its source."""

from __future__ import annotations

import ast
from typing import NamedTuple


class PythonSignature(NamedTuple):
    """The parameters of a function, and where it is.

    `defaults` is how many of the positional ones have a default; `by_keyword` gives each keyword-only
    parameter and whether it has one. `positional_only` are the first ones, which keywords can't name.
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
    """The signature that a `def` has."""
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
