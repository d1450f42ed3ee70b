"""What becomes of calls under what a target registers: made in a dispatcher, with kernels that say what they do.

The oracle for what `breaking` says of calls. It knows nothing of the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from tests.unit.runtime.helpers import T
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.loader.torch.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.runtime import (
    Dispatcher,
    DispatcherError,
    DispatchKey,
    DispatchKeySet,
    Library,
    MissingKernelError,
    fallthrough_kernel,
)
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.output import Selection

# Beside the backends with kernels, one for each group of others that aliases treat alike.
AUTOGRAD = {
    **{name: f"Autograd{name}" for name in ("CPU", "CUDA", "Meta", "PrivateUse1", "XPU", "XLA")},
    **dict.fromkeys(("SparseCPU", "SparseCUDA", "SparseCsrCPU", "QuantizedCPU"), "AutogradOther"),
}
MODES = ("Tracer", "Functionalize", "FuncTorchBatched")


class Outcome(NamedTuple):
    """What became of a call; each is better than nothing."""

    ended: bool
    was_recorded: bool
    had_its_kernel: bool
    was_decomposed: bool
    was_functionalized: bool


Call = tuple[str, ...]
CALLS: list[Call] = [
    *((backend,) for backend in AUTOGRAD),
    *((backend, autograd) for backend, autograd in AUTOGRAD.items()),
    *((backend, mode) for backend in AUTOGRAD for mode in MODES),
]


def outcomes(program: Program, selection: Selection) -> dict[tuple[str, Call], Outcome]:
    """Every call of every operator that the target takes, made in a dispatcher of its own."""
    dispatcher = Dispatcher()
    namespaces = {operator.function.namespace for operator in selection.operators}
    libraries = {name: Library(name, "DEF", dispatcher=dispatcher) for name in namespaces}
    fallbacks = Library("_", "IMPL", dispatcher=dispatcher)
    seen: list[str] = []
    policy = selection.policy
    registered = list(selection.registrations(program))
    composed = {_name(r.operator) for r in registered if r.key == "CompositeImplicitAutograd"}
    # PyTorch's functionalization serves what writes nothing, and what torch-python gives the tags `inplace` and `out`;
    # for its own operators torchgen generates kernels.
    is_tagged = Origin.vmap in policy.makes
    functionalized = {
        _name(operator)
        for operator in selection.operators
        if policy.is_pytorch or is_tagged or operator.kind is SchemaKind.functional
    }
    for key, label in STOCK_FALLBACKS.items() if policy.in_pytorch else ():
        falls = label == "fallthrough"
        kernel = fallthrough_kernel if falls else _fallback(key, seen, composed, functionalized)
        fallbacks.fallback(kernel, key, with_keyset=not falls)
    found = {}
    for operator in selection.operators:
        library = libraries[operator.function.namespace]
        # One tensor is enough to dispatch by.
        handle = library.define(f"{_name(operator)}(Tensor self) -> Any")
        for one in registered:
            if one.operator is operator:
                falls = one.origin is Origin.fallthrough
                kernel = fallthrough_kernel if falls else _kernel(one, handle, seen)
                library.impl(_name(operator), kernel, one.key, with_keyset=not falls)
        for call in CALLS:
            seen.clear()
            try:
                handle.call(T(*call))
            except (DispatcherError, MissingKernelError):
                seen.clear()
            said = [
                word in seen for word in ("end", "record", call[-1], "decompose", "functionalize")
            ]
            found[operator.name, call] = Outcome(*said)
    return found


def _name(operator: Operator) -> str:
    return operator.name.replace(".", "_")


def _kernel(one: Registration, handle: Any, seen: list[str]) -> Callable[..., None]:
    """Kernels that are written end a call; those that are generated above backends redispatch."""

    def run(keyset: DispatchKeySet, tensor: T) -> None:
        highest = keyset.highest_priority_type_id()
        is_above = "Autograd" in highest.name or highest.name == "ADInplaceOrView"
        is_written = one.origin in (Origin.written, Origin.implied)
        if is_above and (is_written or one.origin in (Origin.autograd, Origin.formulas)):
            seen.append("record")
        if is_above and not is_written:
            handle.redispatch(keyset & DispatchKeySet.full_after(highest), tensor)
            return
        seen.append("end")
        if highest.name in MODES:
            seen.append(highest.name)
        if highest.name == "Functionalize":
            seen.append("functionalize")

    return run


def _fallback(
    key: str, seen: list[str], composed: Collection[str], functionalized: Collection[str]
) -> Callable[..., None]:
    """PyTorch's fallbacks redispatch, except that at Meta, and functionalization decomposes."""

    def run(keyset: DispatchKeySet, operator: Any, tensor: T) -> None:
        if key == "Meta":
            raise DispatcherError("no kernel for Meta")
        if key == "Functionalize" and operator.name in composed:
            seen.extend(("end", "decompose", "functionalize"))
            return
        if key == "Functionalize" and operator.name in functionalized:
            seen.append("functionalize")
        operator.redispatch(keyset & DispatchKeySet.full_after(DispatchKey[key]), tensor)

    return run


def is_worse(records: bool, old: Outcome, new: Outcome) -> bool:
    """Whether a call is served worse. One that failed before cannot be.

    `records` says whether results of the operator may have a gradient.
    """
    lost = Outcome(*(was and not now for was, now in zip(old, new)))
    return old.ended and (
        lost.ended
        or (lost.was_recorded and records)
        or (lost.had_its_kernel and not new.was_decomposed)
        or lost.was_functionalized
    )
