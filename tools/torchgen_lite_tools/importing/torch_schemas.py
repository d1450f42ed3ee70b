"""The schemas of a loaded PyTorch, written as entries have them.

Note [Defaults are values]
libtorch prints some defaults as other ones (`-0.0` as `0.`, `'é'` as bytes, `'cpu'` without its quotes), so a schema is
printed without defaults, and each default is written from its value.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import isfinite
from typing import Any

from torchgen_lite.schema import FunctionSchema, parse_schema

# How libtorch prints `Tensor!`.
_UNNAMED_ALIAS = re.compile(r"\(\$\d+! -> \)")
_UNPRINTED = re.compile(r'[\x00-\x1f\x7f\\"]')
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')


def registered_schema(torch: Any, name: str, overload: str) -> tuple[FunctionSchema | None, str]:
    """The schema of an operator; None and the reason if it cannot be written."""
    registered = torch._C._get_schema(name, overload)
    arguments, _, returns = _QUOTED.sub("", str(registered)).rpartition(" -> ")
    bare = torch._C.FunctionSchema(
        registered.name,
        registered.overload_name,
        [
            torch._C.Argument(a.name, a.real_type, a.N, None, a.kwarg_only, a.alias_info)
            for a in registered.arguments
        ],
        registered.returns,
        arguments.endswith("...)"),
        returns == "...",
    )
    schema, problems = parse_schema(_UNNAMED_ALIAS.sub("!", str(bare)))
    if schema is None:
        return None, problems[0].message
    texts = [
        _default(argument) if argument.has_default_value() else None
        for argument in registered.arguments
    ]
    if "" in texts:
        value = registered.arguments[texts.index("")].default_value
        return None, f"a schema has no word for the default `{value!r}`"
    given = [argument._replace(default=text) for argument, text in zip(schema.arguments, texts)]
    return replace(schema, arguments=tuple(given)), ""


def _default(argument: Any) -> str:
    """The text of a default; one number for a list of equal ones that has a size."""
    value = argument.default_value
    if isinstance(value, list) and value and value == (argument.N or 0) * value[:1]:
        value = value[0]
    return _text(value)


def _text(value: object) -> str:
    """A value as schemas write it, "" for none that they can write."""
    if isinstance(value, list):
        parts = [_text(item) for item in value]
        return f"[{', '.join(parts)}]" if all(parts) else ""
    if isinstance(value, (complex, float)):
        if isfinite(abs(value)):
            return str(value).strip("()")
        return ""
    if value is None or isinstance(value, int):
        return str(value)
    # Anything else is a string or, as a device is, named by one.
    return f'"{_UNPRINTED.sub(_escaped, str(value))}"'


def _escaped(match: re.Match[str]) -> str:
    known = {"\n": r"\n", "\t": r"\t"}.get(match[0], f"\\{ord(match[0]):03o}")
    return f"\\{match[0]}" if match[0] in '\\"' else known
