"""What the operators of `ad_ops` do, and their gradients."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo import compiled_autograd

# Parts of PyTorch have no types.
loader: Any = torch.ops
forward: Any = torch.autograd.forward_ad

loader.load_library(str(Path(__file__).with_name("library.so")))
ops = loader.ad_ops
classes: Any = torch.classes
# What to do where an entry says nothing of derivatives.
DECLARE = "add `derivatives:`, or register the kernel as CompositeImplicitAutograd"


def tensor(*shape: int, dtype: torch.dtype = torch.double) -> Tensor:
    """The same numbers for the same shape."""
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.randn(*shape, dtype=dtype, generator=generator).requires_grad_()


def both_orders(function: Callable[..., Any], *inputs: Tensor, twice: bool = True) -> None:
    """Gradients and tangents, and those of gradients, against differences of the function's own values; `twice`: there
    are tangents of gradients, too."""
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=twice)


def scale_through_a_view(x: Tensor) -> Tensor:
    base = x.clone()
    ops.scale_(ops.diagonal_view(base), 3.0)
    return base


def square_through_a_view(x: Tensor) -> Tensor:
    base = x.clone()
    view = ops.diagonal_view(base)
    ops.square_(view)
    result: Tensor = base * view.sum()
    return result


def list_first(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    b, a = ops.list_first([y, z], x)
    result: Tensor = a * b[0].sum() + b[1]
    return result


def list_between(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, ...]:
    a, b, c = ops.list_between(x, [y, z])
    return (a, *b, c)


X, Y = tensor(3, 2), tensor(2)
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "muladd": (lambda a, b: ops.muladd(a, b, 2.0), (X, X.detach().clone().requires_grad_())),
    "broadcast": (ops.mul, (X, Y)),
    "complex": (ops.mul, (tensor(3, 2, dtype=torch.cdouble), tensor(2, dtype=torch.cdouble))),
    "complex with real": (ops.mul, (tensor(3, 2, dtype=torch.cdouble), Y)),
    "of itself": (lambda x: ops.mul(x, x), (X,)),
    "facts": (ops.mean_all, (X,)),
    "result": (ops.grow, (X,)),
    "in place": (lambda x: ops.scale_(x.clone(), 3.0), (X,)),
    "in place, of the input": (lambda x: ops.square_(x.clone()), (X,)),
    "in place, of the result": (lambda x: ops.exponential_(x * 1), (X,)),
    "two of three results": (lambda x: ops.split_parts(x, 2.5, 3)[:2], (X,)),
    "one of three results": (lambda x: ops.split_parts(x, 2.5)[1], (X,)),
    "lists and optionals": (
        lambda x, y, w: ops.weighted([x, y], w, scale=2.0),
        (Y, tensor(2).detach().exp().requires_grad_(), tensor(2)),
    ),
    "absent optionals": (lambda x, y: ops.weighted([x, y]), (Y, Y.detach().exp().requires_grad_())),
    "one of a list": (lambda x: ops.weighted([x, torch.ones_like(x)]), (Y,)),
    "view": (lambda x: ops.diagonal_view(x, 1), (tensor(3, 3),)),
    "views": (lambda x: ops.rows(x)[1] * ops.rows(x)[0], (tensor(3, 3),)),
    "change through a view": (scale_through_a_view, (tensor(3, 3),)),
    "square through a view": (square_through_a_view, (tensor(3, 3),)),
    "own operators in a formula": (ops.cube, (Y,)),
    "either branch": (lambda x: ops.cube(x, negate=True), (Y,)),
    "numbers in a formula": (lambda x: ops.at_least(x, -0.5, 2), (X,)),
    "both results": (lambda x: sum(ops.twice_thrice(x)), (X,)),
    "the second result": (lambda x: ops.twice_thrice(x)[1], (X,)),
    "a list first": (list_first, (X, Y, Y.detach().exp().requires_grad_())),
    "lists between": (list_between, (X, Y, Y.detach().exp().requires_grad_())),
    "behind a list": (lambda x: ops.list_first([Y.detach()] * 2, x)[1], (X,)),
    "odd names": (
        lambda x, y, z: ops.odd_names(x, y, 3, 2.0, z, tensor(2).detach(), common_device="cpu"),
        (X, Y, tensor(3, 2).detach().exp().requires_grad_()),
    ),
    "names of what is kept": (
        lambda x, saved, *ys: ops.apart(x, saved, 5, ys, 7),
        (X, tensor(3, 2).detach().exp().requires_grad_(), Y, tensor(4)),
    ),
    "sizes": (lambda x: ops.counted(x, torch.ones(2, 3)), (X,)),
    "an argument called result": (lambda x: ops.gated(x, Y.detach()), (X,)),
    "a list that may be absent": (lambda x: ops.maybe_total(x, [Y.detach()]), (X,)),
    "an absent list": (ops.maybe_total, (X,)),
    "one formula for three": (
        lambda x, w, b: ops.affine(x, w, b, torch.tensor([[1, 0, 2]])),
        (tensor(4, 2), tensor(2, 3), tensor(3)),
    ),
    "a reference": (lambda x, w: ops.normed(x, w), (X, Y)),
    "one result of a reference": (lambda x, w: ops.normed(x, w)[1], (X, Y)),
    "a reference of what is absent": (lambda x: ops.normed(x)[0], (X,)),
    "one from the other": (lambda x, y: ops.product(x * y, x), (tensor(3, 3), Y[0])),
    "complex and real": (
        lambda x, y: ops.product(x, y.to(x.dtype)),
        (tensor(2, 2, dtype=torch.cdouble), tensor(2, 2)),
    ),
    "items of what functions give": (ops.largest, (X,)),
    "a reference of a list": (
        lambda x, y, z: (*(p := ops.parts([x, y], [None, z], z))[0], p[2]),
        (Y, Y.detach().exp().requires_grad_(), tensor(2)),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    function, inputs = FUNCTIONS[name]
    # The formula of `a_fill` has nothing that could be differentiated.
    both_orders(function, *inputs, twice=name != "either branch")


# PyTorch has no batches of `_foreach_mul`, and takes `to(device)` for a random operator.
UNBATCHED = {"a list first", "lists between", "odd names"}


# Those with a function of the author's in a formula, which is tried in each call, but can't be in the batches of gradcheck.
TRIED = {
    "lists and optionals",
    "absent optionals",
    "one of a list",
    "behind a list",
    "names of what is kept",
    "one formula for three",
}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in UNBATCHED])
def test_batches_of_gradients_and_of_tangents(name: str) -> None:
    function, inputs = FUNCTIONS[name]
    gradcheck = partial(torch.autograd.gradcheck, function, inputs, check_forward_ad=True)
    assert gradcheck(check_batched_grad=True, check_batched_forward_grad=name not in TRIED)
    if name in TRIED:
        with pytest.raises(RuntimeError, match="in the batches of gradcheck"):
            gradcheck(check_batched_forward_grad=True)


def written_tangent(x: Tensor) -> Tensor:
    y = x * 1.0
    ops.waves_(y)
    return y


def product_of_halves(x: Tensor) -> Tensor:
    power, (first, second) = ops.raised(x, [x, x * x])
    result: Tensor = power * first * second
    return result


# Formulas of tangents, of operators whose other formulas can't be differentiated.
TANGENTS: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "an expression": (lambda a, b: ops.scaled(a, b, 2.0), (X, tensor(3, 1))),
    "of one argument": (lambda a: ops.scaled(a, Y.detach(), 2.0), (X,)),
    "auto_linear": (lambda a: ops.halved(a, 2), (X,)),
    "auto_linear, of a tensor that may be absent": (lambda a, b: ops.halved(a, 2, b), (X, Y)),
    "auto_linear, of a constant": (lambda a: ops.halved(a, 2, Y.detach()), (X,)),
    "auto_element_wise": (ops.waves, (tensor(3, dtype=torch.cdouble),)),
    "auto_element_wise, in place": (written_tangent, (X,)),
    "a list, of results": (product_of_halves, (X,)),
}


@pytest.mark.parametrize("name", TANGENTS)
def test_tangents_that_have_formulas(name: str) -> None:
    function, inputs = TANGENTS[name]
    assert torch.autograd.gradcheck(
        function, inputs, check_forward_ad=True, check_backward_ad=False
    )


def test_values() -> None:
    x, y = X.detach(), Y.detach()
    torch.testing.assert_close(ops.muladd(x, y, 2.0), x * y + 2)
    torch.testing.assert_close(ops.grow(x), x.exp())
    out = torch.empty(0, dtype=torch.double)
    assert ops.scale.out(x, 2.0, out=out) is out
    torch.testing.assert_close(out, x * 2)
    assert ops.scale_(out, 2.0) is out
    torch.testing.assert_close(out, x * 4)


def refused(function: Callable[[], object]) -> str:
    with pytest.raises(RuntimeError) as caught:
        function()
    return str(caught.value).splitlines()[0]


def test_what_autograd_refuses() -> None:
    x = tensor(3)
    out = torch.ones(3, dtype=torch.double)
    leaf = "requires grad is being used in an in-place operation"
    assert leaf in refused(lambda: ops.scale_(x, 2.0))
    assert leaf in refused(lambda: ops.scale_(x.view(3), 2.0))
    assert refused(lambda: ops.scale.out(x, 2.0, out=out)) == (
        "ad_ops::scale(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )
    # `w` has no formula, so it may require a gradient, but its tangent would be lost.
    assert torch.equal(ops.tilt.out(out, x, out=torch.empty_like(out)), out * x)
    with forward.dual_level():
        dual = forward.make_dual(torch.ones_like(out), out)
        assert refused(lambda: ops.tilt.out(out, dual, out=torch.empty_like(out))) == (
            "ad_ops::tilt.out has no formula for forward-mode"
        )
    row = ops.rows(tensor(3, 3).clone())[0]
    assert "Output 0 of Rows is a view and is being modified inplace" in refused(
        lambda: ops.scale_(row, 2.0)
    )
    result = ops.square(x)
    result.sum().backward()
    assert "backward through the graph a second time" in refused(lambda: result.sum().backward())


def test_a_saved_tensor_that_changed() -> None:
    changed = tensor(3).clone()
    product = ops.mul(changed, changed)
    ops.scale_(changed, 2.0)
    assert "modified by an inplace operation" in refused(lambda: product.sum().backward())


def test_versions_go_up_with_formulas_and_without() -> None:
    x, y = torch.zeros(3), torch.zeros(2)
    before = x._version, y._version
    ops.fill_both(x, y, 1.0)
    assert (x._version, y._version) == (before[0] + 1, before[1] + 1)
    ops.scale_(x, 2.0)
    assert x._version == before[0] + 2


def test_views_know_their_base() -> None:
    x = torch.ones(2, 2)
    assert ops.diagonal_view(x)._base is x
    assert ops.plain_view(x)._is_view()
    assert all(row._base is x for row in ops.rows(x))
    assert "not implemented" in refused(lambda: ops.plain_view(tensor(2, 2)).sum().backward())


def test_without_gradients() -> None:
    x = tensor(3, 3)
    with torch.no_grad():
        assert ops.mul(x, x).grad_fn is None
        view, theirs = ops.diagonal_view(x), torch.diagonal(x)
        assert view._is_view() and view.requires_grad == theirs.requires_grad
    with torch.inference_mode():
        assert ops.mul(x, x).is_inference()
        assert ops.scale_(torch.ones(2), 2.0).tolist() == [2, 2]


def test_what_has_no_gradient() -> None:
    x = tensor(4)
    assert not ops.counts(x).requires_grad
    low, high, index = ops.split_parts(x, 1)
    assert low.requires_grad and high.requires_grad and not index.requires_grad
    mask = torch.ones(1, 3, dtype=torch.double, requires_grad=True)
    weight, bias = tensor(4, 3).detach(), tensor(3).detach()
    assert not ops.affine(x.detach()[None], weight, bias, mask).requires_grad


def saved_by(function: Callable[[], object]) -> list[Sequence[int]]:
    """The shapes of the tensors that a call keeps for backward."""
    shapes: list[Sequence[int]] = []

    def pack(kept: Tensor) -> Tensor:
        shapes.append(tuple(kept.shape))
        return kept

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        kept = function()
    assert kept is not None
    return shapes


def test_only_what_is_needed_is_kept() -> None:
    x, y = tensor(3, 2), tensor(2)
    assert saved_by(lambda: ops.mul(x, y)) == [(2,), (3, 2)]
    assert saved_by(lambda: ops.mul(x, y.detach())) == [(2,)]
    assert saved_by(lambda: ops.mul(x.detach(), y)) == [(3, 2)]
    assert saved_by(lambda: ops.mean_all(x)) == []
    assert saved_by(lambda: ops.mul(x.detach(), y.detach())) == []


def test_a_node_that_keeps_its_result_goes_away() -> None:
    def hook(inputs: object, outputs: object) -> None: ...

    result = ops.grow(tensor(3))
    result.grad_fn.register_hook(hook)
    seen = weakref.ref(hook)
    del hook
    assert seen() is not None
    del result
    gc.collect()
    assert seen() is None


def test_nodes_have_names_and_edges() -> None:
    x, y = tensor(2), tensor(2)
    node = ops.mul(x, y.detach()).grad_fn
    assert node.name() == "MulBackward0"
    (first, number), second = node.next_functions
    assert first.variable is x and number == 0 and second == (None, 0)


def dual(function: Callable[[Tensor], Any], x: Tensor) -> tuple[Any, Any]:
    """The value and the tangent of a function, where that of `x` is ones."""
    with forward.dual_level():
        return tuple(forward.unpack_dual(function(forward.make_dual(x, torch.ones_like(x)))))


def test_forward_mode_is_refused_by_name() -> None:
    x = X.detach()
    without = "has no formula for forward-mode"
    refusals: dict[str, Callable[[Tensor], Any]] = {
        f"shifted {without}: the formula of `x` is not linear in the gradient": ops.shifted,
        f"guessed {without}: its formulas are not linear in the gradient": ops.guessed,
        f"opaque_scale {without}: its formulas can't be differentiated": ops.opaque_scale,
        f"joined {without}: there is none for `ys`": lambda v: ops.joined(x, [v]),
        f"scale.out {without}": lambda v: ops.scale.out(v, 2.0, out=torch.empty_like(x)),
        "lopsided has no derivative with respect to y": lambda v: ops.lopsided(x, v),
        f"twin {without}: {DECLARE}": ops.twin,
        f"twins {without}: {DECLARE}": lambda v: ops.twins([x, v]),
        f"store {without}: {DECLARE}": lambda v: ops.store(v, x.clone()),
        f"fill_both {without}: {DECLARE}": lambda v: ops.fill_both(v, v.clone(), 1.0),
    }
    for message, function in refusals.items():
        assert refused(partial(dual, function, x)) == f"ad_ops::{message}"
        transformed = partial(torch.func.jvp, function, (x,), (x,))
        assert refused(transformed) == f"ad_ops::{message}"
    assert dual(ops.counts, x)[1] is None
    mask = torch.ones(3, 2, dtype=torch.double)
    assert dual(lambda v: ops.affine(x, x.T.clone(), x[:, 0], v), mask[:, :1].clone())[1] is None


def test_derivatives_of_operators_without_formulas() -> None:
    x = tensor(3)
    without = f"has no derivatives: {DECLARE}"
    assert refused(lambda: ops.twin(x).sum().backward()) == f"ad_ops::twin {without}"
    assert refused(lambda: (ops.twin(x) * x).sum().backward()) == f"ad_ops::twin {without}"
    first = ops.twins([X.detach(), x])[0][0]
    assert refused(lambda: first.sum().backward()) == f"ad_ops::twins {without}"
    gradient = torch.func.grad(lambda v: ops.twin(v).sum())
    assert refused(lambda: gradient(x.detach())) == f"ad_ops::twin {without}"
    written = x * 1
    ops.store(x.detach(), written)
    assert refused(lambda: written.sum().backward()) == f"ad_ops::store {without}"
    # What nobody differentiates is computed.
    assert torch.equal(ops.twin(x), x * 2)
    ops.store(x, torch.empty_like(x))
    with torch.no_grad():
        assert not ops.twin(x).requires_grad


def test_what_is_said_to_be_made_of_other_operators_has_derivatives() -> None:
    both_orders(ops.composed, X)
    said = f"ad_ops::made_of has no derivatives: {DECLARE}"
    assert refused(lambda: ops.made_of(X).sum().backward()) == said
    assert not ops.signs(X).requires_grad and dual(ops.signs, X.detach())[1] is None
    assert not ops.twins([X])[1].requires_grad


def test_a_tangent_is_not_shared() -> None:
    """What is written to the tangent of a result leaves that of the argument alone."""
    x, v = torch.ones(2), torch.ones(2)
    with forward.dual_level():
        total = ops.maybe_total(forward.make_dual(x, v))
        total.mul_(3.0)
        assert forward.unpack_dual(total).tangent.tolist() == [3.0, 3.0]
    assert v.tolist() == [1.0, 1.0]


def total(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: (function(x) * x).sum()


def squared_in_place(x: Tensor) -> Tensor:
    result: Tensor = ops.square_(x * 1.0)
    return result


def normed(x: Tensor) -> Tensor:
    return x * ((x * x).mean(-1, True) + 0.5).rsqrt()


# Functions of the library beside what they compute.
PAIRS: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {
    "muladd": (lambda x: ops.muladd(x, x, 1.0), lambda x: x * x + 1.0),
    "broadcast": (lambda x: ops.mul(x, x[:1]), lambda x: x * x[:1]),
    "of the result": (ops.grow, torch.exp),
    "several results": (
        lambda x: x * ops.twice_thrice(x)[1] + ops.split_parts(x, 3)[0],
        lambda x: 3 * x * x + x,
    ),
    "a list": (lambda x: ops.weighted([x, x * x], scale=3.0), lambda x: 3 * (x + x * x)),
    "in place": (squared_in_place, lambda x: x * x),
    "a view": (lambda x: ops.diagonal_view(x.outer(x)), lambda x: x * x),
    "own operators in a formula": (ops.cube, lambda x: x**3),
    "a reference": (
        lambda x: ops.normed(x, x)[0] + ops.normed(x.detach(), x)[1],
        lambda x: x * normed(x) + ((x * x).mean(-1, True) + 0.5).rsqrt().detach(),
    ),
}
POINT, DIRECTION = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, -1.0, 0.5])


def along(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The tangent of a function in one direction."""
    return lambda x: torch.func.jvp(function, (x,), (DIRECTION,))[1]


