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

from ._autograd import any_requires_grad, any_tensor_requires_grad, as_real, run_below
from ._library import Function, Registering, tensors_of
from ._transposed import for_inputs
from ._writes import check_leaf, written_tensors

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
        self.name = registering.name
        self.table = registering.table
        self.is_inplace = schema.is_mutable
        self.has_keywords = any(argument.kwarg_only for argument in schema.arguments)
        self.has_original = registering.has("original")
        self.has_lists = any(_is_list(value.type) for value in values)
        # The lists in which tensors may be left out, of which PyTorch's function sees no tensor.
        self.gaps = []
        for index, argument in enumerate(schema.arguments):
            if str(argument.type) == GAPS and not argument.kwarg_only:
                self.gaps.append(index)
        self.requires_grad = any_tensor_requires_grad if self.gaps else any_requires_grad
        returns = schema.returns
        self.is_single = len(returns) == 1 and not _is_list(returns[0].type)
        count_of_more = self.has_original + self.has_keywords
        # The gradients of what is no argument.
        self.more = [None] * count_of_more
        # Where the arguments end among the inputs of a node.
        self.end = -count_of_more or None

    def check(self, args: Any) -> None:
        """Refuse what can't be recorded before anything is written."""
        if self.is_inplace:
            check_leaf(args[0])

    def inputs_of(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """What the node takes."""
        if self.has_original:
            # The copy is a part of the graph, so that gradients have gradients.
            original = self.table[self.name, "original"](args[0])
            args = (*args, original)
        if self.has_keywords:
            args = (*args, kwargs)
        return cast("tuple[Any, ...]", args)

    def forward_of(self, below: Function, has_tangents: bool) -> Function:
        """The forward function of a node, which keeps the call for tangents."""
        name = self.name
        table = self.table

        def forward(ctx: Any, *given: Any) -> Any:
            args = self._with_gaps_as(list, given[: self.end])
            kwargs = given[-1] if self.has_keywords else {}
            below_result = run_below(below, args, kwargs)
            result = self._returned(args, below_result)
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
                original = given[-1 - self.has_keywords]
                args = (original, *args[1:])
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
        is_list_of_results = isinstance(result, list) and not self.has_lists
        return tuple(result) if is_list_of_results else result

    def unrecorded(self, below: Function) -> Function:
        """A call that is not recorded."""
        if not self.is_inplace:
            return below

        def write(*args: Any, **kwargs: Any) -> Any:
            written = args[0]
            result = below(*args, **kwargs)
            increment_version(written)
            return self._written(written, result)

        return write

    def _written(self, written: torch.Tensor, result: Any) -> torch.Tensor:
        """What an in-place call returns, which tracing may have wrapped again; a kernel in C++ may return another tensor."""
        if result is written or _C._are_functorch_transforms_active():
            return written
        are_plain = type(written) is type(result) is torch.Tensor
        if are_plain and not _C._is_alias_of(written, result):
            raise RuntimeError(f"{self.name} does not return the tensor that it writes to")
        return written

    def applying(self, node: Any) -> Function:
        """What calls a node."""
        if self.has_lists:
            node = _autograd.supports_tensorlist(node)
        apply = cast("Function", node.apply)
        if self.gaps:
            apply = self._taking_gaps(apply)
        return apply

    def _taking_gaps(self, apply: Function) -> Function:
        """`supports_tensorlist` passes the tensors of a list one by one unless some are left out, and whatever is in a
        tuple."""

        def applied(*given: Any) -> Any:
            end = len(given) - len(self.more)
            return apply(*self._with_gaps_as(tuple, given[:end]), *given[end:])

        return applied

    def _with_gaps_as(self, kind: Any, args: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, in which the lists with gaps are of another kind."""
        changed = [*args]
        for index in self.gaps:
            # PyTorch leaves out arguments that equal their default.
            if index < len(changed):
                changed[index] = kind(changed[index])
        return tuple(changed)

    def backward_of(self, plain: Function) -> Function:
        """The gradients of the arguments, and of what is no argument."""

        def backward(ctx: Any, *grads: Any) -> Any:
            if self.has_lists:
                # `supports_tensorlist` takes only what inputs need, and restores it.
                ctx.needs_input_grad = ctx.needs_input_grad[: self.end]
                gradients = self._gradients(ctx, grads)
            else:
                gradients = plain(ctx, *grads)[: len(ctx.needs_input_grad)]
            return (*gradients, *self.more)

        return backward

    def _gradients(self, ctx: Any, grads: Any) -> Sequence[Any]:
        """The same for lists of gradients, which have no leaves where none came."""
        leaves, shape = pytree.tree_flatten(grads)
        if all(leaf is None for leaf in leaves):
            no_gradients = [None] * len(ctx.needs_input_grad)
            return for_inputs(ctx, self._masked(ctx, no_gradients))
        if (self.name, "fill") in self.table:
            leaves = self.table[self.name, "fill"](ctx, leaves)
            grads = pytree.tree_unflatten(leaves, shape)
        of_formulas = self.table[self.name, "backward"](ctx, *grads)
        gradients: Any = for_inputs(ctx, self._masked(ctx, of_formulas))
        if any(map(torch.is_complex, tensors_of(gradients))):
            leaves, shape = pytree.tree_flatten(gradients)
            gradients = pytree.tree_unflatten(as_real(ctx, leaves), shape)
        return cast("Sequence[Any]", gradients)

    def _masked(self, ctx: Any, gradients: Any) -> tuple[Any, ...]:
        """The gradients, of lists with gaps those that are wanted: what is left out has none."""
        masked = [*gradients]
        for index in self.gaps:
            # PyTorch leaves out arguments that equal their default.
            if index >= len(ctx.needs_input_grad):
                continue
            needs = ctx.needs_input_grad[index]
            of_list = masked[index]
            if of_list is None:
                of_list = [None] * len(needs)
            if len(of_list) == len(needs):
                of_list = [item if need else None for item, need in zip(of_list, needs)]
            masked[index] = tuple(of_list)
        return tuple(masked)

    def tangents_of(self, ctx: Any, tangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """The tangents of the arguments that were given; `supports_tensorlist` passes those of a list one by one."""
        left = iter(tangents)
        of_arguments: list[Any] = []
        for argument in args[: ctx._count]:
            if _is_list_of_tensors(argument):
                of_arguments.append([next(left) for _ in argument])
            else:
                of_arguments.append(next(left))
        if self.is_inplace and of_arguments[0] is not None:
            # It is written to, and formulas may keep it.
            of_arguments[0] = of_arguments[0].clone()
        return of_arguments


class Noting(Special):
    """Calls that write to others than the first argument: Note [What is noted is counted after the call]."""

    def __init__(self, registering: Registering) -> None:
        super().__init__(registering)
        self.is_inplace = False
        self.written = written_tensors(registering.op)

    def unrecorded(self, below: Function) -> Function:
        return self._counted(below)

    def applying(self, node: Any) -> Function:
        return self._counted(super().applying(node))

    def _counted(self, run: Function) -> Function:
        def counted(*args: Any, **kwargs: Any) -> Any:
            result = run(*args, **kwargs)
            increment_version(self.written(args, {}))
            return result

        return counted


def _is_list_of_tensors(argument: Any) -> bool:
    """Whether it is a list of tensors, of which some may be left out."""
    if not isinstance(argument, list):
        return False
    return all(item is None or isinstance(item, torch.Tensor) for item in argument)
