"""Calls of operators without formulas: they run below autograd, which refuses a derivative that would be lost."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.graph import increment_version
from torch.utils import _pytree as pytree

from ._autograd import (
    BelowAutograd,
    Node,
    any_requires_grad,
    any_tensor_requires_grad,
    applied,
    below_of,
    run_below,
)
from ._forward import is_dual, may_have_tangents
from ._library import Function, Registering, known, tensors_of
from ._refusals import WITHOUT_FORWARD, is_real
from ._writes import carries_keys, check_leaf, written_tensors

# Parts of torch have no annotations.
_C: Any = torch._C


_DECLARE = "add `derivatives:`, or register the kernel as CompositeImplicitAutograd"


def register(registering: Registering) -> None:
    """The kernel that refuses, unless derivatives are registered by hand."""
    if not registering.has("underived"):
        return
    operator = registering.operator
    op = registering.op
    key = "Autograd" if carries_keys(op) else "ADInplaceOrView"
    if not registering.has_kernel(key):
        kernel = registering.table[registering.name, "underived"](registering)
        # `Library.impl` would forbid to register derivatives by hand.
        registering.library.m.impl(operator.local_name, key, kernel, True)
        known("refusing", set()).add(operator.name)


def refusing(registering: Registering) -> Function:
    """The kernel for Autograd."""
    op = registering.op
    name = registering.name
    is_mutable = op._schema.is_mutable
    written_by = written_tensors(op)
    where = f"({registering.operator.place}): {_DECLARE}"
    without = f"{name} has no derivatives {where}"
    without_forward = f"{name} {WITHOUT_FORWARD} {where}"
    calls_below = below_of(registering)
    # By the keys of a call: what runs it below autograd.
    below_keys: dict[int, Function] = {}
    record = _unrecorded(without)
    # Of a list in which tensors may be left out, the function of torch sees none.
    types = [str(argument.type) for argument in op._schema.arguments]
    has_gaps = "List[Optional[Tensor]]" in types
    requires_grad = any_tensor_requires_grad if has_gaps else any_requires_grad

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        bits = keyset.raw_repr()
        if bits not in below_keys:
            below_keys[bits] = calls_below(keyset)
        below = below_keys[bits]
        is_recorded = torch.is_grad_enabled() and requires_grad(*args, **kwargs)
        may_have = may_have_tangents()
        if not (is_mutable or is_recorded or may_have):
            # Most calls.
            guard = BelowAutograd()
            try:
                return below(*args, **kwargs)
            finally:
                del guard
        written = written_by(args, kwargs) if is_mutable else []
        if is_recorded:
            for tensor in written:
                check_leaf(tensor)
                # The transform may have wrapped it for this call alone, and then its history is lost.
                if is_real(tensor) and _C._functorch.is_gradtrackingtensor(tensor):
                    raise RuntimeError(without)
        if may_have and any(map(is_dual, tensors_of((args, kwargs)))):
            result = None if written else run_below(below, args, kwargs)
            if written or any(map(is_real, tensors_of(result))):
                raise RuntimeError(without_forward)
            return result
        if is_recorded:
            return record(below, args, kwargs, written)
        guard = BelowAutograd()
        try:
            result = below(*args, **kwargs)
        finally:
            del guard
        if written:
            increment_version(written)
        return result

    return kernel


def _unrecorded(without: str) -> Function:
    """A call in the graph, through which no gradient passes. What it writes is in the graph, too, returned or not; each
    tensor has a node of its own, since autograd lets only those with one result write to views."""

    def forward(ctx: Any, made: Function, written: Any, *inputs: torch.Tensor) -> Any:
        # This moves their versions.
        ctx.mark_dirty(*written)
        return tuple(made())

    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(without)

    functions = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    node: Any = type("Underived", (Node,), functions)

    def recorded(*inputs: Any) -> Any:
        if _C._are_functorch_transforms_active():
            return applied(node.apply, *inputs)
        return node.apply(*inputs)

    def record(run: Function, args: Any, kwargs: Any, written: Any) -> Any:
        places = {id(tensor) for tensor in written}
        given = [*tensors_of((args, kwargs))]
        known: list[Any] = []

        def new_results() -> list[Any]:
            known[:] = pytree.tree_flatten(run_below(run, args, kwargs))
            leaves, _ = known
            return [None if id(leaf) in places else leaf for leaf in leaves]

        results = recorded(new_results, (), *given)
        for tensor in written:
            if is_real(tensor):
                # The base of a view takes the place of the first input.
                result = [tensor]
                recorded(result.copy, result, tensor, *given)
            else:
                increment_version(tensor)
        leaves, shape = known
        merged = [leaf if new is None else new for leaf, new in zip(leaves, results)]
        return pytree.tree_unflatten(merged, shape)

    return record
