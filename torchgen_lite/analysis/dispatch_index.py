"""The dispatch table an entry has in effect, and the names that follow from its own."""

from __future__ import annotations

from torchgen_lite.loader.entry import DispatchEntry, NativeFunction

COMPOSITE_KEYS = frozenset(
    {
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    }
)


def unambiguous_name(function: NativeFunction, *, package_namespace: str = "aten") -> str:
    """An identifier for one overload: `add_Tensor`; `mylib__add_Tensor` for another namespace."""
    schema = function.func
    name = schema.base_name
    if schema.overload_name:
        name = f"{name}_{schema.overload_name}"
    if function.namespace == package_namespace:
        return name
    return f"{function.namespace.replace('::', '_')}__{name}"


def kernel_name(function: NativeFunction) -> str:
    """The kernel that is meant where none is named: `<name>_<overload>`, or just the name."""
    schema = function.func
    return (
        f"{schema.base_name}_{schema.overload_name}" if schema.overload_name else schema.base_name
    )


def effective_dispatch(function: NativeFunction) -> tuple[DispatchEntry, ...]:
    """The table as written, or the implicit one.

    torchgen `NativeFunction.from_yaml`: without `dispatch`, `structured`, and `structured_delegate`
    the operator is CompositeImplicitAutograd under its default kernel name; `dispatch: {}` says that
    it has no kernels. A kernel that is registered by hand is not ours to register.
    """
    spans = dict(function.field_spans)
    if (
        function.dispatch
        or "dispatch" in spans
        or function.structured
        or function.structured_delegate is not None
        or function.manual_kernel_registration
    ):
        return function.dispatch
    span = spans.get("func")
    return (DispatchEntry("CompositeImplicitAutograd", kernel_name(function), span, span),)


def is_composite_only(function: NativeFunction) -> bool:
    """Whether every kernel is one that works for all backends by calling other operators."""
    keys = {entry.key for entry in effective_dispatch(function)}
    return bool(keys) and keys <= COMPOSITE_KEYS
