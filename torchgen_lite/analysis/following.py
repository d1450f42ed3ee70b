"""Kernels derived from other variants of an operator."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.kernels import BOXED_NAMES, kernels_of
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import annotations_of, bare_types, walk_type

# The backends that PyTorch has no kernels for.
_BACKENDS = frozenset({"PrivateUse1", "PrivateUse2", "PrivateUse3"})
_WRITING = (SchemaKind.inplace, SchemaKind.out)


def out_kernels(group: VariantGroup, function: NativeFunction) -> Iterator[DispatchEntry]:
    """The out variant's kernels that serve a functional or in-place variant without its own.

    Note [What a backend leaves out]
    A backend author writes `add.out`; the entries of `add.Tensor` and `add_.Tensor` have `dispatch:
    {}`. PyTorch's Meta kernel computes the shape and dtype of the result, and rejects what can't be
    done in place. PyTorch does the same, but only for operators that are structured in its own
    file.
    """
    if function is not group.functional and function is not group.inplace:
        return
    if group.out.is_pytorchs and not group.out.structured:
        for kernel in kernels_of(group.out):
            is_typed = kernel.kernel not in BOXED_NAMES
            if kernel.key in _BACKENDS and is_typed and _is_left_out(function, kernel.key):
                yield kernel


def _is_left_out(function: NativeFunction, key: str) -> bool:
    """Whether the entry returns tensors and has no kernel for this key or for all keys."""
    keys = function.keys
    if key in keys or any(k.startswith("Composite") for k in keys):
        return False
    if not keys and function.place("dispatch") is None:
        return False
    return set(bare_types(function.func.returns)) <= {"Tensor"}


def functional_variant(resolved: Resolved, operator: Operator) -> Operator | None:
    """The functional variant that computes what an in-place or out variant writes and returns.

    Note [Functionalization]
    torch.compile replaces in-place writes by new tensors. PyTorch does so for its own operators and
    for those that return nothing, but rejects operators that return what they write, such as
    `scale_` and `scale.out`. If the file also has the functional variant, a Functionalize kernel is
    derived from it. Composite operators get none, as in PyTorch (torchgen
    `gen_functionalization_registration`): torch.compile sees the operators that they call.
    """
    if operator.kind not in _WRITING or operator.is_composed:
        return None
    functional = resolved.functional_of(operator)
    if functional is None:
        return None
    fits = _returns_what_it_writes(operator.function, functional.function)
    return functional if fits else None


def _returns_what_it_writes(function: NativeFunction, functional: NativeFunction) -> bool:
    """Whether the operator returns exactly its written tensors, one per functional result."""
    written = function.func.written
    returns = function.func.returns
    are_plain = all(len(list(walk_type(argument.type))) == 1 for argument in written)
    is_same = annotations_of(written) == annotations_of(returns)
    return are_plain and is_same and len(returns) == len(functional.func.returns)
