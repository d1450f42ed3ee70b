"""What is refused, and with which words: small programs run by both libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl

pytestmark = pytest.mark.torch


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor([float(value) for value in values], requires_grad=True)


def leaf_inplace(lib: Any) -> Any:
    return leaf(lib, 1).mul_(2)


def view_of_leaf(lib: Any) -> Any:
    return leaf(lib, 1, 2)[0].mul_(2)


def view_of_several(lib: Any) -> Any:
    return (leaf(lib, 1, 2) * 1).unbind(0)[0].mul_(2)


def view_of_split(lib: Any) -> Any:
    return lib.split(leaf(lib, 1, 2, 3, 4) * 1, 2)[1].add_(1)


def view_made_without_grad(lib: Any) -> Any:
    x = leaf(lib, 1, 2) * 1
    with lib.no_grad():
        view = x[0]
    return view.mul_(2)


def leaf_changed_without_grad(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    with lib.no_grad():
        x.mul_(2)
    return x.is_leaf, x.requires_grad


def saved_result_changed(lib: Any) -> Any:
    y = leaf(lib, 1).exp()
    y.add_(1)
    return y.sum().backward()


def saved_input_changed(lib: Any) -> Any:
    w = lib.tensor([3.0])
    y = leaf(lib, 1) * w
    w.add_(1)
    return y.sum().backward()


def saved_input_changed_through_detach(lib: Any) -> Any:
    x = leaf(lib, 1) * 1
    y = x * x
    x.detach().add_(1)
    return y.sum().backward()


def unsaved_input_changed(lib: Any) -> Any:
    x = leaf(lib, 1)
    y = x * 1
    z = y + 1
    y.add_(1)
    z.sum().backward()
    return x.grad.tolist()


def shape_was_all_that_was_saved(lib: Any) -> Any:
    x = leaf(lib, 1, 2)
    y = x * 1
    z = y.sum()
    y.zero_()
    z.backward()
    return x.grad.tolist()


def twice(lib: Any) -> Any:
    x = leaf(lib, 1)
    y = (x * x).sum()
    y.backward()
    return y.backward()


def twice_without_saved(lib: Any) -> Any:
    x = leaf(lib, 1)
    y = (x + x).sum()
    y.backward()
    y.backward()
    return x.grad.tolist()


def out_variant(lib: Any) -> Any:
    x = leaf(lib, 1)
    return lib.add(x, x, out=lib.empty(1))


def out_variant_without_grad(lib: Any) -> Any:
    x = leaf(lib, 1)
    with lib.no_grad():
        return lib.add(x, x, out=lib.empty([1])).tolist()


def integers(lib: Any) -> Any:
    return lib.ones([2], dtype=lib.int64).requires_grad_()


def not_a_leaf(lib: Any) -> Any:
    return (leaf(lib, 1) * 2).requires_grad_(False)


def to_numpy(lib: Any) -> Any:
    return leaf(lib, 1).numpy()


def nothing_required(lib: Any) -> Any:
    return lib.ones([]).backward()


def no_scalar(lib: Any) -> Any:
    return (leaf(lib, 1, 2) * 2).backward()


def wrong_gradient(lib: Any) -> Any:
    return (leaf(lib, 1, 2) * 2).backward(lib.ones([3]))


def not_required(lib: Any) -> Any:
    return lib.autograd.grad(leaf(lib, 1).sum(), lib.ones([1]))


def hook(lib: Any) -> Any:
    return lib.ones([1]).register_hook(print)


def retain(lib: Any) -> Any:
    return lib.ones([1]).retain_grad()


def detach_view(lib: Any) -> Any:
    return (leaf(lib, 1, 2) * 1)[0].detach_()


def base_that_begins_to_require(lib: Any) -> Any:
    base = lib.zeros([3])
    view, other = base[0], base[1:]
    view.add_(leaf(lib, 1)[0])
    return base.requires_grad, other.requires_grad, view.is_leaf, other.is_leaf, base.is_leaf


def base_of_views(lib: Any) -> Any:
    x = lib.zeros([2, 3])
    view = x[0].unsqueeze(0)
    return view._base is x, view._is_view(), x._is_view(), x.detach()._is_view(), x.clone()._base


def versions(lib: Any) -> Any:
    x = lib.zeros([2, 3])
    start = x._version
    found = []
    for change in ("zero_", "exp_", "relu_", "neg_"):
        getattr(x, change)()
        found.append(x._version - start)
    x[0] = 1
    return found, x._version - start, x[1]._version - start


PROGRAMS: list[Callable[[Any], Any]] = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "leaf"
]


def outcome(program: Callable[[Any], Any], lib: Any) -> Any:
    try:
        return program(lib)
    except RuntimeError as error:
        # The hints behind the first sentences, names of nodes and of types are each library's own.
        text = re.sub(r"(Hint: |If you are using D).*|\[[\w.]+ \[\d+\]\]", "", str(error))
        text = re.sub(r"torch\.|(Backward)?\d\b", "", text)
        return text.strip()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_both_say_the_same(program: Callable[[Any], Any]) -> None:
    assert outcome(program, tl) == outcome(program, torch)
