"""The namespace of operators that the build gives, and what does not follow it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.program import Program
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES, NativeFunction
from torchgen_lite.targets.options import home_namespace
from torchgen_lite.targets.output import Findings, wrong_option


def check_given_namespace(
    program: Program, target: str, option: str, functions: Sequence[NativeFunction]
) -> Findings:
    """TG545: what keeps its namespace, so that two builds of the library cannot be loaded together."""
    home = home_namespace(functions)
    if home in TORCH_NAMESPACES:
        message = f"`{option}` gives a namespace to no operator: all are PyTorch's"
        yield wrong_option(program.config, target, option, message)
        return
    for function in functions:
        if function.namespace not in (home, *TORCH_NAMESPACES):
            message = (
                f"`{function.name}` keeps its namespace: the build gives that of `{home}` alone"
            )
            hint = f"declare it in `{home}`, or leave it out with `skip`"
            yield finding(function, "TG545", message, None, "in another namespace", hint)
        yield from _check_reference(function, home)


def _check_reference(function: NativeFunction, home: str) -> Findings:
    reference = function.samples.reference if function.samples is not None else None
    if reference is None:
        return
    for expression in (reference.tree, *[value for _, value, _ in reference.let]):
        for name in _names_of_operators(expression, home):
            message = f"the reference of `{function.name}` calls `{name}`, whose namespace the build gives"
            hint = "write the reference with functions of PyTorch, or name a function that calls `_namespace.ops`"
            yield finding(function, "TG545", message, reference.span, "in this expression", hint)


def _names_of_operators(expression: ast.expr, home: str) -> Iterator[str]:
    """`torch.ops.mylib.f`, for each operator of the namespace that an expression names."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == f"torch.ops.{home}":
            yield ast.unparse(node)
