"""The kernels of one entry: those in its table, or the implied one if there is no table; and why any is registered."""

from __future__ import annotations

from enum import Enum

from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction

COMPOSITE_IMPLICIT = "CompositeImplicitAutograd"
# The keys of backends, and the devices that carry them.
DEVICES = {key: key.lower() for key in "CUDA XPU MPS HPU MTIA XLA PrivateUse1".split()}
COMPOSITE_KEYS = frozenset(key for key in CURRENT.aliases if key.startswith("Composite"))
# What `dispatch` says in the place of a function.
BOXED_NAMES = ("fallthrough", "cpu_fallback")
REFERENCE = "reference"
WORDS = (*BOXED_NAMES, REFERENCE)
# The backends for which PyTorch derives kernels from a structured one.
STRUCTURED_KEYS = frozenset({"MPS", "CUDA", "CPU", "XPU", "MTIA"})
# Under these keys a structured entry's kernel is an impl function; under others (SparseCPU) it is
# an ordinary kernel (torchgen `is_structured_dispatch_key`).
DENSE_BACKENDS = frozenset(CURRENT.backends)


class Origin(Enum):
    """Why a kernel is registered."""

    written = "`dispatch` names it"
    falls_through = "fallthrough: calls go on to the next key"
    cpu_fallback = "runs on copies in CPU memory"
    reference = "computes what the `reference` of `samples` says"
    selected = "calls the first of the kernels whose condition holds"
    implied = "without `dispatch` the operator is composed of other operators"
    derived = "the operator is derived, and its kernel calls the one that it is derived from"
    structured = "calls the meta function, then the impl function of the structured out variant"
    meta = "calls only the meta function: shape and type"
    default = "calls the meta function, then the out variant of the backend"
    from_out = "allocates the result that the Meta kernel describes, then calls the out variant"
    copied = "calls the kernel of the functional variant, and copies its results"
    functionalize = "calls the functional variant, and copies its results"
    fake = "a fake: what is returned when only shapes are known"
    traced_view = "the view that the rule of `fake` names"
    vmap = "the function that `vmap` names"
    loop = "calls the operator for each item, one after the other"
    axes = "`axes` says along which dimensions one call does for many"
    autocast = "casts floating-point tensors, and redispatches"
    autocast_over = "casts floating-point tensors of PyTorch's operator, and redispatches"
    returns_self = "an in-place operator returns `self` for Meta tensors"
    backend_select = "computes the dispatch key from the tensor options, and redispatches"
    formulas = "`torch.library` records the call, with the formulas of `derivatives`"
    autograd = "records the call, with the formulas of `derivatives`"
    refuses_out = "raises an error if a call of an out variant would have to be recorded"
    passes = "not differentiable: the operators that the kernel calls record nothing"
    fallthrough = "fallthrough (nothing is differentiable)"
    raises_versions = "increments the version counter of what is written"
    view = "makes the result a view of its base"
    not_implemented = "raises an error if a view without formulas would have to be recorded"
    underived = "refuses derivatives, of which the entry says nothing"
    unknown_view = "marks a view without formulas, which cannot be written to"


def kernels_of(function: NativeFunction) -> tuple[DispatchEntry, ...]:
    """The table as written, or the implicit one.

    torchgen `NativeFunction.from_yaml`: without `dispatch`, `structured`, and `structured_delegate`
    the operator is CompositeImplicitAutograd under its default kernel name; `dispatch: {}` means no
    kernels.
    """
    if function.structured:
        return tuple([_of_structured(entry) for entry in function.dispatch])
    has_table = function.dispatch or function.place("dispatch") is not None
    if has_table or function.structured_delegate is not None or not function.is_written:
        return function.dispatch
    entry = DispatchEntry.at(COMPOSITE_IMPLICIT, function.func.flat_name, function.place("func"))
    return (entry._replace(is_implied=True),)


def lacks_reference(function: NativeFunction) -> str:
    """Why no reference says what an operator does, so that it could take its place; empty if one does."""
    if function.func.written or function.func.is_aliasing:
        return "writes to an argument or returns one"
    if function.effects is not None or not function.func.returns:
        if function.effects is not None:
            return "has effects"
        return "returns nothing"
    is_said = function.samples is not None and function.samples.reference is not None
    if is_said:
        return ""
    return "has no `reference` in `samples`"


def _of_structured(entry: DispatchEntry) -> DispatchEntry:
    is_impl = entry.key in DENSE_BACKENDS and entry.kernel not in BOXED_NAMES
    if is_impl:
        return entry._replace(is_structured=True)
    return entry


def own_kernels(
    function: NativeFunction, kernels: tuple[DispatchEntry, ...] | None = None
) -> tuple[DispatchEntry, ...]:
    """The kernels that generated code registers, without implied ones registered by hand.

    `kernels` are those of the function, if the caller has them.
    """
    kernels = kernels_of(function) if kernels is None else kernels
    is_by_hand = function.manual_kernel_registration and kernels[:1] and kernels[0].is_implied
    return () if is_by_hand else kernels
