"""Dispatch keys as data: what each PyTorch release calls them, in what order.

This module is pure data and may be imported by every floor. The numbers of `c10::DispatchKey` move
between releases, so a release is a `KeyTable` and everything else (values, bits, table slots) is derived
from the order of its names. Source of 2.13: `c10/core/DispatchKey.h`, held against `torch._C` in the tests.
"""

from __future__ import annotations

from typing import NamedTuple


class KeyTable(NamedTuple):
    """The keys of one release.

    `backends`: backend components, lowest priority first; the last one must be Meta.
    `functionalities`: functionality keys, lowest priority first; the first one is Undefined.
    `per_backend`: (functionality, prefix of its runtime keys), in the order of their value blocks.
    `aliases`: alias keys in the order of their values.
    `former_names`: names of earlier releases and what they are now called.
    `autograd_without_backend`: backends whose autograd key does not lead back to them. c10's switch in
    `getBackendKeySetFromAutograd` has no case for these, so a kernel of theirs does not shadow a
    CompositeImplicitAutograd kernel on their autograd key.
    """

    release: str
    backends: tuple[str, ...]
    functionalities: tuple[str, ...]
    per_backend: tuple[tuple[str, str], ...]
    aliases: tuple[str, ...]
    former_names: tuple[tuple[str, str], ...]
    autograd_without_backend: tuple[str, ...]


TORCH_2_13 = KeyTable(
    release="2.13",
    backends=(
        "CPU",
        "CUDA",
        "HIP",
        "XLA",
        "MPS",
        "IPU",
        "XPU",
        "HPU",
        "VE",
        "Lazy",
        "MTIA",
        "MAIA",
        "PrivateUse1",
        "PrivateUse2",
        "PrivateUse3",
        "Meta",
    ),
    functionalities=(
        "Undefined",
        "Dense",
        "FPGA",
        "Vulkan",
        "Metal",
        "Quantized",
        "CustomRNGKeyId",
        "MkldnnCPU",
        "Sparse",
        "SparseCsr",
        "NestedTensor",
        "BackendSelect",
        "Fake",
        "Python",
        "FuncTorchDynamicLayerBackMode",
        "Functionalize",
        "Conjugate",
        "Negative",
        "ZeroTensor",
        "ADInplaceOrView",
        "AutogradOther",
        "AutogradFunctionality",
        "AutogradNestedTensor",
        "Tracer",
        "AutocastCPU",
        "AutocastMTIA",
        "AutocastMAIA",
        "AutocastXPU",
        "AutocastIPU",
        "AutocastHPU",
        "AutocastXLA",
        "AutocastMPS",
        "AutocastCUDA",
        "AutocastPrivateUse1",
        "FuncTorchBatched",
        "BatchedNestedTensor",
        "FuncTorchVmapMode",
        "Batched",
        "VmapMode",
        "FuncTorchGradWrapper",
        "DeferredInit",
        "PythonTLSSnapshot",
        "FuncTorchDynamicLayerFrontMode",
        "TESTING_ONLY_GenericWrapper",
        "TESTING_ONLY_GenericMode",
        "PreDispatch",
        "PythonDispatcher",
    ),
    per_backend=(
        ("Dense", ""),
        ("Quantized", "Quantized"),
        ("Sparse", "Sparse"),
        ("SparseCsr", "SparseCsr"),
        ("NestedTensor", "NestedTensor"),
        ("AutogradFunctionality", "Autograd"),
    ),
    aliases=(
        "Autograd",
        "CompositeImplicitAutograd",
        "FuncTorchBatchedDecomposition",
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    ),
    former_names=(
        ("CatchAll", "Undefined"),
        ("CPUTensorId", "CPU"),
        ("CUDATensorId", "CUDA"),
        ("DefaultBackend", "CompositeExplicitAutograd"),
        ("Math", "CompositeImplicitAutograd"),
        ("PrivateUse1_PreAutograd", "AutogradPrivateUse1"),
        ("Autocast", "AutocastCUDA"),
    ),
    autograd_without_backend=("HIP", "VE", "MTIA"),
)

CURRENT = TORCH_2_13


def dispatch_keys(table: KeyTable) -> dict[str, int]:
    """Every key of a release and its value, in ascending order of value.

    Functionality keys come first, then `EndOfFunctionalityKeys`, then for each per-backend functionality a
    `StartOf...Backends` marker and one key for each backend, then the alias keys.
    """
    values = {name: value for value, name in enumerate(table.functionalities)}
    values["EndOfFunctionalityKeys"] = value = len(table.functionalities)
    for functionality, prefix in table.per_backend:
        value += 1
        values[f"StartOf{functionality}Backends"] = value
        for backend in table.backends:
            value += 1
            values[prefix + backend] = value
    for alias in table.aliases:
        value += 1
        values[alias] = value
    return values


def end_markers(table: KeyTable) -> dict[str, int]:
    """The `EndOf...Backends` names, which share the value of the last key of their block."""
    values = dispatch_keys(table)
    return {
        f"EndOf{functionality}Backends": values[prefix + table.backends[-1]]
        for functionality, prefix in table.per_backend
    }


def registrable_keys(table: KeyTable) -> tuple[str, ...]:
    """The names that a kernel can be registered under: those with a slot of the table, and the aliases.

    `Dense`, `Sparse` and their like have none of their own, only `CPU` and `SparseCPU` do.
    """
    blocks = dict(table.per_backend)
    markers = ("StartOf", "EndOf")
    return tuple(n for n in dispatch_keys(table) if n not in blocks and not n.startswith(markers))


FORMER_NAMES: dict[str, str] = dict(CURRENT.former_names)
