"""What the operators of `st_ops` do: one meta and one impl function for each three variants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

# Parts of PyTorch have no types.
loader: Any = torch.ops

loader.load_library(str(Path(__file__).with_name("library.so")))
ops = loader.st_ops

X = torch.arange(6.0).reshape(2, 3)


def error(function: Callable[[], object]) -> str:
    with pytest.raises(RuntimeError) as caught:
        function()
    return str(caught.value).splitlines()[0]


def test_functional_variants() -> None:
    assert_close(ops.scale(X, 2.0), X * 2)
    assert_close(ops.add(X, X[0]), X + X[0])
    assert_close(ops.columns(X), X)
    assert ops.columns(X).stride() == (1, 2)
    assert_close(ops.flip(X), X.flip(0))


def test_in_place_variants() -> None:
    x = X.clone()
    assert ops.scale_(x, 2.0) is x
    assert_close(x, X * 2)
    assert ops.add_(x, X[0]) is x
    assert_close(x, X * 2 + X[0])
    assert x._version == 2, "each of the two calls writes once"


def test_out_variants() -> None:
    out = torch.empty(2, 3)
    assert ops.scale.out(X, 2.0, out=out) is out
    assert_close(out, X * 2)
    assert ops.add.out(X, X[0], out=out) is out
    assert_close(out, X + X[0])
    assert out._version == 2, "each of the two calls writes once"


def test_an_empty_out_argument_is_resized() -> None:
    for overload, arguments in ((ops.scale.out, (X, 2.0)), (ops.add.out, (X, X))):
        out = torch.empty(0)
        overload(*arguments, out=out)
        assert_close(out, X * 2)


def test_other_strides_than_the_kernel_wants() -> None:
    # `scale` and `columns` write to a tensor with their strides, which is copied to where it belongs.
    for strides in ((3, 1), (1, 2), (6, 2)):
        for overload, arguments in ((ops.scale.out, (X, 1.0)), (ops.columns.out, (X,))):
            out = torch.full((12,), -1.0).as_strided((2, 3), strides)
            overload(*arguments, out=out)
            assert_close(out, X)
            assert out.stride() == strides
    transposed = X.clone().t()
    ops.scale_(transposed, 2.0)
    assert_close(transposed, X.t() * 2)
    # A new result gets the strides that the kernel asks for.
    out = torch.empty(0)
    ops.columns.out(X, out=out)
    assert out.stride() == (1, 2)


def test_types_are_promoted_as_tensor_iterator_does() -> None:
    assert_close(ops.add(X.int(), X), X + X)
    assert_close(ops.add(X, X.double()), (X + X).double())
    out = torch.empty(2, 3, dtype=torch.double)
    ops.add.out(X, X, out=out)
    assert_close(out, (X + X).double())


def test_results_that_cannot_be() -> None:
    refused = {
        "output with shape [3] doesn't match the broadcast shape [2, 3]": (
            lambda: ops.add_(X[0].clone(), X)
        ),
        "result type Float can't be cast to the desired output type Int": (
            lambda: ops.add_(X.int(), X)
        ),
        "the result is float on cpu, and the out argument is int on cpu": (
            lambda: ops.scale.out(X, 2.0, out=torch.empty(0, dtype=torch.int))
        ),
        "the result is float on cpu, and the out argument is float on meta": (
            lambda: ops.scale.out(X, 2.0, out=torch.empty(0, device="meta"))
        ),
    }
    assert {message: error(function) for message, function in refused.items()} == {
        message: message for message in refused
    }


def test_several_results_and_what_meta_computes() -> None:
    low, high = ops.minmax(X)
    assert_close((low, high), (X.amin(0), X.amax(0)))
    low, high = ops.minmax(X, 1, torch.tensor(2.0), 3)
    limited = (X * 2).clamp_max(3)
    assert_close((low, high), (limited.amin(1), limited.amax(1)))
    low, high = torch.empty(0), torch.empty(2, 2)[:, 0]
    first, second = ops.minmax.out(X, 1, low=low, high=high)
    assert first is low and second is high
    assert_close((low, high), (X.amin(1), X.amax(1)))
    assert high.stride() == (2,)


def test_meta_needs_no_kernel() -> None:
    meta = X.to("meta")
    for result, expected in (
        (ops.scale(meta, 2.0), X),
        (ops.scale_(X.to("meta"), 2.0), X),
        (ops.scale.out(meta, 2.0, out=torch.empty(0, device="meta")), X),
        (ops.add(meta, meta[0]), X),
        (ops.minmax(meta, 1)[1], X[:, 0].clone()),
        (ops.columns(meta), torch.empty(3, 2).t()),
    ):
        assert result.device.type == "meta"
        assert (result.shape, result.stride()) == (expected.shape, expected.stride())


def test_a_variant_may_have_a_kernel_of_its_own() -> None:
    assert "flip_meta: no dimension 2" in error(lambda: ops.flip(X.to("meta"), 2))
    out = torch.empty(0, device="meta")
    assert ops.flip.out(X.to("meta"), 1, out=out).shape == (2, 3)


def test_conditions() -> None:
    names = set(torch._C._dispatch_get_all_op_names())
    assert "st_ops::flip.out" in names
    assert not {"st_ops::former", "st_ops::former.out"} & names
    dangling = torch._C._dispatch_find_dangling_impls()
    assert not [text for text in dangling if "st_ops" in text]


def test_functions_methods_and_redispatch() -> None:
    expected = [X * 2, X * 3, X * 4, X * 5, X * 10, (X * 10).norm(), (X * 10).norm(1), X.norm(1)]
    assert_close(ops.called(X), expected)


def test_gradients() -> None:
    x = X.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: ops.scale(v, 3.0), x)
    assert torch.autograd.gradcheck(lambda v: ops.scale_(v * 1, 3.0), x)
    assert torch.autograd.gradgradcheck(lambda v: ops.scale(v, 3.0), x)


CALLS: dict[str, tuple[Any, ...]] = {
    "scale": (X.clone().requires_grad_(), 2.0),
    "scale_": (X.clone(), 2.0),
    "add": (X, X),
    "add_": (X.clone(), X),
    "minmax": (X, 1, torch.tensor(2.0)),
    "columns": (X,),
    "flip": (X, 1),
}


def check(name: str, overload: Any, arguments: tuple[Any, ...], out: dict[str, Tensor]) -> None:
    tests = ["test_schema", "test_autograd_registration", "test_faketensor"]
    # PyTorch's TensorIterator takes no symbolic shapes.
    tests += ["test_aot_dispatch_dynamic"] if "add" not in name else []
    torch.library.opcheck(overload, arguments, out, test_utils=tests)


@pytest.mark.parametrize("name", CALLS)
def test_opcheck(name: str) -> None:
    check(name, getattr(ops, name).default, CALLS[name], {})


@pytest.mark.parametrize("name", ["scale", "add", "minmax", "columns", "flip"])
def test_opcheck_of_out_variants(name: str) -> None:
    arguments = [a.detach() if isinstance(a, Tensor) else a for a in CALLS[name]]
    outs = {"minmax": {"low": torch.empty(2), "high": torch.empty(2)}}
    out = outs.get(name, {"out": torch.empty(2, 3)})
    check(name, getattr(ops, name).out, tuple(arguments), out)


def test_compiled_as_one_graph() -> None:
    def function(x: Tensor) -> Tensor:
        y = ops.add(x, ops.scale(x, 2.0).detach())
        ops.scale_(y, 3.0)
        out = torch.empty_like(y)
        ops.scale.out(y.detach(), 0.5, out=out)
        result: Tensor = ops.minmax(ops.columns(out))[1] * ops.scale(x, 2.0)
        return result

    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    x = X.clone().requires_grad_()
    assert_close(compiled(x), function(x))
    (gradient,) = torch.autograd.grad(compiled(x).sum(), x)
    (expected,) = torch.autograd.grad(function(x).sum(), x)
    assert_close(gradient, expected)