def dual_over_gradient(function: Callable[[Tensor], Tensor]) -> Any:
    with forward.dual_level():
        both = forward.make_dual(POINT.clone().requires_grad_(), DIRECTION)
        (found,) = torch.autograd.grad((function(both) * both).sum(), both, create_graph=True)
        return tuple(forward.unpack_dual(found))


TRANSFORMS: dict[str, Callable[[Callable[[Tensor], Tensor]], Any]] = {
    "grad": lambda f: torch.func.grad(total(f))(POINT),
    "jacrev": lambda f: torch.func.jacrev(f)(POINT),
    "jvp": lambda f: along(f)(POINT),
    "jacfwd": lambda f: torch.func.jacfwd(f)(POINT),
    "hessian": lambda f: torch.func.hessian(total(f))(POINT),
    "forward over forward": lambda f: along(along(f))(POINT),
    "backward over forward": lambda f: torch.func.jacrev(along(f))(POINT),
    "forward over backward": lambda f: along(torch.func.grad(total(f)))(POINT),
    "dual numbers over gradients": dual_over_gradient,
    "gradients of samples": lambda f: torch.vmap(torch.func.grad(total(f)))(torch.eye(3) + 1),
    "tangents of samples": lambda f: torch.vmap(along(f))(torch.eye(3) + 1),
}


