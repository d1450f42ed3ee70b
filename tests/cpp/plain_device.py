"""The device of `plain_device.h`, as PyTorch gets to know it. Checks of libraries import this in their process."""

from __future__ import annotations

import types
from typing import Any

import torch


def known() -> None:
    """Make `plain:0` and `plain:1` devices."""
    torch._C._rename_privateuse1_backend("plain")
    register: Any = torch._register_device_module
    register(
        "plain",
        types.SimpleNamespace(
            is_available=lambda: True,
            is_initialized=lambda: True,
            device_count=lambda: 2,
            current_device=lambda: 0,
            _is_in_bad_fork=lambda: False,
            get_amp_supported_dtype=lambda: [torch.float16],
        ),
    )
