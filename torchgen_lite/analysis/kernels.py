"""The kernels of one entry: those in its table, or the implied one if there is no table."""

from __future__ import annotations

from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction

COMPOSITE_IMPLICIT = "CompositeImplicitAutograd"
# The keys of backends, and the devices that carry them.
DEVICES = {key: key.lower() for key in "CUDA XPU MPS HPU MTIA XLA PrivateUse1".split()}
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


def kernels_of(function: NativeFunction) -> tuple[DispatchEntry, ...]:
    """The table as written, or the implicit one.

    torchgen `NativeFunction.from_yaml`: without `dispatch`, `structured`, and `structured_delegate`
    the operator is CompositeImplicitAutograd under its default kernel name; `dispatch: {}` means no
    kernels.
    """
    if function.structured:
        return tuple([_of_structured(entry) for entry in function.dispatch])
    if (
        function.dispatch
        or function.structured_delegate is not None
        or function.place("dispatch") is not None
        or not function.is_written
    ):
        return function.dispatch
    name = function.func.flat_name
    entry = DispatchEntry.at(COMPOSITE_IMPLICIT, name, function.place("func"))
    return (entry._replace(is_implied=True),)


def _of_structured(entry: DispatchEntry) -> DispatchEntry:
    is_impl = entry.key in DENSE_BACKENDS and entry.kernel not in BOXED_NAMES
    return entry._replace(is_structured=True) if is_impl else entry


def own_kernels(
    function: NativeFunction, kernels: tuple[DispatchEntry, ...] | None = None
) -> tuple[DispatchEntry, ...]:
    """The kernels that generated code registers, without implied ones registered by hand.

    `kernels` are those of the function, if the caller has them.
    """
    kernels = kernels_of(function) if kernels is None else kernels
    is_by_hand = function.manual_kernel_registration and kernels[:1] and kernels[0].is_implied
    return () if is_by_hand else kernels
