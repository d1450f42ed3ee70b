"""The inputs that PyTorch's own tests give an operator of its `op_db`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch


def samples(info: Any, dtype: torch.dtype, requires_grad: bool = False) -> Iterator[Any]:
    """On the CPU.

    `OpInfo.sample_inputs` makes the same, and searches the stack for a unittest twice, with the source of each frame, which
    takes longer than all the rest.
    """
    torch.manual_seed(0)
    yield from info.sample_inputs_func(info, "cpu", dtype, requires_grad)
