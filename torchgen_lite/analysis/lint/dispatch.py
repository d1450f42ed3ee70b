"""Rules about dispatch tables, after c10's `OperatorEntry::computeDispatchTableEntryWithDebug`."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.derive.layout import tensor_options, tensors_in
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT as _IMPLICIT
from torchgen_lite.analysis.kernels import DENSE_BACKENDS
from torchgen_lite.analysis.policy import PYTORCH, Origin, Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.torch.stock_fallbacks import META_FALLBACK, STOCK_FALLBACKS
from torchgen_lite.schema import BaseType, SchemaKind, walk_type

_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_SERVED = frozenset({_IMPLICIT, *_EXPLICIT, "Meta"})
_INSTEAD = f"make the `{_IMPLICIT}` kernel `{_EXPLICIT[0]}`"


def _kernel_for(function: NativeFunction, *keys: str) -> DispatchEntry | None:
    """The first kernel for one of these keys."""
    return next((entry for entry in function.dispatch if entry.key in keys), None)


def unreachable_kernel(resolved: Resolved) -> Reported:
    """TG406: a backend kernel, but no argument that carries its key (in Python, options do)."""
    return unreachable_kernels([f for f in resolved.functions if not tensor_options(f.func)])


def unreachable_kernels(functions: Sequence[NativeFunction]) -> Reported:
    """Exempts operators with a `Device` argument or BackendSelect kernel: BackendSelect chooses."""
    for function in functions:
        if not function.dispatch or function.func.carries_keys:
            continue
        if _is_selected_by_hand(function):
            continue
        for entry in function.dispatch:
            if entry.key in key_sets().backends:
                yield finding(
                    function,
                    "TG406",
                    f"kernel for `{entry.key}` is unreachable: no argument carries a key",
                    entry.key_span,
                    "never chosen",
                    "register it for `CompositeExplicitAutograd`",
                )


def _is_selected_by_hand(function: NativeFunction) -> bool:
    names: set[str] = set()
    for argument in function.func.arguments:
        types = walk_type(argument.type)
        names.update(type_.name for type_ in types if isinstance(type_, BaseType))
    has_kernel = "BackendSelect" in function.keys
    return has_kernel or not names.isdisjoint({"Device", "Tensor"})


def shadowed_composite(function: NativeFunction) -> Findings:
    """TG407: CompositeImplicitAutograd beside CompositeExplicitAutograd."""
    implicit = _kernel_for(function, _IMPLICIT)
    explicit = _kernel_for(function, *_EXPLICIT)
    if implicit is not None and explicit is not None:
        yield Found(
            "TG407",
            f"the `{_IMPLICIT}` kernel of `{function.func.local_name}` is never used",
            implicit.key_span,
            "shadowed",
            "remove one of them",
            (explicit.key_span, "comes before it"),
        )


def ambiguous_autograd_other(function: NativeFunction) -> Findings:
    """TG408: c10 step 2.2 gives the ambiguity error for AutogradOther."""
    implicit = _kernel_for(function, _IMPLICIT)
    other = _kernel_for(function, *key_sets().backends_of["AutogradOther"])
    is_decided = not function.keys.isdisjoint((*_EXPLICIT, "AutogradOther"))
    if implicit is not None and other is not None and not is_decided:
        yield Found(
            "TG408",
            f"`{other.key}` and `{_IMPLICIT}` make AutogradOther ambiguous",
            other.key_span,
            "shares it",
            _INSTEAD,
            (implicit.key_span, "claims every Autograd key"),
        )


def backend_without_meta(program: Program, policies: Sequence[Policy] | None) -> Reported:
    """TG409: kernels for backends, returns tensors, and nothing that serves Meta tensors.

    PyTorch traces with Meta tensors, so this applies to targets for PyTorch; None stands for any
    target, one that makes fakes if the file has rules for some.
    """
    # Imported here: most of it is about autograd, which no other rule needs.
    from torchgen_lite.analysis.registrations import BY_FORMULAS, META, registrations

    functions = program.resolved.functions
    policy = PYTORCH
    takes_fakes = True
    if policies is not None:
        makes = [policy.makes for policy in policies if policy.in_pytorch]
        if not makes:
            return
        policy = Policy("", True, frozenset().union(*makes) - BY_FORMULAS)
        takes_fakes = Origin.fake in policy.makes
    elif any(f.fake is not None or f.axes is not None for f in functions):
        policy = PYTORCH._replace(makes=PYTORCH.makes | {Origin.fake})
    hint = "add `Meta: ...`"
    if takes_fakes:
        hint += ", or a `fake:` rule for target `torch-python`"
    asked = [o for o in program.resolved.declared if _is_traced(o.function, program.resolved)]
    kernels: dict[str, dict[str, str]] = {operator.name: {} for operator in asked}
    for registered in registrations(program, policy, asked):
        kernels[registered.operator.name].setdefault(registered.key, registered.origin.name)
    # Imported here: it brings the rules of the dispatcher, which no other rule and no target needs.
    from torchgen_lite.analysis.computed_table import Registrations, cell_of

    for operator in asked:
        cell = cell_of(Registrations(operator.name, kernels[operator.name], STOCK_FALLBACKS), META)
        if cell.label == META_FALLBACK:
            yield finding(
                operator.function,
                "TG409",
                f"`{operator.schema.local_name}` has kernels for backends but none for `Meta`",
                operator.function.dispatch[0].key_span,
                "here",
                hint,
            )


def _is_traced(function: NativeFunction, resolved: Resolved) -> bool:
    """Whether an entry has kernels for backends that return tensors, and none for Meta that PyTorch has or makes."""
    if not function.is_written or function.is_structured or function.name in resolved.lent:
        return False
    # ExecuTorch, which `kernels` is for, does not trace; what is wrong with a `fake` or `axes` is said there.
    unread = [f for f in ("fake", "axes") if function.place(f) and getattr(function, f) is None]
    if unread or function.place("kernels") is not None:
        return False
    keys = function.keys
    is_asked = not keys.isdisjoint(key_sets().backends) and keys.isdisjoint(_SERVED)
    return is_asked and bool(tensors_in(function.func.returns))


def composite_with_autograd(function: NativeFunction) -> Findings:
    """TG410: CompositeImplicitAutograd beside an Autograd kernel."""
    implicit = _kernel_for(function, _IMPLICIT)
    for entry in function.dispatch:
        if implicit is not None and entry.key.startswith("Autograd"):
            yield Found(
                "TG410",
                f"the `{entry.key}` kernel overrides the gradient of the `{_IMPLICIT}` kernel",
                entry.key_span,
                "here",
                _INSTEAD,
                (implicit.key_span, "differentiates itself"),
            )


def composite_without_gradient(resolved: Resolved) -> Reported:
    """TG419: a backend's kernel, and none for autograd, of what PyTorch composes of other operators."""
    for function in resolved.functions:
        lent = resolved.lent.get(function.name)
        if lent is None or not lent.is_composed or lent.kind is SchemaKind.out:
            continue
        by_hand = any(entry.key.startswith("Autograd") for entry in function.dispatch)
        # ExecuTorch, which `kernels` is for, does not train.
        is_fine = by_hand or function.derivatives or function.place("kernels") is not None
        if is_fine or not tensors_in(function.func.returns):
            continue
        # The formulas that PyTorch has for a few of them call the other one.
        base = function.func.base_name
        backward = resolved.declared_by_name.get(f"{function.namespace}::{base}_backward")
        served = backward.function.keys if backward else ()
        for entry in function.dispatch:
            key = entry.key
            name = function.func.local_name
            if key in DENSE_BACKENDS and key not in served:
                yield finding(
                    function,
                    "TG419",
                    f"`{name}` has no gradient on `{key}`: autograd records the operators that PyTorch composes it of",
                    entry.key_span,
                    "replaces them",
                    f"leave the kernel out and write those of what it calls, or add `Autograd{key}: ...`",
                )
                break
