"""Derived facts: a few lines of YAML beside exactly what follows from them."""

from __future__ import annotations

from torchgen_lite.analysis.derive import Derived, derive
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader import load_native_functions


def derived(text: str, *vocabulary: str) -> Derived:
    """Everything that follows from a schema file."""
    functions, found = load_native_functions([Source("native_functions.yaml", text)])
    assert not [d for d in found if d.severity == "error"], found
    return derive(functions, vocabulary)


def schemas(facts: Derived) -> list[str]:
    """The schemas that were derived, in order."""
    return [str(f.func) for f in facts.functions if f.name in facts.generated]
