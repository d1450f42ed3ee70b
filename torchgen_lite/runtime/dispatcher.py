"""`Dispatcher`: the table of operators, libraries, backend fallbacks and listeners (c10 `Dispatcher`).

Readers (look-ups and calls) never wait: they read dictionaries that are changed one entry at a time.
Every change holds `lock`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

from ..key_sets import key_sets
from .check import check_kernel
from .deferred import DeferredKernel
from .entry import OperatorEntry
from .errors import DispatcherError
from .kernel import Kernel, KernelCallable
from .keys import RUNTIME_KEYS, DispatchKey, parse_dispatch_key
from .keyset import DispatchKeySet
from .lock import RegistrationLock, lock
from .operator import OperatorHandle
from .record import Observer, observed
from .signature import Signature
from .sites import Place, site
from .table import Cell, Plan, choose, compute_plan

REPLACEABLE_FALLBACK = DispatchKey.AutogradPrivateUse1
"""The key whose backend fallback can be replaced, as of PyTorch 2.13: out-of-tree backends bring their own."""

_PRIVATE = DispatchKey.PrivateUse1.name

PLAN_LIMIT = 4096
"""The number of plans that a dispatcher caches; the operators of a program have a few dozen patterns."""


class RegistrationListener(Protocol):
    """Is notified of definitions: of those that exist when it is added, then of each new one."""

    def on_operator_registered(self, operator: OperatorHandle) -> None: ...

    def on_operator_deregistered(self, operator: OperatorHandle) -> None:
        """Called before the schema is dropped, which happens even if this raises."""


class Dispatcher:
    """An independent dispatcher. `Dispatcher.singleton()` is the one that libraries use by default."""

    lock: RegistrationLock = lock

    def __init__(self) -> None:
        self.fallbacks: dict[DispatchKey, Kernel] = {}
        self.observers: tuple[Observer, ...] = ()
        self.libraries: dict[str, str] = {}
        self._privateuse1 = _PRIVATE
        self._operators: dict[str, OperatorHandle] = {}
        self._plans: dict[int, Plan] = {}
        self._planned: set[OperatorEntry] = set()
        self._listeners: list[RegistrationListener] = []

    @staticmethod
    def singleton() -> Dispatcher:
        return _SINGLETON

    def rename_privateuse1(self, name: str) -> None:
        """Set the name that errors use for `PrivateUse1`: that of the device behind it.

        Raises DispatcherError if it has another name already (torch.utils.rename_privateuse1_backend).
        """
        with self.lock:
            if self._privateuse1 not in (_PRIVATE, name):
                raise DispatcherError(
                    f"PrivateUse1 is already named {self._privateuse1}, so it cannot be renamed to {name}"
                )
            self._privateuse1 = name

    def shown(self, keys: DispatchKey | DispatchKeySet) -> str:
        """A key or keyset, as errors of calls name it."""
        return str(keys).replace(_PRIVATE, self._privateuse1)

    # Look-up.

    def find_op(self, name: str, overload_name: str = "") -> OperatorHandle | None:
        """The operator, defined or only implemented, or None."""
        return self._operators.get(f"{name}.{overload_name}" if overload_name else name)

    def find_schema(self, name: str, overload_name: str = "") -> OperatorHandle | None:
        """The operator if it is defined, else None."""
        found = self.find_op(name, overload_name)
        return found if found is not None and found.has_schema else None

    def find_schema_or_throw(self, name: str, overload_name: str = "") -> OperatorHandle:
        """The defined operator. The DispatcherError for another one says whether it has kernels at least."""
        found = self.find_op(name, overload_name)
        full_name = f"{name}.{overload_name}" if overload_name else name
        if found is None:
            raise DispatcherError(
                f"Could not find schema for {full_name}{self._suggest(full_name)}"
            )
        if not found.has_schema:
            raise DispatcherError(
                f"Could not find schema for {full_name} but we found an implementation; "
                f"did you forget to def() the operator?"
            )
        return found

    def _suggest(self, full_name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(full_name, tuple(self._operators), n=1, cutoff=0.6)
        return f"; did you mean {near[0]}?" if near else ""

    def operators(self) -> tuple[OperatorHandle, ...]:
        """Every operator that is defined or has a kernel, in the order of first registration."""
        return tuple(self._operators.values())

    def find_dangling_impls(self) -> tuple[OperatorHandle, ...]:
        """Operators with kernels but without a definition, by name."""
        dangling = (operator for operator in self.operators() if not operator.has_schema)
        return tuple(sorted(dangling, key=str))

    def registrations_for_dispatch_key(
        self, key: DispatchKey | str | None = None
    ) -> tuple[str, ...]:
        """Names of the operators with a kernel at a key, including alias keys; with None, at any key."""
        wanted = parse_dispatch_key(key) if isinstance(key, str) else key
        names = [
            operator.full_name
            for operator in self.operators()
            if (operator.kernels if wanted is None else wanted in operator.kernels)
        ]
        return tuple(sorted(names))

    def computed_table(self, name: str, overload_name: str = "") -> dict[str, Cell]:
        """The filled slots of an operator: runtime key name, or `Undefined`, to `Cell`, in slot order."""
        found = self.find_op(name, overload_name) or self.find_schema_or_throw(name, overload_name)
        return found.computed_table()

    # Registration. `Library` is the public face of these; a kernel is added by `OperatorEntry.add_kernel`.

    def operator_of_name(self, full_name: str) -> OperatorHandle:
        """The operator of a qualified name, created if it is new (c10 `findOrRegisterName_`). The lock is held."""
        operator = self._operators.get(full_name)
        if operator is None:
            operator = self._operators[full_name] = OperatorHandle(self, full_name)
        return operator

    def register_library(self, namespace: str, site: str) -> None:
        with self.lock:
            if namespace in self.libraries:
                raise DispatcherError(
                    f"Only a single library of kind DEF can register the namespace {namespace}; please put "
                    f"all of its definitions in that one, or use kind FRAGMENT to add to it.  Previous "
                    f"registration of the namespace was {self.libraries[namespace]}; latest registration "
                    f"was {site}"
                )
            self.libraries[namespace] = site

    def deregister_library(self, namespace: str) -> None:
        with self.lock:
            self.libraries.pop(namespace, None)

    def register_def(self, signature: Signature, where: Place, offset: int) -> OperatorHandle:
        """`where` and `offset` are the site of the definition. The lock is held."""
        operator = self.operator_of_name(signature.full_name)
        entry = operator.entry
        if entry.signature is not None:
            raise DispatcherError(
                f"Tried to register an operator ({signature.schema}) with the same name and overload "
                f"name multiple times. Each overload's schema should only be registered with a single "
                f"call to define(). Duplicate registration: {site(where, offset)}. Original registration: "
                f"{entry.definition_debug}"
            )
        if entry.kernels:  # Those before the definition have not been checked.
            for key in tuple(entry.kernels):
                for kernel in entry.kernels_at(key):
                    if not isinstance(kernel, DeferredKernel):
                        check_kernel(signature, kernel)
        entry.define(signature, where, offset)
        try:
            for listener in tuple(self._listeners):
                listener.on_operator_registered(operator)
        except BaseException:
            self.deregister_def(operator)
            raise
        return operator

    def deregister_def(self, operator: OperatorHandle) -> None:
        # From the last to the first, whatever one of them raises.
        with self.lock, ExitStack() as steps:
            steps.callback(self._undefine, operator)
            for listener in reversed(self._listeners):
                steps.callback(listener.on_operator_deregistered, operator)

    def _undefine(self, operator: OperatorHandle) -> None:
        operator.undefine()
        self._release(operator.entry)

    def deregister_impl(self, entry: OperatorEntry, kernel: Kernel) -> None:
        with self.lock:
            entry.remove_kernel(kernel)
            self._release(entry)

    def _release(self, entry: OperatorEntry) -> None:
        """Remove an operator from the table once its definition and its last kernel are gone."""
        if not entry.kernels and entry.signature is None:
            self._operators.pop(entry.full_name, None)
            self._planned.discard(entry)

    def register_fallback(self, key: DispatchKey, kernel: Kernel) -> None:
        with self.lock:
            if key in self.fallbacks and key is not REPLACEABLE_FALLBACK:
                raise DispatcherError(
                    f"Tried to register multiple backend fallbacks for the same dispatch key {key}; "
                    f"previous registration {self.fallbacks[key].debug}, new registration {kernel.debug}"
                )
            self.fallbacks[key] = kernel
            self._fallbacks_changed()

    def deregister_fallback(self, key: DispatchKey) -> None:
        """Remove the fallback of a key. As in c10, one that it had replaced does not come back."""
        with self.lock:
            self.fallbacks.pop(key, None)
            self._fallbacks_changed()

    def _fallbacks_changed(self) -> None:
        # Replaced, not emptied: a plan that this thread is computing further up the stack is discarded.
        self._plans = {}
        planned, self._planned = self._planned, set()
        for entry in planned:
            entry.forget()

    def add_registration_listener(self, listener: RegistrationListener) -> Callable[[], None]:
        """Tell `listener` of every defined operator, now and later. Returns the function that removes it."""
        with self.lock:
            for operator in self.operators():
                if operator.has_schema:
                    listener.on_operator_registered(operator)
            self._listeners.append(listener)

        def remove() -> None:
            with self.lock:
                self._listeners.remove(listener)

        return remove

    def set_observers(self, observers: tuple[Observer, ...]) -> None:
        """Install an observer for `observe.observe`. Resolved kernels are dropped, so that calls are seen."""
        with self.lock:
            self.observers = observers
            for entry in tuple(self._planned):
                entry.forget()

    def watch(
        self,
        operator: OperatorHandle,
        keyset: DispatchKeySet,
        kernel: Kernel,
        bound: KernelCallable,
        how: str,
    ) -> KernelCallable:
        """A bound kernel with the observers around it."""
        return observed(self.observers, operator, keyset, kernel, bound, how)

    # Tables.

    def plan_of(self, entry: OperatorEntry) -> Plan:
        """The plan of an operator, which is notified when fallbacks change it; see Note [Tables are shared]."""
        self._planned.add(entry)
        plans = self._plans
        kernels = entry.kernels.copy()
        pattern = 0
        for key, kernel in kernels.items():
            pattern |= (3 if kernel.is_fallthrough else 1) << _PATTERN_BIT[key]
        plan = plans.get(pattern)
        if plan is None:
            if len(plans) >= PLAN_LIMIT:
                plans.clear()
            plan = compute_plan(
                frozenset(key.name for key in kernels),
                frozenset(key.name for key, kernel in kernels.items() if kernel.is_fallthrough),
                {key.name: kernel.is_fallthrough for key, kernel in self.fallbacks.copy().items()},
            )
            plans[pattern] = plan
        return plan

    def check_invariants(self) -> None:
        """Recompute every table rule by rule, and raise a DispatcherError that names any difference."""
        with self.lock:
            for operator in self.operators():
                self._check(operator)

    def _check(self, operator: OperatorHandle) -> None:
        registered = frozenset(operator.kernels)
        if DispatchKey.Undefined in registered:
            raise DispatcherError(f"{operator.full_name} has a kernel at Undefined")
        if not registered and not operator.has_schema:
            raise DispatcherError(
                f"{operator.full_name} has no registrations left, but still exists"
            )
        names = frozenset(key.name for key in registered)
        for slot, key in enumerate(RUNTIME_KEYS):
            expected = choose(key_sets(), key.name, names, key in self.fallbacks)
            if operator.entry.plan.choices[slot] != expected:
                raise DispatcherError(
                    f"the table of {operator.full_name} has {operator.entry.plan.choices[slot]} at {key}, but its "
                    f"registrations give {expected}"
                )

    def __iter__(self) -> Iterator[OperatorHandle]:
        return iter(self.operators())

    def __reduce__(self) -> tuple[object, ...]:
        """The singleton pickles and copies as itself; other dispatchers belong to one process."""
        if self is not _SINGLETON:
            raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")
        return (Dispatcher.singleton, ())


# Two bits for each key: that it has a kernel, and that the kernel falls through.
_PATTERN_BIT = {key: 2 * key for key in DispatchKey}

_SINGLETON = Dispatcher()
