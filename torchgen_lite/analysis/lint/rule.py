"""What a lint rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic

Rule = Callable[[Resolved], Iterator[Diagnostic]]
