"""The rules about one kernel with two signatures, and about samples that nothing tests."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS, DEVICES, WORDS
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.model import bare_types


def kernel_with_two_schemas(resolved: Resolved) -> Reported:
    """TG413: two operators name one kernel and take different numbers of required arguments.

    C++ kernels are often overloads or templates, and Python kernels take unions, so different types
    alone prove nothing. Composite kernels are left out for the same reason.
    """
    seen: dict[str, dict[str, NativeFunction]] = {}
    for function in resolved.functions:
        for entry in chain.from_iterable(entry.kernels for entry in function.dispatch):
            if entry.key in COMPOSITE_KEYS or entry.kernel in WORDS:
                continue
            first = seen.setdefault(entry.key, {}).setdefault(entry.kernel, function)
            if first is function or _compatible(first, function):
                continue
            if _is_overloaded(entry.kernel, first) and _is_overloaded(entry.kernel, function):
                continue
            kernels = chain.from_iterable(e.kernels for e in first.dispatch)
            other = next(e for e in kernels if (e.key, e.kernel) == (entry.key, entry.kernel))
            yield finding(
                function,
                "TG413",
                f"kernel `{entry.kernel}` serves `{first.func.local_name}` and `{function.func.local_name}`",
                entry.kernel_span,
                "same kernel",
                None,
                (other.kernel_span, "with other arguments here"),
            )


def samples_without_tests(program: Program, tested: Collection[str]) -> Reported:
    """TG420: samples that no test calls: of PyTorch's operators without target `device-tests`, and of those for which it
    has no tests, unless a package has. `tested` are whose operators targets test: `own`, `pytorchs`.
    """
    for function in program.functions:
        samples = function.samples
        is_theirs = function.name in program.resolved.lent
        if samples is None or not is_theirs and "own" in tested:
            continue
        keys = function.keys
        if is_theirs and "pytorchs" not in tested:
            hint = "add the target `device-tests`"
        elif "pytorchs" in tested and function.reference_function:
            hint = "write the reference as an expression"
        elif "pytorchs" in tested and keys.isdisjoint(DEVICES):
            hint = "the entry has no kernel for a device"
        else:
            continue
        yield finding(
            function,
            "TG420",
            f"no test is generated from the samples of `{function.func.local_name}`",
            function.place("samples"),
            "not used",
            hint,
        )


def _is_overloaded(kernel: str, function: NativeFunction) -> bool:
    """Whether the kernel has the operator's name, as in torchgen, and so may have C++ overloads."""
    return kernel.rpartition("::")[2].removesuffix("_symint") == function.kernel_name


def _compatible(first: NativeFunction, second: NativeFunction) -> bool:
    """Whether one function could serve both: the same argument names, or the same types."""
    left = first.func.arguments
    right = second.func.arguments
    return names_of(left) == names_of(right) or bare_types(left) == bare_types(right)
