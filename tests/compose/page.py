"""docs/composability.md, written from the recorded matrix."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "composability.md"
RECORDED = Path(__file__).with_name("matrix.json")
RELEASE = "2.13.0"

Matrix = dict[str, dict[str, str]]
"""The cells of each column, by the names of the rows."""

_INTRODUCTION = """\
# What a declared operator composes with

One library of twelve operators ([`ops.yaml`](../tests/compose/library/ops.yaml): pointwise, a normalization with two
results, a matrix product, in place, `out=`, lists, a size that depends on data, random numbers, an effect) is built by
three targets, and written by hand with `torch.library.custom_op`
([`by_hand.py`](../tests/compose/by_hand.py)), as PyTorch's tutorials do it. Then everything below is done to it, and
compared with PyTorch's own functions. `cpp-torch` and `cpp-torch-stable` have the package of `torch-python` beside
them. The rows of *Distributed* run in one process; [`examples/rms_norm`](../examples/rms_norm/README.md) trains a model
in two.

The page is written from what the tests of `tests/compose` find with PyTorch {release} on a CPU, and they fail where a
cell is no longer so. *loop*: it works, but the operator is called for each item. *refused*: an exception,
[below](#what-is-refused-and-what-is-wrong). **wrong**: another result than PyTorch's own functions give, and no word.

"""
_SHOWN = {"works": "works", "works, by a loop": "loop", "refused": "refused", "wrong": "**wrong**"}


def recorded() -> Matrix:
    """The matrix as it was last found."""
    found: Matrix = json.loads(RECORDED.read_text("utf-8"))
    return found


def record(matrix: Mapping[str, Mapping[str, str]]) -> None:
    """Keep a matrix, and write the page from it."""
    RECORDED.write_text(json.dumps(matrix, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(recorded()), "utf-8")


def page(matrix: Matrix) -> str:
    """The text of the page."""
    return _INTRODUCTION.format(release=RELEASE) + "".join(f"{line}\n" for line in _lines(matrix))


def _lines(matrix: Matrix) -> Iterator[str]:
    names = list(next(iter(matrix.values())))
    yield from _head("of all", matrix)
    for kind, words in (("works", "works"), ("refused", "refused"), ("wrong", "wrong, silently")):
        counts = [
            sum(_kind(cell)[:5] == kind[:5] for cell in column.values())
            for column in matrix.values()
        ]
        yield _line([f"{words}, of {len(names)}", *map(str, counts)])
    group = ""
    for name in names:
        title = name.partition(": ")[2]
        if name.partition(": ")[0] != group:
            group = name.partition(": ")[0]
            yield from ("", f"## {group}", "", *_head("row", matrix))
        yield _line([title, *(_SHOWN[_kind(column[name])] for column in matrix.values())])
    yield from ("", "## What is refused, and what is wrong", "")
    yield "What PyTorch, or the generated code, says; where it says nothing, what is wrong."
    yield from ("", _line(["row", "in", "message"]), "|---|---|---|")
    for name in names:
        said: dict[str, list[str]] = {}
        for column, cells in matrix.items():
            if _kind(cells[name]) in ("refused", "wrong"):
                said.setdefault(cells[name].partition(": ")[2], []).append(column)
        for message, columns in said.items():
            shown = (
                message.replace("|", "\\|")
                .replace("<", "\\<")
                .replace("_", "\\_")
                .replace("*", "\\*")
            )
            yield _line([name, ", ".join(columns), shown])


def _kind(cell: str) -> str:
    return cell.partition(": ")[0]


def _head(first: str, matrix: Matrix) -> Iterator[str]:
    yield _line([first, *(f"`{column}`" for column in matrix)])
    yield "|---" * (len(matrix) + 1) + "|"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
