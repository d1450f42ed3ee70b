"""Which row an input gets, and why those before it don't apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from torchgen_lite.analysis.selection.inputs import (
    FORMATS,
    NoReading,
    Read,
    TensorInput,
    Unknown,
    Value,
    dtype_named,
    reading,
    tensor_from,
    value_of,
)
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import DTYPES, kinds_of_values
from torchgen_lite.formulas.model import Expression, walk
from torchgen_lite.loader.entry.entry import KernelRow
from torchgen_lite.schema import FunctionSchema


class RowAnswer(NamedTuple):
    """A row for one input: whether it `applies`, None if it was not asked or could not be computed, and why."""

    kernel: str
    condition: str
    applies: bool | None
    why: str


def explain(rows: Sequence[KernelRow], values: Mapping[str, Value]) -> Iterator[RowAnswer]:
    """What each row says of an input, of which not every argument has to be given."""
    read = reading(values)
    is_open = True
    for row in rows:
        condition = row.text or "otherwise"
        if not is_open:
            yield RowAnswer(row.kernel, condition, None, "not asked")
            continue
        try:
            applies = row.when is None or bool(value_of(row.when, read))
        except Unknown as missing:
            is_open = False
            yield RowAnswer(
                row.kernel, condition, None, f"not known: the condition asks for {missing}"
            )
            continue
        is_open = not applies
        why = "" if row.when is None or applies else _why_not(row.when, read)
        yield RowAnswer(row.kernel, condition, applies, why)


def _why_not(condition: Expression, read: Read) -> str:
    """The first part of a condition that does not hold, and what it read."""
    match condition:
        case nodes.Binary("&&", left, right):
            return _why_not(right if value_of(left, read) else left, read)
    facts: dict[str, None] = {}
    for part in walk(condition):
        try:
            value = read(part)
        except (NoReading, Unknown):
            continue
        # A tensor as a whole is in the question.
        if not isinstance(value, TensorInput):
            facts[f"{part} is {_shown(value)}"] = None
    written = str(condition) if condition.span is None else " ".join(condition.span.text.split())
    if not facts:
        return f"`{written}` is false"
    return f"`{written}` is false: {', '.join(facts)}"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value)


def inputs_from(texts: Sequence[str], schema: FunctionSchema) -> dict[str, Value]:
    """The values of arguments from texts such as `half[4, 12]` and `n=3`; those without a name are its tensors in order.

    Raises ValueError, with what is wrong in words.
    """
    kinds_of_arguments = kinds_of_values(schema.inputs)
    values: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or name not in kinds_of_arguments:
            name = _next_tensor(kinds_of_arguments, values)
            value = text
        if not name:
            listed = ", ".join(kinds_of_arguments)
            raise ValueError(f"`{text}` names no argument: there are {listed}")
        values[name] = _value(value.strip(), name, kinds_of_arguments[name])
    return values


def _next_tensor(known: Mapping[str, kinds.Kind], values: Mapping[str, Value]) -> str:
    """The first tensor that has no value yet, or empty."""
    for name, kind in known.items():
        if kind.present == kinds.TENSOR and name not in values:
            return name
    return ""


def _value(text: str, name: str, kind: kinds.Kind) -> Value:
    if text == "None" and kind.is_optional:
        return None
    if kind.present == kinds.TENSOR:
        return tensor_from(text)
    if kind.is_list:
        inside = text.strip("[]").split(",")
        return tuple([_number(item.strip(), name) for item in inside if item.strip()])
    if kind.present.sort is kinds.Sort.bool and text in ("True", "False"):
        return text == "True"
    if kind.present.sort is kinds.Sort.dtype and text in DTYPES:
        return dtype_named(text)
    if kind.present.sort is kinds.Sort.memory_format and text in FORMATS:
        return text
    if kind.present.sort is kinds.Sort.string:
        return text.strip("\"'")
    return _number(text, name)


def _number(text: str, name: str) -> int | float:
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        return float(text)
    raise ValueError(f"`{text}` is no value of `{name}`")
