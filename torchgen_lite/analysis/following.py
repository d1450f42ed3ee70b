"""Kernels that follow from what another variant of an operator has, or does."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.derive.copying import copied_entries
from torchgen_lite.analysis.kernels import KernelEntry, kernels_of
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import bare_type, walk_type

# The backends that PyTorch has no kernels for.
_BACKENDS = frozenset({"PrivateUse1", "PrivateUse2", "PrivateUse3"})
_WRITING = (SchemaKind.inplace, SchemaKind.out)


def out_kernels(operator: Operator) -> Iterator[KernelEntry]:
    """The kernels of an out variant that serve a functional or in-place one, which has none of its own.

    Note [What a backend leaves out]
    The author of a backend writes `add.out`, and the entries of `add.Tensor` and `add_.Tensor` say
    `dispatch: {}`. PyTorch's kernel for Meta knows the shape and dtype of the result, and refuses
    what can't be done in place. PyTorch itself does the same for operators that are structured in its own
    file, and only for these.
    """
    group, function = operator.group, operator.function
    if group is None or (function is not group.functional and function is not group.inplace):
        return
    if group.out.namespace in TORCH_NAMESPACES and not group.out.structured:
        for kernel in kernels_of(group.out):
            if kernel.key in _BACKENDS and _is_left_out(function, kernel.key):
                yield kernel


def _is_left_out(function: NativeFunction, key: str) -> bool:
    """Whether the entry has no kernel for the key, nor one for all keys, and results are tensors."""
    keys = {entry.key for entry in function.dispatch}
    if key in keys or any(k.startswith("Composite") for k in keys):
        return False
    if not keys and function.place("dispatch") is None:
        return False
    return all(bare_type(value.type) == "Tensor" for value in function.func.returns)


def copied_kernels(operator: Operator) -> Iterator[tuple[KernelEntry, NativeFunction]]:
    """The kernels of a functional variant, and this variant, that serve another one: see Note [Variants that copy]."""
    group = operator.group
    if group is not None and operator.function is not group.functional:
        keys = {entry.key for entry in copied_entries(group, operator.function)}
        for kernel in kernels_of(group.functional):
            if kernel.key in keys:
                yield kernel, group.functional


def functional_variant(resolved: Resolved, operator: Operator) -> Operator | None:
    """The functional variant that computes what an in-place or out variant writes and returns.

    Note [Functionalization]
    torch.compile replaces what is written in place by new tensors. PyTorch does so for its own operators and
    for those that return nothing; an operator that returns what it writes, as `scale_` and `scale.out` do, it
    refuses. Where the functional variant is in the file too, the kernel for the key Functionalize follows.
    An operator that is composed of others has none, as in PyTorch (torchgen
    `gen_functionalization_registration`): torch.compile sees the operators that it is made of.
    """
    if operator.kind not in _WRITING or operator.is_composed:
        return None
    found = resolved.functional_of(operator)
    if found is None or not _returns_what_it_writes(operator.function, found.function):
        return None
    return found


def _returns_what_it_writes(function: NativeFunction, functional: NativeFunction) -> bool:
    """Whether the results are the written tensors, one for each result of the functional variant."""
    written = [argument for argument in function.func.arguments if argument.is_write]
    returns = function.func.returns
    return (
        all(len(list(walk_type(argument.type))) == 1 for argument in written)
        and [argument.annotation for argument in written] == [r.annotation for r in returns]
        and len(returns) == len(functional.func.returns)
    )
