"""Errors that only show when all entries are known: names, delegates, kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.dispatch_index import effective_dispatch, unambiguous_name
from torchgen_lite.analysis.finding import finding, local_name
from torchgen_lite.analysis.groups import signature_key
from torchgen_lite.diagnostics import Diagnostic, Label, did_you_mean
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.schema import SchemaKind, kind_of


def check_functions(
    functions: Sequence[NativeFunction], kernels: KernelIndex | None
) -> Iterator[Diagnostic]:
    """Every check, in the order of the codes."""
    yield from check_delegates(functions)
    yield from check_names(functions)
    yield from check_autogen(functions)
    if kernels is not None and kernels.modules:
        yield from check_kernels(functions, kernels)


def check_delegates(functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """`structured_delegate` has to name a structured operator with the same arguments."""
    by_name = {(f.namespace, local_name(f)): f for f in functions}
    for function in functions:
        delegate = function.structured_delegate
        if delegate is None:
            continue
        span = dict(function.field_spans).get("structured_delegate")
        found = by_name.get((function.namespace, delegate.rpartition("::")[2]))
        if found is None:
            names = [name for space, name in by_name if space == function.namespace]
            message = f"structured delegate `{delegate}` does not exist"
            hint = did_you_mean(delegate, names)
            yield finding(function, "TG304", message, span, "no such operator", hint)
        elif not found.structured:
            message = f"structured delegate `{delegate}` is not structured"
            place = found.func.name_span
            secondary = (Label(place, "declared here"),) if place else ()
            hint = "add `structured: True` to it"
            yield finding(function, "TG305", message, span, "not structured", hint, secondary)
        elif kind_of(function.func) not in (SchemaKind.functional, SchemaKind.inplace) or (
            signature_key(function)[1:] != signature_key(found)[1:]
        ):
            message = f"`{local_name(function)}` and its delegate take different arguments"
            place = found.func.span
            secondary = (Label(place, "the delegate"),) if place else ()
            yield finding(function, "TG309", message, function.func.span, "here", None, secondary)


def check_names(functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """Two operators must not give the same name in generated code."""
    seen: dict[str, NativeFunction] = {}
    for function in functions:
        name = unambiguous_name(function)
        first = seen.setdefault(name, function)
        if first is not function:
            message = f"`{local_name(function)}` and `{local_name(first)}` are both called `{name}`"
            place = first.func.name_span
            secondary = (Label(place, "the other one"),) if place else ()
            span = function.func.name_span
            yield finding(function, "TG306", message, span, "here", None, secondary)


def check_autogen(functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """`autogen` must not list an operator that is declared."""
    by_name = {(f.namespace, local_name(f)): f for f in functions}
    for function in functions:
        for name in function.autogen:
            found = by_name.get((function.namespace, name.rpartition("::")[2]))
            if found is not None:
                span = dict(function.field_spans).get("autogen")
                place = found.func.name_span
                secondary = (Label(place, "declared here"),) if place else ()
                message = f"autogen names `{name}`, which is declared"
                hint = "leave it out of `autogen`"
                yield finding(function, "TG308", message, span, "here", hint, secondary)


def check_kernels(
    functions: Sequence[NativeFunction], kernels: KernelIndex
) -> Iterator[Diagnostic]:
    """Each kernel has to be defined in exactly one kernel module."""
    for function in functions:
        reported: set[str] = set()
        for entry in effective_dispatch(function):
            if entry.kernel not in reported and not is_implied(function, entry, kernels):
                reported.add(entry.kernel)
                yield from _check_kernel(function, entry, kernels)


def is_implied(function: NativeFunction, entry: DispatchEntry, kernels: KernelIndex) -> bool:
    """Whether `ufunc_inner_loop` alone asks for this kernel, for a backend that has none here."""
    ufunc = f"ufunc_{function.func.base_name}_{entry.key}"
    asked = bool(function.ufunc_inner_loop) and entry.kernel == ufunc and entry.key != "CPU"
    return asked and kernels.find(entry.kernel) is None


def _check_kernel(
    function: NativeFunction, entry: DispatchEntry, kernels: KernelIndex
) -> Iterator[Diagnostic]:
    name = entry.kernel.replace("::", ".")
    if kernels.find(name) is None:
        hint = did_you_mean(name.rpartition(".")[2], kernels.names())
        if hint is None:
            hint = f"define `{name.rpartition('.')[2]}` in one of the modules of `kernels`"
        message = f"kernel `{entry.kernel}` is not defined in any kernel module"
        yield finding(function, "TG302", message, entry.kernel_span, "not found", hint)
        return
    places = kernels.find_all(name)
    if len(places) > 1:
        listed = " and ".join(f"`{module}` (line {line})" for module, line in places)
        message = f"kernel `{entry.kernel}` is defined in {listed}"
        hint = f"write `{places[0][0]}.{name}`, or rename one of them"
        yield finding(function, "TG303", message, entry.kernel_span, "ambiguous", hint)
