"""`OperatorHandle`: an operator, as callers hold it (c10 `OperatorHandle`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import extractor
from .boxed import arguments_on, run_on
from .entry import DispatcherParts, OperatorEntry
from .errors import DispatcherError
from .extractor import keyset_of_call
from .kernel import Kernel, KernelCallable
from .keys import SLOT_OF, DispatchKey, is_alias_dispatch_key
from .keyset import DispatchKeySet
from .local_state import local_state
from .signature import Signature
from .sized import as_tuple
from .table import Cell

Keep = Callable[[DispatchKeySet, KernelCallable], None]


class OperatorHandle:
    """An operator of a dispatcher, as `find_schema_or_throw` returns it.

    `call(*args, **kwargs)` dispatches on the arguments; `redispatch(keyset, *args, **kwargs)` runs the
    kernel of the keyset's highest key, without looking at arguments or local state. Generated packages set these two
    to their typed stubs; for other operators, such a stub is compiled on first use. What is registered is in `entry`.
    """

    __slots__ = ("__weakref__", "call", "entry", "redispatch")
    call: Callable[..., Any]
    redispatch: Callable[..., Any]

    def __init__(self, dispatcher: DispatcherParts, full_name: str) -> None:
        self.entry = OperatorEntry(dispatcher, full_name)

    def __getattr__(self, attribute: str) -> Any:
        # Only `call` and `redispatch` can be unset; they are compiled on first use.
        if attribute not in ("call", "redispatch"):
            raise AttributeError(f"'OperatorHandle' object has no attribute '{attribute}'")
        from .stub import make_stub

        with self.dispatcher.lock:  # Otherwise it might be stored after the next definition.
            signature, memo = self.signature, self.entry.memo
            if attribute == "call":
                stub = make_stub("stub", signature, memo.calls, partial(self._resolve, signature))
            else:
                resolve = partial(self._resolve_redispatch, signature)
                stub = make_stub("redispatch_stub", signature, memo.redispatches, resolve)
            setattr(self, attribute, stub)
        return stub

    def use_stubs(self, call: Callable[..., Any], redispatch: Callable[..., Any]) -> None:
        """Set the generated stubs; `call.redispatch` is the second one. Their docstrings begin with the schema."""
        self.call, self.redispatch = call, redispatch
        call.__doc__ = redispatch.__doc__ = call.__doc__ or self.schema
        call.__dict__["redispatch"] = redispatch

    def undefine(self) -> None:
        """Remove the definition, and the stubs that there may be for it. The lock is held."""
        self.entry.undefine()
        for stub in ("call", "redispatch"):
            try:
                delattr(self, stub)
            except AttributeError:
                pass

    # What is registered.

    @property
    def dispatcher(self) -> DispatcherParts:
        return self.entry.dispatcher

    @property
    def full_name(self) -> str:
        return self.entry.full_name

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
        return self.entry.signature is not None

    @property
    def signature(self) -> Signature:
        """The signature given by `define`. Raises DispatcherError for an operator without one."""
        signature = self.entry.signature
        if signature is None:
            raise DispatcherError(
                f"{self.full_name} has no schema: it was never defined, or its definition was undone"
            )
        return signature

    @property
    def schema(self) -> str:
        return self.signature.schema

    @property
    def tags(self) -> tuple[str, ...]:
        return self.signature.tags

    @property
    def kernels(self) -> dict[DispatchKey, Kernel]:
        """The newest kernel at each key, alias keys included."""
        return self.entry.kernels

    def has_kernel_for_dispatch_key(self, key: DispatchKey) -> bool:
        """Whether a kernel is registered at the key itself, alias keys included."""
        return key in self.kernels

    def has_kernel_for_any_dispatch_key(self, keyset: DispatchKeySet) -> bool:
        """Whether a kernel is registered at any key of a set; alias keys do not count."""
        return any(
            not is_alias_dispatch_key(key) and keyset.has(key) for key in tuple(self.kernels)
        )

    def has_computed_kernel_for_dispatch_key(self, key: DispatchKey) -> bool:
        """Whether calls that arrive at a runtime key find a kernel there."""
        with self.dispatcher.lock:
            return self.entry.kernel_of_slot(SLOT_OF[key]) is not None

    def computed_table(self) -> dict[str, Cell]:
        """The filled slots by name, Undefined first, in slot order."""
        return self.entry.computed_table()

    def dump(self) -> str:
        """Name, schema and registrations, as `torch._C._dispatch_dump` prints them."""
        return self.entry.dump()

    def dump_table(self) -> str:
        """The computed table, as `torch._C._dispatch_dump_table` prints it."""
        return "".join(f"{key}: {cell}\n" for key, cell in self.computed_table().items())

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

    # Calls. Stubs read the memos; see Note [The memo of resolved kernels].

    @property
    def memo(self) -> dict[Any, Any]:
        return self.entry.memo.calls

    @property
    def redispatch_memo(self) -> dict[DispatchKeySet, KernelCallable]:
        return self.entry.memo.redispatches

    def resolve(self, *arguments: Any) -> Any:
        """The kernel for a call with these dispatching arguments, in schema order; a memo miss.

        Raises TypeError for an argument that is not a tensor, MissingKernelError where no kernel serves.
        """
        signature = self.signature
        if len(arguments) != len(signature.dispatching):
            raise self._outlived() from None
        return self._resolve(signature, *arguments)

    def _resolve(self, signature: Signature, *arguments: Any) -> Any:
        entry = self.entry
        path = extractor.keysets_of(signature, signature.dispatching, arguments)
        state = local_state()
        return self._find(
            signature,
            lambda: keyset_of_call(path, state, entry.plan),
            "call",
            lambda _, bound: entry.memo.keep_call(state, path, bound),
        )

    def resolve_redispatch(self, keyset: DispatchKeySet) -> Any:
        """The kernel of a keyset's highest key: no local state and no mask are applied."""
        return self._resolve_redispatch(self.signature, keyset)

    def _resolve_redispatch(self, signature: Signature, keyset: DispatchKeySet) -> Any:
        self._check_keyset("redispatch", keyset)
        keep = self.entry.memo.keep_redispatch
        return self._find(signature, lambda: keyset, "redispatch", keep)

    def as_tuple(self, position: int, value: Any) -> Any:
        """What a kernel gets for an argument of a sized list. See Note [Sized lists are tuples]."""
        signature = self.signature
        if position not in signature.sized:
            raise self._outlived()
        return as_tuple(signature, position, value)

    def call_boxed(self, stack: list[Any]) -> None:
        """Take this operator's arguments off the end of a stack and push its results.

        Generators carry no keys in a boxed call, as in c10.
        """
        signature, entry = self.signature, self.entry
        arguments = arguments_on(stack, signature)
        path = extractor.boxed_keysets_of(signature, arguments)
        state = local_state()
        bound = self._find(
            signature, lambda: keyset_of_call(path, state, entry.plan), "callBoxed", _keep_nothing
        )
        run_on(stack, signature, arguments, bound)

    def redispatch_boxed(self, keyset: DispatchKeySet, stack: list[Any]) -> None:
        """Like `call_boxed`, but dispatches only on the given keyset."""
        self._check_keyset("redispatch_boxed", keyset)
        signature = self.signature
        arguments = arguments_on(stack, signature)
        bound = self._find(signature, lambda: keyset, "redispatchBoxed", _keep_nothing)
        run_on(stack, signature, arguments, bound)

    def _find(
        self, signature: Signature, keyset_of: Callable[[], DispatchKeySet], how: str, keep: Keep
    ) -> KernelCallable:
        """The kernel for `keyset_of()`, bound to it, and wrapped if there are observers; otherwise `keep` keeps it.

        Raises DispatcherError if `signature` is that of an old definition.
        """
        entry, dispatcher = self.entry, self.dispatcher
        while True:
            changes, keyset = entry.changes, keyset_of()
            if not entry.load(keyset, signature):
                break
        with dispatcher.lock:
            if entry.signature is not signature:
                raise self._outlived() from None
            if changes != entry.changes:
                changes, keyset = entry.changes, keyset_of()
            kernel = entry.lookup(keyset)
            bound = kernel.bind(self, keyset)
            if dispatcher.observers:
                return dispatcher.watch(self, keyset, kernel, bound, how)
            if changes == entry.changes:
                keep(keyset, bound)
                if changes != entry.changes:
                    entry.forget()
        return bound

    def _check_keyset(self, method: str, keyset: object) -> None:
        if not isinstance(keyset, DispatchKeySet):
            raise TypeError(
                f"{self.full_name}.{method} takes a DispatchKeySet as its first argument, not {type(keyset).__name__}"
            ) from None

    def _outlived(self) -> DispatcherError:
        """For a stub that outlives the definition that it was made for."""
        return DispatcherError(
            f"{self.full_name} has been redefined as {self.schema}; this function belongs to the old definition"
        )


def _keep_nothing(keyset: DispatchKeySet, bound: KernelCallable) -> None:
    """A boxed call keeps nothing: without the keys of generators, its path is not that of a stub."""


def _find_operator(dispatcher: DispatcherParts, name: str, overload_name: str) -> OperatorHandle:
    found: OperatorHandle = dispatcher.find_schema_or_throw(name, overload_name)
    return found
