"""Calls with derivatives that write to their first argument, or have lists of tensors or keyword-only arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch._library import autograd, utils
from torch.autograd.graph import increment_version
from torch.utils import _pytree as pytree

from ._autograd import any_requires_grad, any_tensor_requires_grad, as_real, run_below
from ._library import Function, Registering
from ._transposed import for_inputs
from ._writes import check_leaf

# Parts of torch have no annotations.
_C: Any = torch._C
_autograd: Any = autograd
_is_list: Any = utils.is_tensorlist_like_type


# The type of `Tensor?[]`.
GAPS = "List[Optional[Tensor]]"


class Special:
    """What is different in these calls.

    A node takes the arguments, then the old value of the first if formulas need that, then the keywords if there are any.
    """

    def __init__(self, registering: Registering) -> None:
        schema = registering.op._schema
        values = (*schema.arguments, *schema.returns)
        self.name, self.table = registering.name, registering.table
        self.is_inplace = schema.is_mutable
        self.has_keywords = any(argument.kwarg_only for argument in schema.arguments)
        self.has_original = registering.has("original")
        self.has_lists = any(_is_list(value.type) for value in values)
        # The lists in which tensors may be left out, of which PyTorch's function sees no tensor.
        gaps = [index for index, a in enumerate(schema.arguments) if str(a.type) == GAPS]
        self.gaps = gaps
        self.requires_grad = any_tensor_requires_grad if gaps else any_requires_grad
        self.is_single = len(schema.returns) == 1 and not _is_list(schema.returns[0].type)
        # The gradients of what is no argument.
        self.more = [None] * (self.has_original + self.has_keywords)
        self.end = -len(self.more) or None

    def check(self, args: Any) -> None:
        """Refuse what can't be recorded before anything is written."""
        if self.is_inplace:
            check_leaf(args[0])

    def inputs_of(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """What the node takes."""
        if self.has_original:
            # The copy is a part of the graph, so that gradients have gradients.
            args = (*args, self.table[self.name, "original"](args[0]))
        return (*args, kwargs) if self.has_keywords else cast("tuple[Any, ...]", args)

    def forward_of(self, below: Function, has_tangents: bool) -> Function:
        """The forward function of a node, which keeps the call for tangents."""
        name, table = self.name, self.table

        def forward(ctx: Any, *given: Any) -> Any:
            args = self._with_gaps_as(list, given[: self.end])
            kwargs = given[-1] if self.has_keywords else {}
            result = self._returned(args, run_below(below, args, kwargs))
            ctx.materialize_grads = False
            if self.more and not self.has_lists:
                # Arguments may be left out, and are not mistaken for what follows them.
                ctx.needs_input_grad = ctx.needs_input_grad[: self.end]
            if (name, "fill") in table:
                table[name, "keep_results"](ctx, result)
            count = len(args)
            if (name, "given") in table:
                # PyTorch leaves out arguments that equal their default.
                args, kwargs = table[name, "given"](*args, **kwargs)
            if self.has_original:
                args = (given[-1 - self.has_keywords], *args[1:])
            keywords = (kwargs,) if self.has_keywords else ()
            table[name, "setup_context"](ctx, args, *keywords, result)
            if has_tangents:
                ctx._call = args, *keywords, result
                ctx._count = count
            return result

        return forward

    def _returned(self, args: Any, result: Any) -> Any:
        if self.is_inplace:
            return self._written(args[0], result)
        # A final kernel may return a list of several results.
        is_list = isinstance(result, list) and not self.has_lists
        return tuple(result) if is_list else result

    def unrecorded(self, below: Function) -> Function:
        """A call that is not recorded."""
        if not self.is_inplace:
            return below

        def write(*args: Any, **kwargs: Any) -> Any:
            increment_version(args[0])
            return self._written(args[0], below(*args, **kwargs))

        return write

    def _written(self, written: torch.Tensor, result: Any) -> torch.Tensor:
        """What an in-place call returns, which tracing may have wrapped again; a kernel in C++ may return another tensor."""
        if result is written or _C._are_functorch_transforms_active():
            return written
        is_plain = type(written) is type(result) is torch.Tensor
        if is_plain and not _C._is_alias_of(written, result):
            raise RuntimeError(f"{self.name} does not return the tensor that it writes to")
        return written

    def applying(self, node: Any) -> Function:
        made = _autograd.supports_tensorlist(node) if self.has_lists else node
        if not self.gaps:
            return cast("Function", made.apply)
        # It passes the tensors of a list one by one unless some are left out, and whatever is in a tuple.
        return lambda *given: made.apply(*self._with_gaps_as(tuple, given))

    def _with_gaps_as(self, kind: Any, given: Sequence[Any]) -> tuple[Any, ...]:
        """The values, in which the lists with gaps are of another kind."""
        found = [*given]
        for index in self.gaps:
            found[index] = kind(found[index])
        return tuple(found)

    def backward_of(self, plain: Function) -> Function:
        """The gradients of the arguments, and of what is no argument."""

        def backward(ctx: Any, *grads: Any) -> Any:
            if self.has_lists:
                # `supports_tensorlist` takes only what inputs need, and restores it.
                ctx.needs_input_grad = ctx.needs_input_grad[: self.end]
                return (*self._gradients(ctx, grads), *self.more)
            found = plain(ctx, *grads)[: len(ctx.needs_input_grad)]
            return (*found, *self.more)

        return backward

    def _gradients(self, ctx: Any, grads: Any) -> Sequence[Any]:
        """The same for lists of gradients, which have no leaves where none came."""
        leaves, shape = pytree.tree_flatten(grads)
        if all(leaf is None for leaf in leaves):
            return for_inputs(ctx, self._masked(ctx, [None for _ in ctx.needs_input_grad]))
        if (self.name, "fill") in self.table:
            leaves = self.table[self.name, "fill"](ctx, leaves)
            grads = pytree.tree_unflatten(leaves, shape)
        gradients = self.table[self.name, "backward"](ctx, *grads)
        found: Any = for_inputs(ctx, self._masked(ctx, gradients))
        leaves, shape = pytree.tree_flatten(found)
        if any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves):
            found = pytree.tree_unflatten(as_real(ctx, leaves), shape)
        return cast("Sequence[Any]", found)

    def _masked(self, ctx: Any, gradients: Any) -> tuple[Any, ...]:
        """The gradients, of lists with gaps those that are wanted: what is left out has none."""
        found = [*gradients]
        for index in self.gaps:
            needs = ctx.needs_input_grad[index]
            given = [None] * len(needs) if found[index] is None else found[index]
            if len(given) == len(needs):
                given = [one if need else None for one, need in zip(given, needs)]
            found[index] = tuple(given)
        return tuple(found)

    def tangents_of(self, ctx: Any, tangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """The tangents of the arguments that were given; `supports_tensorlist` passes those of a list one by one."""
        flat = iter(tangents)
        found: list[Any] = []
        for argument in args[: ctx._count]:
            is_list = isinstance(argument, list) and all(map(_may_be_in_list, argument))
            found.append([next(flat) for _ in argument] if is_list else next(flat))
        if self.is_inplace and found[0] is not None:
            # It is written to, and formulas may keep it.
            found[0] = found[0].clone()
        return found


def _may_be_in_list(value: Any) -> bool:
    """Whether it is a tensor, or stands where one is left out."""
    return value is None or isinstance(value, torch.Tensor)
