"""What `docs/differences.md` says about the reference operators: each title is compared with both libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl
from operators.exceptions import EXCEPTIONS, LATER
from operators.oracle import attempt

pytestmark = pytest.mark.torch

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"


def halves_as_complex(lib: Any) -> Any:
    return lib.view_as_complex(lib.zeros(1, 2, dtype=lib.float16))


def shared(lib: Any) -> Any:
    x = lib.zeros(2)
    x.data.resize_([9])
    return len(x.untyped_storage()) if lib is torch else x.untyped_storage().nbytes


def sparse(lib: Any, *positions: int) -> Any:
    return lib.sparse_coo_tensor(lib.tensor([positions]), lib.ones(len(positions)), [3])


def overlapping(lib: Any) -> Any:
    x = lib.ones(3)
    return lib.add(x[:2], x[:2], out=x[1:]).tolist()


def seeded(lib: Any) -> Any:
    lib.manual_seed(0)
    return lib.rand(3).tolist()


def strided_gelu(lib: Any) -> Any:
    out = lib.zeros(2, 2).T
    return lib.ops.aten.gelu.out(lib.tensor([[1.0, 2.0], [3.0, 4.0]]), out=out).tolist()


def grown(lib: Any) -> Any:
    return lib.cat([lib.ones(3)], out=lib.from_numpy(np.zeros(0, np.float32))).tolist()


def second_of_hardsigmoid(lib: Any) -> Any:
    x = lib.ones(2).requires_grad_()
    (first,) = lib.autograd.grad(lib.ops.aten.hardsigmoid(x).sum() * x.sum(), x, create_graph=True)
    return lib.autograd.grad(first.sum(), x)[0].tolist()


# One of the operators that a title mentions, in which the two libraries differ.
REPRODUCTIONS: dict[str, Callable[[Any], Any]] = {
    "dtypes": halves_as_complex,
    "At most 64 dimensions": lambda lib: lib.zeros([1] * 65).tolist() and None,
    "A number where `out=` is given": lambda lib: lib.copysign(
        lib.ones(1), 2.0, out=lib.zeros(1)
    ).tolist(),
    "Names of arguments": lambda lib: lib.relu(input=lib.ones(1)).tolist(),
    "Several results": lambda lib: type(lib.chunk(lib.ones(2), 2)).__name__,
    "Overlap of an input with `out`": overlapping,
    "Complex results": lambda lib: lib.logsumexp(
        lib.ones(1, dtype=lib.complex64), 0, out=lib.zeros(())
    ).tolist(),
    "Equal elements": lambda lib: lib.sort(lib.zeros(8000, dtype=lib.bool), descending=True)[
        1
    ].tolist()[:40],
    "Nuclear norms": lambda lib: lib.norm(lib.ones(2, 2), "nuc").tolist(),
    "Storages grow": grown,
    "Copies by `.data`": shared,
    "Sparse plus sparse": lambda lib: (sparse(lib, 0, 0) * sparse(lib, 0, 1))._nnz(),
    "`from_numpy` of an empty array": lambda lib: lib.from_numpy(np.zeros((0, 3))).stride(),
    '`x.to("privateuse1")`': lambda lib: lib.ones(1).to("privateuse1").shape[0],
    "Random operators": seeded,
    "Accepted here, refused there": lambda lib: lib.narrow(
        lib.ones(3), 0, lib.tensor([1]), 1
    ).tolist(),
    "Second derivatives": second_of_hardsigmoid,
    "Not compared": strided_gelu,
    "Not here": lambda lib: hasattr(lib.Tensor, "squeeze_"),
}


def titles() -> list[str]:
    section = PAGE.read_text("utf-8").split("## The reference operators\n")[1].split("\n## ")[0]
    return [title.rstrip(":") for title in re.findall(r"^- \*\*(.+?)\*\*", section, re.MULTILINE)]


def test_every_title_has_a_case() -> None:
    explained = {*REPRODUCTIONS, *(title for title, *_ in (*EXCEPTIONS, *LATER))}
    assert explained == {*titles()}


@pytest.mark.parametrize("title", REPRODUCTIONS)
def test_it_is_so(title: str) -> None:
    case = REPRODUCTIONS[title]
    mine, theirs = attempt(case, tl), attempt(case, torch)
    both = isinstance(mine, Exception) and isinstance(theirs, Exception)
    assert not both and mine != theirs, f"{mine!r} and {theirs!r}"
