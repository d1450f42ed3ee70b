"""The graph and the engine: what torch's tutorial says, and what it raises."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from torchgen_lite_runtime import Dispatcher, Library


def leaf(*values: float) -> tl.Tensor:
    return tl.tensor(list(values), dtype=tl.float64, requires_grad=True)


def grad_of(tensor: tl.Tensor) -> Any:
    assert tensor.grad is not None
    return tensor.grad.tolist()


def test_backward_fills_leaves_and_adds_up() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    (x * y + x).sum().backward()
    assert (grad_of(x), grad_of(y)) == ([4, 5], [1, 2])
    kept = x.grad
    (x * x).sum().backward()
    assert grad_of(x) == [6, 9]
    assert x.grad is kept
    x.grad = None
    assert x.grad is None


def test_attributes_of_the_graph() -> None:
    x = leaf(1, 2)
    y = x * tl.tensor([2.0, 2.0], dtype=tl.float64)
    assert (x.is_leaf, x.requires_grad, x.grad_fn) == (True, True, None)
    assert (y.is_leaf, y.requires_grad, repr(y.grad_fn)) == (False, True, "<MulBackward0>")
    assert y.grad_fn is not None
    assert [repr(node) for node, _ in y.grad_fn.next_functions] == ["<AccumulateGrad>", "None"]
    assert repr(y) == "tensor([2., 4.], dtype=tl.float64, grad_fn=<MulBackward0>)"
    assert repr(x) == "tensor([1., 2.], dtype=tl.float64, requires_grad=True)"
    detached = y.detach()
    assert not detached.requires_grad and detached.is_leaf
    assert detached.data_ptr() == y.data_ptr()
    assert y.detach_() is y and y.grad_fn is None


def test_broadcasting_is_summed_and_dtypes_are_restored() -> None:
    x = tl.ones([3, 1]).requires_grad_()
    y = tl.ones([2], dtype=tl.float64).requires_grad_()
    (x * y).sum().backward()
    assert x.grad is not None and y.grad is not None
    assert (x.grad.dtype, x.grad.tolist()) == (tl.float32, [[2], [2], [2]])
    assert (y.grad.dtype, y.grad.tolist()) == (tl.float64, [3, 3])


def test_several_results_and_unused_ones() -> None:
    x = leaf(3, 1, 2)
    values, indices = tl.sort(x)
    assert not indices.requires_grad
    (values * tl.tensor([1.0, 10.0, 100.0], dtype=tl.float64)).sum().backward()
    assert grad_of(x) == [100, 1, 10]
    first, *_ = leaf(1, 2).unbind()
    assert tl.autograd.grad(first * 3, first)[0].tolist() == 3  # type: ignore[union-attr]


def test_double_backward() -> None:
    x = leaf(2)
    (first,) = tl.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert first is not None and first.requires_grad
    (second,) = tl.autograd.grad(first.sum(), x, create_graph=True)
    assert second is not None
    (third,) = tl.autograd.grad(second.sum(), x)
    assert [t.item() for t in (first, second, third) if t is not None] == [12, 12, 6]


def test_graph_is_freed_unless_retained() -> None:
    x = leaf(1)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert grad_of(x) == [4]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_grad_of_inner_tensors_runs_only_what_it_needs() -> None:
    x, y = leaf(1), leaf(5)
    inner = x * 2
    out = (inner * inner + y.exp() * 0).sum()
    ran: list[str] = []
    assert out.grad_fn is not None
    y.register_hook(lambda grad: ran.append("y"))
    (found,) = tl.autograd.grad(out, inner)
    assert found is not None and found.tolist() == [4]
    assert ran == [] and x.grad is None


def test_backward_into_given_inputs() -> None:
    x, y = leaf(1), leaf(2)
    (x * y).sum().backward(inputs=[x])
    assert grad_of(x) == [2] and y.grad is None


def test_hooks() -> None:
    x = leaf(1, 2)
    seen: list[Any] = []
    y = x * 3
    handle = y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.register_hook(lambda grad: grad * 10)
    x.register_hook(lambda grad: -grad)
    y.sum().backward(retain_graph=True)
    assert seen == [[1, 1]] and grad_of(x) == [-30, -30]
    handle.remove()
    y.sum().backward(retain_graph=True)
    assert len(seen) == 1
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: tuple(g * 0 for g in grads if g is not None))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("after"))
    y.sum().backward()
    assert grad_of(x) == [-60, -60] and seen[-1] == "after"


def test_retain_grad_fills_an_inner_tensor() -> None:
    x = leaf(1)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert y.retains_grad and grad_of(y) == [4]


def test_a_graph_of_100_000_nodes_is_no_recursion() -> None:
    x = tl.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.backward()
    assert x.grad is not None and x.grad.item() == 1
    del y


def test_nodes_go_with_the_tensors_that_hold_them() -> None:
    gc.disable()
    try:
        x = leaf(1)
        y = x.exp()
        node = weakref.ref(y.grad_fn)  # type: ignore[arg-type]
        del y
        assert node() is None
    finally:
        gc.enable()


def test_modes() -> None:
    x = leaf(1)
    with tl.no_grad():
        assert not (x * 2).requires_grad
        with tl.enable_grad():
            assert (x * 2).requires_grad
    with tl.set_grad_enabled(False):
        assert not tl.is_grad_enabled()
    assert tl.is_grad_enabled()

    @tl.no_grad()
    def quiet() -> tl.Tensor:
        return x * 2

    @tl.no_grad
    def bare() -> tl.Tensor:
        return x * 2

    assert not quiet().requires_grad and not bare().requires_grad
    with tl.inference_mode():
        made = x * 2
        assert not made.requires_grad
        with tl.inference_mode(False):
            assert (x * 2).requires_grad
    assert (x * made.clone()).requires_grad


@pytest.mark.parametrize(
    ("make", "inside"),
    [(tl.no_grad, False), (tl.enable_grad, True), (tl.inference_mode, False)],
)
def test_a_mode_shared_by_threads_keeps_their_states_apart(
    make: Callable[[], Any], inside: bool
) -> None:
    mode, states = make(), []

    def other() -> None:
        with tl.set_grad_enabled(False):
            mode.__enter__()
            entered.set()
            left.wait(10)
            states.append(tl.is_grad_enabled())
            mode.__exit__(None, None, None)
            states.append(tl.is_grad_enabled())

    entered, left = threading.Event(), threading.Event()
    thread = threading.Thread(target=other)
    mode.__enter__()
    thread.start()
    assert entered.wait(10)
    mode.__exit__(None, None, None)
    assert tl.is_grad_enabled() and not tl.is_inference_mode_enabled()
    with pytest.raises(RuntimeError, match="a thread or task that did not enter it"):
        mode.__exit__(None, None, None)
    left.set()
    thread.join()
    assert states == [inside, False]


def test_versions() -> None:
    x = tl.ones([3])
    view, detached = x[0], x.detach()
    before = x._version
    view.add_(1)
    tl.add(x, x, out=x)
    assert [t._version - before for t in (x, view, detached)] == [2, 2, 2]


def test_a_change_through_a_view_is_part_of_the_history_of_its_base() -> None:
    x = leaf(1, 2, 3)
    base = x * 1
    view, other = base[1:], base[:2]
    view.mul_(tl.tensor([2.0, 3.0], dtype=tl.float64))
    assert repr(base.grad_fn) == "<CopySlices>"
    assert repr(other.grad_fn) == "<SliceBackward0>"
    (base * base + 0).sum().backward(retain_graph=True)
    assert grad_of(x) == [2, 16, 54]
    x.grad = None
    other.sum().backward()
    assert grad_of(x) == [1, 2, 0]


def test_views_of_a_base_that_begins_to_require_grad() -> None:
    base = tl.zeros([3])
    view, other = base[0], base[1:]
    y = tl.tensor(1.0, requires_grad=True)
    view.add_(y)
    assert base.requires_grad and other.requires_grad and view.requires_grad
    base[2] = y * 5
    base.sum().backward()
    assert y.grad is not None and y.grad.item() == 6


def test_inplace_keeps_what_was_there() -> None:
    x = leaf(1, 2)
    y = x * 1
    y.mul_(y * 3)
    y.sum().backward()
    assert grad_of(x) == [6, 12]


def test_gradients_of_complex_tensors() -> None:
    """The gradient of |z|^2 is 2 z: the direction of steepest ascent, as in torch."""
    z = tl.tensor([1 + 2j, -3j], requires_grad=True)
    (z * z.conj_physical()).real.sum().backward()
    assert grad_of(z) == [2 + 4j, -6j]
    x = leaf(1, 2)
    made = x * 1j
    assert made.requires_grad and made.dtype is tl.complex128
    made.imag.sum().backward()
    assert grad_of(x) == [1, 1]


def test_an_operator_without_a_formula_says_so_at_backward() -> None:
    y = leaf(4).floor_divide(3)
    assert y.requires_grad
    with pytest.raises(NotImplementedError, match="'aten::floor_divide.*' is not implemented"):
        y.sum().backward()


def test_what_an_operator_without_a_formula_writes_says_so_too() -> None:
    """Returned or not, a view or not, and it can be written again."""
    library = Library("noted", "DEF")
    library.define("f(Tensor(a!) y, Tensor x) -> ()")
    library.impl("f", lambda y, x: None, "CPU")
    call = Dispatcher.singleton().find_schema_or_throw("noted::f", "").call
    for first in (0, 1):
        base = tl.zeros([2], dtype=tl.float64)
        for _ in range(2):
            call(base[first:] if first else base, leaf(1, 2))
        with pytest.raises(NotImplementedError, match="'noted::f' is not implemented"):
            base.sum().backward()


def _multi() -> None:
    first, *_ = (leaf(1, 2) * 1).unbind()
    first.mul_(2)


def _no_grad_view() -> None:
    x = leaf(1, 2) * 1
    with tl.no_grad():
        view = x[0]
    view.mul_(2)


def _saved() -> None:
    y = leaf(1).exp()
    y.add_(1)
    y.sum().backward()


def _saved_through_a_view() -> None:
    w = leaf(1, 2) * 1
    y = w * w
    w[0].add_(1)
    y.sum().backward()


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: leaf(1).mul_(2), "a leaf Variable that requires grad is being used in an in-place"),
    (lambda: leaf(1)[0].mul_(2), "a view of a leaf Variable that requires grad is being used"),
    (_multi, "Output 0 of UnbindBackward0 is a view and is being modified inplace"),
    (_no_grad_view, "A view was created in no_grad mode and is being modified inplace"),
    (_saved, r"\[Double \[1\]\], which is output 0 of ExpBackward0, is at version 1; expected"),
    (_saved_through_a_view, "is at version 1; expected version 0 instead"),
    (lambda: tl.add(leaf(1), leaf(1), out=tl.empty([1])), "don't support automatic differentiat"),
    (lambda: tl.ones([2], dtype=tl.int64).requires_grad_(), "only Tensors of floating point"),
    (lambda: (leaf(1) * 2).requires_grad_(False), "you can only change requires_grad flags of"),
    (lambda: leaf(1).numpy(), "Can't call numpy\\(\\) on Tensor that requires grad"),
    (lambda: tl.ones([]).backward(), "element 0 of tensors does not require grad"),
    (lambda: (leaf(1, 2) * 2).backward(), "grad can be implicitly created only for scalar"),
    (lambda: leaf(1, 2).backward(tl.ones([3])), "Mismatch in shape"),
    (lambda: (leaf(1) * 1j).sum().backward(), "only for real scalar outputs but got tl.complex128"),
    (
        lambda: (leaf(1) * 1j).backward(tl.ones([1])),
        "For complex Tensors, both grad_output and out",
    ),
    (
        lambda: tl.tensor([1j], requires_grad=True).to_sparse(),
        "_to_sparse does not support automat",
    ),
    (lambda: leaf(1).resize_([2]), "cannot resize variables that require grad"),
    (lambda: tl.autograd.grad(leaf(1) * 2, leaf(1)), "appears to not have been used in the graph"),
    (lambda: tl.autograd.grad(leaf(1) * 2, tl.ones([1])), "does not require grad"),
    (lambda: tl.ones([1]).register_hook(print), "cannot register a hook on a tensor that does"),
    (lambda: tl.ones([1]).retain_grad(), "can't retain_grad on Tensor that has requires_grad"),
    (
        lambda: setattr(tl.ones([2]), "grad", tl.ones([3])),
        "attempting to assign a gradient of size",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        call()


def test_a_custom_operator_without_kernels_at_autograd_passes_and_refuses() -> None:
    lib = Library("autogradtest", "DEF", dispatcher=tl.dispatcher)
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: tl.from_numpy(np.asarray(x.detach().numpy() * 2)), "CPU")
    twice = tl.dispatcher.find_schema_or_throw("autogradtest::twice", "").call
    assert twice(tl.ones([2])).tolist() == [2, 2]
    result = twice(leaf(1))
    with pytest.raises(NotImplementedError, match="autogradtest::twice"):
        result.sum().backward()
