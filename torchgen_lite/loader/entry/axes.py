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
    added = [result.span for result in results or () if result.is_added and result.span is not None]
    if added:
        reader.report("TG348", "a result that is added", added[0], "here", "leave the `+` out")
        return None
    nameless = [
        tensor.span for tensor in tensors or () if not tensor.name and tensor.span is not None
    ]
    if nameless:
        reader.report(
            "TG348",
            "axes of an argument without its name",
            nameless[0],
            "of which tensor?",
            _EXAMPLE,
        )
    if tensors is None or results is None or nameless:
        return None
    return Axes(tensors, results, reader.span(node))


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
        axes = []
        for word, begin, end in cut_words(match["axes"]) if match["axes"].strip() else ():
            span = locate(match.start("axes") + begin, match.start("axes") + end)
            axis = _AXIS.fullmatch(word)
            if axis is None:
                reader.refuse(
                    "TG348",
                    word or ",",
                    "an axis",
                    span,
                    "here",
                    "write `n`, `*b`, `d!` or `k+`",
                )
                return None
            axes.append(Axis(axis[1], axis[2], span))
        begin = match.start("name") if match["name"] else match.start("axes") - 1
        span = locate(begin, match.end("axes") + 1)
        tensors.append(Axed(match["name"] or "", tuple(axes), bool(match["added"]), span))
        start = match.end()
    return tuple(tensors)


SHAPE = Shape(plain(type="string", pattern=r"\]\s*->"), read_axes)
