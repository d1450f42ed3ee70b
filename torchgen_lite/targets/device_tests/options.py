"""What a user may set in `[tool.torchgen_lite.target.device-tests]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.loader.config.options import TEXT, described, list_of, matching, table_of
from torchgen_lite.schema.defaults import DTYPES
from torchgen_lite.targets.options import MODULE, folder_option

TARGET = "device-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTestsOptions:
    folder: str = folder_option(TARGET)
    package: str = described(MODULE, "", shown="the device is PyTorch's")
    dtypes: tuple[str, ...] = described(
        list_of(matching("|".join(DTYPES), "is not a dtype")), ("float32",)
    )
    refused: Mapping[str, str] = described(
        table_of(TEXT, key=matching(r"test_[\w*]+", "is not the name of a test")), {}
    )
