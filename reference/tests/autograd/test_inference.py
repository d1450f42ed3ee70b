"""Tensors made in inference mode: autograd knows nothing of them, and they say so."""

from __future__ import annotations

import contextvars

import pytest

import torchgen_lite_reference as tl
from autograd.inference_programs import PROGRAMS
from torchgen_lite_runtime import InferenceMode, local_state


def names(keyset: object) -> set[str]:
    return {key.name for key in keyset}  # type: ignore[attr-defined]


def test_keys() -> None:
    normal = tl.ones([2])
    with tl.inference_mode():
        assert names(local_state().included) == {"BackendSelect"}
        made = tl.ones([2])
        assert names(made._dispatch_keyset) == {"CPU", "AutocastCPU"}
        assert names(made.to_sparse()._dispatch_keyset) == {"SparseCPU", "AutocastCPU"}
        assert names(tl.ones([2], device=tl.device("meta"))._dispatch_keyset) == {"Meta"}
        assert normal[0]._dispatch_keyset is normal._dispatch_keyset
    assert made[0]._dispatch_keyset is made._dispatch_keyset
    assert made.clone()._dispatch_keyset is normal._dispatch_keyset


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("kinds", [[True] * 6, [False] * 6, [False, False]]),
        ("outside", ([False, False, True, True, True, True, False], True, False, False)),
        ("added_to_a_leaf", [1, 1]),
        ("joined_with_a_leaf", [1, 1]),
        ("version_of_a_normal_one_inside", 2),
        ("asked_for_gradients_inside", (True, True, [1, 1])),
        ("nothing_is_recorded", (False, True, False)),
        ("view_of_a_leaf", (True, True, True, False)),
        ("gradients_inside", (True, [2, 4])),
        ("copies", [False, False]),
    ],
)
def test_what_programs_give(name: str, result: object) -> None:
    assert PROGRAMS[name](tl) == result


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("saved", "Inference tensors cannot be saved for backward"),
        ("saved_by_a_change", "Inference tensors cannot be saved for backward"),
        ("version_of_one", "Inference tensors do not track version counter"),
        ("changed_outside", "Inplace update to inference tensor outside InferenceMode is not all"),
        ("out_of_an_addition", "Inplace update to inference tensor outside InferenceMode is not"),
        ("asked_for_gradients", "Setting requires_grad=True on inference tensor outside Inferen"),
        ("view_made_inside_changed_outside", "A view was created in inference mode and is being"),
        ("base_of_a_view_made_inside_changed", "its base or another view of its base has been mo"),
        ("backward_of_what_was_not_recorded", "does not require grad"),
    ],
)
def test_what_is_refused(name: str, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        PROGRAMS[name](tl)


def test_a_copied_context_keeps_the_mode() -> None:
    """A task that began in inference mode is in it after the region it began in has ended."""
    with tl.inference_mode():
        context = contextvars.copy_context()
    assert context.run(lambda: tl.ones([1]).is_inference())
    assert not tl.ones([1]).is_inference()


def test_the_guard_of_the_runtime_alone() -> None:
    with InferenceMode():
        assert tl.ones([1]).is_inference()
