"""What autograd adds to `Tensor`: a mixin, so that `tensor.py` is only about memory."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from torchgen_lite_reference.autograd.edges import gradient_edge
from torchgen_lite_reference.autograd.engine import backward
from torchgen_lite_reference.autograd.node import (
    Handle,
    Hook,
    Meta,
    Node,
    add_output_hook,
    add_retained,
    meta_of,
)
from torchgen_lite_reference.autograd.views import is_leaf, mark_views, refresh
from torchgen_lite_reference.window import Window
from torchgen_lite_runtime import is_inference_mode_enabled

if TYPE_CHECKING:
    from torchgen_lite_reference.storage import Storage
    from torchgen_lite_reference.tensor import Tensor


class AutogradAttributes:
    """`requires_grad`, `grad`, `backward` and so on, under torch's names."""

    __slots__ = ()

    _requires_grad: bool
    _meta: Meta | None
    _storage: Storage

    @property
    def requires_grad(self) -> bool:
        """Whether calls with this tensor are recorded."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self: Any, requires_grad: bool = True) -> Tensor:
        """Start or stop recording calls with this leaf."""
        tensor: Tensor = self
        if requires_grad == tensor._requires_grad:
            return tensor
        if requires_grad and tensor.is_inference() and not is_inference_mode_enabled():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        if not requires_grad and not is_leaf(tensor):
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed"
                " variable in a subgraph that doesn't require differentiation use"
                " var_no_grad = var.detach()."
            )
        if requires_grad and not tensor._dtype.differentiable:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        tensor._requires_grad = requires_grad
        if requires_grad:
            mark_views(tensor)
        return tensor

    @property
    def grad_fn(self: Any) -> Node | None:
        """The node of the call that made this tensor; None for a leaf."""
        meta = self._meta
        if meta is None:
            return None
        if meta.view is not None:
            refresh(self, meta)
        node: Node | None = meta.grad_fn
        return node

    @property
    def is_leaf(self: Any) -> bool:
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        return 0 if self._meta is None else self._meta.output

    @property
    def grad(self: Any) -> Tensor | None:
        """The gradient that backward has accumulated here, or None."""
        meta: Meta | None = self._meta
        if meta is None:
            return None
        if meta.grad is None and meta.grad_fn is not None and not meta.retains:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad"
                " attribute won't be populated during autograd.backward(). If you indeed want the .grad"
                " field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
                UserWarning,
                stacklevel=2,
            )
        return meta.grad

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        if value is None:
            if self._meta is not None:
                self._meta.grad = None
            return
        if not isinstance(value, Window):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._shape != self._shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value._shape)}' to a tensor of size"
                f" '{list(self._shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if value._dtype is not self._dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value._dtype}' to a tensor with grad_dtype"
                f" '{self._dtype}'"
            )
        gradient: Any = value
        meta_of(self).grad = gradient

    def backward(
        self: Any,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add this tensor's gradient to the `.grad` of the leaves it was made of."""
        backward(self, gradient, retain_graph, create_graph, inputs)

    def register_hook(self: Any, hook: Hook) -> Handle:
        """`hook(grad)` runs when this tensor's gradient is complete, and may return another one to replace it."""
        edge = gradient_edge(self) if self._requires_grad else None
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        self._keep_accumulator(edge)
        return add_output_hook(edge, hook)

    def register_post_accumulate_grad_hook(self: Any, hook: Callable[[Tensor], None]) -> Handle:
        """`hook(tensor)` runs each time that backward has added to this leaf's `grad`."""
        edge = gradient_edge(self) if self._requires_grad else None
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        self._keep_accumulator(edge)
        return edge[0].register_hook(lambda *_: hook(self))

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Tensor:
        """Copy a leaf with its `grad`. The result of a call belongs to a graph, so copying it raises an error."""
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy"
                " protocol at the moment."
            )
        found: Tensor | None = memo.get(id(self))
        if found is None:
            rebuild, parts = self.__reduce__()
            found = rebuild(*copy.deepcopy(parts, memo))
            memo[id(self)] = found
            if self._meta is not None and self._meta.grad is not None:
                found.grad = copy.deepcopy(self._meta.grad, memo)
        return found

    def _keep_accumulator(self: Any, edge: Any) -> None:
        """A leaf has a weak reference to its accumulator; once that has hooks, the leaf must keep it alive."""
        if self._meta.grad_fn is None:
            node, _ = edge
            self._meta.accumulator = lambda: node

    def retain_grad(self: Any) -> None:
        """Let backward set `.grad` of this tensor although it is not a leaf."""
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.is_leaf or self._meta.retains:
            return
        edge = gradient_edge(self)
        assert edge is not None
        self._meta.retains = True
        add_retained(edge, self)

    @property
    def retains_grad(self) -> bool:
        return self._meta is not None and self._meta.retains

    @property
    def _version(self) -> int:
        version = self._storage.version
        if version is None:
            raise RuntimeError("Inference tensors do not track version counter.")
        return version

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode, so that autograd ignores it."""
        return self._storage.version is None

    @property
    def _base(self) -> Tensor | None:
        """The tensor that owns the memory of this view."""
        meta = self._meta
        if meta is None or meta.view is None:
            return None
        base: Tensor = meta.view.base
        return base

    def _is_view(self) -> bool:
        return self._base is not None

    def detach_(self: Any) -> Tensor:
        """Cut this tensor off from the calls that made it."""
        meta = self._meta
        if meta is not None and meta.view is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        if meta is not None:
            meta.grad_fn = None
            meta.output = 0
        self._requires_grad = False
        tensor: Tensor = self
        return tensor
