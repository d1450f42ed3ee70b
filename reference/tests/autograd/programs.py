"""Random programs of operators, run by either library from the same arrays."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS, COLUMNS = 3, 4
Step = Callable[[Any, Any, Any, random.Random], Any]

# Each takes the library and two matrices of one shape, and gives a matrix of that shape. Values are kept
# small by the functions themselves, and away from kinks by their being random.
STEPS: dict[str, Step] = {
    "add": lambda lib, a, b, r: lib.add(a, b, alpha=r.choice([1, 2, -0.5])),
    "sub": lambda lib, a, b, r: a - b,
    "mul": lambda lib, a, b, r: lib.tanh(a * b),
    "div": lambda lib, a, b, r: a / (b * b + 1),
    "tanh": lambda lib, a, b, r: lib.tanh(a),
    "sigmoid": lambda lib, a, b, r: lib.sigmoid(a) * 2 - b,
    "exp": lambda lib, a, b, r: lib.exp(-a * a),
    "log": lambda lib, a, b, r: lib.log(a * a + 1),
    "sqrt": lambda lib, a, b, r: lib.sqrt(a * a + 0.5),
    "where": lambda lib, a, b, r: lib.where(a > b, a, b * 0.5),
    "maximum": lambda lib, a, b, r: lib.maximum(a, b),
    "softmax": lambda lib, a, b, r: lib.softmax(a, r.choice([0, 1])),
    "logsumexp": lambda lib, a, b, r: a - lib.logsumexp(b, [1], True),
    "mean": lambda lib, a, b, r: a - a.mean(r.choice([0, 1]), True),
    "sum": lambda lib, a, b, r: lib.tanh(a.sum(0).expand(ROWS, COLUMNS)),
    "matmul": lambda lib, a, b, r: lib.tanh(a @ (b.t() @ a)),
    "transpose": lambda lib, a, b, r: a.t().reshape(ROWS, COLUMNS),
    "slice": lambda lib, a, b, r: lib.cat([a[:, 1:], b[:, :1]], 1),
    "select": lambda lib, a, b, r: lib.stack([a[r.randrange(ROWS)] for _ in range(ROWS)]),
    "gather": lambda lib, a, b, r: a.gather(1, lib.argsort(b, 1)),
    "cumsum": lambda lib, a, b, r: lib.tanh(a.cumsum(r.choice([0, 1]))),
    "flip": lambda lib, a, b, r: a.flip([0]) + b,
    "inplace": lambda lib, a, b, r: (a * 1).mul_(b).tanh_(),
    "view": lambda lib, a, b, r: _write_row(a * 1, lib.sin(b[r.randrange(ROWS)])),
    "clamp": lambda lib, a, b, r: lib.clamp(a, -0.7, 0.9),
    "relu": lambda lib, a, b, r: lib.relu(a) - b * 0.1,
}


def _write_row(target: Any, row: Any) -> Any:
    """A change through a view, which is then part of the history of the whole."""
    target[1] = row
    return target


def run(library: Any, make: Callable[[Any], Any], seed: int, length: int) -> tuple[Any, list[Any]]:
    """The result of a program, a scalar, and the leaves it was made of."""
    choices = random.Random(seed)
    stream = np.random.default_rng(seed)
    leaves = [make(stream.normal(size=(ROWS, COLUMNS))).requires_grad_() for _ in range(3)]
    values = list(leaves)
    for _ in range(length):
        name = choices.choice(list(STEPS))
        first, second = choices.choice(values), choices.choice(values)
        values.append(STEPS[name](library, first, second, choices))
    total = None
    for value in values[-3:]:
        weight = make(stream.normal(size=(ROWS, COLUMNS)))
        part = (value * weight).sum()
        total = part if total is None else total + part
    return total, leaves
