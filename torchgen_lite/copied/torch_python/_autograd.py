"""How a call is differentiated: by `backward()`, by the transforms of `torch.func`, and in forward mode.

Note [Forward mode is transposed]
A formula gives the gradient of an argument, and is linear in the gradients of the results. So PyTorch's own autograd
can differentiate it, at any point: its derivative, applied to the tangent of the argument, is the tangent of the
results.

Note [Final kernels]
Autograd calls what is below it through the dispatcher, which looks the kernel up and converts the arguments once more.
PyTorch does not tell whether another library has put its kernel in the place of one, so only an author can say that none
does: then a kernel of the package is called as it is, where the dispatcher would call no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

Function = Callable[..., Any]
Table = dict[tuple[str, str], Function]
Below = Callable[[Any], Function]

# Rules of an operator that are not called after a dispatch key.
RULES = frozenset(
    "backward forward given no_forward original refuse setup_context underived undefined".split()
)

# Parts of torch have no annotations.
_C: Any = torch._C
_forward_ad: Any = forward_ad
_torch: Any = torch
_unpack_dual: Function = _torch._VF._unpack_dual
_guard: Any = _C._AutoDispatchBelowAutograd
_is_enabled, _is_transformed = torch.is_grad_enabled, _C._are_functorch_transforms_active


class _Node(torch.autograd.function._SingleLevelFunction):
    """A node at one level: the `apply` of `Function` repeats checks and unwrapping that the dispatcher has done."""

    # Compiled autograd asks for it.
    _compiled_autograd_key = torch.autograd.Function._compiled_autograd_key


def _any_requires_grad(*args: Any) -> bool:
    """A function that `torch._C` has from 2.7 on."""
    return any(tensor.requires_grad for tensor in _tensors(args))


any_requires_grad: Callable[..., bool] = getattr(_C, "_any_requires_grad", _any_requires_grad)


_WITHOUT = "has no derivatives"
_WITHOUT_FORWARD = "has no formula for forward-mode"

# Calls of operators with formulas.


def recording(op: Any, operator: str, table: Table, below: Below) -> Function:
    """The kernel that records calls of an operator with formulas.

    It is like that of `torch.library.register_autograd`, with less overhead in each call. In-place operators have
    derivatives, too; if formulas need the value that is overwritten (`original`), it is copied before. A call that
    raises an error changes nothing.
    """
    is_inplace, refuses = op._schema.is_mutable, (operator, "refuse") in table
    has_original = (operator, "original") in table
    record = _recorded(op, operator, table)
    without = tuple(False for _ in op._schema.arguments)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        has_tangents = may_have_tangents() and any(_is_dual(t) for t in _tensors(args))
        is_recorded = _is_enabled() and any_requires_grad(*args)
        if has_tangents or is_recorded:
            if has_tangents and (operator, "no_forward") in table:
                table[operator, "no_forward"]()
            if is_inplace:
                _check_leaf(args[0])
            if refuses:
                needs = [
                    (is_recorded and _requires_grad(a)) or (has_tangents and _is_dual(a))
                    for a in args
                ]
                table[operator, "refuse"]((*needs, *without[len(args) :]))
            # The copy is a part of the graph, so that gradients have gradients.
            old = table[operator, "original"](args[0]) if has_original else None
            return _applied(record, *args, old, below(keyset), kwargs, has_tangents)
        with _guard():
            result = below(keyset)(*args, **kwargs)
        return args[0] if is_inplace else result

    return kernel


def calls_below(op: Any, operator: str, final: Table) -> Below:
    """What calls the operator below autograd, given the keys of a call.

    `final` has the kernels that are called as they are: see Note [Final kernels].
    """
    keys = [key for name, key in final if name == operator and hasattr(_C.DispatchKey, key)]
    own = {_C.DispatchKeySet(getattr(_C.DispatchKey, key)).raw_repr(): key for key in keys}
    known: dict[int, Any] = {}

    def learned(keyset: Any) -> Any:
        rest = keyset & _C._after_autograd_keyset
        key = own.get(rest.raw_repr())
        return (operator, key) if key else partial(op._handle.redispatch_boxed, rest)

    def below(keyset: Any) -> Function:
        bits = keyset.raw_repr()
        found = known.get(bits) or known.setdefault(bits, learned(keyset))
        # After a reload, the new kernel.
        return cast("Function", final.get(found, found))

    return below


def refused(operator: str, reason: str) -> Function:
    """What refuses a call whose tangents can't be computed."""

    def refuse() -> Any:
        raise RuntimeError(f"{operator} {_WITHOUT_FORWARD}: {reason}")

    return refuse


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