# What PyTorch can't loop over: lists and views.
LOOPS = {"jacrev", "jacfwd", "hessian", "backward over forward"}
LOOPS |= {"gradients of samples", "tangents of samples"}


@pytest.mark.parametrize("name", PAIRS)
def test_function_transforms(name: str) -> None:
    own, theirs = PAIRS[name]
    left_out = LOOPS if name in ("a list", "a view") else set()
    for transform in TRANSFORMS.keys() - left_out:
        found, wanted = (TRANSFORMS[transform](function) for function in (own, theirs))
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("name", ["grad", "jvp", "hessian", "gradients of samples"])
def test_transforms_are_compiled(name: str) -> None:
    transform = TRANSFORMS[name]
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        compiled = torch.compile(
            lambda: transform(PAIRS["muladd"][0]), backend=backend, fullgraph=True
        )
        torch.testing.assert_close(compiled(), transform(PAIRS["muladd"][1]))


def test_no_grad_inside_of_a_transform() -> None:
    """A tangent that is computed without gradients has none, at any level."""

    def function(x: Tensor) -> Tensor:
        with torch.no_grad():
            found = along(lambda y: ops.mul(y, y))(x)
        return (found * x).sum()

    torch.testing.assert_close(torch.func.grad(function)(POINT), 2 * POINT * DIRECTION)


