"""Commands for setuptools, which `[tool.setuptools.cmdclass]` or `setup(cmdclass=...)` names as `build_py`."""

from __future__ import annotations

from pathlib import Path

from setuptools.command.build_py import build_py

from torchgen_lite.build_hooks import bring_up_to_date


class CheckFirst(build_py):
    """Stops if generated code is out of date."""

    mode = "check"

    def run(self) -> None:
        bring_up_to_date(Path(), self.mode)
        super().run()


class GenerateFirst(CheckFirst):
    """Writes generated code."""

    mode = "generate"
