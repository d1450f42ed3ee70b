"""Functions that generated autograd kernels call. `framework.py` re-exports them.

after_autograd[keyset], after_adinplaceorview[keyset]   the keys below, remembered by keyset
edge_of(tensor), edges_of(tensors)                      the edges of a node; lists give several
save, save_optional, save_list, save_result             what backward needs
set_history(node, result), set_histories(node, results) make results the node's outputs
check_inplace, rebase_history, original                 in-place operators
as_view, as_views                                       views
bump_version(tensor)                                    a tensor was written to
refuse_out(name, *tensors)                              out variants
autograd_not_implemented                                the fallback of operators without formulas

`zeros` and `conj`, which formulas need, are in `node.py` and `support.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from torchgen_lite_ops import operators
from torchgen_lite_reference.autograd.edges import gradient_edge, rebase_history
from torchgen_lite_reference.autograd.mode import grad_enabled
from torchgen_lite_reference.autograd.node import (
    Edge,
    Gradients,
    Node,
    SavedTensor,
    SavedTensors,
    attach,
    output_of,
)
from torchgen_lite_reference.autograd.tangents import UNDERIVED, dual_levels, refuse_tangents
from torchgen_lite_reference.autograd.views import (
    as_view,
    as_views,
    check_complex,
    check_inplace,
)
from torchgen_lite_runtime import (
    AutoDispatchBelowAutograd,
    DispatchKey,
    DispatchKeySet,
    KeysetMask,
    OperatorHandle,
    is_inference_mode_enabled,
)

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

__all__ = [
    "after_adinplaceorview",
    "after_autograd",
    "as_view",
    "as_views",
    "autograd_not_implemented",
    "bump_version",
    "check_inplace",
    "edge_of",
    "edges_of",
    "grad_enabled",
    "needs_grad",
    "original",
    "output_of",
    "rebase_history",
    "refuse_out",
    "save",
    "save_list",
    "save_optional",
    "save_result",
    "set_histories",
    "set_history",
]

after_autograd = KeysetMask(DispatchKeySet.full_after(DispatchKey.AutogradOther))
after_adinplaceorview = KeysetMask(DispatchKeySet.full_after(DispatchKey.ADInplaceOrView))


def edge_of(tensor: Tensor | None) -> Edge | None:
    """Where the gradient of an argument goes; None if it needs none."""
    return gradient_edge(tensor) if tensor is not None and tensor._requires_grad else None


def edges_of(tensors: Sequence[Tensor | None]) -> list[Edge | None]:
    """An edge for each tensor of a list."""
    return [edge_of(tensor) for tensor in tensors]


def needs_grad(tensors: Iterable[Tensor | None]) -> bool:
    """Whether any of a list of tensors needs a gradient."""
    return any(t is not None and t._requires_grad for t in tensors)


save = SavedTensor


def save_optional(tensor: Tensor | None) -> SavedTensor | None:
    return None if tensor is None else SavedTensor(tensor)


def save_list(tensors: Sequence[Tensor | None] | None) -> SavedTensors | None:
    return None if tensors is None else SavedTensors(tensors)


def save_result(tensor: Tensor, output: int = 0) -> SavedTensor:
    return SavedTensor(tensor, output)


def set_history(node: Node, result: Tensor) -> Tensor:
    """Make a result the only output of a node."""
    node.outputs.append(output_of(result))
    if result._dtype.differentiable:
        if result._dtype.is_complex:
            check_complex(node)
        attach(result, node, 0)
    return result


def set_histories(node: Node, results: Sequence[Tensor]) -> None:
    """Make results the outputs of a node, in their order."""
    for number, result in enumerate(results):
        node.outputs.append(output_of(result))
        if result._dtype.differentiable:
            if result._dtype.is_complex:
                check_complex(node)
            attach(result, node, number)


def original(tensor: Tensor) -> Tensor:
    """A copy of a tensor that is about to be changed, for a formula that needs the old value.

    The copy is recorded, so that the formula can be differentiated again.
    """
    return operators.clone(tensor)


def bump_version(tensor: Tensor) -> None:
    """A tensor was written to. One without a version counter may be changed only in inference mode."""
    storage = tensor._storage
    version = storage.version
    if version is not None:
        storage.version = version + 1
    elif not is_inference_mode_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed: a tensor made in "
            "inference mode has no version counter. Modify a clone of it, which is a normal tensor."
        )


def refuse_out(name: str, tensors: Sequence[Tensor | None]) -> None:
    """An out variant cannot be recorded: raise an error if it would have to be."""
    if dual_levels:
        refuse_tangents(UNDERIVED.format(f"{name}_out", "it is an out= function"), tensors)
    if grad_enabled() and needs_grad(tensors):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one"
            " of the arguments requires grad."
        )


class NotImplementedBackward(Node):
    """A call of an operator without a formula: backward raises an error here."""

    __slots__ = ("operator",)

    def __init__(self, operator: str, edges: tuple[Edge | None, ...]) -> None:
        super().__init__(edges)
        self.operator = operator

    def apply(self, grads: Gradients) -> Gradients:
        raise NotImplementedError(
            f"the derivative for '{self.operator}' is not implemented: it has no formula in `derivatives:`"
        )


def autograd_not_implemented(
    keyset: DispatchKeySet, operator: OperatorHandle, /, *arguments: Any, **keywords: Any
) -> Any:
    """The fallback at the autograd keys, for operators without a kernel: runs the call, and raises an error in
    backward."""
    tensors = list(_tensors((*arguments, *keywords.values())))
    below = after_autograd[keyset]
    if dual_levels and "Tensor" in operator.schema.rpartition("->")[2]:
        reason = "it has not been implemented yet."
        refuse_tangents(UNDERIVED.format(operator.full_name, reason), tensors)
    if not (grad_enabled() and needs_grad(tensors)):
        return operator.redispatch(below, *arguments, **keywords)
    written = list(_written(operator, arguments, keywords))
    for tensor in written:
        check_inplace(tensor)
    node = NotImplementedBackward(operator.full_name, tuple(edges_of(tensors)))
    with AutoDispatchBelowAutograd():
        result = operator.redispatch(below, *arguments, **keywords)
    given = {id(tensor) for tensor in tensors}
    changed = {id(tensor): tensor for tensor in written}
    for output in _tensors(result if isinstance(result, (list, tuple)) else (result,)):
        if id(output) in given:
            changed[id(output)] = output
        else:
            set_histories(node, (output,))
    # What is written may not be returned. The base of a view takes the place of the first edge.
    for tensor in changed.values():
        edges = tuple(edges_of([tensor, *tensors]))
        rebase_history(NotImplementedBackward(operator.full_name, edges), tensor)
    return result


def _written(
    operator: OperatorHandle, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Iterable[Any]:
    """The tensors that are written to according to the schema."""
    given = {**dict(zip(operator.signature.arguments, arguments)), **keywords}
    written = _WRITTEN.findall(operator.schema.rpartition("->")[0])
    return _tensors([given[name] for name in written if name in given])


_WRITTEN = re.compile(r"!\)?[^\s,]* (\w+)")


def _tensors(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif hasattr(value, "_requires_grad"):
            yield value
