"""The build hook for hatchling: `[tool.hatch.build.hooks.torchgen-lite]`, with `mode = "check"` or `"generate"`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from torchgen_lite.build_hooks import bring_up_to_date


class TorchgenLiteHook(BuildHookInterface[Any]):
    """Runs before files are collected, of wheels and of source distributions."""

    PLUGIN_NAME = "torchgen-lite"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        bring_up_to_date(Path(self.root), str(self.config.get("mode", "check")))


@hookimpl
def hatch_register_build_hook() -> type[TorchgenLiteHook]:
    return TorchgenLiteHook