def _recorded(op: Any, operator: str, table: Table) -> Function:
    """A call in the graph: arguments, the old value of the first, what is below, keywords, and whether any has a tangent.

    As in C++, a node to which no gradient comes passes none on; of several, those that do
    not come are zeros, unless formulas ask which of them did (`undefined`).
    """
    from torch._library import autograd

    is_inplace, has_defaults = op._schema.is_mutable, (operator, "given") in table
    has_keywords = any(a.kwarg_only for a in op._schema.arguments)

    def forward(ctx: Any, *given: Any) -> Any:
        args, (old, run, kwargs, has_tangents) = given[:-4], given[-4:]
        result = _run(run, args, kwargs)
        if is_inplace:
            # Tracing may have wrapped it again.
            result = args[0]
        elif isinstance(result, list) and not has_lists:
            # A final kernel may return a list of several results.
            result = tuple(result)
        ctx.set_materialize_grads(False)
        if not has_lists:
            # Without the copy, which follows arguments that may be left out.
            ctx.needs_input_grad = ctx.needs_input_grad[:-4]
        if fills:
            ctx._results = [_made_like(value) for value in pytree.tree_leaves(result)]
        if has_defaults:
            # PyTorch leaves out arguments that equal their default.
            args, kwargs = table[operator, "given"](*args, **kwargs)
        if old is not None:
            args = (old, *args[1:])
        more = (kwargs,) if has_keywords else ()
        table[operator, "setup_context"](ctx, args, *more, result)
        if has_tangents:
            ctx._call, ctx._count = (args, more, result), len(given) - 4
        return result

    def backward(ctx: Any, *grads: Any) -> Any:
        if has_lists:
            # `supports_tensorlist` takes only what inputs need, and restores it.
            ctx.needs_input_grad = ctx.needs_input_grad[:-4]
        leaves, shape = pytree.tree_flatten(grads)
        if all(leaf is None for leaf in leaves):
            nothing = _for_inputs(ctx, [None for _ in ctx.needs_input_grad])
            return (*nothing, None, None, None, None)
        if fills:
            made, given = zip(leaves, ctx._results), next(x for x in leaves if x is not None)
            leaves = [make(given) if leaf is None else leaf for leaf, make in made]
            grads = pytree.tree_unflatten(leaves, shape)
        found = _for_inputs(ctx, table[operator, "backward"](ctx, *grads))
        return (*_as_real(ctx, found), None, None, None, None)

    def jvp(ctx: Any, *tangents: Any) -> Any:
        call, ctx._call = ctx._call, None
        args = call[0][: ctx._count]
        given = _as_given(tangents, args) if has_lists else list(tangents[: ctx._count])
        given += [None for _ in call[0][ctx._count :]]
        # The transforms below this one differentiate this, too.
        with _forward_ad._set_fwd_grad_enabled(True):
            found = _tangents(operator, table, call, given, given[0] if is_inplace else None)
        return tuple(found) if has_lists or not is_single else found[0]

    has_lists, is_single = _lists_of(op)
    fills = not is_single and (operator, "undefined") not in table
    functions = {f.__name__: staticmethod(f) for f in (forward, backward, jvp)}
    name = f"GeneratedBackwardFor_{str(op).replace('.', '_')}"
    node: Any = type(name, (_Node,), functions)
    made: Any = autograd.supports_tensorlist(node) if has_lists else node
    return cast("Function", made.apply)


