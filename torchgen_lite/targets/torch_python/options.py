"""What a user may set in `[tool.torchgen_lite.target.torch-python]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.loader.config.options import FLAG, NAME, choice, described, matching, table_of
from torchgen_lite.targets import options as shared

TARGET = "torch-python"
_CLASS = matching(rf"(?!__torch__\.){NAME}(?:\.{NAME})+", "is not a class of a module")


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchPythonOptions:
    package: str = described(shared.PACKAGE, "", shown="`<namespace>_ops`")
    folder: str = shared.folder_option(TARGET, others=(".",))
    tests: str = shared.folder_option("", "", others=(".",), shown="`tests` in `folder`")
    kernels: tuple[str, ...] = shared.modules_option()
    fakes: tuple[str, ...] = shared.modules_option()
    formulas: tuple[str, ...] = shared.modules_option()
    defines: bool | None = described(FLAG, shown="true with `kernels` and no C++ target")
    final: bool = described(FLAG, False)
    library: str = shared.library_option()
    skip: tuple[str, ...] = shared.skip_option()
    opaque: Mapping[str, str] = described(table_of(choice("reference", "value"), key=_CLASS), {})
    load: str = described(shared.MODULE, "")
    autograd: bool | None = described(FLAG, shown="true, unless C++ has functions for formulas")

    @property
    def is_defining(self) -> bool:
        return bool(self.kernels) if self.defines is None else self.defines
