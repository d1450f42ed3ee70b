"""Names, values and conversions of keys; the expected values are those of torch 2.13."""

from __future__ import annotations

import pytest

from torchgen_lite import key_tables
from torchgen_lite.runtime import (
    BackendComponent,
    Dispatcher,
    DispatchKey,
    Library,
    is_alias_dispatch_key,
    is_per_backend_functionality_key,
    keys,
    parse_dispatch_key,
    to_backend_component,
    to_functionality_key,
    to_runtime_per_backend_functionality_key,
)

K = DispatchKey


def test_counts() -> None:
    assert len(BackendComponent) == 17
    assert keys.NUM_FUNCTIONALITIES == K.EndOfFunctionalityKeys == 47
    assert len(keys.SLOT_OF) == 137
    assert len({int(key) for key in K}) == 156


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (K.Undefined, 0),
        (K.Dense, 1),
        (K.Quantized, 5),
        (K.BackendSelect, 11),
        (K.Fake, 12),
        (K.ADInplaceOrView, 19),
        (K.AutogradFunctionality, 21),
        (K.AutocastCUDA, 32),
        (K.PythonDispatcher, 46),
        (K.CPU, 49),
        (K.Meta, 64),
        (K.QuantizedCPU, 66),
        (K.SparseMeta, 98),
        (K.SparseCsrCPU, 100),
        (K.NestedTensorCPU, 117),
        (K.AutogradCPU, 134),
        (K.AutogradMeta, 149),
        (K.Autograd, 150),
        (K.CompositeExplicitAutogradNonFunctional, 155),
    ],
)
def test_values(key: DispatchKey, value: int) -> None:
    assert key == value
    assert str(key) == f"{key}" == key.name


def test_former_names() -> None:
    assert {name: parse_dispatch_key(name).name for name, _ in keys.TABLE.former_names} == {
        "CatchAll": "Undefined",
        "CPUTensorId": "CPU",
        "CUDATensorId": "CUDA",
        "DefaultBackend": "CompositeExplicitAutograd",
        "Math": "CompositeImplicitAutograd",
        "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
        "Autocast": "AutocastCUDA",
    }


def test_every_name_is_read_back() -> None:
    assert [parse_dispatch_key(key.name) for key in K] == list(K)


def test_an_unknown_name() -> None:
    with pytest.raises(ValueError, match="^could not parse dispatch key: CPUU$"):
        parse_dispatch_key("CPUU")


@pytest.mark.parametrize(
    ("key", "functionality", "backend"),
    [
        (K.CPU, K.Dense, "CPUBit"),
        (K.SparseCUDA, K.Sparse, "CUDABit"),
        (K.AutogradMeta, K.AutogradFunctionality, "MetaBit"),
        (K.AutogradOther, K.AutogradOther, "InvalidBit"),
        (K.Undefined, K.Undefined, "InvalidBit"),
        (K.Sparse, K.Sparse, "InvalidBit"),
        (K.CompositeImplicitAutograd, K.Undefined, "InvalidBit"),
        (K.EndOfFunctionalityKeys, K.EndOfFunctionalityKeys, "InvalidBit"),
    ],
)
def test_parts_of_a_key(key: DispatchKey, functionality: DispatchKey, backend: str) -> None:
    assert to_functionality_key(key) == functionality
    assert to_backend_component(key) == BackendComponent[backend]


def test_instances() -> None:
    cuda = BackendComponent.CUDABit
    assert to_runtime_per_backend_functionality_key(K.Sparse, cuda) == K.SparseCUDA
    assert to_runtime_per_backend_functionality_key(K.AutogradOther, cuda) == K.Undefined


def test_classes() -> None:
    assert [key.name for key in K if is_per_backend_functionality_key(key)] == [
        "Dense",
        "Quantized",
        "Sparse",
        "SparseCsr",
        "NestedTensor",
        "AutogradFunctionality",
    ]
    assert [key.name for key in K if is_alias_dispatch_key(key)] == list(keys.TABLE.aliases)


def test_slots() -> None:
    assert [key.name for key in keys.RUNTIME_KEYS[:4]] == ["Undefined", "CPU", "CUDA", "HIP"]
    assert keys.SLOT_OF[K.FPGA] == 17
    assert keys.SLOT_OF[K.PythonDispatcher] == 136
    assert K.Dense not in keys.SLOT_OF


def test_registrable_keys() -> None:
    names = key_tables.registrable_keys(key_tables.CURRENT)
    assert len(names) == 143
    assert not any(name.startswith(("StartOf", "EndOf")) for name in names)
    assert {"Dense", "Sparse", "AutogradFunctionality"}.isdisjoint(names)
    library = Library("mine", "FRAGMENT", dispatcher=Dispatcher())
    for name in names:
        # Two names may be of one key, where the second kernel would override the first.
        library.define(f"f_{name}(Tensor a) -> Tensor")
        library.impl(f"f_{name}", lambda a: a, name)
