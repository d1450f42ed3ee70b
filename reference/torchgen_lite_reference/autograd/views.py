"""Views: which tensors share memory, and how a change through one reaches the history of the others.

Note [History of views]
A view remembers the tensor that owns the memory (its base), and how it was made from it, as a chain of functions. When
a view is changed in place, the change becomes part of the base's history (`CopySlices`).
Every other view of that base then has an outdated `grad_fn`, which shows in the version of the memory;
when it is next needed, the chain is run again on the base. torch does the same with `as_strided`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from torchgen_lite_reference.autograd.mode import enable_grad, grad_enabled
from torchgen_lite_reference.autograd.node import Meta, Node, attach, meta_of
from torchgen_lite_runtime import inference_use, is_inference_mode_enabled

if TYPE_CHECKING:
    from torchgen_lite_reference.tensor import Tensor

Replay = Callable[["Tensor"], "Tensor"]

DEFAULT, NO_GRAD, SEVERAL, INFERENCE = 0, 1, 2, 3
"""How a view was made: normally, under `no_grad`, together with others (`unbind`), in inference mode."""

_MODE_TEXT = (
    "A view was created in {} mode and {} inplace {}. Given that this use case is ambiguous and error-prone,"
    " it is forbidden. You can clarify your code by moving both the view and the inplace either both inside"
    " the {} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to"
    " be tracked)."
)
_DIRECT, _INDIRECT = "is being modified", "its base or another view of its base has been modified"
_SEVERAL_TEXT = (
    "Output {} of {} is a view and is being modified inplace. This view is the output of a function that"
    " returns multiple views. Such functions do not allow the output views to be modified inplace. You"
    " should replace the inplace operation by an out-of-place one."
)
# The list of a tensor's views is cleared of dead ones when it is longer than this.
_PRUNE = 32


class View:
    """What a view knows of its base. `version` is that of the memory when `grad_fn` was right. If it is a view of one
    that is `apart` from the base's tangent, it has a part of that one's: the view, and the number of steps to it.
    """

    __slots__ = ("apart", "base", "chain", "creation", "version")

    def __init__(
        self, base: Tensor, chain: tuple[Replay, ...], creation: int, version: int
    ) -> None:
        self.apart: tuple[Tensor, int] | None = None
        self.base = base
        self.chain = chain
        self.creation = creation
        self.version = version


def as_view(source: Tensor, result: Tensor, replay: Replay, creation: int = DEFAULT) -> Tensor:
    """Note that `result` is a view of `source`, made by `replay`."""
    version = result._storage.version
    if result is source or version is None:
        return result
    if inference_use.seen and is_inference_mode_enabled():
        creation = INFERENCE
    elif creation == DEFAULT and not grad_enabled():
        creation = NO_GRAD
    meta = source._meta
    chain: tuple[Replay, ...] = (replay,)
    base = source
    if meta is not None and meta.view is not None:
        base = meta.view.base
        chain = (*meta.view.chain, replay)
        creation = creation or meta.view.creation
    made = result._meta = Meta()
    made.view = View(base, chain, creation, version)
    if base is not source and meta is not None:
        made.view.apart = (source, len(chain) - 1) if meta.apart else meta.view.apart
    if base._requires_grad:
        result._requires_grad = True
    else:
        _remember(meta_of(base), result)
    return result


def as_views(
    source: Tensor, results: Sequence[Tensor], replay: Callable[[Tensor], Sequence[Tensor]]
) -> list[Tensor]:
    """The same for the views that one call makes together."""

    def nth(index: int) -> Replay:
        return lambda base: replay(base)[index]

    return [as_view(source, view, nth(i), SEVERAL) for i, view in enumerate(results)]


def _remember(meta: Meta, view: Tensor) -> None:
    """Register a view, so that it can be updated when its base begins to require gradients."""
    if meta.views is None:
        meta.views = []
    elif len(meta.views) >= _PRUNE and len(meta.views) & (len(meta.views) - 1) == 0:
        meta.views = [reference for reference in meta.views if reference() is not None]
    meta.views.append(weakref.ref(view))


def mark_views(base: Tensor) -> None:
    """The views of a tensor that requires gradients require them too."""
    meta = base._meta
    if meta is not None and meta.views is not None:
        for reference in meta.views:
            view = reference()
            if view is not None:
                view._requires_grad = True
        meta.views = None


def refresh(tensor: Tensor, meta: Meta) -> None:
    """Make a view's `grad_fn` again if its base was changed since."""
    view: View = meta.view
    version = tensor._version
    if view.version == version or (meta.grad_fn is None and not view.base._requires_grad):
        return
    _refuse_modes(view.creation, _INDIRECT)
    with enable_grad():
        made = view.base
        for step in view.chain:
            made = step(made)
    record = made._meta
    view.version = version
    if record is not None and record.grad_fn is not None:
        attach(tensor, record.grad_fn, record.output)


def _refuse_modes(creation: int, modified: str) -> None:
    """Views that were made while nothing is recorded do not know how they were made from their base."""
    if creation == NO_GRAD:
        how = "with grad mode enabled"
        raise RuntimeError(_MODE_TEXT.format("no_grad", modified, how, "no_grad"))
    if creation == INFERENCE:
        how = "in normal mode"
        raise RuntimeError(_MODE_TEXT.format("inference", modified, how, "inference_mode"))


def is_leaf(tensor: Tensor) -> bool:
    """Whether no recorded call made the tensor."""
    meta = tensor._meta
    if meta is None:
        return True
    if meta.view is not None:
        refresh(tensor, meta)
    return meta.grad_fn is None


def check_inplace(tensor: Tensor) -> None:
    """Raise an error for a change of a leaf that requires gradients, or through a view that cannot be recorded."""
    meta = tensor._meta
    view: View | None = meta.view if meta is not None else None
    if view is not None and meta is not None:
        _refuse_modes(view.creation, _DIRECT)
        if view.creation == SEVERAL:
            name = "a view" if meta.grad_fn is None else meta.grad_fn.name()
            raise RuntimeError(_SEVERAL_TEXT.format(meta.output, name))
        if view.base._requires_grad and is_leaf(view.base):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation."
            )
    if tensor._requires_grad and is_leaf(tensor):
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


REAL_ONLY = {
    "AmaxBackward0": "amax",
    "AminBackward0": "amin",
    "BinaryCrossEntropyWithLogitsBackward0": "binary_cross_entropy_with_logits",
    "EmbeddingBackward0": "embedding",
    "SiluBackward0": "silu",
    "ToSparseBackward0": "_to_sparse",
    "ToSparseBackward1": "_to_sparse",
}
"""Nodes of reference operators that take complex numbers but are not differentiable for them.

torch refuses the same ones; an operator of another library may have a node of the same name.
"""


def check_complex(node: Node) -> None:
    """Refuse to record a call with a complex result whose formula is for real numbers alone."""
    name = REAL_ONLY.get(node.name())
    if name is not None and type(node).__module__.startswith("torchgen_lite_ops."):
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype."
        )
