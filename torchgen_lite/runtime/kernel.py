"""`Kernel`: what is registered at a dispatch key (c10 `KernelFunction` and `AnnotatedKernel`).

Note [Three ways to call a kernel]
An unboxed kernel takes the arguments of the schema. `with_keyset` puts the keyset of the call before
them, which a kernel needs in order to redispatch. A backend fallback serves every operator, so it takes
the operator before the arguments. A boxed kernel takes `(operator, keyset, stack)` and replaces the
arguments on the stack by the results. `bind` turns each into one callable over the schema's arguments;
what it makes is memoised per operator and keyset, so it runs once and not at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from torchgen_lite.runtime.errors import fallthrough_kernel
from torchgen_lite.runtime.keyset import DispatchKeySet

if TYPE_CHECKING:
    from torchgen_lite.runtime.operator import OperatorHandle

KernelCallable = Callable[..., Any]


class BoxedKernel:
    """Marks a function `(operator, keyset, stack) -> None` as boxed, for `impl` and `fallback` alike."""

    __slots__ = ("function",)

    def __init__(
        self, function: Callable[[OperatorHandle, DispatchKeySet, list[Any]], None]
    ) -> None:
        self.function = function


class Kernel:
    """One registration. `older` is the kernel that it shadows, which comes back when this one goes."""

    __slots__ = ("file", "function", "is_fallback", "line", "note", "older", "with_keyset")
    older: Kernel | None

    def __init__(
        self,
        function: KernelCallable | BoxedKernel,
        with_keyset: bool,
        is_fallback: bool,
        file: str,
        line: int,
        note: str | None,
    ) -> None:
        self.function = function
        self.with_keyset = with_keyset
        self.is_fallback = is_fallback
        self.file = file
        self.line = line
        self.note = note
        self.older = None

    @property
    def is_fallthrough(self) -> bool:
        return self.function is fallthrough_kernel

    @property
    def debug(self) -> str:
        """Where it was registered, in c10's words, unless the registration said something else."""
        return self.note if self.note is not None else f"registered at {self.file}:{self.line}"

    def bind(self, operator: OperatorHandle, keyset: DispatchKeySet) -> KernelCallable:
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


def _unboxed(
    function: Callable[[OperatorHandle, DispatchKeySet, list[Any]], None],
    operator: OperatorHandle,
    keyset: DispatchKeySet,
) -> KernelCallable:
    def unboxed(*arguments: Any, **keywords: Any) -> Any:
        stack = box_arguments(operator, arguments, keywords)
        function(operator, keyset, stack)
        return unbox_results(operator, stack)

    return unboxed


def box_arguments(
    operator: OperatorHandle, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> list[Any]:
    """The stack of a call: every argument in schema order, defaults filled in."""
    signature = operator.signature
    stack = list(arguments)
    defaults = dict(signature.defaults)
    for name in signature.arguments[len(arguments) :]:
        if name in keywords:
            stack.append(keywords[name])
        elif name in defaults:
            stack.append(defaults[name])
        else:
            raise TypeError(f"{operator}() is missing value for argument '{name}'")
    return stack


def unbox_results(operator: OperatorHandle, stack: list[Any]) -> Any:
    """What a call returns: None, the one result, or a tuple of several."""
    count = operator.signature.returns
    if len(stack) != count:
        raise TypeError(
            f"a boxed kernel of {operator} left {len(stack)} values on the stack, not {count}"
        )
    if count == 0:
        return None
    return stack[0] if count == 1 else tuple(stack)
