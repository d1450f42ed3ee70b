"""Small programs about inference mode, run by either library. Each gives facts, or raises."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

Program = Callable[[Any], Any]


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor([float(value) for value in values], requires_grad=True)


def inferred(lib: Any, *values: float) -> Any:
    """A tensor made in inference mode."""
    with lib.inference_mode():
        return lib.tensor([float(value) for value in values])


def kinds(lib: Any) -> Any:
    x = lib.ones([2])
    with lib.inference_mode():
        made = [lib.ones([2]), x + 1, x.clone(), x.sum(), x.to(lib.float64), lib.as_tensor([1.0])]
        same = [x[0], x.view([2]), x.detach(), x.reshape([2]), x.contiguous(), x.to(lib.float32)]
        with lib.inference_mode(False):
            normal = lib.ones([2])
    return [[t.is_inference() for t in tensors] for tensors in (made, same, [x, normal])]


def outside(lib: Any) -> Any:
    a = inferred(lib, 1, 2)
    found = [a + 1, a.clone(), a[0], a.detach(), a.view([2]), a.to(lib.float32), a.to(lib.float64)]
    return [t.is_inference() for t in found], a.is_leaf, a[0]._is_view(), a.requires_grad


def added_to_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    (x + inferred(lib, 3, 4)).sum().backward()
    return x.grad.tolist()


def joined_with_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    lib.cat([x, inferred(lib, 3)]).sum().backward()
    return x.grad.tolist()


def saved(lib: Any) -> Any:
    return leaf(lib, 1, 2) * inferred(lib, 3, 4)


def saved_by_a_change(lib: Any) -> Any:
    return (leaf(lib, 1, 2) * 1).mul_(inferred(lib, 3, 4))


def multiplied_without_grad(lib: Any) -> Any:
    with lib.no_grad():
        return (leaf(lib, 1, 2) * inferred(lib, 3, 4)).tolist()


def version_of_one(lib: Any) -> Any:
    return inferred(lib, 1)._version


def version_inside(lib: Any) -> Any:
    with lib.inference_mode():
        return lib.ones([1])._version


def version_of_a_normal_one_inside(lib: Any) -> Any:
    x = lib.ones([2])
    start = x._version
    with lib.inference_mode():
        x.add_(1)
        x[0].mul_(2)
        return x._version - start


def changed_outside(lib: Any) -> Any:
    return inferred(lib, 1).add_(1)


def changed_outside_by_a_leaf(lib: Any) -> Any:
    return inferred(lib, 1).mul_(leaf(lib, 1))


def changed_outside_without_grad(lib: Any) -> Any:
    with lib.no_grad():
        return inferred(lib, 1).add_(1)


def changed_inside(lib: Any) -> Any:
    a = inferred(lib, 1)
    with lib.inference_mode():
        return a.add_(1).tolist()


def view_changed_outside(lib: Any) -> Any:
    return inferred(lib, 1)[0].add_(1)


def out_of_an_addition(lib: Any) -> Any:
    x = lib.ones([1])
    return lib.add(x, x, out=inferred(lib, 1))


def into_a_normal_out(lib: Any) -> Any:
    a = inferred(lib, 1)
    return lib.add(a, a, out=lib.ones([1])).is_inference()


def copied_over(lib: Any) -> Any:
    return inferred(lib, 1).copy_(lib.ones([1]))


def copied_into_a_normal_one(lib: Any) -> Any:
    return lib.zeros([1]).copy_(inferred(lib, 5)).tolist()


def assigned_to(lib: Any) -> Any:
    inferred(lib, 1)[0] = 2.0


def asked_for_gradients(lib: Any) -> Any:
    return inferred(lib, 1).requires_grad_()


def not_asked_for_gradients(lib: Any) -> Any:
    return inferred(lib, 1).requires_grad_(False).requires_grad


def asked_for_gradients_inside(lib: Any) -> Any:
    with lib.inference_mode():
        a = lib.ones([2]).requires_grad_()
    x = leaf(lib, 1, 2)
    (a + x).sum().backward()
    return a.requires_grad, a.is_inference(), a.grad.tolist()


def nothing_is_recorded(lib: Any) -> Any:
    x = leaf(lib, 1)
    with lib.inference_mode():
        with lib.enable_grad():
            made = x * 2
        return made.requires_grad, lib.is_inference_mode_enabled(), lib.is_grad_enabled()


def backward_of_what_was_not_recorded(lib: Any) -> Any:
    x = leaf(lib, 1)
    with lib.inference_mode():
        return (x * 2).sum().backward()


def leaf_changed_inside(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    with lib.inference_mode():
        x.add_(1)
    return x.tolist(), x.is_leaf, x.requires_grad


def view_of_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    with lib.inference_mode():
        view = x[:1]
        return view.requires_grad, view.is_leaf, view._base is x, view.is_inference()


def view_made_inside_changed_outside(lib: Any) -> Any:
    x = leaf(lib, 1, 2) * 1
    with lib.inference_mode():
        view = x[:1]
    return view.add_(1)


def view_made_inside_with_enable_grad(lib: Any) -> Any:
    x = leaf(lib, 1, 2) * 1
    with lib.inference_mode(), lib.enable_grad():
        view = x[:1]
    return view.add_(1)


def several_views_made_inside(lib: Any) -> Any:
    x = leaf(lib, 1, 2) * 1
    with lib.inference_mode():
        first, _ = x.unbind()
    return first.add_(1)


def base_of_a_view_made_inside_changed(lib: Any) -> Any:
    x = leaf(lib, 1, 2) * 1
    with lib.inference_mode():
        view = x[:1]
    x.mul_(2)
    return view * 2


def base_of_a_view_made_without_grad_changed(lib: Any) -> Any:
    x = leaf(lib, 1, 2) * 1
    with lib.no_grad():
        view = x[:1]
    x.mul_(2)
    return view * 2


def view_of_what_needs_no_gradient(lib: Any) -> Any:
    x = lib.ones([2])
    with lib.inference_mode():
        view = x[:1]
    return view.add_(1).tolist(), view._is_view()


def gradients_inside(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    y = x * x
    with lib.inference_mode():
        y.backward(lib.ones([2]))
    return x.grad.is_inference(), x.grad.tolist()


def gradients_inside_and_then_outside(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    y = x * x
    with lib.inference_mode():
        y.backward(lib.ones([2]))
    return (x * x).sum().backward()


def copies(lib: Any) -> Any:
    a = inferred(lib, 1)
    read = pickle.loads(pickle.dumps(a))
    return [t.is_inference() for t in (copy.copy(a), copy.deepcopy(a), read)][1:]


def decorated(lib: Any) -> Any:
    @lib.inference_mode()  # type: ignore[untyped-decorator]
    def made() -> Any:
        return lib.ones([1])

    return made().is_inference(), lib.ones([1]).is_inference(), lib.is_inference_mode_enabled()


def sparse(lib: Any) -> Any:
    with lib.inference_mode():
        a = lib.ones([2]).to_sparse()
    return a.is_inference(), a.to_dense().is_inference()


HELPERS = ("leaf", "inferred")
PROGRAMS: dict[str, Program] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name not in HELPERS
}
