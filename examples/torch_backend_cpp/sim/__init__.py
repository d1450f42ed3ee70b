"""A device for PyTorch. Importing this registers it: torch.ones(2, device="sim")."""

import sys
from contextlib import nullcontext
from pathlib import Path

import torch

torch.utils.rename_privateuse1_backend("sim")
torch.ops.load_library(str(Path(__file__).with_name("libsim.so")))


def fell_back() -> dict[str, int]:
    """How often each operator has run on the CPU so far because the device has no kernel for it."""
    return torch.ops.sim.fell_back()


# PyTorch uses this module as `torch.sim`, and expects these functions. There is one device, so `device(index)` changes nothing.
device = nullcontext


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def manual_seed_all(seed: int) -> None:
    """Random numbers are generated on the CPU."""


def _is_in_bad_fork() -> bool:
    return False


torch._register_device_module("sim", sys.modules[__name__])
# Tensors, modules and storages get `x.sim()` and `x.is_sim`.
torch.utils.generate_methods_for_privateuse1_backend()
