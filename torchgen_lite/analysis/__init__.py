"""Facts about whole files: the program, effective dispatch tables, groups, collisions, lint."""

from __future__ import annotations

from torchgen_lite.analysis.dispatch_index import (
    effective_dispatch,
    is_composite_only,
)
from torchgen_lite.analysis.groups import FunctionGroup, group_functions
from torchgen_lite.analysis.program import Program, build_program

__all__ = [
    "FunctionGroup",
    "Program",
    "build_program",
    "effective_dispatch",
    "group_functions",
    "is_composite_only",
]
