"""The checks of the fields that PyTorch's own entries do not have, each against the schema of its operator.

They need the language of formulas, so this module is imported by a program with such a field. Formulas themselves
are checked together, see `differentiability/checks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_lite.analysis.axes import check_axes
from torchgen_lite.analysis.checks import compiled
from torchgen_lite.analysis.checks.autocast import check_autocast
from torchgen_lite.analysis.checks.samples import check_samples
from torchgen_lite.analysis.fakes.check import check_fake
from torchgen_lite.analysis.finding import Findings, Reported, findings
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.analysis.torch_library import check_loop

# The fields, each with what checks its value.
CHECKS: Sequence[tuple[str, Callable[[Operator, Any], Findings]]] = (
    ("fake", check_fake),
    ("flops", compiled.check_flops),
    ("samples", check_samples),
    ("decompose", compiled.check_decompose),
    ("checkpoint", compiled.check_checkpoint),
    ("triton", compiled.check_triton),
    ("axes", check_axes),
    ("vmap", check_loop),
    ("autocast", check_autocast),
)


def check_fields(resolved: Resolved) -> Reported:
    """What is wrong with the values of these fields."""
    for operator in resolved.declared:
        for field, check in CHECKS:
            value = getattr(operator.function, field)
            if value:
                mistakes = check(operator, value)
                yield from findings(operator.function, mistakes, getattr(value, "span", None))
