"""Operator bindings from `native_functions.yaml`, and the dispatcher that runs them.

    program = torchgen_lite.load("native_functions.yaml")
    files = torchgen_lite.generate(program)

Nothing is imported before it is asked for: `import torchgen_lite.runtime` loads the standard library alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchgen_lite.version import __version__

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.pipeline import GenerateError, generate, load

__all__ = ["GenerateError", "Program", "__version__", "generate", "load"]


def __getattr__(name: str) -> Any:
    if name in ("GenerateError", "generate", "load"):
        from torchgen_lite import pipeline

        return getattr(pipeline, name)
    if name == "Program":
        from torchgen_lite.analysis.program import Program

        return Program
    raise AttributeError(f"module 'torchgen_lite' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
