"""Tangents of every entry against PyTorch's, and dual numbers themselves, on the samples of the reference set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from operators.samples import Input, Sample, build, retyped
from operators.test_reference_set import is_inplace, ours, overload, samples_for, theirs

import torchgen_lite_reference as tl
from autograd.test_gradients_torch import LOOSER, NAMES, SPARSE, has_sparse

pytestmark = pytest.mark.torch

# Where values tie or lie on a bound, the tangent of torch 2.13 is not that of its own gradient.
BOUNDS = {"fmax", "kl_div"}
DENSE = [name for name in NAMES if name not in SPARSE | BOUNDS]


def run(library: Any, make: Any, name: str, item: Sample) -> list[Any]:
    """The value and the tangent of each floating result; every floating tensor has a tangent."""
    forward_ad, seen = library.autograd.forward_ad, []

    def argument(value: Any) -> Any:
        made = make(value)
        if not isinstance(value, Input) or value.base.dtype.kind != "f":
            return made
        seen.append(value)
        stream = np.random.default_rng([len(seen), *value.array().shape])
        direction = np.asarray(stream.uniform(-1, 1, value.array().shape), value.base.dtype)
        tangent = tl.from_numpy(direction) if library is tl else torch.from_numpy(direction)
        return forward_ad.make_dual(made, tangent)

    with forward_ad.dual_level():
        args, kwargs = build(item.args, argument), build(item.kwargs, argument)
        if is_inplace(name):
            args[0] = args[0].clone()
        result = overload(library, name)(*args, **kwargs)
        results = result if isinstance(result, (list, tuple)) else [result]
        tensors = [r for r in results if isinstance(r, (tl.Tensor, torch.Tensor))]
        found = [t for t in tensors if t.dtype.is_floating_point]
        made = []
        for tensor in found:
            value, tangent = forward_ad.unpack_dual(tensor)
            finite = np.isfinite(value.detach().numpy())
            # A value that is none has no derivative to compare.
            made.append(None if tangent is None else np.where(finite, tangent.numpy(), 0))
        return made


@pytest.mark.parametrize("name", DENSE)
def test_tangents_are_torchs(name: str) -> None:
    for item in samples_for(name):
        if has_sparse(item):
            continue
        item = retyped(item, "float64")
        try:
            wanted = run(torch, theirs, name, item)
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        found = run(tl, ours, name, item)
        halves = any(isinstance(a, Input) and a.base.dtype == "float16" for a in item.args)
        tolerance = LOOSER["float16"] if halves else 1e-8
        for one, other in zip(found, wanted, strict=True):
            # What PyTorch leaves without a tangent has one of zeros.
            zeros = np.zeros(()) if one is None or other is None else one
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(
                    zeros if one is None else one,
                    zeros if other is None else other,
                    rtol=tolerance,
                    atol=tolerance,
                    err_msg=f"{name}{item.args} {item.kwargs}",
                )


def dual(library: Any, values: Any = (0.3, 0.7), tangent: Any = (1.0, -2.0)) -> Any:
    tensors = [library.tensor(list(value)) for value in (values, tangent)]
    return library.autograd.forward_ad.make_dual(*tensors)


def resized(library: Any) -> Any:
    return dual(library).resize_(4)


REFUSED = {
    "nested": lambda lib: lib.autograd.forward_ad.enter_dual_level(),
    "dual of dual": lambda lib: lib.autograd.forward_ad.make_dual(dual(lib), lib.ones(2)),
    "size": lambda lib: dual(lib, (1.0, 2.0, 3.0)),
    "primal": lambda lib: dual(lib, (1, 2)),
    "tangent": lambda lib: dual(lib, (1.0, 2.0), (1, 2)),
    "out": lambda lib: lib.add(dual(lib), 1, out=lib.empty(2)),
    "written out": lambda lib: lib.add(lib.ones(2), lib.ones(2), out=dual(lib)),
    "resize_": resized,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_in_torchs_words(name: str) -> None:
    messages = []
    for library in (torch, tl):
        with library.autograd.forward_ad.dual_level():
            with pytest.raises((RuntimeError, ValueError)) as raised:
                REFUSED[name](library)
            messages.append((raised.type, str(raised.value).replace("torch.", "tl.")))
    assert messages[0] == messages[1]


def test_views_share_tangents_as_torchs_do() -> None:
    found = []
    for library in (torch, tl):
        forward_ad = library.autograd.forward_ad
        with forward_ad.dual_level():
            base, later = library.zeros(2, 2), library.zeros(2)
            row, element = base[0], later[1]
            row.copy_(dual(library))
            later.copy_(dual(library))
            one = dual(library)
            one[0].mul_(3)
            value = forward_ad.unpack_dual(one).primal
            tensors = (base, row, element, one, one.detach(), value, value[0], base[1])
            tangents = [forward_ad.unpack_dual(tensor).tangent for tensor in tensors]
            found.append([None if t is None else t.tolist() for t in tangents])
        assert forward_ad.unpack_dual(one).tangent is None
    assert found[0] == found[1]


def test_an_operator_without_a_formula_is_refused_by_name() -> None:
    with tl.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError) as raised:
        tl.floor_divide(dual(tl), 2)
    words = "Trying to use forward AD with aten::floor_divide.Scalar that does not support it"
    assert str(raised.value) == f"{words} because it has not been implemented yet."


def test_jvp_and_jacfwd_are_torchs() -> None:
    def function(library: Any) -> Any:
        return lambda x, y: library.stack([(x * y).sum(), x.sin().prod()])

    found = []
    for library in (torch, tl):
        x, y = library.tensor([0.3, 0.7]), library.tensor([2.0, 3.0])
        called = function(library)
        pair = library.func.jvp(called, (x, y), (y, x))
        jacobians = library.func.jacfwd(called, argnums=(0, 1))(x, y)
        found.append([one.tolist() for one in (*pair, *jacobians)])
    for mine, its in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-5)
