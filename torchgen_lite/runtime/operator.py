"""`OperatorHandle`: one operator, its kernels and its computed table (c10 `OperatorEntry`).

Note [The memo of resolved kernels]
A generated stub finds its kernel in `memo`, a nest of dictionaries keyed by the local state and then by
the keyset of each dispatching argument in schema order. Keysets and states are interned, so each level
costs one look-up by identity. Only a miss comes here: `resolve` works the kernel out by c10's rules and
stores it. Registrations empty the memo. Both hold the dispatcher's lock, so that nothing resolved
before a registration can be stored after it; readers never wait. The memo is bounded: it is emptied when
it has grown past `MEMO_LIMIT` entries.

The lock does not keep out what runs in the same thread: a signal handler or a kernel's `__del__` may register
while a call is being resolved. `_changes` counts registrations; a plan, and what is stored, is valid only if the count
is the same as when it was begun. Removing a definition also removes the memos, since the stubs of the next definition
look up a different number of keysets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from . import report
from .check import check_kernel
from .deferred import DeferredKernel, WrittenKernel
from .errors import DispatcherError
from .kernel import Kernel, KernelCallable
from .keys import (
    RUNTIME_KEYS,
    SLOT_OF,
    DispatchKey,
    is_alias_dispatch_key,
)
from .keyset import BACKEND_MASK, FULL_MASK, DispatchKeySet, table_index
from .local_state import LocalState, local_state
from .lock import RegistrationLock
from .signature import Signature
from .sites import Place, site
from .sized import as_tuple
from .table import FALLBACK, Cell, Plan

MEMO_LIMIT = 1024


class DispatcherParts(Protocol):
    """What an operator needs from its dispatcher."""

    @property
    def lock(self) -> RegistrationLock: ...

    @property
    def fallbacks(self) -> Mapping[DispatchKey, Kernel]: ...

    @property
    def observers(self) -> tuple[object, ...]: ...

    def find_schema_or_throw(self, name: str, overload_name: str = "") -> OperatorHandle: ...

    def shown(self, keys: DispatchKey | DispatchKeySet) -> str: ...

    def plan_of(self, operator: OperatorHandle) -> Plan: ...

    def watch(
        self,
        operator: OperatorHandle,
        keyset: DispatchKeySet,
        kernel: Kernel,
        bound: KernelCallable,
        how: str,
    ) -> KernelCallable: ...


class OperatorHandle:
    """An operator of a dispatcher, as `find_schema_or_throw` returns it.

    `call(*args, **kwargs)` dispatches on the arguments; `redispatch(keyset, *args, **kwargs)` runs the
    kernel of the keyset's highest key, without looking at arguments or local state. Generated packages set these two
    to their typed stubs; for other operators, such a stub is compiled on first use.
    """

    __slots__ = (
        "__weakref__",
        "_changes",
        "_definition_offset",
        "_definition_place",
        "_memo_size",
        "_plan",
        "_signature",
        "call",
        "dispatcher",
        "full_name",
        "kernels",
        "memo",
        "redispatch",
        "redispatch_memo",
    )
    call: Callable[..., Any]
    redispatch: Callable[..., Any]

    def __init__(self, dispatcher: DispatcherParts, full_name: str) -> None:
        self.dispatcher = dispatcher
        self.full_name = full_name
        self.kernels: dict[DispatchKey, Kernel] = {}
        self.memo: dict[Any, Any] = {}
        self.redispatch_memo: dict[DispatchKeySet, Any] = {}
        self._signature: Signature | None = None
        self._definition_place: Place = ""
        self._definition_offset = 0
        self._changes = 0
        self._plan: tuple[int, Plan] = _NO_PLAN
        self._memo_size = 0

    def __getattr__(self, attribute: str) -> Any:
        # Only `call` and `redispatch` can be unset; they are compiled on first use.
        if attribute not in ("call", "redispatch"):
            raise AttributeError(f"'OperatorHandle' object has no attribute '{attribute}'")
        from .stub import make_stub

        with self.dispatcher.lock:  # Otherwise it might be stored after the next definition.
            signature = self.signature
            if attribute == "call":
                stub = make_stub("stub", signature, self.memo, partial(self._resolve, signature))
            else:
                resolve = partial(self._resolve_redispatch, signature)
                stub = make_stub("redispatch_stub", signature, self.redispatch_memo, resolve)
            setattr(self, attribute, stub)
        return stub

    def use_stubs(self, call: Callable[..., Any], redispatch: Callable[..., Any]) -> None:
        """Set the generated stubs; `call.redispatch` is the second one. Their docstrings begin with the schema."""
        self.call, self.redispatch = call, redispatch
        call.__doc__ = redispatch.__doc__ = call.__doc__ or self.schema
        call.__dict__["redispatch"] = redispatch

    @property
    def name(self) -> str:
        """`aten::add` of `aten::add.Tensor`."""
        return self.full_name.partition(".")[0]

    @property
    def overload_name(self) -> str:
        """`Tensor` of `aten::add.Tensor`, empty for an operator without one."""
        return self.full_name.partition(".")[2]

    @property
    def has_schema(self) -> bool:
        return self._signature is not None

    @property
    def signature(self) -> Signature:
        """The signature given by `define`. Raises DispatcherError for an operator without one."""
        if self._signature is None:
            raise DispatcherError(
                f"{self.full_name} has no schema: it was never defined, or its definition was undone"
            )
        return self._signature

    @property
    def schema(self) -> str:
        return self.signature.schema

    @property
    def tags(self) -> tuple[str, ...]:
        return self.signature.tags

    def __str__(self) -> str:
        return self.full_name

    def __repr__(self) -> str:
        return f"<OperatorHandle {self.full_name}>"

    def __copy__(self) -> OperatorHandle:
        return self

    def __deepcopy__(self, memo: object) -> OperatorHandle:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """By name: loading gives the operator of the process that loads, which must be defined there."""
        return (_find_operator, (self.dispatcher, self.name, self.overload_name))

    # Registration. The dispatcher calls these with its lock held.

    def set_signature(self, signature: Signature | None, where: Place, offset: int) -> None:
        """Define, or undefine with None; `where` and `offset` are the site."""
        undefining = self._signature is not None
        self._signature = signature
        self._definition_place = where
        self._definition_offset = offset
        if undefining:  # There may be stubs, for the schema that is removed.
            self.forget()
            self.memo, self.redispatch_memo = {}, {}
            for stub in ("call", "redispatch"):
                try:
                    delattr(self, stub)
                except AttributeError:
                    pass

    @property
    def definition_debug(self) -> str:
        return site(self._definition_place, self._definition_offset)

    def add_kernel(self, key: DispatchKey, kernel: Kernel) -> None:
        if key in self.kernels:
            kernel.older = self.kernels[key]
        self.kernels[key] = kernel
        self._changes += 1
        if self.memo or self.redispatch_memo:
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
        """Drop plans and resolved kernels. The dictionaries stay the same objects, because stubs hold them."""
        self._changes += 1
        self.memo.clear()
        self.redispatch_memo.clear()
        self._memo_size = 0

    # The computed table.

    @property
    def plan(self) -> Plan:
        changes, plan = self._plan
        if changes != self._changes:
            with self.dispatcher.lock:
                while changes != self._changes:
                    changes = self._changes
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
            self._changes += 1  # This thread was interrupted while removing the kernel.

    def has_kernel_for_dispatch_key(self, key: DispatchKey) -> bool:
        """Whether a kernel is registered at the key itself, alias keys included."""
        return key in self.kernels

    def has_kernel_for_any_dispatch_key(self, keyset: DispatchKeySet) -> bool:
        """Whether a kernel is registered at any key of a set; alias keys do not count."""
        return any(
            not is_alias_dispatch_key(key) and keyset.has(key) for key in tuple(self.kernels)
        )

    def has_computed_kernel_for_dispatch_key(self, key: DispatchKey) -> bool:
        with self.dispatcher.lock:
            return self.kernel_of_slot(SLOT_OF[key]) is not None

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
        if self.has_schema:
            lines += [
                f"schema: {self.schema}",
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

    def dump_table(self) -> str:
        """The computed table, as `torch._C._dispatch_dump_table` prints it."""
        return "".join(f"{key}: {cell}\n" for key, cell in self.computed_table().items())

    # Calls.

    def compute_keyset(self, representation: int, state: LocalState) -> DispatchKeySet:
        """The keyset of a call: arguments joined with the local state, without what falls through.

        c10 `computeDispatchKeySet`: ((arguments | included) - excluded) & mask, where subtraction spares
        the backend bits.
        """
        representation = representation & FULL_MASK | state.included._repr
        representation &= ~(state.excluded._repr & ~BACKEND_MASK)
        plan = self.plan
        mask = plan.mask
        if plan.backend_masks is not None:
            mask = plan.backend_masks[max((representation & BACKEND_MASK).bit_length() - 1, 0)]
        return DispatchKeySet.from_raw_repr(representation & mask)

    def resolve(self, *arguments: Any) -> Any:
        """The kernel for a call with these dispatching arguments, in schema order; a memo miss.

        Raises TypeError for an argument that is not a tensor, MissingKernelError where no kernel serves.
        """
        signature = self.signature
        if len(arguments) != len(signature.dispatching):
            raise self._outlived() from None
        return self._resolve(signature, *arguments)

    def _resolve(self, signature: Signature, *arguments: Any) -> Any:
        path = report.keysets_of(signature, signature.dispatching, arguments)
        state = local_state()
        while self.load(self.compute_keyset(_union(path), state)):
            pass
        with self.dispatcher.lock:
            self._check_current(signature)
            changes = self._changes
            bound = self.bind(self.compute_keyset(_union(path), state), "call")
            if changes == self._changes and not self.dispatcher.observers:
                self._store(state, path, bound)
                if changes != self._changes:
                    self.forget()
        return bound

    def as_tuple(self, position: int, value: Any) -> Any:
        """What a kernel gets for an argument of a sized list. See Note [Sized lists are tuples]."""
        signature = self.signature
        if position not in signature.sized:
            raise self._outlived()
        return as_tuple(signature, position, value)

    def _check_current(self, signature: Signature) -> None:
        if self.signature is not signature:
            raise self._outlived() from None

    def _outlived(self) -> DispatcherError:
        """For a stub that outlives the definition that it was made for."""
        return DispatcherError(
            f"{self.full_name} has been redefined as {self.schema}; this function belongs to the old definition"
        )

    def _store(
        self, state: LocalState, path: tuple[DispatchKeySet | None, ...], bound: KernelCallable
    ) -> None:
        if self._memo_size >= MEMO_LIMIT:
            self.memo.clear()
            self._memo_size = 0
        self._memo_size += 1
        level = self.memo
        keys: tuple[Any, ...] = (state, *path)
        for key in keys[:-1]:
            level = level.setdefault(key, {})
        level[keys[-1]] = bound

    def resolve_redispatch(self, keyset: DispatchKeySet) -> Any:
        """The kernel of a keyset's highest key: no local state and no mask are applied."""
        return self._resolve_redispatch(self.signature, keyset)

    def _resolve_redispatch(self, signature: Signature, keyset: DispatchKeySet) -> Any:
        self._check_keyset("redispatch", keyset)
        self.load(keyset)
        with self.dispatcher.lock:
            self._check_current(signature)
            changes = self._changes
            bound = self.bind(keyset, "redispatch")
            if changes == self._changes and not self.dispatcher.observers:
                if len(self.redispatch_memo) >= MEMO_LIMIT:
                    self.redispatch_memo.clear()
                self.redispatch_memo[keyset] = bound
                if changes != self._changes:
                    self.forget()
        return bound

    def _check_keyset(self, method: str, keyset: object) -> None:
        if not isinstance(keyset, DispatchKeySet):
            raise TypeError(
                f"{self.full_name}.{method} takes a DispatchKeySet as its first argument, not {type(keyset).__name__}"
            ) from None

    def load(self, keyset: DispatchKeySet) -> bool:
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
        check_kernel(self.signature, kernel)
        with self.dispatcher.lock:
            kernel.is_checked = True
            if kernel.is_fallthrough:
                self.forget()
        return kernel.is_fallthrough

    def bind(self, keyset: DispatchKeySet, how: str) -> KernelCallable:
        """The kernel in a keyset's slot, bound to the keyset, and wrapped if observers are installed."""
        slot = table_index(keyset._repr)
        kernel = self.kernel_of_slot(slot)
        if kernel is None:
            raise self._cannot_run(slot, keyset) from None  # The memo miss need not be shown.
        bound = kernel.bind(self, keyset)
        if self.dispatcher.observers:
            return self.dispatcher.watch(self, keyset, kernel, bound, how)
        return bound

    def _cannot_run(self, slot: int, keyset: DispatchKeySet) -> Exception:
        name = self.full_name
        shown = self.dispatcher.shown
        sites = report.kernel_sites(name, self.kernels.copy(), self.definition_debug, shown)
        if self.plan.choices[slot].origin == "ambiguous autogradother":
            return report.ambiguous_kernel(name, sites)
        return report.missing_kernel(name, RUNTIME_KEYS[slot], keyset, sites, shown)

    def call_boxed(self, stack: list[Any]) -> None:
        """Take this operator's arguments off the end of a stack and push its results.

        Generators carry no keys in a boxed call, as in c10.
        """
        signature = self.signature
        arguments = self._top_of(signature, stack)
        tensors = [i for i in signature.dispatching if signature.kinds[i] != "G"]
        path = report.keysets_of(signature, tensors, [arguments[i] for i in tensors])
        state = local_state()
        while self.load(keyset := self.compute_keyset(_union(path), state)):
            pass
        with self.dispatcher.lock:
            self._check_current(signature)
            bound = self.bind(keyset, "callBoxed")
        _run_boxed(signature, bound, arguments, stack)

    def redispatch_boxed(self, keyset: DispatchKeySet, stack: list[Any]) -> None:
        """Like `call_boxed`, but dispatches only on the given keyset."""
        self._check_keyset("redispatch_boxed", keyset)
        signature = self.signature
        arguments = self._top_of(signature, stack)
        self.load(keyset)
        with self.dispatcher.lock:
            self._check_current(signature)
            bound = self.bind(keyset, "redispatchBoxed")
        _run_boxed(signature, bound, arguments, stack)

    def _top_of(self, signature: Signature, stack: list[Any]) -> list[Any]:
        count = len(signature.arguments)
        if len(stack) < count:
            raise TypeError(
                f"{self.full_name} takes {count} arguments, but the stack has {len(stack)}"
            )
        arguments = stack[len(stack) - count :]
        for position in signature.sized:
            arguments[position] = as_tuple(signature, position, arguments[position])
        return arguments


_NO_PLAN: tuple[int, Any] = (-1, None)


def _run_boxed(
    signature: Signature, bound: KernelCallable, arguments: list[Any], stack: list[Any]
) -> None:
    positional = signature.positional
    keywords = dict(zip(signature.keywords, arguments[positional:]))
    del stack[len(stack) - len(arguments) :]
    result = bound(*arguments[:positional], **keywords)
    if signature.returns == 1:
        stack.append(result)
    elif signature.returns:
        stack.extend(result)


def _find_operator(dispatcher: DispatcherParts, name: str, overload_name: str) -> OperatorHandle:
    return dispatcher.find_schema_or_throw(name, overload_name)


def _union(path: tuple[DispatchKeySet | None, ...]) -> int:
    union = 0
    for keyset in path:
        if keyset is not None:
            union |= keyset._repr
    return union
