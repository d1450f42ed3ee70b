"""Dispatch keys as data: their names and their order in each PyTorch release.

This module is pure data, and any layer may import it. The numbers of `c10::DispatchKey` move
between releases, so a release is a `KeyTable`, and everything else (values, bits, table slots) is
derived from the order of its names. An older release is the next one with its changes undone. The
source is `c10/core/DispatchKey.h` and `DispatchKeySet.h` of each release; tests compare the tables
with `torch._C`.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple


class KeyTable(NamedTuple):
    """The keys of a release, and of later releases up to the next table.

    `backends`: backend components, lowest priority first; the last one must be Meta.
    `functionalities`: functionality keys, lowest priority first; the first one is Undefined.
    `per_backend`: (functionality, prefix of its runtime keys), in the order of their value blocks.
    `of_backends`: the functionalities that have backends' kernels, except nested tensors; all but
    the first share AutogradOther (c10 `backend_functionality_keys`, `autogradother_backends`).
    `implicit_beside_backends`: the keys that CompositeImplicitAutograd serves besides backends,
    autograd and nested tensors.
    `aliases`: alias keys in the order of their values.
    `former_names`: names of earlier releases and what they are now called.
    `autograd_without_backend`: backends whose autograd key does not lead back to them. c10's switch
    in `getBackendKeySetFromAutograd` has no case for these backends, so their kernels do not shadow
    a CompositeImplicitAutograd kernel on their autograd key.
    """

    release: str
    backends: tuple[str, ...]
    functionalities: tuple[str, ...]
    per_backend: tuple[tuple[str, str], ...]
    of_backends: tuple[str, ...]
    implicit_beside_backends: tuple[str, ...]
    aliases: tuple[str, ...]
    former_names: tuple[tuple[str, str], ...]
    autograd_without_backend: tuple[str, ...]


TORCH_2_13 = KeyTable(
    release="2.13",
    backends=tuple("""
        CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 PrivateUse3
        Meta
        """.split()),
    functionalities=tuple("""
        Undefined Dense FPGA Vulkan Metal Quantized CustomRNGKeyId MkldnnCPU Sparse SparseCsr
        NestedTensor BackendSelect Fake Python FuncTorchDynamicLayerBackMode Functionalize
        Conjugate Negative ZeroTensor ADInplaceOrView AutogradOther AutogradFunctionality
        AutogradNestedTensor Tracer AutocastCPU AutocastMTIA AutocastMAIA AutocastXPU AutocastIPU
        AutocastHPU AutocastXLA AutocastMPS AutocastCUDA AutocastPrivateUse1 FuncTorchBatched
        BatchedNestedTensor FuncTorchVmapMode Batched VmapMode FuncTorchGradWrapper DeferredInit
        PythonTLSSnapshot FuncTorchDynamicLayerFrontMode TESTING_ONLY_GenericWrapper
        TESTING_ONLY_GenericMode PreDispatch PythonDispatcher
        """.split()),
    per_backend=(
        ("Dense", ""),
        ("Quantized", "Quantized"),
        ("Sparse", "Sparse"),
        ("SparseCsr", "SparseCsr"),
        ("NestedTensor", "NestedTensor"),
        ("AutogradFunctionality", "Autograd"),
    ),
    of_backends=tuple("""
        Dense Quantized Sparse SparseCsr FPGA Vulkan Metal CustomRNGKeyId MkldnnCPU
        """.split()),
    implicit_beside_backends=(),
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


def _without(names: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(name for name in names if name != gone)


def _with(names: tuple[str, ...], name: str, after: str) -> tuple[str, ...]:
    at = names.index(after) + 1
    return (*names[:at], name, *names[at:])


# 2.13 put Fake below Python and removed Named, the key of named tensors.
TORCH_2_10 = TORCH_2_13._replace(
    release="2.10",
    functionalities=_with(
        _with(_without(TORCH_2_13.functionalities, "Fake"), "Fake", after="Python"),
        "Named",
        after="Functionalize",
    ),
)
# Before 2.10, composite kernels also served Functionalize, ahead of its fallback.
TORCH_2_8 = TORCH_2_10._replace(release="2.8", implicit_beside_backends=("Functionalize",))
# 2.8 turned MAIA from a functionality into a backend, which has several keys.
TORCH_2_7 = TORCH_2_8._replace(
    release="2.7",
    backends=_without(TORCH_2_8.backends, "MAIA"),
    functionalities=_with(
        _without(TORCH_2_8.functionalities, "AutocastMAIA"), "MAIA", after="FPGA"
    ),
    of_backends=(*TORCH_2_8.of_backends, "MAIA"),
)
TORCH_2_6 = TORCH_2_7._replace(
    release="2.6", functionalities=_without(TORCH_2_7.functionalities, "AutocastMTIA")
)

Release = tuple[int, int]
RELEASES: tuple[Release, ...] = tuple((2, minor) for minor in range(6, 16))
"""The releases of PyTorch whose keys and tags are known here."""

KEY_TABLES = (TORCH_2_6, TORCH_2_7, TORCH_2_8, TORCH_2_10, TORCH_2_13)
"""Every table, in the order of releases."""

CURRENT = TORCH_2_13
"""The table of the newest releases, on which this project's runtimes are built."""


def table_of(version: tuple[int, ...]) -> KeyTable:
    """The keys of a PyTorch release: (2, 9, 1) has those of 2.8.

    A release before the first table has the keys of the first.
    """
    numbers = [tuple(map(int, table.release.split("."))) for table in KEY_TABLES]
    return KEY_TABLES[max(bisect_right(numbers, version[:2]) - 1, 0)]


def dispatch_keys(table: KeyTable) -> dict[str, int]:
    """Every key of a release and its value, in ascending order of value.

    Functionality keys come first, then `EndOfFunctionalityKeys`. Then each per-backend
    functionality has a `StartOf...Backends` marker and one key for each backend. The alias keys are
    last.
    """
    names = [*table.functionalities, "EndOfFunctionalityKeys"]
    for functionality, prefix in table.per_backend:
        names.append(f"StartOf{functionality}Backends")
        names += [prefix + backend for backend in table.backends]
    return {name: value for value, name in enumerate([*names, *table.aliases])}


def registrable_keys(table: KeyTable) -> tuple[str, ...]:
    """The names under which a kernel can be registered: keys with a slot in the table, and aliases.

    `Dense`, `Sparse` and the like have no slot; `CPU` and `SparseCPU` do.
    """
    blocks = dict(table.per_backend)
    markers = ("StartOf", "EndOf")
    return tuple(n for n in dispatch_keys(table) if n not in blocks and not n.startswith(markers))


FORMER_NAMES: dict[str, str] = dict(CURRENT.former_names)
