"""What a user may set in `[tool.torchgen_lite.target.cpp-torch]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.languages.cpp.torch_types import CLASS_PREFIX
from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.loader.config.options import FLAG, described, matching, table_of
from torchgen_lite.targets.cpp import options as library
from torchgen_lite.targets.options import folder_option

TARGET = "cpp-torch"
_POINTER = "c10::intrusive_ptr<[A-Za-z_:][A-Za-z0-9_:<>, ]*>"
_CLASS = matching(
    re.escape(CLASS_PREFIX) + r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+",
    "is not a custom class, `__torch__.torch.classes.ns.C`",
)
_REFUSAL = "is not of the form `c10::intrusive_ptr<C>`"
_HELD = library.kind_of(f"{_POINTER}|const {_POINTER}&", _REFUSAL, library.read_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchOptions(library.ModuleOptions):
    folder: str = folder_option(TARGET)
    calls_only: bool = described(FLAG, False, torch=True)
    formula_headers: tuple[str, ...] = described(library.HEADERS, ())
    types: Mapping[str, CType] = described(table_of(_HELD, key=_CLASS), {})
    headers: tuple[str, ...] = described(library.HEADERS, ())
