"""A device for PyTorch, written in Python: `import toy_backend` makes `device="toy"` work."""

from __future__ import annotations

from toy_backend.device import from_cpu, on_cpu

__all__ = ["from_cpu", "on_cpu"]
