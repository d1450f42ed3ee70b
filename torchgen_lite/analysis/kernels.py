"""The kernels of one entry: those in its table, or the implied one if there is no table."""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.diagnostics import Span
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry import Backend, DispatchEntry, NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex

COMPOSITE_IMPLICIT = "CompositeImplicitAutograd"
COMPOSITE_KEYS = frozenset(
    {
        COMPOSITE_IMPLICIT,
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    }
)
# What `dispatch` says in the place of a function.
BOXED_NAMES = ("fallthrough", "cpu_fallback")
# The backends for which PyTorch derives kernels from a structured one.
STRUCTURED_KEYS = frozenset({"MPS", "CUDA", "CPU", "XPU", "MTIA"})
# Under these keys a structured entry's kernel is an impl function; under others (SparseCPU) it is
# an ordinary kernel (torchgen `is_structured_dispatch_key`).
DENSE_BACKENDS = frozenset(CURRENT.backends)


class KernelEntry(NamedTuple):
    """A kernel of an operator under one key. `is_structured`: it is an impl function; `is_implied`:
    it is not in a table, and has the schema's spans; `backend`: the backend whose file lists it."""

    key: str
    kernel: str
    is_structured: bool
    is_implied: bool
    backend: Backend | None
    entry: DispatchEntry

    @property
    def key_span(self) -> Span | None:
        return self.entry.key_span

    @property
    def kernel_span(self) -> Span | None:
        return self.entry.key_span if self.is_implied else self.entry.kernel_span


def kernels_of(function: NativeFunction) -> tuple[KernelEntry, ...]:
    """The table as written, or the implicit one.

    torchgen `NativeFunction.from_yaml`: without `dispatch`, `structured`, and `structured_delegate`
    the operator is CompositeImplicitAutograd under its default kernel name; `dispatch: {}` means no
    kernels.
    """
    structured = function.structured
    if (
        function.dispatch
        or structured
        or function.structured_delegate is not None
        or function.place("dispatch") is not None
        or not function.is_written
    ):
        return tuple(
            [
                KernelEntry(key, kernel, is_impl, False, backend, entry)
                for entry in function.dispatch
                for key, kernel, backend in (entry[:3],)
                for is_impl in (structured and key in DENSE_BACKENDS and kernel not in BOXED_NAMES,)
            ]
        )
    name = function.func.flat_name
    entry = DispatchEntry.at(COMPOSITE_IMPLICIT, name, function.place("func"))
    return (KernelEntry(entry.key, entry.kernel, False, True, None, entry),)


def own_kernels(
    function: NativeFunction, kernels: tuple[KernelEntry, ...] | None = None
) -> tuple[KernelEntry, ...]:
    """The kernels that generated code registers, without implied ones registered by hand.

    `kernels` are those of the function, if the caller has them.
    """
    kernels = kernels_of(function) if kernels is None else kernels
    is_by_hand = function.manual_kernel_registration and kernels[:1] and kernels[0].is_implied
    return () if is_by_hand else kernels


def is_asked_by_loop(function: NativeFunction, entry: KernelEntry, kernels: KernelIndex) -> bool:
    """Whether only `ufunc_inner_loop` asks for this kernel, for a backend that has none here."""
    ufunc = f"ufunc_{function.func.base_name}_{entry.key}"
    asked = bool(function.ufunc_inner_loop) and entry.kernel == ufunc and entry.key != "CPU"
    return asked and kernels.find(entry.kernel) is None
