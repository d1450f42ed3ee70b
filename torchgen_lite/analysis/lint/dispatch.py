"""Rules about dispatch tables, after c10's `OperatorEntry::computeDispatchTableEntryWithDebug`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.derive.layout import tensor_options
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT as _IMPLICIT
from torchgen_lite.analysis.kernels import DENSE_BACKENDS
from torchgen_lite.analysis.policy import Origin, Policy
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import BaseType, SchemaKind, walk_type
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind

_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_INSTEAD = f"make the `{_IMPLICIT}` kernel `{_EXPLICIT[0]}`"


def _implicit(resolved: Resolved) -> Iterator[tuple[NativeFunction, DispatchEntry]]:
    """The functions with a CompositeImplicitAutograd kernel, each with that kernel."""
    for function in resolved.functions:
        for entry in function.dispatch:
            if entry.key == _IMPLICIT:
                yield function, entry


def unreachable_kernel(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG406: a backend kernel, but no argument that carries its key (in Python, options do)."""
    keyless = [f for f in resolved.functions if not f.func.carries_keys]
    return unreachable_kernels([f for f in keyless if not tensor_options(f.func)])


def unreachable_kernels(functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """Exempts operators with a `Device` argument or BackendSelect kernel: BackendSelect chooses."""
    for function in functions:
        if not function.dispatch or function.func.carries_keys:
            continue
        arguments = function.func.arguments
        names = {t.name for a in arguments for t in walk_type(a.type) if isinstance(t, BaseType)}
        if names & {"Device", "Tensor"} or any(e.key == "BackendSelect" for e in function.dispatch):
            continue
        for entry in function.dispatch:
            if entry.key in key_sets().backends:
                message = f"kernel for `{entry.key}` is unreachable: no argument carries a key"
                hint = "register it for `CompositeExplicitAutograd`"
                yield finding(function, "TG406", message, entry.key_span, "never chosen", hint)


def shadowed_composite(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG407: CompositeImplicitAutograd beside CompositeExplicitAutograd."""
    for function, implicit in _implicit(resolved):
        explicit = next((e for e in function.dispatch if e.key in _EXPLICIT), None)
        if explicit is not None:
            message = f"the `{_IMPLICIT}` kernel of `{function.func.local_name}` is never used"
            hint, other = "remove one of them", (explicit.key_span, "comes before it")
            yield finding(function, "TG407", message, implicit.key_span, "shadowed", hint, other)


def ambiguous_autograd_other(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG408: c10 step 2.2 gives the ambiguity error for AutogradOther."""
    for function, implicit in _implicit(resolved):
        if any(entry.key in (*_EXPLICIT, "AutogradOther") for entry in function.dispatch):
            continue
        for entry in function.dispatch:
            if entry.key in key_sets().backends_of["AutogradOther"]:
                message = f"`{entry.key}` and `{_IMPLICIT}` make AutogradOther ambiguous"
                other = (implicit.key_span, "claims every Autograd key")
                yield finding(
                    function, "TG408", message, entry.key_span, "shares it", _INSTEAD, other
                )
                break


def backend_without_meta(
    resolved: Resolved, policies: Sequence[Policy] | None
) -> Iterator[Diagnostic]:
    """TG409: kernels for backends, returns tensors, and nothing that runs on Meta tensors.

    PyTorch traces with Meta tensors, so this applies to targets for PyTorch; None stands for any
    target. In a file with `fake:` rules, operators that return what they wrote get theirs
    automatically.
    """
    if policies is not None and not any(policy.in_pytorch for policy in policies):
        return
    takes_fakes = policies is None or any(Origin.fake in policy.makes for policy in policies)
    other = ", or a `fake:` rule for target `torch-python`" if takes_fakes else ""
    hint = f"add `Meta: ...`{other}"
    composite, backends = {_IMPLICIT, *_EXPLICIT, "Meta"}, key_sets().backends
    has_fakes = any(function.fake is not None for function in resolved.functions)
    for function in resolved.functions:
        keys = {entry.key for entry in function.dispatch}
        if keys.isdisjoint(backends) or not keys.isdisjoint(composite):
            continue
        if function.structured or function.structured_delegate is not None:
            continue
        if not function.is_written or function.name in resolved.lent:
            continue  # PyTorch's own kernel serves Meta.
        # ExecuTorch, which `kernels` is for, does not trace.
        if function.place("kernels") is not None or function.place("fake") is not None:
            continue
        if has_fakes:
            # Imported here: PyTorch's own entries have no fakes, which need the formula parser.
            from torchgen_lite.analysis.fakes.results import has_own_fake

            if has_own_fake(function.func):
                continue
        kinds = {dispatch_kind(value.type) for value in function.func.returns}
        if kinds & {DispatchKind.tensor, DispatchKind.tensor_list}:
            message = f"`{function.func.local_name}` has kernels for backends but none for `Meta`"
            span = function.dispatch[0].key_span
            yield finding(function, "TG409", message, span, "here", hint)


def composite_with_autograd(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG410: CompositeImplicitAutograd beside an Autograd kernel."""
    for function, implicit in _implicit(resolved):
        for entry in function.dispatch:
            if entry.key.startswith("Autograd"):
                message = (
                    f"the `{entry.key}` kernel overrides the gradient of the `{_IMPLICIT}` kernel"
                )
                other = (implicit.key_span, "differentiates itself")
                yield finding(function, "TG410", message, entry.key_span, "here", _INSTEAD, other)


def composite_without_gradient(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG419: a backend's kernel, and none for autograd, of what PyTorch composes of other operators."""
    for function in resolved.functions:
        theirs = resolved.lent.get(function.name)
        if theirs is None or not theirs.is_composed or theirs.kind is SchemaKind.out:
            continue
        kinds = {dispatch_kind(value.type) for value in function.func.returns}
        by_hand = any(entry.key.startswith("Autograd") for entry in function.dispatch)
        # ExecuTorch, which `kernels` is for, does not train.
        is_fine = by_hand or function.derivatives or function.place("kernels") is not None
        if is_fine or kinds.isdisjoint((DispatchKind.tensor, DispatchKind.tensor_list)):
            continue
        # The formulas that PyTorch has for a few of them call the other one.
        base = function.func.base_name
        backward = resolved.declared_by_name.get(f"{function.namespace}::{base}_backward")
        served = {entry.key for entry in backward.function.dispatch} if backward else set()
        for entry in function.dispatch:
            key, name = entry.key, function.func.local_name
            if key in DENSE_BACKENDS and key not in served:
                message = f"`{name}` has no gradient on `{key}`: autograd records the operators that PyTorch composes it of"
                hint = f"leave the kernel out and write those of what it calls, or add `Autograd{key}: ...`"
                yield finding(function, "TG419", message, entry.key_span, "replaces them", hint)
                break
