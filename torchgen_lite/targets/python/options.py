"""What a user may set in `[tool.torchgen_lite.target.python]`."""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.loader.config.options import choice, option
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

    package: str = option(
        "Name of the package, possibly dotted: `tinyarr._ops` is the folder `tinyarr/_ops`.",
        shared.PACKAGE,
        "ops",
        torch="aten_ops",
    )
    folder: str = shared.folder_option(TARGET, others=(".",))
    framework: str = option(
        "The module that supplies tensor types and the helpers of structured kernels.",
        shared.MODULE,
        NO_FRAMEWORK,
        shown="none",
        names_modules=True,
    )
    kernels: tuple[str, ...] = shared.modules_option(
        "Modules that hold the kernels. Their sources are read, never imported: a kernel that "
        "none of them defines is a diagnostic. Without any, no kernel is registered."
    )
    formulas: tuple[str, ...] = shared.modules_option(
        "Modules with functions for derivative formulas, in addition to operators."
    )
    runtime: str = option(
        "The dispatcher that the package runs on: `torchgen_lite.runtime`; "
        "`torchgen_lite_runtime`, the same from a distribution without the generator and without "
        "dependencies; `vendored`, a copy in the package, `<package>.runtime`.",
        choice("torchgen_lite.runtime", "torchgen_lite_runtime", VENDORED),
        "torchgen_lite.runtime",
    )
    dispatcher: str = option(
        "`own` gives the package its own dispatcher, `<package>.dispatcher`.",
        choice("singleton", "own"),
        "singleton",
        torch="own",
    )
    shards: int = shared.shards_option("stubs", MANY_OPERATORS)
    skip: tuple[str, ...] = shared.skip_option()