def _for_inputs(ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """A gradient for each input, and for each item of a list. PyTorch leaves out arguments that equal their default."""
    return tuple(
        [None] * len(need) if gradient is None and isinstance(need, list) else gradient
        for need, gradient in zip(ctx.needs_input_grad, gradients)
    )


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


def _as_real(ctx: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients; the real part of one that goes to a real tensor."""
    leaves, shape = pytree.tree_flatten(gradients)
    if not any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves):
        return gradients
    # Every tensor has an edge, which leads nowhere if it needs no gradient.
    edges = iter([edge for edge in ctx.next_functions if edge[0] is not None])
    for index, needed in enumerate(pytree.tree_leaves(ctx.needs_input_grad)[: len(leaves)]):
        if needed:
            node, number = next(edges)
            if leaves[index] is not None and not node._input_metadata[number].dtype.is_complex:
                leaves[index] = torch.real(leaves[index])
    return cast("tuple[Any, ...]", pytree.tree_unflatten(leaves, shape))


def autocasts(inputs: Any, *more: str) -> dict[str, Any]:
    """What autocast does on the devices of a call, and on more: the dtype, and whether it is enabled."""
    devices = [*more, *(tensor.device.type for tensor in _tensors(inputs))]
    known = filter(_torch.amp.is_autocast_available, devices)
    return {d: (torch.get_autocast_dtype(d), _torch.is_autocast_enabled(d)) for d in known}


def under(kept: dict[str, Any], reference: Function) -> Function:
    """A reference under the autocast of a call. What is cast there is not for other calls."""

    def again(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as states:
            for device, state in kept.items():
                if {device: state} != autocasts((), device):
                    states.enter_context(_torch.autocast(device, *state, cache_enabled=False))
            return reference(*args, **kwargs)

    return again


def gradients(
    ctx: Any, needs: Sequence[Any], grads: Any, reference: Function, /, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """The gradients that `needs` asks for: those of what a reference computes from the arguments again.

    Where values are wrapped, or traced, `torch.func` has to make the graph. It gives zeros, not None, to what is unused.
    """
    flags, shape = pytree.tree_flatten([*needs])
    values, rest = shape.flatten_up_to([*args[: len(needs)]]), args[len(needs) :]
    wanted = [value for value, flag in zip(values, flags) if flag]

    def computed(*tensors: torch.Tensor) -> Any:
        """The results that have a gradient, and the gradients."""
        given = iter(tensors)
        own = [next(given) if flag else value for value, flag in zip(values, flags)]
        results = pytree.tree_leaves(reference(*pytree.tree_unflatten(own, shape), *rest, **kwargs))
        pairs = zip(results, pytree.tree_leaves(grads), strict=True)
        known = [(r, g.to(r.dtype)) for r, g in pairs if g is not None and _is_real(r)]
        for r, g in known:
            if r.shape != g.shape:
                raise RuntimeError(f"the reference gives {r.shape}, and the operator {g.shape}")
        return [r for r, _ in known], [g for _, g in known]

    if not isinstance(ctx, _Kept) and (_is_transformed() or torch.compiler.is_dynamo_compiling()):
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


def _check_leaf(written: torch.Tensor) -> None:
    for what, leaf in (("a leaf", written), ("a view of a leaf", written._base)):
        if written.requires_grad and leaf is not None and leaf.is_leaf:
            raise RuntimeError(
                f"{what} Variable that requires grad is being used in an in-place operation."
            )


# Forward mode.

# Compiled code enters a level without telling `forward_ad`; it has been traced before.
_traced: list[bool] = []


def may_have_tangents() -> bool:
    """Whether any tensor may have a tangent; to ask each of them takes longer than a call."""
    return _forward_ad._current_level >= 0 or _is_transformed() or bool(_traced)


def _is_dual(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or _unpack_dual(value, level=0).tangent is None:
        return False
    if not _traced and _torch._guards.TracingContext.try_get() is not None:
        _traced.append(True)
    return True


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _is_real(value: torch.Tensor) -> bool:
    """Whether it can have a derivative."""
    return value.is_floating_point() or value.is_complex()


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    return filter(torch.is_tensor, pytree.tree_leaves(values))


class _Kept:
    """What `setup_context` keeps for formulas, for the inputs that have `tangents`."""

    def __init__(self, tangents: Sequence[Any]) -> None:
        self.needs_input_grad = pytree.tree_map(lambda t: t is not None, tangents)
        self.saved_tensors: tuple[Any, ...] = ()
        self.without: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.without = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Nothing: the tensor that is written is in no graph here."""


def _as_given(tangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The tangents of arguments; `supports_tensorlist` passes those of a list one by one."""
    flat = iter(tangents)
    lists = (isinstance(a, list) and all(map(torch.is_tensor, a)) for a in args)
    return [[next(flat) for _ in a] if is_list else next(flat) for a, is_list in zip(args, lists)]


def _tangents(operator: str, table: Table, call: Any, given: Any, written: Any) -> list[Any]:
    """The tangents of the results of a call; `given` are those of its arguments, and `written` is that of the argument
    that it writes to, if there is one."""
    args, more, result = pytree.tree_map_only(
        torch.Tensor, lambda t: _unpack_dual(t, level=0).primal, call
    )
    if written is not None:
        # Formulas may keep it.
        given = [written.clone(), *given[1:]]
    if (operator, "forward") in table:
        found = pytree.tree_leaves(table[operator, "forward"](args, *more, result, given))
    else:
        kept = _Kept(given)
        table[operator, "setup_context"](kept, args, *more, result)
        found = _transposed(operator, table, kept, given, result)
    if written is not None:
        return [written.copy_(found[0])]
    # A formula may pass on the tangent of an argument, and what is then written to one is not for both.
    return [tangent if tangent is None else tangent.clone() for tangent in found]


def _transposed(operator: str, table: Table, kept: _Kept, given: Any, output: Any) -> list[Any]:
    """The tangents of the results; see Note [Forward mode is transposed]."""
    results, shape = pytree.tree_flatten(output)
    inputs = [_cotangent(r, kept) for r in results]
    wanted = [i for i in inputs if _requires_grad(i)]
    grads = pytree.tree_unflatten(inputs, shape)
    with torch.enable_grad():
        each = grads if isinstance(output, tuple) else [grads]
        found = _for_inputs(kept, table[operator, "backward"](kept, *each))
    leaves = zip(pytree.tree_leaves(found), pytree.tree_leaves(given))
    pairs = [(g, _fitted(t, g)) for g, t in leaves if g is not None and t is not None]
    if not all(g.requires_grad for g, _ in pairs):
        refused(operator, "its formulas can't be differentiated")()
    if not pairs or not wanted:
        return [torch.zeros_like(i) if _requires_grad(i) else None for i in inputs]
    how: Any = {"create_graph": _is_enabled(), "allow_unused": True, "materialize_grads": True}
    gradients, weights = zip(*pairs)
    tangents = iter(torch.autograd.grad(gradients, wanted, weights, **how))
    return [next(tangents) if _requires_grad(i) else None for i in inputs]


def _cotangent(result: Any, kept: _Kept) -> Any:
    """A gradient of a result, which formulas are differentiated by; None where there is none."""
    if not isinstance(result, torch.Tensor):
        return None
    is_kept = not any(result is one for one in kept.without)
    return torch.zeros_like(result, requires_grad=is_kept and _is_real(result))


def _fitted(tangent: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """The tangent of an argument as the gradient of its gradient: the engine would cast and sum that to the argument."""
    if tangent.is_complex() and not gradient.is_complex():
        tangent = torch.real(tangent)
    return tangent.to(gradient.dtype).expand(gradient.shape)


# Calls of operators without formulas.


def refusing(op: Any, operator: str, below: Below) -> Function:
    """The kernel of an operator without formulas: a derivative is refused where it would be lost.

    A kernel that is made of PyTorch's functions may have one all the same.
    """
    arguments = op._schema.arguments
    names = [a.name for a in arguments]
    written = [a.name for a in arguments if a.alias_info and a.alias_info.is_write]

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        has_tangents = may_have_tangents() and any(map(_is_dual, _tensors(given)))
        is_wanted = _is_enabled() and any_requires_grad(*given)
        if has_tangents or is_wanted:
            named = dict(zip(names, args)) | kwargs
            changed = [named[name] for name in written]
            if has_tangents and changed:
                raise RuntimeError(f"{operator} {_WITHOUT_FORWARD}")
            if is_wanted and any(map(_requires_grad, _tensors(changed))):
                raise RuntimeError(f"{operator} {_WITHOUT}")
        result = below(keyset)(*args, **kwargs)
        if has_tangents and _lost(result, _is_dual):
            raise RuntimeError(f"{operator} {_WITHOUT_FORWARD}")
        lost = _lost(result, _requires_grad) if is_wanted else []
        if not lost:
            return result
        found = dict(zip(map(id, lost), _applied(_underived, operator, lost, *_tensors(given))))
        return pytree.tree_map_only(torch.Tensor, lambda t: found.get(id(t), t), result)

    return kernel


def _lost(result: Any, has_derivative: Callable[[Any], bool]) -> list[torch.Tensor]:
    """The results that would have a derivative, and have none."""
    return [t for t in _tensors(result) if _is_real(t) and not has_derivative(t)]


class _Underived(_Node):
    """Results whose gradient is refused."""

    @staticmethod
    def forward(ctx: Any, operator: str, results: Sequence[Any], *inputs: Any) -> Any:
        ctx.operator = operator
        ctx.mark_dirty(*(r for r in results if any(r is i for i in inputs)))
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(f"{ctx.operator} {_WITHOUT}")


_underived: Function = cast("Any", _Underived).apply
