"""What a lint rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction

Rule = Callable[[Sequence[NativeFunction]], Iterator[Diagnostic]]
