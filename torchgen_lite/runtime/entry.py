"""`OperatorEntry`: the schema, the kernels and the computed table of one operator (c10 `OperatorEntry`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from . import report
from .check import check_kernel
from .deferred import DeferredKernel, WrittenKernel
from .errors import DispatcherError
from .kernel import Kernel, KernelCallable
from .keys import RUNTIME_KEYS, DispatchKey, is_alias_dispatch_key
from .keyset import DispatchKeySet, table_index
from .lock import RegistrationLock
from .memo import KernelMemo
from .signature import Signature
from .sites import Place, site
from .table import FALLBACK, Cell, Plan


class DispatcherParts(Protocol):
    """What an operator needs from its dispatcher."""

    lock: RegistrationLock
    fallbacks: dict[DispatchKey, Kernel]
    observers: tuple[Any, ...]

    def find_schema_or_throw(self, name: str, overload_name: str = "") -> Any: ...

    def shown(self, keys: DispatchKey | DispatchKeySet) -> str: ...

    def plan_of(self, entry: OperatorEntry) -> Plan: ...

    def watch(
        self, operator: Any, keyset: DispatchKeySet, kernel: Kernel, bound: KernelCallable, how: str
    ) -> KernelCallable: ...


class OperatorEntry:
    """What a dispatcher has under one name. `signature` is None without a definition, `changes` counts registrations.

    Whoever changes an entry holds the dispatcher's lock.
    """

    __slots__ = (
        "_definition_offset",
        "_definition_place",
        "_plan",
        "changes",
        "dispatcher",
        "full_name",
        "kernels",
        "memo",
        "signature",
    )

    def __init__(self, dispatcher: DispatcherParts, full_name: str) -> None:
        self.dispatcher = dispatcher
        self.full_name = full_name
        self.signature: Signature | None = None
        self.kernels: dict[DispatchKey, Kernel] = {}
        self.memo = KernelMemo()
        self.changes = 0
        self._definition_place: Place = ""
        self._definition_offset = 0
        self._plan: tuple[int, Plan] = _NO_PLAN

    # Registration.

    def define(self, signature: Signature, where: Place, offset: int) -> None:
        """`where` and `offset` are the site."""
        self.signature = signature
        self._definition_place = where
        self._definition_offset = offset

    def undefine(self) -> None:
        self.signature = None
        self.forget()
        self.memo = KernelMemo()

    @property
    def definition_debug(self) -> str:
        return site(self._definition_place, self._definition_offset)

    def add_kernel(self, key: DispatchKey, kernel: Kernel) -> None:
        if key in self.kernels:
            kernel.older = self.kernels[key]
        self.kernels[key] = kernel
        self.changes += 1
        memo = self.memo
        if memo.calls or memo.redispatches:
            self.forget()

    def remove_kernel(self, kernel: Kernel) -> None:
        """Remove a kernel, whether it is the newest at its key or shadowed."""
        for key in tuple(self.kernels):
            # Not of a copy: a signal handler may have registered another one at the key since.
            newer = self.kernels[key]
            if newer is kernel:
                if kernel.older is None:
                    del self.kernels[key]
                else:
                    self.kernels[key] = kernel.older
                break
            while newer.older is not None and newer.older is not kernel:
                newer = newer.older
            if newer.older is kernel:
                newer.older = kernel.older
                break
        else:
            raise DispatcherError(f"{self.full_name} has no such kernel")
        self.forget()

    def kernels_at(self, key: DispatchKey) -> Iterator[Kernel]:
        """The kernels registered at a key, newest first."""
        kernel = self.kernels.get(key)
        while kernel is not None:
            yield kernel
            kernel = kernel.older

    def forget(self) -> None:
        """Drop plans and resolved kernels."""
        self.changes += 1
        self.memo.clear()

    # The computed table.

    @property
    def plan(self) -> Plan:
        changes, plan = self._plan
        if changes != self.changes:
            with self.dispatcher.lock:
                while changes != self.changes:
                    changes = self.changes
                    plan = self.dispatcher.plan_of(self)
                    self._plan = (changes, plan)
        return plan

    def kernel_of_slot(self, slot: int) -> Kernel | None:
        """The kernel in a slot of the computed table, None where it is missing or ambiguous.

        The lock is held.
        """
        while True:
            origin, source = self.plan.choices[slot]
            if source is None:
                fallbacks = self.dispatcher.fallbacks
                return fallbacks.get(RUNTIME_KEYS[slot]) if origin == FALLBACK else None
            kernel = self.kernels.get(DispatchKey[source])
            if kernel is not None:
                return kernel
            self.changes += 1  # This thread was interrupted while removing the kernel.

    def lookup(self, keyset: DispatchKeySet) -> Kernel:
        """The kernel in a keyset's slot. Raises the error of a call that cannot run. The lock is held."""
        slot = table_index(keyset._repr)
        kernel = self.kernel_of_slot(slot)
        if kernel is None:
            raise self._cannot_run(slot, keyset) from None  # The memo miss need not be shown.
        return kernel

    def _cannot_run(self, slot: int, keyset: DispatchKeySet) -> Exception:
        name = self.full_name
        shown = self.dispatcher.shown
        sites = report.kernel_sites(name, self.kernels.copy(), self.definition_debug, shown)
        if self.plan.choices[slot].origin == "ambiguous autogradother":
            return report.ambiguous_kernel(name, sites)
        return report.missing_kernel(name, RUNTIME_KEYS[slot], keyset, sites, shown)

    def load(self, keyset: DispatchKeySet, signature: Signature) -> bool:
        """Import the function of the kernel in a keyset's slot, if that is deferred, without the lock.

        True if it turns out to be a fallthrough, so that calls go to another slot. Raises TypeError if it does not
        fit the schema.
        """
        with self.dispatcher.lock:
            kernel = self.kernel_of_slot(table_index(keyset._repr))
        if not isinstance(kernel, DeferredKernel):
            return False
        kernel.function  # noqa: B018 - it imports its module when asked for this
        if not isinstance(kernel, WrittenKernel) or kernel.is_checked:
            return False
        check_kernel(signature, kernel)
        with self.dispatcher.lock:
            kernel.is_checked = self.signature is signature
            if kernel.is_fallthrough:
                self.forget()
        return kernel.is_fallthrough

    def computed_table(self) -> dict[str, Cell]:
        """The filled slots by name, Undefined first, in slot order."""
        with self.dispatcher.lock:
            kernels = [self.kernel_of_slot(slot) for slot in range(len(RUNTIME_KEYS))]
            choices = self.plan.choices
        table: dict[str, Cell] = {}
        for key, kernel, (origin, _) in zip(RUNTIME_KEYS, kernels, choices):
            if kernel is not None:
                table[key.name] = Cell(kernel.debug, origin, kernel.is_fallthrough)
            elif origin == "ambiguous autogradother":
                table[key.name] = Cell("ambiguous_autogradother", origin, False)
        return table

    def dump(self) -> str:
        """Name, schema and registrations, as `torch._C._dispatch_dump` prints them."""
        lines = [f"name: {self.full_name}"]
        if self.signature is not None:
            lines += [
                f"schema: {self.signature.schema}",
                f"debug: {self.definition_debug}",
                "alias analysis kind: FROM_SCHEMA",
            ]
        else:
            lines.append("schema: (none)")
        for key in sorted(self.kernels):
            alias = "[alias]" if is_alias_dispatch_key(key) else ""
            for age, kernel in enumerate(self.kernels_at(key)):
                inactive = " (inactive)" if age else ""
                kind = "fallthrough boxed" if kernel.is_fallthrough else "boxed"
                lines.append(f"{key}{alias}{inactive}: {kernel.debug} :: (none) [ {kind} ]")
        return "\n".join(lines) + "\n"


_NO_PLAN: tuple[int, Any] = (-1, None)
