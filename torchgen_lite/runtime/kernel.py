"""`Kernel`: what is registered at a dispatch key (c10 `KernelFunction` and `AnnotatedKernel`).

Note [Three ways to call a kernel]
An unboxed kernel takes the arguments of the schema. `with_keyset` puts the keyset of the call before
them, which a kernel needs in order to redispatch. A backend fallback serves every operator, so it takes
the operator before the arguments. A boxed kernel takes `(operator, keyset, stack)` and replaces the
arguments on the stack by the results. `bind` turns each into one callable over the schema's arguments;
what it makes is memoized per operator and keyset, so it runs once and not at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Protocol

from .errors import fallthrough_kernel
from .keyset import DispatchKeySet
from .signature import Signature
from .sites import Place, site

KernelCallable = Callable[..., Any]
BoxedCallable = Callable[[Any, DispatchKeySet, list[Any]], None]


class Signed(Protocol):
    """What a kernel needs to know about the operator that it serves."""

    @property
    def signature(self) -> Signature: ...


class BoxedKernel:
    """Marks a function `(operator, keyset, stack) -> None` as boxed, for `impl` and `fallback` alike."""

    __slots__ = ("function",)

    def __init__(self, function: BoxedCallable) -> None:
        if not callable(function):
            raise TypeError(f"a boxed kernel must be callable, not {function!r}")
        self.function = function


WITH_KEYSET = 1
IS_FALLBACK = 2


# Modules of registrations have the same offsets; the integers are shared.
_numbers: dict[int, int] = {}


def packed(kind: int, offset: int) -> int:
    number = offset << 2 | kind
    return _numbers.setdefault(number, number)


class Kernel:
    """One registration. `older` is the kernel that it shadows, which comes back when this one goes.

    `where` and `offset` are its site. There are tens of thousands of these, so they are packed:
    `_offset_and_kind` is 4 * offset + WITH_KEYSET + IS_FALLBACK.
    """

    __slots__ = ("_offset_and_kind", "_where", "function", "older")
    older: Kernel | None

    def __init__(
        self, function: KernelCallable | BoxedKernel, kind: int, where: Place, offset: int
    ) -> None:
        self.function = function
        self._where = where
        self._offset_and_kind = packed(kind, offset)
        self.older = None

    @property
    def with_keyset(self) -> bool:
        return self._offset_and_kind & WITH_KEYSET != 0

    @property
    def is_fallback(self) -> bool:
        return self._offset_and_kind & IS_FALLBACK != 0

    @property
    def is_fallthrough(self) -> bool:
        return self.function is fallthrough_kernel

    @property
    def debug(self) -> str:
        """Where it was registered, in c10's words, unless the registration said something else."""
        return site(self._where, self._offset_and_kind >> 2)

    def __str__(self) -> str:
        return f"fallthrough {self.debug}" if self.is_fallthrough else self.debug

    def bind(self, operator: Signed, keyset: DispatchKeySet) -> KernelCallable:
        """The kernel as a callable that takes the arguments of `operator`'s schema."""
        function = self.function
        if isinstance(function, BoxedKernel):
            return _unboxed(function.function, operator, keyset)
        if not self.is_fallback:
            return MethodType(function, keyset) if self.with_keyset else function
        if not self.with_keyset:
            return MethodType(function, operator)

        def fallback(*arguments: Any, **keywords: Any) -> Any:
            return function(keyset, operator, *arguments, **keywords)

        return fallback


def _unboxed(function: BoxedCallable, operator: Signed, keyset: DispatchKeySet) -> KernelCallable:
    signature = operator.signature  # A kernel may undo the definition that it is called by.

    def unboxed(*arguments: Any, **keywords: Any) -> Any:
        stack = box_arguments(signature, arguments, keywords)
        function(operator, keyset, stack)
        return unbox_results(signature, stack)

    return unboxed


def box_arguments(
    signature: Signature, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> list[Any]:
    """The stack of a call: every argument in schema order, defaults filled in."""
    stack = list(arguments)
    defaults = dict(signature.defaults)
    for name, parameter in zip(
        signature.arguments[len(arguments) :], signature.parameters[len(arguments) :]
    ):
        if parameter in keywords:
            stack.append(keywords[parameter])
        elif name in defaults:
            stack.append(defaults[name])
        else:
            raise TypeError(f"{signature.full_name}() is missing value for argument '{name}'")
    return stack


def unbox_results(signature: Signature, stack: list[Any]) -> Any:
    """What a call returns: None, the one result, or a tuple of several."""
    count = signature.returns
    if len(stack) != count:
        raise TypeError(
            f"a boxed kernel of {signature.full_name} left {len(stack)} values on the stack, not {count}"
        )
    if count == 0:
        return None
    return stack[0] if count == 1 else tuple(stack)
