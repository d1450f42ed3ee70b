"""Kernels that launch Triton kernels, which compilers trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, cast

import torch
from torch._functorch import config
from torch._library import triton
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode

from ._library import Function, Registering, resolve, tensors_of
from ._named import modules

# Parts of torch have no annotations.
_C: Any = torch._C


def launching(kernel: Function, *functions: tuple[str, str, str]) -> Function:
    """A kernel that launches Triton kernels in these functions, each with its place and its module; compilers trace
    `__wrapped__`, which is slow to run."""
    modules.update(module for _, module, _ in functions)
    call: Any = triton.set_wrap_triton_enabled(False)(kernel)
    call.launched = lambda: _launched_in(resolve(*function) for function in functions)
    return cast("Function", call)


def _launched_in(functions: Iterable[Function]) -> list[Any]:
    return [*chain.from_iterable(map(triton.get_inner_triton_kernels, functions))]


class _Launched(list[Any]):
    """Triton kernels, which caches of compiled programs ask for; functions are imported then."""

    def __iter__(self) -> Iterator[Any]:
        return (launched for kernel in super().__iter__() for launched in kernel.launched())


def register(registering: Registering) -> None:
    """Let compilers trace the kernel that a call would run; as with `triton_op`, exported programs keep the call."""
    name = registering.name
    table = registering.table
    launching_keys = []
    for key in registering.operator.rules:
        if hasattr(table[name, key], "launched"):
            launching_keys.append(key)
    if not launching_keys:
        return

    def rule(mode: Any, op: Any, types: Any, args: Any, kwargs: Any) -> Any:
        key = _plain_key(registering, types, tensors_of((args, kwargs)))
        is_wanted = getattr(config, "decompose_custom_triton_ops", True)
        if key not in launching_keys or not is_wanted:
            return mode.__torch_dispatch__(op, types, args, kwargs)
        with mode:
            return cast("Any", table[name, key]).__wrapped__(*args, **kwargs)

    known = getattr(triton, "triton_ops_to_kernels", {})
    known[name] = _Launched(table[name, key] for key in launching_keys)
    register_dispatch: Any = torch.library.register_torch_dispatch
    register_dispatch(name, FunctionalTensorMode, rule, lib=registering.library)


def _plain_key(registering: Registering, types: Any, tensors: Sequence[torch.Tensor]) -> str:
    """The key of the kernel that a call with plain tensors of one device runs; empty for other calls."""
    if not {*types} <= {torch.Tensor, FakeTensor, FunctionalTensor}:
        return ""
    keys = set()
    for tensor in tensors:
        if tensor.layout is not torch.strided:
            return ""
        keys.add(_C._dispatch_key_for_device(tensor.device.type))
    # A tensor on the CPU, a number, may stand beside those of a device.
    [key, *others] = keys - {"CPU"} or keys or {"Undefined"}
    if others:
        return ""
    return key if registering.has_kernel(key) else "CompositeExplicitAutograd"
