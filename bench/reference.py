"""Calls of the reference operators, on one element and on a million: `python bench/reference.py [--rounds N]`.

Each row takes turns with the fastest way to do the same in NumPy (SciPy's `erf` where it is installed), and with
PyTorch on one thread where that is installed. The figures are the minimum of the rounds.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import torchgen_lite_reference as tl

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
try:
    from scipy.special import erf as numpy_erf
except ImportError:
    numpy_erf = np.vectorize(math.erf, otypes=[np.float32])

Call = Callable[[], Any]
COUNT = 1_000_000
SMALL = 100


def small() -> dict[str, tuple[Call, Call | None, Call | None]]:
    """Ours, NumPy's and PyTorch's, of each row."""
    array = np.arange(1.0, 5.0, dtype=np.float32)
    matrix = np.ones((4, 4), np.float32)
    x, m = tl.tensor(array), tl.tensor(matrix)
    t, tm = (torch.tensor(array), torch.tensor(matrix)) if torch else (None, None)
    return {
        "add(x, x)": (lambda: tl.add(x, x), lambda: np.add(array, array), lambda: torch.add(t, t)),
        "x + x": (lambda: x + x, lambda: array + array, lambda: t + t),
        "x * 2": (lambda: x * 2, lambda: array * 2, lambda: t * 2),
        "x[0]": (lambda: x[0], lambda: array[0:1], lambda: t[0]),
        "m[1:]": (lambda: m[1:], lambda: matrix[1:], lambda: tm[1:]),
        "m @ m": (lambda: m @ m, lambda: matrix @ matrix, lambda: tm @ tm),
        "tanh(x)": (lambda: tl.tanh(x), lambda: np.tanh(array), lambda: torch.tanh(t)),
        "sum(m, 0)": (lambda: tl.sum(m, 0), lambda: matrix.sum(0), lambda: torch.sum(tm, 0)),
    }


def large() -> dict[str, tuple[Call, Call | None, Call | None]]:
    stream = np.random.default_rng(0)
    array = stream.normal(size=COUNT).astype(np.float32)
    rows = array.reshape(1000, 1000)
    places = stream.integers(0, 1000, 1000)
    x, m, i = tl.tensor(array), tl.tensor(rows), tl.tensor(places)
    t, tm, ti = map(torch.tensor, (array, rows, places)) if torch else (None, None, None)
    half, root = np.float32(0.5), np.float32(math.sqrt(0.5))

    def topk() -> Any:
        found = np.argpartition(array, COUNT - 10)[-10:]
        return found[np.argsort(-array[found])]

    def gelu() -> Any:
        return array * half * (1 + numpy_erf(array * root))

    return {
        "add": (lambda: tl.add(x, x), lambda: np.add(array, array), lambda: torch.add(t, t)),
        "erf": (lambda: tl.erf(x), lambda: numpy_erf(array), lambda: torch.erf(t)),
        "gelu": (lambda: tl.gelu(x), gelu, lambda: torch.nn.functional.gelu(t)),
        "topk(10)": (lambda: tl.topk(x, 10), topk, lambda: torch.topk(t, 10)),
        "norm": (lambda: tl.norm(x), lambda: np.linalg.norm(array), lambda: torch.norm(t)),
        "clamp": (
            lambda: tl.clamp(x, -1, 1),
            lambda: np.clip(array, -1, 1),
            lambda: torch.clamp(t, -1, 1),
        ),
        "std": (
            lambda: tl.std(x),
            lambda: np.std(array, ddof=1),
            lambda: torch.std(t),
        ),
        "std, rows": (
            lambda: tl.std(m, 1),
            lambda: np.std(rows, axis=1, ddof=1),
            lambda: torch.std(tm, 1),
        ),
        "index_select": (
            lambda: tl.index_select(m, 0, i),
            lambda: np.take(rows, places, 0),
            lambda: torch.index_select(tm, 0, ti),
        ),
        "index_select, columns": (
            lambda: tl.index_select(m, 1, i),
            lambda: np.take(rows, places, 1),
            lambda: torch.index_select(tm, 1, ti),
        ),
        "sort": (
            lambda: tl.sort(x),
            lambda: (lambda order: (array[order], order))(np.argsort(array, kind="stable")),
            lambda: torch.sort(t),
        ),
        "sort, rows": (
            lambda: tl.sort(m),
            lambda: (lambda order: (np.take_along_axis(rows, order, 1), order))(
                np.argsort(rows, 1, kind="stable")
            ),
            lambda: torch.sort(tm),
        ),
    }


def measure(
    rows: dict[str, tuple[Call, Call | None, Call | None]], rounds: int, calls: int
) -> None:
    for name, sides in rows.items():
        found = []
        for side in sides[: 3 if torch else 2]:
            assert side is not None
            side()
            found.append(math.inf)
        for _ in range(rounds):
            for place, side in enumerate(sides[: len(found)]):
                assert side is not None
                start = time.perf_counter()
                for _ in range(calls):
                    side()
                found[place] = min(found[place], (time.perf_counter() - start) / calls * 1e6)
        ratios = "".join(
            f"{found[0] / other:8.2f} of {label}'s"
            for other, label in zip(found[1:], ("NumPy", "torch"))
        )
        print(f"  {name:24} {found[0]:10.1f} us {ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    if torch:
        torch.set_num_threads(1)
    print("a few elements")
    measure(small(), 50 * rounds, SMALL)
    print("a million elements")
    measure(large(), rounds, 1)


if __name__ == "__main__":
    main()
