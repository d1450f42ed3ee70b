"""Operators that draw random numbers, under `torch.vmap`."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._library import Function, Registering

# Parts of torch have no annotations.
_C: Any = torch._C


def register(registering: Registering) -> None:
    """What PyTorch's functions draw in a composed operator, they are asked for."""
    operator = registering.operator
    if operator.is_torchs or "nondeterministic_seeded" not in operator.tags:
        return
    keys = ("CompositeImplicitAutograd", "FuncTorchVmapMode")
    if not any(map(registering.has_kernel, keys)) and not registering.has("vmap"):
        registering.impl("FuncTorchVmapMode", _drawing(registering.op))


def _drawing(op: Any) -> Function:
    """What does under `torch.vmap` as its `randomness` says; PyTorch asks for it only at calls of its own operators."""
    here = _C.DispatchKeySet(_C.DispatchKey.FuncTorchVmapMode)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        from torch._functorch import pyfunctorch

        vmap: Any = pyfunctorch.retrieve_current_functorch_interpreter()
        leaves, shape = pytree.tree_flatten((args, kwargs))
        # Where the tensors are among them, and the transforms that have wrapped those.
        tensors = []
        levels = []
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                tensors.append(index)
                levels.append(_C._functorch.maybe_get_level(leaf))
        is_mapped = vmap.level() in levels
        randomness = vmap.randomness()
        draws_for_each = randomness == "different" and not is_mapped
        cannot_expand = draws_for_each and (not tensors or op._schema.is_mutable)
        is_mapped_alike = randomness == "same" and is_mapped
        if randomness == "error" or is_mapped_alike or cannot_expand:
            message = f"draws random numbers: not with randomness={randomness!r}"
            raise RuntimeError(f"{op.name()} {message}")
        if draws_for_each:
            index = tensors[0]
            first = leaves[index]
            for_each = first.expand(vmap.batch_size(), *first.shape)
            leaves[index] = _C._functorch._add_batch_dim(for_each, 0, vmap.level())
            args, kwargs = pytree.tree_unflatten(leaves, shape)
        with _C._ExcludeDispatchKeyGuard(here):
            return op(*args, **kwargs)

    return kernel