def test_compiled_autograd_is_refused() -> None:
    loss = ops.square(tensor(3)).sum()
    with compiled_autograd._enable(torch.compile(backend="eager")):
        with pytest.raises(NotImplementedError, match="compiled_args not implemented"):
            loss.backward()


def test_a_kernel_for_autograd_goes_on_below() -> None:
    before = ops.tripled_calls()
    assert ops.tripled(torch.ones(2)).tolist() == [3, 3]
    assert ops.tripled_calls() == before + 1
    with torch.inference_mode():
        assert ops.tripled(torch.ones(2)).tolist() == [3, 3]
    assert ops.tripled_calls() == before + 1


def test_conditions() -> None:
    assert ops.recent(torch.ones(2)).tolist() == [5, 5]
    both_orders(ops.recent, tensor(2))
    names = torch._C._dispatch_get_all_op_names()
    assert "ad_ops::recent" in names
    assert not {"ad_ops::former", "ad_ops::former_", "ad_ops::elsewhere"} & set(names)
    dangling = torch._C._dispatch_find_dangling_impls()
    assert not [text for text in dangling if "ad_ops" in text]


CALLS: dict[str, tuple[Any, ...]] = {
    "muladd": (tensor(3), tensor(3), 2.0),
    "scale": (tensor(3), 2.0),
    "square": (tensor(3),),
    "mul": (tensor(3, 2), tensor(2)),
    "mean_all": (tensor(3),),
    "grow": (tensor(3),),
    "cube": (tensor(3),),
    "split_parts": (tensor(3), 2.5),
    "twice_thrice": (tensor(3),),
    "at_least": (tensor(3), -0.5, 2),
    "weighted": ([tensor(3), tensor(3)], tensor(2)),
    "scale_": (torch.ones(3), 2.0),
    "fill_both": (torch.ones(3), torch.ones(2), 2.0),
    "counts": (tensor(3),),
    "normed": (tensor(2, 3), tensor(3)),
    "parts": ([tensor(3), tensor(3)], [None], torch.ones(3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_opcheck(name: str) -> None:
    torch.library.opcheck(getattr(ops, name).default, CALLS[name])


def test_opcheck_of_views() -> None:
    # PyTorch functionalizes no view but its own, so there is no fourth check.
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    for view in (ops.diagonal_view, ops.plain_view, ops.rows):
        torch.library.opcheck(view.default, (tensor(3, 3),), test_utils=tests)


def test_compiled_as_one_graph() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        z = ops.muladd(x, y, 2.0)
        ops.scale_(z, 3.0)
        total: Tensor = ops.grow(ops.mul(z, x)).sum()
        return total

    def gradients(called: Callable[..., Tensor]) -> tuple[Tensor, ...]:
        x, y = tensor(3), tensor(3)
        value = called(x, y)
        return (value, *torch.autograd.grad(value, (x, y)))

    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(gradients(compiled), gradients(function))


def test_autocast_casts_tensors_and_results() -> None:
    half, single = torch.ones(2, dtype=torch.bfloat16), torch.ones(2)
    with torch.autocast("cpu", dtype=torch.float16):
        x, sign = ops.exact(half, [single], w=half)
        assert (x.dtype, sign.dtype) == (torch.bfloat16, torch.int64)
        assert ops.exact(single, [half])[0].dtype is torch.float32
        assert (
            ops.exact(torch.ones(2, dtype=torch.double), [torch.ones(2).double()])[0].dtype
            is torch.double
        )
        assert ops.rough(single, [None, half]).dtype is torch.float16
    with pytest.raises(RuntimeError):
        ops.exact(half, [single])


def test_autocast_casts_only_the_tensors_that_are_named() -> None:
    single = torch.ones(2)
    with torch.autocast("cpu", dtype=torch.float16):
        found = ops.dtypes(single, single, ys=[single, single.bfloat16()])
    # float32 is 6, and float16 is 5.
    assert found == [6, 5, 5, 5]
    assert ops.dtypes(single, single, ys=[]) == [6, 6]


def test_a_size_keeps_no_tensor() -> None:
    y = torch.ones(2, 3)
    result, known = ops.counted(X, y), weakref.ref(y)
    del y
    gc.collect()
    assert known() is None
    result.sum().backward()


def test_a_derivative_that_is_not_implemented() -> None:
    y = torch.ones(2, requires_grad=True)
    ops.half_done(X, y.detach()).sum().backward()
    said = "the derivative of half_done, y is not implemented: nobody needs it"
    with pytest.raises(NotImplementedError, match=said):
        ops.half_done(X, y).sum().backward()


def test_what_has_no_formula() -> None:
    x, y = X.detach(), Y.detach()

    def masked(x: Tensor) -> Tensor:
        result: Tensor = ops.masked(x, y, [y], weight=torch.ones(2), s=2.0)
        return result

    assert torch.autograd.gradcheck(masked, X) and torch.autograd.gradgradcheck(masked, X)
    said = "ad_ops::masked has no derivative with respect to "
    assert refused(lambda: ops.masked(x, Y, [y])) == f"{said}mask"
    # PyTorch's own operators let lists pass, too.
    assert not ops.masked(x, y, [y, Y]).requires_grad
    assert refused(lambda: ops.masked(x, y, [y], weight=Y)) == f"{said}weight"
    with torch.no_grad():
        assert not ops.masked(x, Y, [y]).requires_grad


def test_custom_classes() -> None:
    two, three = (classes.ad_ops.Weight(value) for value in (2.0, 3.0))
    both_orders(lambda x: ops.weigh(x, two, three), tensor(2, 3))
    x = tensor(3)
    assert torch.equal(ops.weigh(x, two), x * 2)
    together, count = ops.joint([two, three])
    assert (together.value, count) == (6.0, 2)


def test_references_are_kernels() -> None:
    x, gate = X.detach(), tensor(3, 2).detach().sigmoid()
    for device in ("cpu", "meta"):
        one, (inverse, shifted, same) = ops.opened(x.to(device), gate.to(device), 5)
        assert {t.device.type for t in (one, inverse, shifted, same)} == {device}
        assert {t.shape for t in (one, inverse, shifted, same)} == {x.shape}
        assert ops.doubled(x.float().to(device), [0]).dtype is torch.double
    wanted = (x * gate.sigmoid(), 1 / x, x + x.shape[-1] / 4 * 5, x)
    one, rest = ops.opened(x, gate, 5)
    torch.testing.assert_close((one, *rest), wanted)
    # Nothing is shared: neither with the argument nor between results.
    one, (_, _, same) = ops.opened(x)
    assert len({t.data_ptr() for t in (x, one, same)}) == 3
    assert torch.autograd.gradcheck(lambda x: ops.unchanged(x, []), tensor(2, 2))
    y = tensor(2)
    assert ops.unchanged(y, [y]).grad_fn is not None
    with pytest.raises(IndexError, match="list index out of range"):
        ops.unchanged(y, [])
    assert torch.equal(ops.doubled(x), x * 2)
    assert torch.equal(ops.largest(x), x.max(1).values + x[:, 1].sum() + x[-1].sum())


def test_a_reference_on_meta_is_the_fake() -> None:
    x = torch.randn(3, 4)
    for name, arguments in (
        ("opened", (x, None, 2)),
        ("doubled", (x, [1])),
        ("unchanged", (x, [x])),
    ):
        found = torch.library.opcheck(getattr(ops, name).default, arguments)
        assert set(found.values()) == {"SUCCESS"}


@pytest.mark.parametrize("at_call", [None, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("at_backward", [None, torch.bfloat16])
def test_a_reference_has_the_autocast_of_the_call(
    at_call: torch.dtype | None, at_backward: torch.dtype | None
) -> None:
    x, y = (tensor(3, 3, dtype=torch.float) for _ in range(2))

    def gradients(function: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, ...]:
        with torch.autocast("cpu", at_call, enabled=at_call is not None):
            total = (function(x, y) ** 2).sum()
        with torch.autocast("cpu", at_backward, enabled=at_backward is not None):
            return torch.autograd.grad(total, (x, y))

    both = zip(gradients(ops.product), gradients(lambda x, y: (x @ y).tanh()))
    assert [torch.equal(found, wanted) for found, wanted in both] == [True, True]
    assert not torch.is_autocast_enabled("cpu") and torch.is_autocast_cache_enabled()


def test_what_has_no_gradient_of_a_reference() -> None:
    x = tensor(3, 2)
    x.requires_grad_(False)
    assert not any(t.requires_grad for t in ops.normed(x))
    # Integers have no gradient.
    order, total = ops.parts([X, X], [], X)[1:]
    assert not order.requires_grad and total.requires_grad
