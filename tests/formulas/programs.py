"""The gradients of the corpus in one target, printed as JSON: `python -m tests.formulas.programs TARGET`."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from tests.formulas.rows import ABSENT, ONE, ROWS, WRITES, Row

SELF = [[1.5, -2.0, 0.25], [-0.5, 3.0, -1.25]]
OTHER = [[2.0, -1.0, 0.5], [1.5, -0.75, 4.0]]
GRAD = [[1.0, 2.0, -3.0], [0.5, -1.5, 2.5]]
IMAGINARY = [[0.5, 1.0, -1.0], [2.0, 0.25, -0.5]]


def inputs(row: Row, tensor: Any) -> dict[str, Any]:
    """What a row is called with, made by the `tensor` function of a library."""
    other = _complex(OTHER) if row.is_complex else OTHER
    named = {"self": tensor(SELF), "other": tensor(other)}
    if row.schema != ONE:
        return named
    more = {"weight": tensor(IMAGINARY), "xs": [tensor([[2.0]]), tensor([[5.0]])], "n": 7, "m": 3}
    numbers = {
        "s": 0.5,
        "flag": True,
        "alpha": 1 + 2j if row.raises else 1.5,
        "beta": None,
        "dims": [10, 20],
        "mode": "mean",
        "k": 2,
        "sz": [2, 3],
        "fs": [0.5, -2.0],
        **dict.fromkeys(ABSENT),
    }
    return {**named, **more, **numbers}


def _complex(real: list[list[float]]) -> list[list[complex]]:
    return [[complex(*pair) for pair in zip(*rows)] for rows in zip(real, IMAGINARY)]


def gradient(row: Row, call: Any, library: Any, without: Sequence[str] = ()) -> Any:
    """The gradient of the first tensor of the argument; None if there is none. `without` are arguments that
    the operators of a target do not have."""
    named = inputs(row, lambda data: library.tensor(data, dtype=_dtype(library, data)))
    leaf = named[row.of][0] if row.of == "xs" else named[row.of]
    leaf.requires_grad_()
    given = dict(named)
    if row.schema == WRITES:
        given["self"] = leaf * 1
    for name in without:
        given.pop(name, None)
    results = call(*given.values())
    results = results if isinstance(results, (tuple, list)) else [results]
    used = [results[index] for index in row.used]
    grad = _complex(GRAD) if row.is_complex else GRAD
    grads = [library.tensor(grad, dtype=_dtype(library, grad)) for _ in used]
    kept = [numbers(one) for one in grads]
    (found,) = library.autograd.grad(used, [leaf], grads, allow_unused=True)
    assert [
        numbers(one) for one in grads
    ] == kept, f"{row.formula} writes to the gradient that it is given"
    return found


def expected(row: Row, torch: Any) -> Any:
    """The gradient by PyTorch's own autograd."""
    tensor = torch.tensor
    named = inputs(row, lambda data: tensor(data, dtype=_dtype(torch, data)))
    data = _complex(GRAD) if row.is_complex else GRAD
    grad = tensor(data, dtype=_dtype(torch, data))
    names = {**named, "grad": grad, "where": torch.where, "math": math, "torch": torch}
    if row.gradient:
        return eval(row.gradient, names)
    named["self"].requires_grad_()
    return torch.autograd.grad(eval(row.value, names), named["self"], grad)[0]


def _dtype(library: Any, data: Any) -> Any:
    return library.complex128 if isinstance(data[0][0], complex) else library.float64


def numbers(found: Any) -> list[list[float]] | None:
    """The elements, as pairs of a real and an imaginary part."""
    if found is None:
        return None
    flat = found.detach().reshape(-1).tolist()
    return [[complex(one).real, complex(one).imag] for one in flat]


def load(target: str) -> tuple[Any, Any, Sequence[str]]:
    """The library of tensors, the operators of the corpus, and the arguments that those of a target do not have."""
    if target == "python":
        library: Any = importlib.import_module("torchgen_lite_reference")
        return library, importlib.import_module("corpus_ops.functions"), ()
    import torch

    if target == "cpp-torch":
        torch.ops.load_library("library.so")
    elif target != "expected":
        importlib.import_module("corpus_ops")
    return torch, torch.ops.corpus, ("alpha", "beta") if target == "cpp-torch-stable" else ()


def main(target: str, rows: Sequence[Row] = ROWS, first: int = 0) -> None:
    """Print what each row gives, or the error that it ends with. `first` is the number of the first."""
    library, functions, without = load(target)
    found: dict[str, Any] = {}
    for index, row in enumerate(rows):
        if target == "expected":
            found[str(index)] = "raises" if row.raises else numbers(expected(row, library))
        elif not row.is_refused(target):
            call = getattr(functions, f"row{first + index}" + "_" * (row.schema == WRITES))
            try:
                found[str(index)] = numbers(gradient(row, call, library, without))
            except Exception as error:
                found[str(index)] = "raises" if row.raises else f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
