"""Other tensors: without data, and subclasses."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.compose.probe import Wrong, holds, row, same
from tests.compose.rows.calls import X, Y, rms, tlc
from tests.compose.rows.compiled import whole
from tests.compose.rows.gradients import leaf


@row("fake tensors")
def fake() -> None:
    with FakeTensorMode():
        out, rstd = tlc.row_norm(torch.empty(2, 3, dtype=torch.float64), torch.empty(3))
        holds(out.shape == (2, 3) and rstd.shape == (2,), "other shapes")
        holds(tlc.mm(torch.empty(2, 3), torch.empty(3, 4)).shape == (2, 4), "another shape")


@row("fakes have the dtype and shape of a call that broadcasts")
def promoted() -> None:
    given = (torch.ones(2, 1, dtype=torch.bfloat16), torch.ones(3), 2.0)
    wanted = tlc.muladd(*given)
    with FakeTensorMode() as mode:
        found = tlc.muladd(*(mode.from_tensor(x) if isinstance(x, Tensor) else x for x in given))
    holds(found.dtype == wanted.dtype, f"says {found.dtype} instead of {wanted.dtype}")
    holds(found.shape == wanted.shape, f"says {found.shape} instead of {wanted.shape}")


@row("fakes refuse wrong shapes")
def refused() -> None:
    with FakeTensorMode():
        try:
            tlc.mm(torch.empty(2, 3), torch.empty(2, 3))
        except RuntimeError:
            return
        raise Wrong("accepts them")


@row("fakes of tensors whose size depends on data")
def unbacked() -> None:
    f = whole(lambda x: tlc.row_norm(tlc.rows(x), Y)[0])
    x = torch.stack([X, torch.zeros(3)])
    same(f(x), rms(X[None], Y))


@row("device `meta`")
def meta() -> None:
    found = tlc.muladd(torch.empty(2, 3, device="meta"), torch.empty(2, 3, device="meta"), 2.0)
    holds(found.is_meta and found.shape == (2, 3), "not a meta tensor of that shape")


@row("`TorchDispatchMode`")
def dispatch_mode() -> None:
    seen: Counter[str] = Counter()

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen[str(func)] += 1
            return func(*args, **(kwargs or {}))

    with Mode():
        same(tlc.muladd(X, Y, 2.0), X * Y + 2)
    same(dict(seen), {"tlc.muladd.default": 1} | {k: v for k, v in seen.items() if "aten" in k})


@row("`TorchFunctionMode`")
def function_mode() -> None:
    seen: list[str] = []

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        tlc.muladd(X, Y, 2.0)
    holds(any("tlc.muladd" in one for one in seen), "is not seen")


@row("a subclass with `__torch_function__`")
def function_subclass() -> None:
    class Named(Tensor):
        pass

    found = tlc.muladd(X.as_subclass(Named), Y, 2.0)
    holds(type(found) is Named, f"gives {type(found).__name__}")


def _two(x: Tensor) -> Any:
    from torch.testing._internal.two_tensor import TwoTensor

    return TwoTensor(x.clone(), x * 2)


@row("a subclass with `__torch_dispatch__`")
def dispatch_subclass() -> None:
    found = tlc.row_norm(_two(X), _two(Y))[0]
    same((found.a, found.b), (rms(X, Y), rms(X * 2, Y * 2)))


@row("a subclass, in place")
def subclass_in_place() -> None:
    y = _two(X)
    tlc.axpy(tlc.scale_(y, 2.0), _two(Y), 1.0)
    same((y.a, y.b), (X * 2 + Y, X * 4 + Y * 2))


@row("a subclass, compiled")
def subclass_compiled() -> None:
    found = whole(lambda x: tlc.muladd(x, x, 2.0))(_two(X))
    same((found.a, found.b), (X * X + 2, X * X * 4 + 2))


@row("a subclass, in place and compiled")
def subclass_compiled_in_place() -> None:
    y = _two(X)
    whole(lambda y: tlc.axpy(y, y * 2, 1.0))(y)
    same((y.a, y.b), (X * 3, X * 6))


def _jagged() -> Any:
    parts = [torch.stack([X, Y]), torch.stack([X * Y])]
    return parts, torch.nested.nested_tensor(parts, layout=torch.jagged)


@row("NestedTensor, jagged, pointwise")
def jagged() -> None:
    parts, nested = _jagged()
    found = tlc.muladd(nested, nested, 2.0)
    same(list(found.unbind()), [one * one + 2 for one in parts])


@row("NestedTensor, jagged, a normalization")
def jagged_norm() -> None:
    parts, nested = _jagged()
    found, scale = tlc.row_norm(nested, Y)
    same(list(found.unbind()), [rms(one, Y) for one in parts])
    assert scale.shape == nested.shape[:2]


@row("NestedTensor, jagged, in place")
def jagged_in_place() -> None:
    parts, nested = _jagged()
    found = tlc.scale_(nested, 3.0)
    assert found is nested
    same(list(nested.unbind()), [one * 3 for one in parts])


@row("NestedTensor, jagged, gradients")
def jagged_gradients() -> None:
    parts, _ = _jagged()
    leaves, weight = [leaf(one) for one in parts], leaf(Y)
    nested = torch.nested.as_nested_tensor(leaves, layout=torch.jagged)
    found = tlc.row_norm(nested, weight)[0].values()
    wanted = torch.cat([rms(one, weight) for one in leaves])
    probe = torch.arange(9.0).reshape(3, 3)
    same(
        torch.autograd.grad((found * probe).sum(), [*leaves, weight]),
        torch.autograd.grad((wanted * probe).sum(), [*leaves, weight]),
    )


@row("NestedTensor, strided")
def strided() -> None:
    parts, _ = _jagged()
    nested = torch.nested.nested_tensor(parts)
    same(list(tlc.scale(nested, 2.0).unbind()), [one * 2 for one in parts])


@row("tensors without elements")
def nothing() -> None:
    same(tlc.muladd(torch.empty(0, 3), torch.ones(3), 2.0), torch.empty(0, 3))
    same(tlc.mm(torch.empty(2, 0), torch.empty(0, 3)), torch.zeros(2, 3))
    x = leaf(torch.empty(0, 3))
    tlc.row_norm(x, Y)[0].sum().backward()
    same(x.grad, torch.empty(0, 3))


@row("MaskedTensor")
def masked() -> None:
    from torch.masked import masked_tensor

    mask = torch.tensor([True, False, True])
    found = tlc.scale(masked_tensor(X, mask), 3.0)
    same(found.get_data()[mask], X[mask] * 3)
