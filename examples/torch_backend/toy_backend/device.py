"""The device `toy`: its name, its module `torch.toy`, and its memory, which is the CPU's.

A tensor of the device is a real one, with storage, strides and views: DLPack hands the same memory from
one device to another, and the device is one number in what it hands over.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_C: Any = torch._C
_CPU, _TOY = 1, 12  # kDLCPU and kDLExtDev of dlpack.h
_DEVICE_AT = ctypes.sizeof(ctypes.c_void_p)  # behind the pointer to the data

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class ToyModule:
    """What `torch.toy` is. Its memory is the CPU's, and so are its random numbers."""

    # PyTorch asks for the function in some places, and in others for the variable.
    _initialized = True
    device = contextlib.nullcontext

    def init(self) -> None:
        pass

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def synchronize(self, device: int = 0) -> None:
        pass

    def manual_seed_all(self, seed: int) -> None:
        """`torch.manual_seed` has done this for the CPU."""

    def seed_all(self) -> None:
        torch.seed()

    def get_rng_state(self, device: int = 0) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: int = 0) -> None:
        torch.set_rng_state(state)

    def get_rng_state_all(self) -> list[torch.Tensor]:
        return [torch.get_rng_state()]

    def set_rng_state_all(self, states: Iterable[torch.Tensor]) -> None:
        for state in states:
            torch.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


def _handed_over(tensor: torch.Tensor, device: int) -> torch.Tensor:
    capsule = _C._to_dlpack(tensor.detach())
    address = _pointer(capsule, b"dltensor")
    ctypes.c_int32.from_address(address + _DEVICE_AT).value = device
    result: torch.Tensor = _C._from_dlpack(capsule)
    return result


def from_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the device over the memory of one of the CPU."""
    return _handed_over(tensor, _TOY)


def on_cpu(value: Any) -> Any:
    """The same memory as a tensor of the CPU, where the kernels compute.

    What is not a tensor of the device passes through: PyTorch gives `2.0` where `x * 2.0` is computed.
    """
    is_ours = isinstance(value, torch.Tensor) and value.device.type == "toy"
    return _handed_over(value, _CPU) if is_ours else value


_setup_privateuseone_for_python_backend("toy", backend_module=ToyModule())
# Tensors and modules have `x.is_toy` and `x.toy()` now. Storages have no such methods: PyTorch has no way to make one
# for a device in Python.
# Backward runs on the caller's thread. A thread of the device's own would need the interpreter, which it
# may not get any more when the program ends right after a backward.
torch.autograd.set_multithreading_enabled(False)
