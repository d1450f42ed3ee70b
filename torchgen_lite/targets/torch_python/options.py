"""What a user may set in `[tool.torchgen_lite.target.torch-python]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.loader.config.options import FLAG, NAME, choice, matching, option, table_of
from torchgen_lite.targets import options as shared

TARGET = "torch-python"
_RELATIVE = matching(
    rf"(?:\.{{1,8}}{NAME}(?:\.{NAME})*)?", "is not the relative name of a module: `._ops`"
)
_CLASS = matching(rf"(?!__torch__\.){NAME}(?:\.{NAME})+", "is not a class of a module")


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchPythonOptions:
    package: str = option(
        "Name of the package, possibly dotted.", shared.PACKAGE, "", shown="`<namespace>_ops`"
    )
    folder: str = shared.folder_option(TARGET, others=(".",))
    tests: str = shared.folder_option(
        "",
        "The folder of the tests below the output directory.",
        others=(".",),
        shown="`tests` in `folder`",
    )
    kernels: tuple[str, ...] = shared.modules_option(
        "Modules with the kernels that `dispatch:` names."
    )
    fakes: tuple[str, ...] = shared.modules_option(
        "Modules with the functions that `fake:`, `vmap:` and `reference:` name."
    )
    formulas: tuple[str, ...] = shared.modules_option(
        "Modules with functions that derivative formulas call."
    )
    defines: bool | None = option(
        "Whether Python defines the schemas.", FLAG, shown="true with `kernels` and no C++ target"
    )
    final: bool = option(
        "Whether no other library replaces kernels of the package, so that Autograd may call "
        "them as they are.",
        FLAG,
        False,
    )
    checks: bool = option(
        "Whether the package carries what `TORCHGEN_LITE_CHECK=1` asks for; without, it takes that from an installed "
        "torchgen_lite.",
        FLAG,
        False,
    )
    torchscript: bool = option(
        "Whether `torch.jit.script` compiles the functions of the package, and what calls them.",
        FLAG,
        False,
    )
    library: str = shared.library_option()
    skip: tuple[str, ...] = shared.skip_option()
    opaque: Mapping[str, str] = option(
        'Python classes that schemas may name: `"tables.Table" = "reference"`, or `"value"`.',
        table_of(choice("reference", "value"), key=_CLASS),
        {},
    )
    namespace_module: str = option(
        "A module that the build writes, relative to the package: `._ops`, as kernel-builder does. Where there is one, it "
        "has the namespace of the operators.",
        _RELATIVE,
        "",
        shown="none",
    )
    load: str = option(
        "A module to import first: the extension that defines the operators.", shared.MODULE, ""
    )
    autograd: bool | None = option(
        "Whether `derivatives:` are registered here.",
        FLAG,
        shown="true, unless C++ has functions for formulas",
    )

    @property
    def is_defining(self) -> bool:
        if self.defines is None:
            return bool(self.kernels)
        return self.defines
