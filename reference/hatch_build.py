"""What wheels have from outside of this folder.

With `force-include` in pyproject.toml, an editable install would also have a copy of the generated operators, which
Python finds before those that `torchgen-lite generate` writes.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FROM_OUTSIDE = {
    "../LICENSE": "torchgen_lite_reference/LICENSE",
    "../generated/python/torchgen_lite_ops": "torchgen_lite_ops",
}


class CustomBuildHook(BuildHookInterface[Any]):
    """Run by hatchling, which looks for it in this file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"].update(FROM_OUTSIDE)
