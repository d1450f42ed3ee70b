"""Facts about whole files: the program, its operators resolved, checks, lint, comparison."""

from __future__ import annotations

from torchgen_lite.analysis.kernels import KernelEntry, kernels_of
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.analysis.resolve import Resolved, resolve

__all__ = [
    "KernelEntry",
    "Operator",
    "Program",
    "Resolved",
    "build_program",
    "kernels_of",
    "resolve",
]
