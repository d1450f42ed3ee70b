"""Expressions of `fake:` and `samples:` in Python with torch.

    broadcast(a, b)            _support.broadcast(a, b)
    float32                    torch.float32
    (randn(3, 4).t(), dim=0)   torch.randn(3, 4).t(), dim=0

`analysis` has checked every name; this module only writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from torchgen_lite.formulas import model as nodes
from torchgen_lite.languages.python.formula import write
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import literal
from torchgen_lite.loader.entry.samples import Sample
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import names_of

TORCH = nodes.Name("torch")
_WORDS = {"true": "True", "false": "False"}
_PYTHON = frozenset({"True", "False", "None"})


def method_call(
    value: nodes.Expression,
    name: str,
    *arguments: nodes.Expression,
    **keywords: nodes.Expression | None,
) -> nodes.Call:
    """`x.new_empty(shape, dtype=...)`, or `torch.empty(...)` on `TORCH`; keywords that are None are
    left out."""
    given = tuple((k, v) for k, v in keywords.items() if v is not None)
    return nodes.Call(nodes.Member(value, name), arguments, given)


def in_rule(node: nodes.Expression, values: Mapping[str, str]) -> nodes.Expression:
    """An expression of `fake:`; `values` maps arguments to their names in Python."""
    return _in_torch(node, values, lambda name: f"_support.{_SUPPORT.get(name, name)}")


def call_arguments(schema: FunctionSchema, sample: Sample) -> str:
    """The arguments of a call: by position as far as there are values, and then by name."""
    positional = names_of(schema.positional)
    values = dict(zip(positional, sample.arguments)) | dict(sample.keywords)
    items: list[str] = []
    for name in positional:
        if name not in values:
            break
        items.append(in_sample(values.pop(name)))
    for name, value in values.items():
        items.append(f"{identifier(name)}={in_sample(value)}")
    return ", ".join(items)


def in_sample(node: nodes.Expression) -> str:
    """A value of `samples:`: `torch.ones(2)`."""
    return write(_in_torch(node, {}, lambda name: f"torch.{name}"))


def _in_torch(
    node: nodes.Expression,
    values: Mapping[str, str],
    function: Callable[[str], str],
) -> nodes.Expression:
    """The tree with constants qualified (`torch.float32`), and functions by `function`."""
    if isinstance(node, nodes.Name):
        if node.text in values:
            return nodes.Name(values[node.text])
        word = _WORDS.get(node.text, node.text)
        if word in _PYTHON:
            return nodes.Literal(word)
        return nodes.Member(TORCH, word)
    if isinstance(node, nodes.Literal):
        return nodes.Literal(_literal(node.text))
    if isinstance(node, nodes.Call) and isinstance(node.function, nodes.Member):
        name = node.function.name
        node = replace(node, function=replace(node.function, name=_METHODS.get(name, name)))
    called = nodes.called_name(node)
    if isinstance(node, nodes.Call) and called is not None:
        node = replace(node, function=nodes.Name(function(called)))
    return nodes.rebuild(
        node, [_in_torch(child, values, function) for child in nodes.children(node)]
    )


def _literal(text: str) -> str:
    """A number or a string; `1.` is written as `1.0`."""
    if text[0] in "\"'":
        return literal(text[1:-1])
    if text.isdigit():
        return literal(int(text))
    return literal(float(text))


# Methods with another name in Python.
_METHODS = {"sym_size": "size"}
# Helpers for functions whose names are Python built-ins.
_SUPPORT = {"len": "length", "max": "sym_max", "min": "sym_min"}
