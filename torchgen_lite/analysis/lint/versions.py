"""The rule about `torch:` ranges."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.versions import meet


def empty_range(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG412: `torch: ">=2.9,<2.6"`."""
    for function in resolved.functions:
        if not meet(function.torch):
            span = function.place("torch")
            message = f"no version of PyTorch is in `{function.torch}`"
            yield finding(function, "TG412", message, span, "empty")
