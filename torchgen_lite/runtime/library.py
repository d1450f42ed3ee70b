"""`Library`: registrations of one namespace that are undone together (torch.library.Library, torch::Library)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Union

from .check import check_callable, check_kernel, check_name, check_namespace, name_of
from .deferred import DeferredKernel, LoadModule, WrittenKernel
from .dispatcher import Dispatcher
from .entry import OperatorEntry
from .errors import DispatcherError, fallthrough_kernel
from .kernel import IS_FALLBACK, WITH_KEYSET, BoxedKernel, Kernel
from .keys import SLOT_OF, DispatchKey, is_alias_dispatch_key, parse_dispatch_key
from .lock import acquire, do_when_free, release
from .operator import OperatorHandle
from .signature import NOTHING, Signature
from .sites import Place, place

KINDS = ("DEF", "FRAGMENT", "IMPL")
RESERVED_NAMESPACES = frozenset({"prim"})
WILDCARD = "_"
CLOSED = "CLOSED"

KernelLike = Union[Callable[..., Any], BoxedKernel]


class _OverrideWarning:
    """Whether overriding a kernel has warned: as in c10, it does so once per process."""

    given = False


class Library:
    """A block of registrations, in the shape of `torch.library.Library`.

    `Library("mine", "DEF")` owns a namespace, `"FRAGMENT"` adds definitions to one, `"IMPL"` gives kernels,
    by default for `dispatch_key`. Fallbacks go into `Library("_", "IMPL")`. Closing the library, or
    dropping the last reference to it, undoes everything it registered.

    Raises DispatcherError for what c10 refuses: a second DEF of a namespace, definitions under a
    dispatch key or in the namespace `_`, the reserved namespace `prim`.
    """

    # Also on the class, so that a library whose construction failed can be dropped.
    _kernels: list[Any] = []
    _definitions: list[OperatorHandle] = []
    _fallbacks: list[DispatchKey] = []
    _owns_namespace = False

    def __init__(
        self,
        namespace: str,
        kind: str,
        dispatch_key: str | DispatchKey = "",
        dispatcher: Dispatcher | None = None,
        *,
        debug: str | None = None,
    ) -> None:
        self._kernels = []  # Flat: entry, kernel, entry ... There are many.
        self._definitions = []
        self._fallbacks = []
        if kind not in KINDS:
            raise ValueError(
                f"unsupported kind of library: {kind!r}; expected one of {', '.join(KINDS)}"
            )
        check_namespace(namespace)
        frame = sys._getframe(1)
        self.namespace = namespace
        self.kind = kind
        self.file = frame.f_code.co_filename
        self.line = frame.f_lineno
        self.dispatcher = Dispatcher.singleton() if dispatcher is None else dispatcher
        self.dispatch_key = _parse_key(dispatch_key) if dispatch_key != "" else None
        self._default_key = self.dispatch_key or DispatchKey.CompositeImplicitAutograd
        self._site = debug or f"registered at {self.file}:{self.line}"
        self._prefix = f"{namespace}::"
        self._is_wildcard = namespace == WILDCARD
        if namespace in RESERVED_NAMESPACES:
            raise DispatcherError(
                f"{namespace} is a reserved namespace. Please try creating a library with another name."
            )
        if kind != "IMPL":
            self._check_definitions_allowed()
        if kind == "DEF":
            self.dispatcher.register_library(namespace, self._site)
            self._owns_namespace = True

    def _check_definitions_allowed(self) -> None:
        if self.dispatch_key is not None:
            raise DispatcherError(
                f"a library of kind {self.kind} defines operators and has no dispatch key, "
                f"but {self.dispatch_key} was given; {self._site}"
            )
        if self.namespace == WILDCARD:
            raise DispatcherError(
                f"{self.kind}: cannot define operators in the wildcard namespace _; {self._site}"
            )

    def __repr__(self) -> str:
        key = f", {self.dispatch_key}" if self.dispatch_key is not None else ""
        return f"Library({self.namespace}, {self.kind}{key})"

    def define(
        self, schema: str, *, tags: str | Iterable[str] = (), debug: str | None = None
    ) -> OperatorHandle:
        """Define an operator from its schema, with or without the namespace. Returns its handle.

        Raises `SchemaError` for a schema that does not parse or that no call could fit, DispatcherError for
        one of another namespace, for a second definition, and in a library of kind IMPL.
        """
        from .read_schema import read_schema

        self._check_open()
        all_tags = (tags,) if isinstance(tags, str) else tuple(tags)
        signature = read_schema(schema, self.namespace, all_tags)
        self._check_define(schema, signature.name.rpartition("::")[0])
        frame = sys._getframe(1)
        return self._define(signature, *place(frame, debug))

    def define_stubs(
        self,
        schema: str,
        kinds: str,
        call: Callable[..., Any],
        redispatch: Callable[..., Any],
        tags: tuple[str, ...] = (),
        returns: int = 1,
        sized: Mapping[int, str] = NOTHING,
    ) -> OperatorHandle:
        """`define` for generated code: its stubs have the schema's arguments, with their defaults.

        `kinds`, `tags`, `returns` and `sized` are those of `Signature`.
        """
        signature = Signature.of_stub(schema, kinds, call, tags, returns, sized)
        self._check_define(schema, signature.name.rpartition("::")[0])
        frame = sys._getframe(1)
        operator = self._define(signature, *place(frame, None))
        operator.use_stubs(call, redispatch)
        return operator

    def _define(self, signature: Signature, where: Place, offset: int) -> OperatorHandle:
        acquire()  # Written out, see `impl`.
        try:
            operator = self.dispatcher.register_def(signature, where, offset)
            self._definitions.append(operator)
        finally:
            release()
        return operator

    def _check_define(self, schema: str, namespace: str) -> None:
        if self.kind == "IMPL":
            raise DispatcherError(
                f'define("{schema}"): Cannot define an operator inside of a library of kind IMPL.  All '
                f"definitions belong in the (unique) DEF library of their namespace.  {self._site}"
            )
        if namespace and namespace != self.namespace:
            raise DispatcherError(
                f'define("{schema}"): Explicitly provided namespace ({namespace}) in schema string does '
                f"not match namespace of enclosing {self.kind} library ({self.namespace}).  Move this "
                f"definition to the (unique) DEF library of that namespace.  {self._site}"
            )

    def impl(
        self,
        name: str | OperatorHandle,
        fn: KernelLike,
        dispatch_key: str | DispatchKey = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
        debug: str | None = None,
    ) -> None:
        """Register a kernel for an operator, which may be defined before or after.

        `name` is `add.Tensor` or `aten::add.Tensor`; `dispatch_key` defaults to the library's. Without either, and for
        Undefined, the kernel is CompositeImplicitAutograd. The newest kernel of a key is used; older ones come back
        when it is removed. `with_keyset` kernels get the call's keyset
        first. A plain Python kernel must be callable with the schema's arguments: otherwise raises a TypeError that
        shows both. Raises DispatcherError for a name or key of another library.
        """
        # Written out, because importing a large package calls this tens of thousands of times.
        if self.kind == CLOSED:
            self._check_open()
        if not isinstance(name, str):
            name = name_of(name)
        full_name = (
            self._qualify(name) if "::" in name or self._is_wildcard else self._prefix + name
        )
        key = self._default_key if dispatch_key == "" else self._key_for(full_name, dispatch_key)
        kind = WITH_KEYSET if with_keyset else 0
        if debug is None:
            frame = sys._getframe(1)
            kernel = Kernel(fn, kind, frame.f_code, frame.f_lasti)
        else:
            kernel = Kernel(fn, kind, debug, 0)
        dispatcher = self.dispatcher
        acquire()
        try:
            operator = dispatcher._operators.get(full_name)
            if operator is None or operator.entry.signature is None:  # The name is not checked.
                check_name(name, full_name[len(self._prefix) :])
                check_callable(kernel)
                operator = dispatcher.operator_of_name(full_name)
            else:
                check_kernel(operator.entry.signature, kernel)
            entry = operator.entry
            if key in entry.kernels:
                _overridden(entry, key, kernel, allow_override)
            entry.add_kernel(key, kernel)
            self._kernels += (entry, kernel)
        finally:
            release()

    def impl_deferred(
        self, load: LoadModule, kernels: Mapping[str, str], *, with_keyset: bool = False
    ) -> None:
        """`impl` for generated code: functions of the module that `load` imports when one of them is needed.

        `kernels` has the name of a function for the local name of each operator. They are generated from the schemas,
        so they are not checked against them. See Note [Kernels load when they are called].
        """
        self._check_open()
        kind = WITH_KEYSET if with_keyset else 0
        with self.dispatcher.lock:
            for name, function in kernels.items():
                kernel = DeferredKernel(load, function, kind)
                self._add(self._prefix + name, self._default_key, kernel)

    def impl_from(self, load: LoadModule, name: str, function: str) -> None:
        """`impl` for generated code: a handwritten function, in the module that `load` imports when a call needs it.

        It is then checked against the schema. See Note [Kernels load when they are called].
        """
        self._check_open()
        frame = sys._getframe(1)
        kernel = WrittenKernel(load, function, frame.f_code, frame.f_lasti)
        with self.dispatcher.lock:
            self._add(self._prefix + name, self._default_key, kernel)

    def _add(self, full_name: str, key: DispatchKey, kernel: Kernel) -> None:
        entry = self.dispatcher.operator_of_name(full_name).entry
        if key in entry.kernels:
            _overridden(entry, key, kernel, allow_override=True, stacklevel=4)
        entry.add_kernel(key, kernel)
        self._kernels += (entry, kernel)

    def fallback(
        self,
        fn: KernelLike,
        dispatch_key: str | DispatchKey = "",
        *,
        with_keyset: bool = False,
        debug: str | None = None,
    ) -> None:
        """Register the kernel of a runtime key for every operator that has none there.

        `fn` takes the operator before the arguments, and the keyset before that if `with_keyset`;
        `fallthrough_kernel` lets calls pass to the next key. Only in a library of kind IMPL of the
        namespace `_`, one for each key.
        """
        self._check_open()
        frame = sys._getframe(1)
        if self.namespace != WILDCARD or self.kind != "IMPL":
            raise DispatcherError(
                f"Fallback can only be registered in a library of kind IMPL of the wildcard namespace _, "
                f"but this one is {self!r}"
            )
        key = self._key_for("", dispatch_key)
        if is_alias_dispatch_key(key):
            raise DispatcherError(f"a fallback needs a runtime key, but {key} is an alias key")
        kind = WITH_KEYSET if with_keyset else 0
        if fn is not fallthrough_kernel:
            kind |= IS_FALLBACK
        kernel = Kernel(fn, kind, *place(frame, debug))
        check_callable(kernel)
        with self.dispatcher.lock:
            self.dispatcher.register_fallback(key, kernel)
            self._fallbacks.append(key)

    def close(self) -> None:
        """Undo what this library registered: kernels, fallbacks, definitions. It can register nothing afterwards.

        Everything is undone even if listeners raise; then the last of their exceptions is raised.
        """
        dispatcher = self.dispatcher
        with dispatcher.lock, ExitStack() as steps:  # From the last to the first.
            self.kind = CLOSED
            if self._owns_namespace:
                steps.callback(dispatcher.deregister_library, self.namespace)
            for definition in self._definitions:
                steps.callback(dispatcher.deregister_def, definition)
            for key in self._fallbacks:
                steps.callback(dispatcher.deregister_fallback, key)
            kernels = self._kernels
            self._kernels, self._definitions, self._fallbacks = [], [], []
            self._owns_namespace = False
            while kernels:
                kernel, entry = kernels.pop(), kernels.pop()
                dispatcher.deregister_impl(entry, kernel)

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._kernels or self._definitions or self._fallbacks or self._owns_namespace:
            do_when_free(self.close)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(f"{self!r} owns what it has registered, so it cannot be copied or pickled")

    def _check_open(self) -> None:
        if self.kind == CLOSED:
            raise DispatcherError(f"this library for namespace {self.namespace} is closed")

    def _qualify(self, name: str) -> str:
        if self._is_wildcard:
            raise DispatcherError(
                f'impl("{name}", ...): kernels of operators cannot be registered in the wildcard namespace _'
            )
        if not name.startswith(self._prefix):
            raise DispatcherError(
                f'impl("{name}", ...): Explicitly provided namespace ({name.partition("::")[0]}) in operator '
                f"name does not match namespace of enclosing {self.kind} library ({self.namespace}).  Move "
                f"this definition to a library of that namespace.  {self._site}"
            )
        return name

    def _key_for(self, name: str, dispatch_key: str | DispatchKey) -> DispatchKey:
        if dispatch_key == "":
            key = self.dispatch_key
        else:
            key = _parse_key(dispatch_key)
            if self.dispatch_key is not None and key != self.dispatch_key:
                raise DispatcherError(
                    f'impl("{name}", ...): Explicitly provided dispatch key ({key}) is inconsistent with the '
                    f"dispatch key of the enclosing IMPL library ({self.dispatch_key}).  {self._site}"
                )
        return key or DispatchKey.CompositeImplicitAutograd


def _parse_key(key: str | DispatchKey) -> DispatchKey:
    parsed = key if isinstance(key, DispatchKey) else parse_dispatch_key(key)
    if parsed not in SLOT_OF and not is_alias_dispatch_key(parsed):
        raise ValueError(
            f"{parsed} is neither a runtime key nor an alias key, so no kernel can be registered at it"
        )
    return parsed


def _overridden(
    entry: OperatorEntry,
    key: DispatchKey,
    kernel: Kernel,
    allow_override: bool,
    stacklevel: int = 3,
) -> None:
    previous = entry.kernels[key]
    if not allow_override:
        raise DispatcherError(
            f"This is not allowed since there's already a kernel registered overriding {entry.full_name}'s "
            f"behavior for {key}: {previous.debug}"
        )
    if key.name in ("Meta", "MTIA") or _OverrideWarning.given:
        return
    _OverrideWarning.given = True
    warnings.warn(
        f"Warning only once for all operators, other operators may also be overridden.\n"
        f"  Overriding a previously registered kernel for the same operator and the same dispatch key\n"
        f"  operator: {entry.full_name}\n    {entry.definition_debug}\n  dispatch key: {key}\n"
        f"  previous kernel: {previous.debug}\n       new kernel: {kernel.debug}",
        stacklevel=stacklevel,
    )
