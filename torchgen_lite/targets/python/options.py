"""What a user may set in `[tool.torchgen_lite.target.python]`."""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.loader.config.options import choice, described
from torchgen_lite.targets import options as shared

TARGET = "python"
# Packages with more operators are sharded by default: files of a few thousand lines are easy to
# edit and to review, files of 20,000 lines are not.
MANY_OPERATORS = 200
NO_FRAMEWORK = "torchgen_lite.runtime.framework"
VENDORED = "vendored"


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """Options of the target."""

    package: str = described(shared.PACKAGE, "ops", torch="aten_ops")
    folder: str = shared.folder_option(TARGET, others=(".",))
    framework: str = described(shared.MODULE, NO_FRAMEWORK, shown="none", names_modules=True)
    kernels: tuple[str, ...] = shared.modules_option()
    formulas: tuple[str, ...] = shared.modules_option()
    runtime: str = described(
        choice("torchgen_lite.runtime", "torchgen_lite_runtime", VENDORED), "torchgen_lite.runtime"
    )
    dispatcher: str = described(choice("singleton", "own"), "singleton", torch="own")
    shards: int = shared.shards_option("stubs", MANY_OPERATORS)
    skip: tuple[str, ...] = shared.skip_option()
