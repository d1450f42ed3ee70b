"""A backend from the file of its operators: what it computes, and which of its kernels ran for that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.cpp.plain_device import known

# Parts of PyTorch have no types.
loader: Any = torch.ops

known()
loader.load_library(str(Path(__file__).with_name("library.so")))

X = torch.arange(6.0).reshape(2, 3)
D, E = X.to("plain:0"), X.to("plain:1")


def ran(function: Callable[[], Any]) -> tuple[Any, str]:
    """A result, and the kernels that ran for it."""
    loader.backend_ops.ran(D)
    result = function()
    return result, loader.backend_ops.ran(D)


def empty(*size: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(*size, dtype=dtype, device="plain")


def test_the_functional_variant() -> None:
    result, kernels = ran(lambda: torch.add(D, D, alpha=2))
    assert kernels == "add"
    assert_close(result.cpu(), X * 3)


def test_in_place() -> None:
    x = X.to("plain")
    result, kernels = ran(lambda: x.add_(D, alpha=2))
    assert result is x and kernels == "add _copy_from"
    assert_close(x.cpu(), X * 3)


def test_an_out_argument_is_resized() -> None:
    out = empty(0)
    result, kernels = ran(lambda: torch.add(D, D, out=out))
    assert result is out and kernels == "add _copy_from_and_resize resize_"
    assert_close(out.cpu(), X + X)


def test_a_kernel_of_its_own_stays() -> None:
    assert ran(lambda: torch.mul(D, D, out=empty(2, 3)))[1] == "mul_out"
    x = X.to("plain")
    assert ran(lambda: x.mul_(D))[1] == "mul _copy_from"


def test_groups_that_are_structured_or_derived() -> None:
    out, kernels = ran(lambda: torch.mm(D, X.T.contiguous().to("plain"), out=empty(2, 2)))
    assert_close(out.cpu(), X @ X.T)
    assert kernels == "_copy_from mm _copy_from_and_resize"
    out, kernels = ran(lambda: loader.aten.isnan.out(D, out=empty(2, 3, dtype=torch.bool)))
    assert not out.cpu().any() and kernels == "isnan _copy_from_and_resize"


def test_several_results() -> None:
    values, indices = empty(0), empty(0, dtype=torch.int64)
    given, kernels = ran(lambda: torch.max(D, 1, out=(values, indices)))
    assert given[0] is values and given[1] is indices
    assert kernels == "max " + " ".join(["_copy_from_and_resize resize_"] * 2)
    assert_close((values.cpu(), indices.cpu()), tuple(torch.max(X, 1)))


def test_lists() -> None:
    outs = [empty(0), empty(0), empty(0)]
    _, kernels = ran(lambda: loader.aten.unsafe_split.Tensor_out(D, 1, 1, out=outs))
    assert kernels.split().count("_copy_from_and_resize") == 3
    assert_close([out.cpu() for out in outs], list(X.split(1, 1)))
    tensors = [X.to("plain"), (X + 1).to("plain")]
    _, kernels = ran(lambda: torch._foreach_neg_(tensors))
    assert kernels == "_foreach_neg _copy_from _copy_from"
    assert_close([tensor.cpu() for tensor in tensors], [-X, -X - 1])
    with pytest.raises(RuntimeError, match="invalid index"):
        loader.aten.unsafe_split.Tensor_out(D, 1, 1, out=outs[:2])


def test_symbolic_sizes_and_options() -> None:
    out, kernels = ran(lambda: loader.aten.roll.out(D, [1], [1], out=empty(2, 3)))
    assert kernels == "roll_symint _copy_from_and_resize"
    assert_close(out.cpu(), X.roll(1, 1))
    out = torch.zeros(1, dtype=torch.float64).to("plain")
    _, kernels = ran(lambda: torch.arange(1, 4, 2, out=out))
    assert kernels == "arange _copy_from_and_resize resize_"
    assert_close(out.cpu(), torch.arange(1.0, 4.0, 2.0, dtype=torch.float64))


def test_a_kernel_for_autograd() -> None:
    x = X.to("plain").requires_grad_()
    result, kernels = ran(lambda: torch.square(x))
    assert kernels == "square mul" and result.grad_fn.name() == "MulBackward0"


def autocast(key: str) -> set[str]:
    """The operators with a kernel at an autocast key."""
    dispatcher: Any = torch._C
    has_kernel = dispatcher._dispatch_has_kernel_for_dispatch_key
    return {name for name in dispatcher._dispatch_get_all_op_names() if has_kernel(name, key)}


def test_the_autocast_rules_are_those_of_cuda() -> None:
    only_there = {"cudnn_convolution", "cudnn_convolution_transpose", "binary_cross_entropy"}
    # Of a build with CUDA, and since 2.14: these have rules of their own, which are in no list.
    only_there |= {"_cudnn_rnn"} if torch.version.cuda else set()
    only_there |= (
        {"linalg_matrix_sqrth"} if hasattr(torch.ops.aten, "linalg_matrix_sqrth") else set()
    )
    theirs = {name for name in autocast("AutocastCUDA") if name.startswith("aten::")}
    ours = autocast("AutocastPrivateUse1")
    assert theirs - ours == {f"aten::{name}" for name in only_there}
    assert ours - theirs == {"aten::add.Tensor"}


def test_autocast() -> None:
    x = X[:, :2].to("plain")
    half = X[:, :2].half().to("plain")
    with torch.autocast("plain", dtype=torch.float16):
        assert torch.mm(x, x).dtype == torch.float16
        assert torch.add(half, half).dtype == torch.float16, "it falls through"
        dtypes = [torch.exp(half).dtype, torch.sum(half).dtype, torch.atan2(x, half).dtype]
        assert dtypes == [torch.float32] * 3
        assert torch.sum(half, dtype=torch.float16).dtype == torch.float16
        assert torch.atan2(half, half).dtype == torch.float16
    assert torch.mm(x, x).dtype == torch.float32


def test_the_fallback_of_one_operator() -> None:
    result, kernels = ran(lambda: torch.sin(D, out=empty(2, 3)))
    assert_close(result.cpu(), X.sin())
    assert "_copy_from" in kernels


def test_devices() -> None:
    assert torch.add(E, E).device.index == 1
    assert E.cpu().equal(X)
    x, y = X[:, :2].to("plain:0"), X[:, :2].to("plain:1")
    for call in (lambda: torch.mm(x, y), lambda: torch.mm(x, x, out=y)):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            call()
