"""The version of the interface between generated code and the runtime.

It increases with every incompatible change: in the names in `__init__.py` that templates import, in their parameters,
or in how a stub reads the memo. `templates/python/package.py.j2` has the number that templates are written for,
`torchgen_lite_runtime` that of the names that it re-exports.
"""

from __future__ import annotations

INTERFACE = 3


def check_interface(made_for: int, package: str, remedy: str = "") -> None:
    """Raise an ImportError that says what to do, for a package made for another interface."""
    if made_for != INTERFACE:
        older = f"install a runtime with interface {made_for}"
        known = "generate it again" if made_for < INTERFACE else older
        raise ImportError(
            f"{package} needs interface {made_for} of the runtime, but {__package__} has "
            f"interface {INTERFACE}: {remedy or known}"
        )
