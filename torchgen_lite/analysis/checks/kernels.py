"""Kernels and the modules that define them."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex


def check_kernels(resolved: Resolved, kernels: KernelIndex) -> Iterator[Diagnostic]:
    """Each kernel has to be defined in exactly one kernel module."""
    for operator in resolved.declared:
        function, reported = operator.function, set[str]()
        for entry in operator.own_kernels:
            if entry.kernel not in reported and not is_asked_by_loop(function, entry, kernels):
                reported.add(entry.kernel)
                yield from _check_kernel(function, entry, kernels)


def is_asked_by_loop(function: NativeFunction, entry: KernelEntry, kernels: KernelIndex) -> bool:
    """Whether `ufunc_inner_loop` alone asks for this kernel, for a backend that has none here."""
    ufunc = f"ufunc_{function.func.base_name}_{entry.key}"
    asked = bool(function.ufunc_inner_loop) and entry.kernel == ufunc and entry.key != "CPU"
    return asked and kernels.find(entry.kernel) is None


def _check_kernel(
    function: NativeFunction, entry: KernelEntry, kernels: KernelIndex
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
