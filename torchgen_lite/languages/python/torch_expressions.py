"""Expressions of `fake:` and `samples:` in Python with torch.

    broadcast(a, b)            _support.broadcast(a, b)
    float32                    torch.float32
    (randn(3, 4).t(), dim=0)   torch.randn(3, 4).t(), dim=0
    {eps: 1e-3}                {"eps": 0.001}
    reference: torch.exp(x)    lambda x: torch.exp(x)

`analysis` has checked every name; this module only writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from torchgen_lite.formulas.model import (
    Call,
    Expression,
    Literal,
    Member,
    Name,
    called_name,
    children,
    rebuild,
)
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python import torch_library
from torchgen_lite.languages.python.formula import write
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Parameter
from torchgen_lite.languages.text import literal, quote
from torchgen_lite.loader.samples import Sample, Settings
from torchgen_lite.schema import Argument, FunctionSchema

TORCH = Name("torch")
_WORDS = {"true": "True", "false": "False"}
_PYTHON = frozenset({"True", "False", "None"})


def method_call(
    value: Expression, name: str, *arguments: Expression, **keywords: Expression | None
) -> Call:
    """`x.new_empty(shape, dtype=...)`, or `torch.empty(...)` on `TORCH`; keywords that are None are
    left out."""
    given = tuple((k, v) for k, v in keywords.items() if v is not None)
    return Call(Member(value, name), arguments, given)


def in_rule(node: Expression, values: Mapping[str, str]) -> Expression:
    """An expression of `fake:`; `values` maps arguments to their names in Python."""
    return _in_torch(node, values, lambda name: f"_support.{_SUPPORT.get(name, name)}")


def call_arguments(schema: FunctionSchema, sample: Sample) -> str:
    """The arguments of a call: by position as far as there are values, and then by name."""
    positional = [a.name for a in schema.positional]
    values = dict(zip(positional, sample.arguments)) | dict(sample.keywords)
    items: list[str] = []
    for name in positional:
        if name not in values:
            break
        items.append(_in_sample(values.pop(name)))
    for name, value in values.items():
        items.append(f"{identifier(name)}={_in_sample(value)}")
    return ", ".join(items)


def dictionary(settings: Settings) -> str:
    """Settings as a dictionary."""
    items = [
        f"{quote(name)}: {f'torch.{value}' if isinstance(value, str) else literal(value)}"
        for name, value in settings
    ]
    return f"{{{', '.join(items)}}}"


def reference(schema: FunctionSchema, text: str) -> str:
    """A function of the operator's arguments, which is an expression."""
    parameters = python.parameters(schema, _parameter)
    return f"lambda {', '.join(map(str, parameters))}: {text}"


def _parameter(argument: Argument) -> Parameter:
    default = torch_library.default_text(argument, torch_library.received_default)
    return Parameter(identifier(argument.name), default=default)


def _in_sample(node: Expression) -> str:
    return write(_in_torch(node, {}, lambda name: f"torch.{name}"))


def _in_torch(
    node: Expression, values: Mapping[str, str], function: Callable[[str], str]
) -> Expression:
    """The tree with constants qualified (`torch.float32`), and functions by `function`."""
    if isinstance(node, Name):
        if node.text in values:
            return Name(values[node.text])
        word = _WORDS.get(node.text, node.text)
        return Literal(word) if word in _PYTHON else Member(TORCH, word)
    if isinstance(node, Literal):
        return Literal(_literal(node.text))
    if isinstance(node, Call) and isinstance(node.function, Member):
        name = node.function.name
        node = replace(node, function=replace(node.function, name=_METHODS.get(name, name)))
    called = called_name(node)
    if isinstance(node, Call) and called is not None:
        node = replace(node, function=Name(function(called)))
    return rebuild(node, [_in_torch(child, values, function) for child in children(node)])


def _literal(text: str) -> str:
    """A number or a string; `1.` is written as `1.0`."""
    if text[0] in "\"'":
        return literal(text[1:-1])
    return literal(int(text)) if text.isdigit() else literal(float(text))


# Methods with another name in Python.
_METHODS = {"sym_size": "size"}
# Helpers for functions whose names are Python built-ins.
_SUPPORT = {"len": "length", "max": "sym_max", "min": "sym_min"}
