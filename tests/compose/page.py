"""docs/composability.md, written from the recorded matrix."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "composability.md"
RECORDED = Path(__file__).with_name("matrix.json")
RELEASE = "2.13.0"

Cells = dict[str, str]
"""The cells of a column, by the names of the rows."""
Inputs = dict[str, Cells]
"""What is done to calls, and with each kind of input a cell."""
Column = dict[str, Any]
"""What is found in a column: its `rows`, and its `inputs`."""
Matrix = dict[str, Column]

_INTRODUCTION = """\
# What a declared operator composes with

One library of 22 operators ([`ops.yaml`](../tests/compose/library/ops.yaml): pointwise, a normalization with two
results, a matrix product, in place, `out=`, a buffer that is written, lists, with tensors left out too, a size that
depends on data, random numbers, an effect, optional tensors, defaults, tensors by keyword;
[`scalars.yaml`](../tests/compose/library/scalars.yaml) has two that do not cross the stable ABI) is built by three
targets, and written by hand with `torch.library.custom_op` ([`by_hand.py`](../tests/compose/by_hand.py)), as PyTorch's
tutorials do it. Then everything below is done to it, and compared with PyTorch's own functions. `cpp-torch` and
`cpp-torch-stable` have the package of `torch-python` beside them, with `torchscript = true`. The rows of *Distributed*
run in one process;
[`examples/rms_norm`](../examples/rms_norm/README.md) trains a model in two.

The page is written from what the tests of `tests/compose` find with PyTorch {release} on a CPU, and they fail where a
cell is no longer so. *loop*: it works, but the operator is called for each item. *refused*: an exception,
[below](#what-is-refused-and-what-is-wrong). **wrong**: another result than PyTorch's own functions give, and no word.

"""
_SHOWN = {
    "works": "works",
    "works, by a loop": "loop",
    "refused": "refused",
    "wrong": "**wrong**",
    "": "",
}


def recorded() -> Matrix:
    """The matrix as it was last found."""
    found: Matrix = json.loads(RECORDED.read_text("utf-8"))
    return found


def record(matrix: Matrix) -> None:
    """Keep a matrix, and write the page from it."""
    RECORDED.write_text(json.dumps(matrix, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(recorded()), "utf-8")


def page(matrix: Matrix) -> str:
    """The text of the page."""
    rows: dict[str, Cells] = {column: found["rows"] for column, found in matrix.items()}
    inputs: dict[str, Inputs] = {column: found["inputs"] for column, found in matrix.items()}
    lines = [*_lines(rows), *_lines_of_inputs(inputs)]
    return _INTRODUCTION.format(release=RELEASE) + "".join(f"{line}\n" for line in lines)


def _lines(matrix: dict[str, Cells]) -> Iterator[str]:
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
            yield _line([name, ", ".join(columns), _escaped(message)])


_OF_INPUTS = """
## With other inputs

The operators above are called with contiguous tensors of floats, and every argument. Here the same library is called
with other [inputs](../tests/compose/inputs.py), and what is [done](../tests/compose/treatments.py) to all its operators
is compared with PyTorch's own functions: numbers, dtypes, shapes and strides. What these functions refuse is left out.

- *sizes that are broadcast*: `(4, 6)`, `(6)` and `(4, 1)`. *no dimensions*: all tensors, or some of them, which have
  another dtype. *zero sizes*: the first dimension, or another. *several dtypes*: integers beside floats, float beside
  double.
- *integers*: all tensors that are not written to, beside a number that is a float.
- *defaults left out*: arguments that have a default are not given, or given as their default.
- *keywords*: every argument by keyword, in another order.

A cell says how it is in every column; what is not the same everywhere is below the table. With `custom_op` what
compiles is not done.
"""


def _lines_of_inputs(matrix: Mapping[str, Inputs]) -> Iterator[str]:
    yield from _OF_INPUTS.splitlines()
    names = list(next(iter(matrix.values())))
    kinds = list(
        dict.fromkeys(kind for name in names for kind in next(iter(matrix.values()))[name])
    )
    yield ""
    yield _line(["done", *kinds])
    yield "|---" * (len(kinds) + 1) + "|"
    for name in names:
        yield _line([name, *(_of_all(matrix, name, kind) for kind in kinds)])
    yield from ("", _line(["done", "input", "in", "message"]), "|---|---|---|---|")
    for name in names:
        said: dict[tuple[str, str], list[str]] = {}
        for column, inputs in matrix.items():
            for kind, cell in inputs.get(name, {}).items():
                if _kind(cell) != "works":
                    columns = said.setdefault((cell, kind), [])
                    columns.append(column)
        merged: dict[tuple[str, str], list[str]] = {}
        for (cell, kind), columns in said.items():
            merged.setdefault((cell, ", ".join(columns)), []).append(kind)
        for (cell, columns_of), every in merged.items():
            shown = "every input" if len(every) == len(kinds) else ", ".join(every)
            yield _line([name, shown, columns_of, _escaped(cell)])


def _of_all(matrix: Mapping[str, Inputs], name: str, kind: str) -> str:
    """The cell of all columns."""
    found = {_kind(inputs[name].get(kind, "")) for inputs in matrix.values() if name in inputs}
    return "/".join(_SHOWN[one] for one in sorted(found, key=[*_SHOWN].index))


def _escaped(message: str) -> str:
    for sign in "|<_*":
        message = message.replace(sign, f"\\{sign}")
    return message


def _kind(cell: str) -> str:
    return cell.partition(": ")[0]


def _head(first: str, matrix: Matrix) -> Iterator[str]:
    yield _line([first, *(f"`{column}`" for column in matrix)])
    yield "|---" * (len(matrix) + 1) + "|"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
