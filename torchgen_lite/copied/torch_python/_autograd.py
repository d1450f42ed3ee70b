"""How a call is differentiated: by `backward()`, and by the transforms of `torch.func`.

Note [Final kernels]
Autograd calls what is below it through the dispatcher, which looks the kernel up and converts the arguments once more.
PyTorch does not tell whether another library has put its kernel in the place of one, so only an author can say that none
does: then a kernel of the package is called as it is, where the dispatcher would call no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from . import _writes
from ._forward import (
    WITHOUT_FORWARD,
    Kept,
    Table,
    as_given,
    for_inputs,
    is_dual,
    is_real,
    may_have_tangents,
    tangents_of,
    wants_gradient,
)
from ._writes import Function
from ._writes import tensors_of as _tensors

Below = Callable[[Any], Function]

# Rules of an operator that are not called after a dispatch key.
RULES = frozenset(
    "backward forward given no_forward original refuse setup_context tried underived undefined".split()
)

# Parts of torch have no annotations.
_C: Any = torch._C
_forward_ad: Any = forward_ad
_torch: Any = torch
_guard: Any = _C._AutoDispatchBelowAutograd
_is_enabled, _is_transformed = torch.is_grad_enabled, _C._are_functorch_transforms_active


class _Node(torch.autograd.function._SingleLevelFunction):
    """A node at one level: the `apply` of `Function` repeats checks and unwrapping that the dispatcher has done."""

    # Compiled autograd asks for it.
    _compiled_autograd_key = torch.autograd.Function._compiled_autograd_key


def _any_requires_grad(*args: Any, **kwargs: Any) -> bool:
    """A function that `torch._C` has from 2.7 on."""
    return any(tensor.requires_grad for tensor in _tensors((args, kwargs)))


any_requires_grad: Callable[..., bool] = getattr(_C, "_any_requires_grad", _any_requires_grad)


_WITHOUT = "has no derivatives"

# Calls of operators with formulas.


def recording(op: Any, operator: str, table: Table, below: Below) -> Function:
    """The kernel that records calls of an operator with formulas.

    It is like that of `torch.library.register_autograd`, with less overhead in each call. In-place operators have
    derivatives, too; if formulas need the value that is overwritten (`original`), it is copied before. A call that
    raises an error changes nothing.
    """
    is_inplace, refuses = op._schema.is_mutable, (operator, "refuse") in table
    has_original = (operator, "original") in table
    has_keywords = _has_keywords(op)
    new_node = _node_of(op, operator, table, below)
    nodes: dict[tuple[int, bool], Function] = {}
    without = tuple(False for _ in op._schema.arguments)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        has_tangents = may_have_tangents() and any(is_dual(t) for t in _tensors(args))
        is_recorded = _is_enabled() and any_requires_grad(*args)
        if has_tangents or is_recorded:
            if has_tangents and (operator, "no_forward") in table:
                table[operator, "no_forward"]()
            if is_inplace:
                _writes.check_leaf(args[0])
            if refuses:
                needs = [
                    (is_recorded and wants_gradient(a)) or (has_tangents and is_dual(a))
                    for a in args
                ]
                table[operator, "refuse"]((*needs, *without[len(args) :]))
            which = keyset.raw_repr(), has_tangents
            node = nodes.get(which)
            if node is None:
                node = nodes[which] = new_node(keyset, has_tangents)
            if has_original:
                # The copy is a part of the graph, so that gradients have gradients.
                args = (*args, table[operator, "original"](args[0]))
            if has_keywords:
                args = (*args, kwargs)
            return _applied(node, *args)
        if is_inplace:
            _writes.increment_version(args[0])
        with _guard():
            result = below(keyset)(*args, **kwargs)
        return _returned(operator, args[0], result) if is_inplace else result

    return kernel


def calls_below(op: Any, operator: str, final: Table, is_tracked: bool) -> Below:
    """What calls the operator below autograd, given the keys of a call.

    `final` has the kernels that are called as they are: see Note [Final kernels]. If what is written is tracked here,
    the kernel for ADInplaceOrView is passed over: see Note [What is written has a new version].
    """
    after = _writes.AFTER if is_tracked else _C._after_autograd_keyset
    keys = [key for name, key in final if name == operator and hasattr(_C.DispatchKey, key)]
    own = {_C.DispatchKeySet(getattr(_C.DispatchKey, key)).raw_repr(): key for key in keys}
    known: dict[int, Any] = {}

    def learned(keyset: Any) -> Any:
        rest = keyset & after
        key = own.get(rest.raw_repr())
        return (operator, key) if key else partial(op._handle.redispatch_boxed, rest)

    def below(keyset: Any) -> Function:
        bits = keyset.raw_repr()
        found = known.get(bits) or known.setdefault(bits, learned(keyset))
        # After a reload, the new kernel.
        return cast("Function", final.get(found, found))

    return below


def _applied(node: Function, *given: Any) -> Any:
    """A call of a node, at the innermost transform of `torch.func` if there is one."""
    if not _is_transformed():
        return node(*given)
    from torch._functorch import autograd_function

    transforms: Any = autograd_function
    with transforms.enable_single_level_autograd_function():
        return node(*given)


def _run(run: Function, args: Any, kwargs: Any) -> Any:
    """A call below autograd; the transforms below this one record it, too."""
    if not _is_transformed():
        with _guard():
            return run(*args, **kwargs)
    with torch.enable_grad(), _forward_ad._set_fwd_grad_enabled(True), _guard():
        return run(*args, **kwargs)


def _lists_of(op: Any) -> tuple[bool, bool]:
    """Whether the operator takes or returns lists of tensors, and whether it returns one tensor."""
    from torch._library import utils

    is_list: Any = utils.is_tensorlist_like_type
    schema, returns = op._schema, op._schema.returns
    has_lists = any(is_list(value.type) for value in (*schema.arguments, *returns))
    return has_lists, len(returns) == 1 and not is_list(returns[0].type)


def _has_keywords(op: Any) -> bool:
    return any(argument.kwarg_only for argument in op._schema.arguments)


def _node_of(op: Any, operator: str, table: Table, below: Below) -> Callable[[Any, bool], Function]:
    """What makes the node for calls with these keys, and whether any argument has a tangent.

    A node takes the arguments, then the old value of the first if formulas need that, then the keywords if there are
    any. What calls have in common is bound in it, since each input of a node costs time in both directions.

    As in C++, a node to which no gradient comes passes none on; of several, those that do
    not come are zeros, unless formulas ask which of them did (`undefined`).
    """
    from torch._library import autograd

    is_inplace = op._schema.is_mutable
    has_keywords = _has_keywords(op)
    has_defaults = (operator, "given") in table
    has_original = (operator, "original") in table
    # The gradients of what is no argument.
    more = [None] * (has_original + has_keywords)
    end = -len(more) or None

    has_lists, is_single = _lists_of(op)
    fills = not is_single and (operator, "undefined") not in table
    backward = _backward_of(operator, table, more, has_lists, fills)
    jvp = _jvp_of(operator, table, is_inplace, has_lists, is_single)
    name = f"GeneratedBackwardFor_{str(op).replace('.', '_')}"

    def new_node(keyset: Any, has_tangents: bool) -> Function:
        def forward(ctx: Any, *given: Any) -> Any:
            args = given[:end]
            kwargs = given[-1] if has_keywords else {}
            result = _run(below(keyset), args, kwargs)
            if is_inplace:
                result = _returned(operator, args[0], result)
            elif isinstance(result, list) and not has_lists:
                # A final kernel may return a list of several results.
                result = tuple(result)
            ctx.set_materialize_grads(False)
            if more and not has_lists:
                # Arguments may be left out, and are not mistaken for what follows them.
                ctx.needs_input_grad = ctx.needs_input_grad[:end]
            if fills:
                ctx._results = [_made_like(value) for value in pytree.tree_leaves(result)]
            if has_defaults:
                # PyTorch leaves out arguments that equal their default.
                args, kwargs = table[operator, "given"](*args, **kwargs)
            if has_original:
                args = (given[-1 - has_keywords], *args[1:])
            keywords = (kwargs,) if has_keywords else ()
            table[operator, "setup_context"](ctx, args, *keywords, result)
            if has_tangents:
                ctx._call = (args, keywords, result)
                ctx._count = len(given) - len(more)
            return result

        functions = {"forward": forward, "backward": backward, "jvp": jvp}
        node: Any = type(name, (_Node,), {n: staticmethod(f) for n, f in functions.items()})
        made: Any = autograd.supports_tensorlist(node) if has_lists else node
        return cast("Function", made.apply)

    return new_node


def _backward_of(
    operator: str, table: Table, more: Sequence[None], has_lists: bool, fills: bool
) -> Function:
    """The backward function of a node: the gradients of its arguments, and `more`, those of what is no argument."""
    end = -len(more) or None

    def backward(ctx: Any, *grads: Any) -> Any:
        # Without lists the gradients are leaves as they are, and `pytree` takes longer than a small operator.
        if not has_lists:
            if grads[0] is None and all(grad is None for grad in grads):
                return (*[None for _ in ctx.needs_input_grad], *more)
            each = filled(ctx, grads) if fills else grads
            found = table[operator, "backward"](ctx, *each)[: len(ctx.needs_input_grad)]
            for gradient in found:
                if isinstance(gradient, torch.Tensor) and gradient.is_complex():
                    return (*_as_real(ctx, found), *more)
            return (*found, *more)
        # `supports_tensorlist` takes only what inputs need, and restores it.
        ctx.needs_input_grad = ctx.needs_input_grad[:end]
        leaves, shape = pytree.tree_flatten(grads)
        if all(leaf is None for leaf in leaves):
            return (*for_inputs(ctx, [None for _ in ctx.needs_input_grad]), *more)
        if fills:
            grads = pytree.tree_unflatten(filled(ctx, leaves), shape)
        found = for_inputs(ctx, table[operator, "backward"](ctx, *grads))
        leaves, shape = pytree.tree_flatten(found)
        if any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves):
            found = pytree.tree_unflatten(_as_real(ctx, leaves), shape)
        return (*found, *more)

    def filled(ctx: Any, leaves: Sequence[Any]) -> list[Any]:
        """The gradients of all results, zeros where none came."""
        given = next(leaf for leaf in leaves if leaf is not None)
        return [make(given) if leaf is None else leaf for leaf, make in zip(leaves, ctx._results)]

    return backward


def _jvp_of(
    operator: str, table: Table, is_inplace: bool, has_lists: bool, is_single: bool
) -> Function:
    """The function of a node for forward mode."""

    def jvp(ctx: Any, *tangents: Any) -> Any:
        call, ctx._call = ctx._call, None
        args = call[0][: ctx._count]
        given = as_given(tangents, args) if has_lists else list(tangents[: ctx._count])
        given += [None for _ in call[0][ctx._count :]]
        # The transforms below this one differentiate this, too.
        with _forward_ad._set_fwd_grad_enabled(True):
            found = tangents_of(operator, table, call, given, given[0] if is_inplace else None)
        return tuple(found) if has_lists or not is_single else found[0]

    return jvp


def _returned(operator: str, written: torch.Tensor, result: Any) -> torch.Tensor:
    """What an in-place call returns, which tracing may have wrapped again; a kernel in C++ may return another tensor."""
    if result is written or _is_transformed():
        return written
    is_plain = type(written) is type(result) is torch.Tensor
    if is_plain and not _C._is_alias_of(written, result):
        raise RuntimeError(f"{operator} does not return the tensor that it writes to")
    return written


def _made_like(value: Any) -> Callable[[torch.Tensor], Any]:
    """What makes zeros like a result, without keeping it, of the class of another gradient: a DTensor, if it is one."""
    if not isinstance(value, torch.Tensor):
        return lambda given: None
    if value.is_nested:
        # Others are not made from a shape.
        kept = value.detach()
        return lambda given: torch.zeros_like(kept)
    shape, dtype, device = value.shape, value.dtype, value.device
    return lambda given: given.new_zeros(shape, dtype=dtype, device=device)


def _as_real(ctx: Any, gradients: Sequence[Any]) -> Sequence[Any]:
    """The gradients, one by one; the real part of one that goes to a real tensor."""
    # Every tensor has an edge, which leads nowhere if it needs no gradient.
    edges = iter([edge for edge in ctx.next_functions if edge[0] is not None])
    found = [*gradients]
    for index, needed in enumerate(pytree.tree_leaves(ctx.needs_input_grad)[: len(found)]):
        if needed:
            node, number = next(edges)
            if found[index] is not None and not node._input_metadata[number].dtype.is_complex:
                found[index] = torch.real(found[index])
    return found


def gradients(
    ctx: Any, needs: Sequence[Any], grads: Any, reference: Function, /, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """The gradients that `needs` asks for: those of what a reference computes from the arguments again.

    Where values are wrapped, or traced, `torch.func` has to make the graph. It gives zeros, not None, to what is unused.
    """
    is_compiling = torch.compiler.is_dynamo_compiling()
    if _is_transformed() and not is_compiling:
        args, kwargs = pytree.tree_map_only(torch.Tensor, _living, (args, kwargs))
    flags, shape = pytree.tree_flatten([*needs])
    values, rest = shape.flatten_up_to([*args[: len(needs)]]), args[len(needs) :]
    wanted = [value for value, flag in zip(values, flags) if flag]

    def computed(*tensors: torch.Tensor) -> Any:
        """The results that have a gradient, and the gradients."""
        given = iter(tensors)
        own = [next(given) if flag else value for value, flag in zip(values, flags)]
        results = pytree.tree_leaves(reference(*pytree.tree_unflatten(own, shape), *rest, **kwargs))
        pairs = zip(results, pytree.tree_leaves(grads), strict=True)
        known = [(r, g.to(r.dtype)) for r, g in pairs if g is not None and is_real(r)]
        for r, g in known:
            if r.shape != g.shape:
                raise RuntimeError(f"the reference gives {r.shape}, and the operator {g.shape}")
        return [r for r, _ in known], [g for _, g in known]

    if not isinstance(ctx, Kept) and (_is_transformed() or is_compiling):
        _, pull, weights = _torch.func.vjp(computed, *wanted, has_aux=True)
        found = iter(pull(weights))
    else:
        with torch.enable_grad():
            # As if they came from nowhere: one may be computed from another.
            at = [t.view_as(t) for t in wanted]
            at = [t if t.requires_grad else t - torch.zeros_like(t, requires_grad=True) for t in at]
            known = [(r, g) for r, g in zip(*computed(*at)) if r.requires_grad]
        outputs, weights = zip(*known) if known else ((), ())
        how: Any = {"create_graph": _is_enabled(), "allow_unused": True}
        found = iter(torch.autograd.grad(outputs, at, weights, **how) if known else ())
    return tuple(pytree.tree_unflatten([next(found, None) if f else None for f in flags], shape))


def _living(value: torch.Tensor) -> torch.Tensor:
    """A value without the transforms that have ended since it was kept: `torch.func.vjp` ends before what it returns is
    called, perhaps in another transform."""
    inner: torch.Tensor = _C._functorch.unwrap_if_dead(value)
    return value if inner is value else _living(inner)


# Calls of operators without formulas.

_DECLARE = "add `derivatives:`, or register the kernel as CompositeImplicitAutograd"


def refusing(op: Any, operator: str, place: str, below: Below) -> Function:
    """The kernel of an operator without formulas, which runs below autograd and refuses a derivative that would be lost."""
    is_mutable, written_by = op._schema.is_mutable, _writes.written_tensors(op)
    without = f"{operator} {_WITHOUT} ({place}): {_DECLARE}"
    without_forward = f"{operator} {WITHOUT_FORWARD} ({place}): {_DECLARE}"
    record = _unrecorded(without)
    # Of a list in which tensors may be left out, the function of torch sees none.
    has_gaps = any(str(a.type) == "List[Optional[Tensor]]" for a in op._schema.arguments)
    requires_grad = _any_requires_grad if has_gaps else any_requires_grad

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        run = below(keyset)
        has_tangents = may_have_tangents() and any(map(is_dual, _tensors((args, kwargs))))
        is_wanted = _is_enabled() and requires_grad(*args, **kwargs)
        written = written_by(args, kwargs) if is_mutable else []
        for tensor in written if is_wanted else ():
            _writes.check_leaf(tensor)
            # The transform may have wrapped it for this call alone, and then its history is lost.
            if is_real(tensor) and _C._functorch.is_gradtrackingtensor(tensor):
                raise RuntimeError(without)
        if has_tangents:
            result = None if written else _run(run, args, kwargs)
            if written or any(map(is_real, _tensors(result))):
                raise RuntimeError(without_forward)
            return result
        if is_wanted:
            return record(run, args, kwargs, written)
        if written:
            _writes.increment_version(written)
        with _guard():
            return run(*args, **kwargs)

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

    functions = {f.__name__: staticmethod(f) for f in (forward, backward)}
    node: Any = type("Underived", (_Node,), functions)

    def record(run: Function, args: Any, kwargs: Any, written: Any) -> Any:
        places = {id(tensor) for tensor in written}
        given = [*_tensors((args, kwargs))]
        known: list[Any] = []

        def new_results() -> list[Any]:
            known[:] = pytree.tree_flatten(_run(run, args, kwargs))
            return [None if id(leaf) in places else leaf for leaf in known[0]]

        results = _applied(node.apply, new_results, (), *given)
        for tensor in written:
            if is_real(tensor):
                # The base of a view takes the place of the first input.
                result = [tensor]
                _applied(node.apply, result.copy, result, tensor, *given)
            else:
                _writes.increment_version(tensor)
        returned = [leaf if new is None else new for leaf, new in zip(known[0], results)]
        return pytree.tree_unflatten(returned, known[1])

    return record
