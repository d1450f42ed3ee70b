"""`guard:` and `torch:` of an entry as one preprocessor condition around everything generated for it."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.guards import read_guard
from torchgen_lite.loader.versions import Clause, clauses_of

# One number for a version, 21300 for 2.13.0; the header `version.h` of a target defines it. For the
# stable ABI it is the oldest release to support, under another name: one source may include headers
# of both targets.
VERSION_MACRO = "TORCHGEN_LITE_TORCH_VERSION"
STABLE_VERSION_MACRO = "TORCHGEN_LITE_STABLE_VERSION"


def condition(*functions: NativeFunction, macro: str = VERSION_MACRO) -> str:
    """The `#if` condition of code that needs all these entries, or the empty string.

    `guard: "#ifdef USE_CUDA"` with `torch: ">=2.6"` becomes
    `defined(USE_CUDA) && TORCHGEN_LITE_TORCH_VERSION >= 20600`.
    """
    parts: dict[str, None] = {}
    for function in functions:
        guard = function.guard and read_guard(function.guard)
        if guard:
            parts[guard] = None
        if not function.torch:
            continue
        for clause in clauses_of(function.torch):
            parts[clause_expression(clause, macro)] = None
    return " && ".join(parts)


def clause_expression(clause: Clause, macro: str = VERSION_MACRO) -> str:
    """
    >>> clause_expression(Clause(">=", (2, 6))), clause_expression(Clause("!=", (2, 6), True))
    ('TORCHGEN_LITE_TORCH_VERSION >= 20600', 'TORCHGEN_LITE_TORCH_VERSION / 100 != 206')
    """
    divisor = 1
    if clause.wildcard:
        divisor = {1: 10000, 2: 100}.get(len(clause.version), 1)
    part = macro
    if divisor != 1:
        part = f"{macro} / {divisor}"
    return f"{part} {clause.operator} {version_number(clause.version) // divisor}"


def version_number(version: Sequence[int]) -> int:
    """The macro's value for a release: 21300 for (2, 13)."""
    major, minor, patch = (*version[:3], 0, 0)[:3]
    return major * 10000 + minor * 100 + patch
