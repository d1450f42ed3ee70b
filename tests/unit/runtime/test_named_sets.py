"""Named sets and aliases, as measured on torch 2.13."""

from __future__ import annotations

import pytest

from tests.unit.runtime.helpers import keyset
from torchgen_lite.runtime import (
    DispatchKey,
    DispatchKeySet,
    backend_keyset_from_autograd,
    is_included_in_alias,
    named_sets,
    runtime_dispatch_keyset,
)
from torchgen_lite.runtime.keys import TABLE

K = DispatchKey
B = TABLE.backends


def each(prefix: str, without: tuple[str, ...] = ()) -> list[str]:
    return [prefix + backend for backend in B if backend not in without]


SINGLE = ["FPGA", "Vulkan", "Metal"]
OTHER = ["CustomRNGKeyId", "MkldnnCPU"]
SPARSE = [*each("Sparse"), *each("SparseCsr")]
AUTOGRAD = ["AutogradOther", *each("Autograd"), "AutogradNestedTensor"]
LAZY = ("XLA", "Lazy")


@pytest.mark.parametrize(
    ("alias", "members"),
    [
        ("Autograd", AUTOGRAD),
        (
            "CompositeImplicitAutograd",
            [
                *each(""),
                *SINGLE,
                *each("Quantized"),
                *OTHER,
                *SPARSE,
                *each("NestedTensor"),
                *AUTOGRAD,
            ],
        ),
        ("CompositeExplicitAutograd", [*each(""), *SINGLE, *each("Quantized"), *OTHER, *SPARSE]),
        (
            "CompositeExplicitAutogradNonFunctional",
            [*each("", LAZY), *SINGLE, *each("Quantized", LAZY), *OTHER, *each("SparseCsr", LAZY)],
        ),
        ("CompositeImplicitAutogradNestedTensor", [*each("NestedTensor"), "AutogradNestedTensor"]),
        ("FuncTorchBatchedDecomposition", ["FuncTorchBatched"]),
        ("SparseCPU", ["SparseCPU"]),
        ("Undefined", []),
    ],
)
def test_runtime_keys_of_an_alias(alias: str, members: list[str]) -> None:
    assert [key.name for key in runtime_dispatch_keyset(K[alias])] == members
    assert all(is_included_in_alias(K[name], K[alias]) for name in members)


def test_undefined_is_in_no_alias() -> None:
    assert not any(is_included_in_alias(K.Undefined, K[alias]) for alias in TABLE.aliases)
    assert not is_included_in_alias(K.FuncTorchBatched, K.Autograd)


def test_backends_of_autograd_keys() -> None:
    assert backend_keyset_from_autograd(K.AutogradCPU) is keyset("CPU")
    assert [k.name for k in backend_keyset_from_autograd(K.AutogradOther)] == [
        *SINGLE,
        *each("Quantized"),
        *OTHER,
        *SPARSE,
    ]
    assert [k.name for k in backend_keyset_from_autograd(K.AutogradNestedTensor)] == each(
        "NestedTensor"
    )
    for name in ("AutogradHIP", "AutogradVE", "AutogradMTIA", "CPU", "AutogradFunctionality"):
        assert backend_keyset_from_autograd(K[name]).empty(), name


def test_sets() -> None:
    assert str(named_sets.AUTOGRAD) == "DispatchKeySet(AutogradOther, AutogradNestedTensor)"
    assert len(list(named_sets.AUTOCAST)) == 10
    assert named_sets.DEFAULT_INCLUDED is keyset("BackendSelect", "ADInplaceOrView")
    assert named_sets.AFTER_AUTOGRAD is DispatchKeySet.full_after(K.AutogradOther)
    assert not named_sets.AFTER_ADINPLACEORVIEW.has(K.ADInplaceOrView)
    assert named_sets.AFTER_ADINPLACEORVIEW.has(K.ZeroTensor)
    assert named_sets.AFTER_FUNC.has(K.Python) and not named_sets.AFTER_FUNC.has(K.Functionalize)
    assert named_sets.PYTHON is keyset("Python", "PythonTLSSnapshot")
    assert len(list(named_sets.FUNCTORCH_TRANSFORMS)) == 5
