"""What a user may set in `[tool.torchgen_lite.target.device-tests]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchgen_lite.loader.config.options import TEXT, list_of, matching, option, table_of
from torchgen_lite.schema.defaults import DTYPES
from torchgen_lite.targets.options import MODULE, folder_option

TARGET = "device-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTestsOptions:
    folder: str = folder_option(TARGET)
    package: str = option(
        "The module whose import registers the device.", MODULE, "", shown="the device is PyTorch's"
    )
    dtypes: tuple[str, ...] = option(
        "The dtypes of kernels whose entries have no `dtypes:`.",
        list_of(matching("|".join(DTYPES), "is not a dtype")),
        ("float32",),
    )
    refused: Mapping[str, str] = option(
        'Tests that must raise an error, with its text: `test_sparse_tensors_chip = "Sparse"`. A '
        "test without a text is not run, and `*` in a name is any text.",
        table_of(TEXT, key=matching(r"test_[\w*]+", "is not the name of a test")),
        {},
    )
