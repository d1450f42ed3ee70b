"""Derived facts: a few lines of YAML, and exactly the facts that are derived from them."""

from __future__ import annotations

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.formats.native_functions import load_native_functions


def derived(text: str, *vocabulary: str) -> Resolved:
    """Everything that is derived from a schema file."""
    functions, found = load_native_functions([Source("native_functions.yaml", text)])
    assert not [d for d in found if d.severity == "error"], found
    return Resolved(functions, vocabulary)


def schemas(facts: Resolved) -> list[str]:
    """The derived schemas, in order."""
    return [str(operator.schema) for operator in facts.operators if operator.is_derived]


def found(facts: Resolved, name: str) -> Operator:
    """The operator with this name, which has to exist."""
    operator = facts.find(name)
    assert operator is not None
    return operator
