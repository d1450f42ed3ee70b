"""What autograd sees of what each form writes and returns, beside PyTorch's own rules and `custom_op`.

The library is that of `tests/cpp/written_forms.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad as forward

from tests.cpp.written_forms import INSIDE, RESULTS, RIGHT, WRITES, Form
from torchgen_lite.schema.model import bare_type

torch.ops.load_library(str(Path(__file__).with_name("library.so")))
ops = torch.ops.wr

MODES: dict[str, Callable[[], Any]] = {
    "grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
}
# How a written tensor is made.
TENSORS: dict[str, Callable[[], Tensor]] = {
    "plain": lambda: torch.ones(3),
    "a view": lambda: torch.ones(6)[1:4],
    "strided": lambda: torch.ones(3, 2).t()[0],
}
OWN_FORMULAS = ("scale_", "partly_")


def operator(form: Form) -> Any:
    base, _, overload = form.name.partition(".")
    return getattr(getattr(ops, base), overload or "default")


def values(form: Form, make: Callable[[], Tensor]) -> dict[str, Any]:
    """An argument of each kind; written tensors are made by `make`."""
    given: dict[str, Any] = {}
    for argument in form.function.arguments:
        new = make if argument.is_write else TENSORS["plain"]
        type_ = bare_type(argument.type)
        lists = {"Tensor?[]": [new(), None, new()], "float": 5.0}
        plain = new() if "[" not in type_ else [new(), new()]
        given[argument.name] = lists.get(type_, plain)
    return given


def call(form: Form, given: dict[str, Any]) -> Any:
    positional = [given[a.name] for a in form.function.arguments if not a.kwarg_only]
    keywords = {a.name: given[a.name] for a in form.function.arguments if a.kwarg_only}
    return operator(form)(*positional, **keywords)


def tensors(form: Form, given: dict[str, Any], is_write: bool) -> list[Tensor]:
    chosen = [given[a.name] for a in form.function.arguments if a.is_write is is_write]
    flat = [one for value in chosen for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, Tensor)]


def tensors_read(form: Form) -> list[str]:
    """Of an operator that writes, the arguments that are one tensor, which is not written."""
    if not form.function.written:
        return []
    arguments = [argument for argument in form.function.arguments if not argument.is_write]
    return [argument.name for argument in arguments if str(argument.type) == "Tensor"]


def refused(function: Callable[[], Any]) -> str:
    try:
        function()
    except RuntimeError as error:
        return str(error)
    return ""


def cases(*forms: Form) -> Any:
    return pytest.mark.parametrize("form", forms, ids=[form.name for form in forms])


@cases(*(form for form in WRITES if form.function.written))
def test_each_call_raises_each_version_once(form: Form) -> None:
    for mode, within in MODES.items():
        for how, make in TENSORS.items():
            given = values(form, make)
            written, read = tensors(form, given, True), tensors(form, given, False)
            before = [one._version for one in (*written, *read)]
            with within():
                call(form, given)
            after = [one._version for one in (*written, *read)]
            moved = [new - old for old, new in zip(before, after)]
            assert moved == [1] * len(written) + [0] * len(read), (mode, how, moved)
            assert all(one.tolist() == [5.0, 5.0, 5.0] for one in written), (mode, how)


@cases(*(form for form in WRITES if "=None" in form.schema))
def test_what_is_left_out_is_no_argument(form: Form) -> None:
    x = torch.ones(3, requires_grad=True)
    operator(form)(x.detach() if form.function.arguments[0].is_write else x)


@cases(*(form for form in WRITES if form.function.written))
def test_what_changes_is_not_used_as_it_was(form: Form) -> None:
    given = values(form, TENSORS["plain"])
    for written in tensors(form, given, True):
        weight = torch.ones(3, requires_grad=True)
        product = (weight * written).sum()
        call(form, given)
        assert "modified by an inplace operation" in refused(product.backward)


@cases(*(form for form in WRITES if form.function.written))
def test_leaves_are_refused(form: Form) -> None:
    def leaf() -> Tensor:
        return torch.ones(3, requires_grad=True)

    makers = {"a leaf": leaf, "a view of a leaf": lambda: leaf()[:]}
    for what, make in makers.items():
        given = values(form, make)
        message = refused(partial(call, form, given))
        for one in tensors(form, given, True):
            assert "a leaf Variable that requires grad" in message or "out=" in message, what
            assert one.tolist() == [1.0, 1.0, 1.0], "nothing is written"
    given = values(form, leaf)
    with torch.no_grad():
        call(form, given)
    assert {one._version for one in tensors(form, given, True)} == {1}


@cases(*(f for f in WRITES if f.function.written and f.name not in OWN_FORMULAS))
def test_what_has_a_history_is_refused(form: Form) -> None:
    """What is written has another gradient than before, of which the entry says nothing."""

    def computed() -> Tensor:
        return torch.ones(3, requires_grad=True) * 1

    given = values(form, computed)
    message = refused(lambda: call(form, given))
    if not message:
        message = refused(tensors(form, given, True)[0].sum().backward)
    said = ("has no derivatives", "has no derivative with respect to what it writes", "out=")
    assert f"wr::{form.name.partition('.')[0]}" in message and any(s in message for s in said)


@cases(*(form for form in WRITES if tensors_read(form) and not form.more))
def test_no_gradient_of_what_is_read_is_lost(form: Form) -> None:
    """What is written refuses it in the backward pass, and can be written again."""
    for how, make in TENSORS.items():
        given = values(form, make)
        for name in tensors_read(form):
            given[name] = torch.ones(3, requires_grad=True)
        if form.name == "scaled.out":
            # Its functional variant has formulas.
            assert "out=" in refused(partial(call, form, given))
            continue
        call(form, given)
        call(form, given)
        for written in tensors(form, given, True):
            read = tensors(form, given, False)
            total = written.sum() + torch.stack([one.sum() for one in read]).sum()
            for inputs in (None, read):
                message = refused(partial(total.backward, inputs=inputs, retain_graph=True))
                assert f"wr::{form.name} has no derivatives" in message, how


def test_what_is_noted_down_has_no_history() -> None:
    x, y = torch.ones(3), torch.ones(3, requires_grad=True)
    ops.noted(x, y)
    assert not x.requires_grad and x._version == 1


@cases(*(form for form in WRITES if tensors_read(form) and not form.more))
def test_a_transform_loses_no_gradient(form: Form) -> None:
    def run(x: Tensor) -> Tensor:
        given = values(form, TENSORS["plain"]) | dict.fromkeys(tensors_read(form), x)
        call(form, given)
        return x.sum() + sum(one.sum() for one in tensors(form, given, True))

    message = refused(lambda: torch.func.grad(run)(torch.ones(3)))
    assert "has no derivatives" in message or "out=" in message


@cases(*(f for f in WRITES if f.function.written and f.name not in OWN_FORMULAS))
def test_a_tangent_is_refused(form: Form) -> None:
    given = values(form, TENSORS["plain"])
    with forward.dual_level():
        name = form.function.written[0].name
        dual = forward.make_dual(torch.ones(3), torch.ones(3))
        given[name] = [dual, dual] if isinstance(given[name], list) else dual
        assert "has no formula for forward-mode" in refused(lambda: call(form, given))


def test_formulas_in_place() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    assert ops.scale_(y, 5.0) is not None and y._version == 1
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [5.0, 5.0, 5.0]
    w = torch.ones(3, requires_grad=True)
    assert "partly_ has no derivative with respect to w" in refused(lambda: ops.partly_(x * 1, w))


def takes_custom_op(form: Form) -> bool:
    """Whether `custom_op` takes the schema."""
    function = form.function
    is_plain = not any(argument.kwarg_only for argument in function.arguments)
    return (
        bool(function.written)
        and is_plain
        and not function.returns
        and "Tensor!" not in form.schema
    )


def of_custom_op(form: Form) -> Callable[..., Any]:
    """The same by hand."""
    written = tuple([argument.name for argument in form.function.written])
    text = form.schema.removeprefix(form.name)
    name = f"by_hand::{form.name}"
    return torch.library.custom_op(name, lambda *_: None, mutates_args=written, schema=text)


@cases(*filter(takes_custom_op, WRITES))
def test_versions_are_those_of_custom_op(form: Form) -> None:
    by_hand = of_custom_op(form)
    for within in MODES.values():
        with within():
            ours, theirs = values(form, TENSORS["plain"]), values(form, TENSORS["plain"])
            call(form, ours)
            by_hand(*theirs.values())
        # What is made in inference mode has no versions.
        pairs = zip(tensors(form, ours, True), tensors(form, theirs, True))
        for mine, other in pairs:
            assert mine.is_inference() == other.is_inference()
            assert mine.is_inference() or mine._version == other._version


def said_of(form: Form) -> str:
    return refused(lambda: call(form, values(form, TENSORS["plain"])))


@cases(*RESULTS)
def test_results_are_what_the_schema_says(form: Form) -> None:
    message = said_of(form)
    assert f"wr::{form.name} returns what its schema does not say: result " in message
    names = [f"`{argument.name}`" for argument in form.function.arguments]
    assert any(name in message for name in (*names, "result 0")), message
    leaf = torch.ones(3, requires_grad=True)
    given = values(form, TENSORS["plain"])
    given |= {a.name: leaf for a in form.function.arguments if str(a.type) == "Tensor"}
    assert "returns what its schema does not say" in refused(lambda: call(form, given))


def test_the_check_can_be_switched_off() -> None:
    program = f"""if True:
        import torch
        torch.ops.load_library({str(Path(__file__).with_name("library.so"))!r})
        x = torch.ones(3)
        assert torch.ops.wr.is_argument(x).data_ptr() == x.data_ptr()
    """
    environment = {**os.environ, "TORCHGEN_LITE_CHECK": "0"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@cases(*RIGHT)
def test_what_is_right_is_not_refused(form: Form) -> None:
    assert said_of(form) == ""


def results(value: Any) -> Iterator[Tensor]:
    yield from value if isinstance(value, (list, tuple)) else [value]


@cases(*INSIDE)
def test_no_gradient_comes_from_inside(form: Form) -> None:
    x = torch.ones(3, requires_grad=True)
    given = values(form, TENSORS["plain"])
    name = form.function.arguments[0].name
    given[name] = [x, x] if isinstance(given[name], list) else x
    for one in results(call(form, given)):
        assert one.tolist() == [0.5, 0.5, 0.5]
        if form.more:
            assert not one.requires_grad, "the entry says that the derivative is zero"
            continue
        message = refused(one.sum().backward)
        assert message == (
            f"wr::{form.name} has no derivatives: add `derivatives:`, or register the kernel as "
            "CompositeImplicitAutograd"
        )
    with forward.dual_level():
        dual = forward.make_dual(torch.ones(3), torch.ones(3))
        given[name] = [dual, dual] if isinstance(given[name], list) else dual
        message = refused(lambda: call(form, given))
        assert form.more or "has no formula for forward-mode" in message
