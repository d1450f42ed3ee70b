"""The functions of PyTorch that formulas may call by plain names, with their argument counts.

`functions.txt` has those of PyTorch 2.13; `tests/torchgen/test_functions_of_torch.py` compares it with PyTorch.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from torchgen_lite.loader.sources import lines_beside

EVERYTHING = "ATen/ATen.h"
# Suffixes of an operator's name for variants of its function.
_VARIANTS = ("_symint", "_outf", "_out")


class Functions(NamedTuple):
    """What PyTorch has: the public functions of the module `torch`, those of the namespace `at`, those
    of `at` with a header each, the minimum and maximum argument counts, as far as they are known, the
    functions that take at least one tensor, and the methods of tensors in Python and in C++.

    Of Python alone: the functions and methods that it defines itself (`own`), whose parameters are no schema's, the
    attributes of tensors, the classes in small letters, and the functions of the modules of `torch`, by their path:
    `nn.functional.relu`.
    """

    torch: frozenset[str]
    at: frozenset[str]
    with_header: frozenset[str]
    counts: dict[str, tuple[int, int]]
    of_tensors: frozenset[str]
    python_methods: frozenset[str]
    cpp_methods: frozenset[str]
    own: frozenset[str]
    attributes: frozenset[str]
    classes: frozenset[str]
    of_modules: frozenset[str]


@cache
def functions_of_torch() -> Functions:
    rows = [line.split() for line in lines_beside(__file__)]
    spans = ((name, count.partition("-")) for name, count, *_ in rows)
    counts = {name: (int(low), int(high or low)) for name, (low, _, high) in spans if low}

    def having(word: str) -> frozenset[str]:
        return frozenset(name for name, _, *words in rows if word in words)

    at = having("at")
    return Functions(
        having("torch"),
        at | having("plain"),
        at,
        counts,
        having("tensor"),
        having("py"),
        having("cpp"),
        having("own"),
        having("field"),
        having("class"),
        having("module"),
    )


def in_at(name: str) -> bool:
    """Whether C++ may have a function or type with this name in the namespace `at`. Names with a
    leading underscore are internal to PyTorch and come and go, so any of them may exist.

    >>> in_at("sum_symint"), in_at("_unheard_of"), in_at("TensorList"), in_at("sigmoyd")
    (True, True, True, False)
    """
    name = _of_operator(name)
    return name[0] == "_" or name[0].isupper() or name in functions_of_torch().at


def taken(name: str) -> tuple[int, int] | None:
    """The minimum and maximum argument counts of an `at` function, or None if they are unknown. A
    method's tensor counts as an argument.

    >>> taken("mul"), taken("sum_symint"), taken("expand"), taken("size")
    ((2, 2), (1, 4), (2, 3), None)
    """
    return functions_of_torch().counts.get(name.removesuffix("_symint"))


def at_header(name: str) -> str:
    """The header that declares an `at` function: its operator's, or the one with all functions.

    >>> at_header("sum_symint"), at_header("tanh_"), at_header("sum_to"), at_header("_softmax")
    ('ATen/ops/sum.h', 'ATen/ops/tanh.h', 'ATen/ATen.h', 'ATen/ATen.h')
    """
    name = _of_operator(name)
    has_header = name in functions_of_torch().with_header
    return f"ATen/ops/{name.removesuffix('_')}.h" if has_header else EVERYTHING


def _of_operator(name: str) -> str:
    """The name of a function without the suffix of a variant."""
    for variant in _VARIANTS:
        name = name.removesuffix(variant)
    return name
