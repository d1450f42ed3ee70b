"""What the operators of `ad_ops` do, and their gradients."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
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


def tensor(*shape: int, dtype: torch.dtype = torch.double) -> Tensor:
    """The same numbers for the same shape."""
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.randn(*shape, dtype=dtype, generator=generator).requires_grad_()


def both_orders(function: Callable[..., Any], *inputs: Tensor) -> None:
    """Gradients, and gradients of gradients, against differences of the function's own values."""
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


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
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    function, inputs = FUNCTIONS[name]
    both_orders(function, *inputs)


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
    out = torch.empty(3, dtype=torch.double)
    leaf = "requires grad is being used in an in-place operation"
    assert leaf in refused(lambda: ops.scale_(x, 2.0))
    assert leaf in refused(lambda: ops.scale_(x.view(3), 2.0))
    assert "scale(): functions with out=" in refused(lambda: ops.scale.out(x, 2.0, out=out))
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


def test_forward_mode_is_refused() -> None:
    with forward.dual_level():
        dual = forward.make_dual(torch.ones(2), torch.ones(2))
        for call in (ops.square, lambda x: ops.scale_(x, 2.0), lambda x: ops.weighted([x, x])):
            with pytest.raises(NotImplementedError, match="has no formula for forward-mode"):
                call(dual)


def test_compiled_autograd_is_refused() -> None:
    loss = ops.square(tensor(3)).sum()
    with compiled_autograd._enable(torch.compile(backend="eager")):
        with pytest.raises(NotImplementedError, match="compiled_args not implemented"):
            loss.backward()


def test_function_transforms() -> None:
    x = tensor(3).detach()
    gradient = torch.func.grad(lambda v: ops.square(v).sum())
    torch.testing.assert_close(gradient(x), 2 * x)
    second = torch.func.grad(lambda v: gradient(v).sum())
    torch.testing.assert_close(second(x), torch.full_like(x, 2))


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
    both_orders(lambda x: ops.masked(x, y, [y], weight=torch.ones(2), s=2.0), X)
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
