"""A number for what generated code and the runtime expect of each other.

It grows with a change that generated code from before, or for after, cannot run with: names in `__init__.py`
that templates import, what these take, how a stub reads the memo. `templates/python/package.py.j2` has the
number that templates are written for, `torchgen_lite_runtime` the one of the names that it hands on.
"""

from __future__ import annotations

INTERFACE = 2


def check_interface(made_for: int, package: str, remedy: str = "") -> None:
    """Raise ImportError for a package that is made for another interface; it says what to do."""
    if made_for != INTERFACE:
        older = f"install a runtime with interface {made_for}"
        known = "generate it again" if made_for < INTERFACE else older
        raise ImportError(
            f"{package} needs interface {made_for} of the runtime, but {__package__} has "
            f"interface {INTERFACE}: {remedy or known}"
        )
