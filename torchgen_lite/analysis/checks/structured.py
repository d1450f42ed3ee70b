"""Structured variants and what they delegate to."""

from __future__ import annotations

from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS, DENSE_BACKENDS, STRUCTURED_KEYS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import SchemaKind


def check_delegates(resolved: Resolved) -> Reported:
    """`structured_delegate` has to name a structured operator with the same arguments."""
    for operator in resolved.declared:
        function = operator.function
        delegate = function.structured_delegate
        if delegate is None:
            continue
        span = function.place("structured_delegate")
        wanted = function.delegate or ""
        named = resolved.declared_by_name.get(wanted) or resolved.lent.get(wanted)
        if named is None:
            beside = [f for f in resolved.functions if f.namespace == function.namespace]
            yield finding(
                function,
                "TG304",
                f"structured delegate `{delegate}` does not exist",
                span,
                "no such operator",
                did_you_mean(delegate, [f.func.local_name for f in beside]),
            )
        elif not named.function.structured:
            yield finding(
                function,
                "TG305",
                f"structured delegate `{delegate}` is not structured",
                span,
                "not structured",
                _made_structured(named.function),
                (named.schema.name_span, "declared here"),
            )
        elif not _is_variant(operator, named):
            yield finding(
                function,
                "TG309",
                f"`{function.func.local_name}` and its delegate take different arguments",
                function.func.span,
                "here",
                None,
                (named.schema.span, "the delegate"),
            )


def check_groups(resolved: Resolved) -> Reported:
    """A structured operator needs its functional variant, which names the meta function."""
    delegates = {function.delegate for function in resolved.functions}
    for operator in resolved.declared:
        function = operator.function
        # Other checks report structured entries that are not out variants, and delegates with other
        # arguments. The group is checked last: it builds all groups, and few entries need it.
        is_structured = function.structured and bool(function.func.out)
        if is_structured and operator.name not in delegates and operator.group is None:
            name = function.func.local_name
            yield finding(
                function,
                "TG319",
                f"structured `{name}` has no functional variant",
                function.place("structured"),
                "no kernel can be registered",
                f"add it with `structured_delegate: {name}`, or leave `structured` out and name plain kernels",
            )


def check_kernels_beside(function: NativeFunction) -> Findings:
    """Kernels that clash with the structured one (torchgen `from_yaml`, `NativeFunctionsGroup`)."""
    if function.structured_delegate is not None:
        for entry in function.dispatch:
            if entry.key in STRUCTURED_KEYS:
                yield Found(
                    "TG313",
                    f"`{function.structured_delegate}` gives the kernel for `{entry.key}`",
                    entry.key_span,
                    "a second kernel",
                    f"leave `{entry.key}` out",
                )
    elif function.structured:
        keys = function.keys
        # Beside backend kernels, an explicit one serves the out variant on all other backends.
        # For PyTorch's operators, PyTorch's kernel for the functional variant calls it.
        is_called = function.is_pytorchs or not keys.isdisjoint(DENSE_BACKENDS)
        # An entry that only names PyTorch's operator leaves its kernels to PyTorch.
        is_own = function.place("structured") is not None
        has_kernel = function.dispatch or function.ufunc_inner_loop
        if is_own and function.func.out and not has_kernel:
            yield Found(
                "TG314",
                f"structured `{function.func.local_name}` names no kernel, which makes it composite",
                function.place("structured"),
                "composite",
                "add `dispatch:` with a kernel",
            )
        for entry in function.dispatch:
            is_implicit = entry.key.startswith("CompositeImplicitAutograd")
            if is_implicit or (entry.key in COMPOSITE_KEYS and not is_called):
                yield Found(
                    "TG314",
                    f"a structured kernel cannot be `{entry.key}`",
                    entry.key_span,
                    "composite",
                    "name the backends that it is for",
                )


def _made_structured(delegate: NativeFunction) -> str:
    """The help for a delegate that is not structured. Only an out variant can be."""
    if delegate.func.kind() is SchemaKind.out:
        return "add `structured: True` to it"
    return f"name the out variant, such as `{delegate.func.base_name}.out`, with `structured: True`"


def _is_variant(operator: Operator, out: Operator) -> bool:
    """Whether this is the functional or in-place variant of an out variant."""
    signature = operator.signature
    is_variant = operator.kind in (SchemaKind.functional, SchemaKind.inplace)
    return is_variant and (signature.name, signature.inputs) == (
        out.signature.name,
        out.signature.inputs,
    )
