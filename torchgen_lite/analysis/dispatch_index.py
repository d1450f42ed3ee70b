"""The dispatch table an entry has in effect, and the names that follow from its own."""

from __future__ import annotations

from torchgen_lite.loader.entry import DispatchEntry, NativeFunction

# The backends for which PyTorch derives kernels from a structured one.
STRUCTURED_KEYS = frozenset({"MPS", "CUDA", "CPU", "XPU", "MTIA"})
COMPOSITE_KEYS = frozenset(
    {
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    }
)


def effective_dispatch(function: NativeFunction) -> tuple[DispatchEntry, ...]:
    """The table as written, or the implicit one.

    torchgen `NativeFunction.from_yaml`: without `dispatch`, `structured`, and `structured_delegate`
    the operator is CompositeImplicitAutograd under its default kernel name; `dispatch: {}` says that
    it has no kernels. A kernel that is registered by hand is not ours to register.
    """
    if (
        function.dispatch
        or function.place("dispatch") is not None
        or function.structured
        or function.structured_delegate is not None
        or function.manual_kernel_registration
    ):
        return function.dispatch
    span = function.place("func")
    return (DispatchEntry("CompositeImplicitAutograd", function.func.flat_name, span, span),)


def is_composed(function: NativeFunction) -> bool:
    """Whether the operator is differentiated, and made functional, through the operators that it calls."""
    return any(entry.key == "CompositeImplicitAutograd" for entry in effective_dispatch(function))


def is_composite_only(function: NativeFunction) -> bool:
    """Whether every kernel is one that works for all backends by calling other operators."""
    keys = {entry.key for entry in effective_dispatch(function)}
    return bool(keys) and keys <= COMPOSITE_KEYS
