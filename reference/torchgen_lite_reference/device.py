"""Devices, layouts, memory formats, and the dispatch keys that a tensor on a device carries.

device("cpu"), device("meta"), device("privateuse1:0"), device("cuda", 1)   interned, hashable
layout: strided, sparse_coo
memory_format: contiguous_format, preserve_format, channels_last, channels_last_3d
as_device(x: device | str | None) -> device           None is the CPU
dense_keyset(device), sparse_keyset(device) -> DispatchKeySet   (interned)
"""

from __future__ import annotations

from typing import Any, Final

from torchgen_lite_runtime import (
    DispatchKey,
    DispatchKeySet,
    inference_use,
    is_inference_mode_enabled,
    runtime_dispatch_keyset,
)

# Device type -> backend component, as c10 `toBackendComponent`.
BACKENDS: Final = {
    "cpu": "CPU",
    "meta": "Meta",
    "cuda": "CUDA",
    "hip": "HIP",
    "xla": "XLA",
    "mps": "MPS",
    "ipu": "IPU",
    "xpu": "XPU",
    "hpu": "HPU",
    "ve": "VE",
    "lazy": "Lazy",
    "mtia": "MTIA",
    "maia": "MAIA",
    "privateuseone": "PrivateUse1",
    "privateuse1": "PrivateUse1",
    "privateuse2": "PrivateUse2",
    "privateuse3": "PrivateUse3",
}
# torch's own spelling of the type that an out-of-tree backend takes before it renames it.
_SYNONYMS: Final = {"privateuseone": "privateuse1"}
# The backends for which c10 has an Autocast key (`get_autocast_related_key_from_backend`).
_AUTOCAST: Final = frozenset(
    {"CPU", "CUDA", "XPU", "IPU", "HPU", "XLA", "MPS", "MTIA", "MAIA", "PrivateUse1"}
)


class device:
    """A device type and an optional index; equal devices are the same object."""

    __slots__ = ("index", "type")
    _interned: Final[dict[tuple[str, int | None], device]] = {}

    type: str
    index: int | None

    def __new__(cls, type: str | device, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        known = cls._interned.get((type, index))
        return known if known is not None else _intern_device(type, index)

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self is as_device(other)
        return self is other

    # Equal devices are one object.
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (device, (self.type, self.index))

    @property
    def backend(self) -> str:
        """The backend component, "CPU" for the CPU."""
        return BACKENDS[self.type]


def _intern_device(text: str, index: int | None) -> device:
    kind, colon, number = text.partition(":")
    if colon:
        if index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was given: {text}"
            )
        if not number.isdecimal():
            raise RuntimeError(f"Invalid device string: '{text}'")
        index = int(number)
    if kind not in BACKENDS:
        raise RuntimeError(
            f"Expected one of {', '.join(BACKENDS)} device type at start of device string: {text}"
        )
    kind = _SYNONYMS.get(kind, kind)
    fresh = device._interned.get((kind, index))
    if fresh is None:
        fresh = object.__new__(device)
        fresh.type = kind
        fresh.index = index
        device._interned[kind, index] = fresh
    device._interned[text, None if colon else index] = fresh
    return fresh


def as_device(value: device | str | None) -> device:
    if value is None:
        return cpu
    return value if isinstance(value, device) else device(value)


class layout:
    """How the elements are laid out: `strided` or `sparse_coo`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tl.{self.name}"


class memory_format:
    """How a new tensor orders its dimensions in memory."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tl.{self.name}"


cpu = device("cpu")
meta = device("meta")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def _keyset(functionality: str, backend: str) -> DispatchKeySet:
    """What c10's `TensorImpl` constructor adds to a backend's key outside inference mode."""
    names = [functionality + backend, "ADInplaceOrView", "Autograd" + backend]
    if backend in _AUTOCAST:
        names.append("Autocast" + backend)
    keys = DispatchKeySet(getattr(DispatchKey, names[0]))
    for name in names[1:]:
        keys = keys | DispatchKeySet(getattr(DispatchKey, name))
    return keys


# Outside of inference mode.
CPU_KEYS = _keyset("", "CPU")
_DENSE: dict[str, DispatchKeySet] = {"cpu": CPU_KEYS}
_SPARSE: dict[str, DispatchKeySet] = {}


def dense_keyset(on: device) -> DispatchKeySet:
    """{CPU, ADInplaceOrView, AutogradCPU, AutocastCPU} for the CPU, and alike for other devices.

    In inference mode {CPU, AutocastCPU}.
    """
    known = _DENSE.get(on.type)
    if known is None:
        known = _DENSE[on.type] = _keyset("", on.backend)
    if inference_use.seen and is_inference_mode_enabled():
        return without_autograd(known)
    return known


def sparse_keyset(on: device) -> DispatchKeySet:
    """The same with SparseCPU instead of CPU."""
    known = _SPARSE.get(on.type)
    if known is None:
        known = _SPARSE[on.type] = _keyset("Sparse", on.backend)
    if inference_use.seen and is_inference_mode_enabled():
        return without_autograd(known)
    return known


_AUTOGRAD = runtime_dispatch_keyset(DispatchKey.Autograd).add(DispatchKey.ADInplaceOrView)


def without_autograd(keyset: DispatchKeySet) -> DispatchKeySet:
    """The keys of an inference tensor."""
    return keyset - _AUTOGRAD
