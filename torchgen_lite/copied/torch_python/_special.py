"""Calls with derivatives that write to arguments, or have lists of tensors or keyword-only arguments.

Note [What is noted is counted after the call]
An operator writes to its first argument and returns it, or it writes to others and returns something new, as one that
notes down statistics. The others have no part in the graph, as calls refuse those that require a gradient. They have a new
version once the node has saved its inputs: if one of these shares memory with what is written, backward raises an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch._library import autograd, utils
from torch.autograd.graph import increment_version
from torch.utils import _pytree as pytree

from ._autograd import as_real, run_below
from ._library import Function, Registering
from ._transposed import for_inputs
from ._writes import check_leaf, written_tensors

# Parts of torch have no annotations.
_C: Any = torch._C
_autograd: Any = autograd
_is_list: Any = utils.is_tensorlist_like_type


class Special:
    """What is different in these calls.

    A node takes the arguments, then the old value of the first if formulas need that, then the keywords if there are any.
    """

    def __init__(self, registering: Registering) -> None:
        schema = registering.op._schema
        values = (*schema.arguments, *schema.returns)
        self.name, self.table = registering.name, registering.table
        self.is_noting = registering.has("noted")
        self.is_inplace = schema.is_mutable and not self.is_noting
        self.written = written_tensors(registering.op)
        self.has_keywords = any(argument.kwarg_only for argument in schema.arguments)
        self.has_original = registering.has("original")
        self.has_lists = any(_is_list(value.type) for value in values)
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
            args = given[: self.end]
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
        if self.is_noting:
            return self._counted(below)
        if not self.is_inplace:
            return below

        def write(*args: Any, **kwargs: Any) -> Any:
            increment_version(args[0])
            return self._written(args[0], below(*args, **kwargs))

        return write

    def _counted(self, run: Function) -> Function:
        """See Note [What is noted is counted after the call]."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            result = run(*args, **kwargs)
            increment_version(self.written(args, {}))
            return result

        return counted

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
        return self._counted(made.apply) if self.is_noting else cast("Function", made.apply)

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
            return for_inputs(ctx, [None for _ in ctx.needs_input_grad])
        if (self.name, "fill") in self.table:
            leaves = self.table[self.name, "fill"](ctx, leaves)
            grads = pytree.tree_unflatten(leaves, shape)
        found: Any = for_inputs(ctx, self.table[self.name, "backward"](ctx, *grads))
        leaves, shape = pytree.tree_flatten(found)
        if any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves):
            found = pytree.tree_unflatten(as_real(ctx, leaves), shape)
        return cast("Sequence[Any]", found)

    def tangents_of(self, ctx: Any, tangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """The tangents of the arguments that were given; `supports_tensorlist` passes those of a list one by one."""
        flat = iter(tangents)
        found: list[Any] = []
        for argument in args[: ctx._count]:
            is_list = isinstance(argument, list) and all(map(torch.is_tensor, argument))
            found.append([next(flat) for _ in argument] if is_list else next(flat))
        if self.is_inplace and found[0] is not None:
            # It is written to, and formulas may keep it.
            found[0] = found[0].clone()
        return found
