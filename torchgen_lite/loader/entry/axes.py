"""The field `axes:`: what each dimension of an operator's tensors is to the operator.

    axes: x[*b, d!], weight[d!] -> out[*b, d!], rstd[*b]
    axes: a[m, k+], b[k+, n], +bias[n] -> [m, n]

The operator is independent along `*b`, any number of dimensions, and along an axis without a mark; it needs `d!`
whole, and sums over `k+`. What it adds once, to the whole sum, has a `+` in front. `analysis.axes` checks the line
against the schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchgen_lite.diagnostics import Locate, Span, not_compared
from torchgen_lite.loader.config.options import NAME
from torchgen_lite.loader.entry.reader import EntryReader, cut_words, short
from torchgen_lite.loader.entry.shapes import Shape, plain
from torchgen_lite.loader.yaml.nodes import Node

_TENSOR = re.compile(
    rf"\s*(?P<added>\+)?\s*(?P<name>{NAME})?\s*\[(?P<axes>[^][]*)\]\s*(?:,|$)", re.ASCII
)
_AXIS = re.compile(rf"(\*?{NAME})([!+]?)", re.ASCII)
_EXAMPLE = "write it like `x[*b, d!], weight[d!] -> [*b, d!]`"


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a tensor; `mark` is `!`, `+` or empty. A `*` stands for any number of dimensions."""

    name: str
    mark: str = ""
    span: Span | None = not_compared()

    def __str__(self) -> str:
        return f"{self.name}{self.mark}"

    @property
    def is_star(self) -> bool:
        return self.name.startswith("*")


@dataclass(frozen=True, slots=True)
class Axed:
    """The axes of a tensor, or of each tensor in a list; the name of a result may be empty.

    A tensor `is_added` if it is a term of the sum over an axis that it does not have.
    """

    name: str
    axes: tuple[Axis, ...]
    is_added: bool = False
    span: Span | None = not_compared()


@dataclass(frozen=True, slots=True)
class Axes:
    tensors: tuple[Axed, ...]
    results: tuple[Axed, ...]
    span: Span | None = not_compared()


def read_axes(reader: EntryReader, name: str, node: Node) -> Axes | None:
    """The line, or None and diagnostics if it can't be read."""
    line = reader.scalar(name, node)
    if line is None:
        return None
    locate = reader.locator(line)
    left, arrow, _ = line.value.partition("->")
    if not arrow:
        reader.report("TG348", "axes without results", node, "no `->`", _EXAMPLE)
        return None
    tensors = _read_tensors(reader, left, 0, locate)
    results = _read_tensors(reader, line.value, len(left) + len(arrow), locate)
    if results is not None:
        for result in results:
            if result.is_added and result.span is not None:
                help_ = "leave the `+` out"
                reader.report("TG348", "a result that is added", result.span, "here", help_)
                return None
    if tensors is None:
        return None
    for tensor in tensors:
        if not tensor.name and tensor.span is not None:
            reader.report(
                "TG348",
                "axes of an argument without its name",
                tensor.span,
                "of which tensor?",
                _EXAMPLE,
            )
            return None
    return None if results is None else Axes(tensors, results, reader.span(node))


def _read_tensors(
    reader: EntryReader, text: str, start: int, locate: Locate
) -> tuple[Axed, ...] | None:
    """The tensors of one side of the arrow, which ends with the text."""
    tensors: list[Axed] = []
    while start < len(text) or not tensors or text.endswith(","):
        match = _TENSOR.match(text, start)
        if match is None:
            rest = text[start:].strip()
            at = len(text) - len(text[start:].lstrip()) if rest else max(start - 1, 0)
            reader.report(
                "TG348",
                f"`{short(rest)}` is not a tensor and its axes" if rest else "no tensor",
                locate(at, at + max(len(rest), 1)),
                "here",
                _EXAMPLE,
            )
            return None
        axes = _read_list(reader, match["axes"], match.start("axes"), locate)
        if axes is None:
            return None
        begin = match.start("name") if match["name"] else match.start("axes") - 1
        span = locate(begin, match.end("axes") + 1)
        tensors.append(Axed(match["name"] or "", axes, bool(match["added"]), span))
        start = match.end()
    return tuple(tensors)


def _read_list(
    reader: EntryReader, text: str, start: int, locate: Locate
) -> tuple[Axis, ...] | None:
    """The axes between the brackets of a tensor; a tensor without dimensions has none."""
    if not text.strip():
        return ()
    axes = []
    for word, begin, end in cut_words(text):
        span = locate(start + begin, start + end)
        axis = _AXIS.fullmatch(word)
        if axis is None:
            hint = "write `n`, `*b`, `d!` or `k+`"
            reader.refuse("TG348", word or ",", "an axis", span, "here", hint)
            return None
        axes.append(Axis(axis[1], axis[2], span))
    return tuple(axes)


SHAPE = Shape(plain(type="string", pattern=r"\]\s*->"), read_axes)
