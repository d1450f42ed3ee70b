"""What a call writes.

Note [What is written has a new version]
Autograd compares the version of a tensor that it has kept with the one that the tensor has in the backward pass. A
kernel that writes by NumPy, Triton or a pointer changes no version. So a call does, once for each tensor that the schema
says is written, as `torch.library.custom_op` does: in the kernel for Autograd, which goes past ADInplaceOrView to save a
call, and in one for ADInplaceOrView, which serves calls that Autograd does not see, as those in inference mode. That
mode takes ADInplaceOrView from calls whose arguments carry no keys, as a `Tensor[]?` alone: these have BackendSelect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.autograd.graph import increment_version

from ._library import Function, Registering, is_backend

# Parts of torch have no annotations.
_C: Any = torch._C
AFTER: Any = _C._after_ADInplaceOrView_keyset


def written_arguments(op: Any) -> list[int | str]:
    """What an operator writes to: positions, and names of keyword-only arguments."""
    places: list[int | str] = []
    for index, argument in enumerate(op._schema.arguments):
        if argument.name in names_written(op._schema):
            places.append(argument.name if argument.kwarg_only else index)
    return places


def names_written(schema: Any) -> set[str]:
    """The arguments that a call writes to."""
    names = set()
    for argument in schema.arguments:
        alias = argument.alias_info
        if alias is not None and alias.is_write:
            names.add(argument.name)
    return names


def returned(results: Sequence[Any]) -> Any:
    """What an operator returns that has these results."""
    if len(results) > 1:
        return tuple(results)
    return results[0] if results else None


def values_at(
    places: Sequence[int | str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> list[Any]:
    return [kwargs[p] if isinstance(p, str) else args[p] for p in places]


def written_tensors(op: Any) -> Callable[[Sequence[Any], Mapping[str, Any]], list[torch.Tensor]]:
    """What finds the tensors that a call writes: those of lists, too, and none that is left out."""
    places = written_arguments(op)

    def written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
        given: dict[Any, Any] = dict(enumerate(args))
        given.update(kwargs)
        values: list[Any] = []
        for place in places:
            value = given.get(place)
            values += value if isinstance(value, (list, tuple)) else [value]
        return [value for value in values if isinstance(value, torch.Tensor)]

    return written


def carries_keys(op: Any) -> bool:
    """Whether an argument gives calls their keys: a list of tensors that may be left out does not."""
    for argument in op._schema.arguments:
        text = str(argument.type)
        if "Tensor" in text and not text.startswith("Optional[List"):
            return True
    return False


def register(registering: Registering) -> None:
    """What moves the versions of tensors that an operator writes, where nothing else does."""
    op = registering.op
    if registering.operator.is_torchs or not _is_tracked(registering):
        return
    registering.tracked.add(registering.name)
    # ADInplaceOrView is there for calls that carry no key of autograd, too.
    has_keys = carries_keys(op)
    if has_keys or not registering.has("underived"):
        registering.impl("ADInplaceOrView", _raising_versions(op), with_keyset=True)
    if not has_keys:
        registering.impl("BackendSelect", _raising_in_inference(op), with_keyset=True)


def _is_tracked(registering: Registering) -> bool:
    """Whether versions are moved here: not by another library, nor by the operators that a kernel is composed of."""
    if not registering.op._schema.is_mutable or registering.has_kernel("ADInplaceOrView"):
        return False
    keys = filter(is_backend, _C.DispatchKey.__members__)
    is_composed = registering.has_kernel("CompositeImplicitAutograd")
    return not is_composed or any(map(registering.has_kernel, keys))


def _raising_versions(op: Any) -> Function:
    """The kernel for ADInplaceOrView of an operator that writes."""
    written = written_tensors(op)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = op._handle.redispatch_boxed(keyset & AFTER, *args, **kwargs)
        increment_version(written(args, kwargs))
        return result

    return kernel


def _raising_in_inference(op: Any) -> Function:
    """The kernel for BackendSelect of an operator that writes, and whose arguments carry no keys."""
    written = written_tensors(op)
    after = _C._dispatch_keyset_full_after(_C.DispatchKey.BackendSelect)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = op._handle.redispatch_boxed(keyset & after, *args, **kwargs)
        if torch.is_inference_mode_enabled():
            increment_version(written(args, kwargs))
        return result

    return kernel


def check_leaf(written: torch.Tensor) -> None:
    """Refuse to write to what has no history to write to, in PyTorch's words."""
    for what, leaf in (("a leaf", written), ("a view of a leaf", written._base)):
        if written.requires_grad and leaf is not None and leaf.is_leaf:
            raise RuntimeError(
                f"{what} Variable that requires grad is being used in an in-place operation."
            )
