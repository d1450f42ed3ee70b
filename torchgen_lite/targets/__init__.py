"""The output families, one line each. A target describes files; `emit` renders and writes them."""

from __future__ import annotations

from torchgen_lite.targets.output import OutputFile, Target, TargetResult
from torchgen_lite.targets.python.target import build_python

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (Target("python", "a Python package for the runtime dispatcher", build_python),)
}

__all__ = ["TARGETS", "OutputFile", "Target", "TargetResult"]
