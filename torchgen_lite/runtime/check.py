"""The check of a Python kernel against its schema (c10 checks the C++ signature it can infer)."""

from __future__ import annotations

from types import FunctionType

from .errors import DispatcherError, fallthrough_kernel
from .kernel import WITH_KEYSET, BoxedKernel, Kernel
from .signature import Signature

_VARARGS = 0x04
_VARKEYWORDS = 0x08


def check_kernel(signature: Signature, kernel: Kernel) -> None:
    """Raise TypeError unless a plain Python kernel can be called with the schema's arguments.

    Calls pass every argument: positional ones by position, keyword-only ones by name. Builtins, bound
    methods and objects with `__call__` are not looked into.
    """
    function = kernel.function
    if type(function) is not FunctionType or function is fallthrough_kernel:
        check_callable(kernel)
        return
    code = function.__code__
    first = kernel._offset_and_kind & WITH_KEYSET
    given = signature.positional + first
    keywords = code.co_kwonlyargcount
    if (
        code.co_argcount == given
        and len(signature.arguments) == signature.positional + keywords
        and (
            not keywords
            or code.co_varnames[given : given + keywords]
            == signature.arguments[signature.positional :]
        )
        and not signature.types
    ):
        return  # The usual case: parameter for argument, with no annotations to look at.
    fault = ""
    if code.co_argcount < given and not code.co_flags & _VARARGS:
        fault = f"it takes {code.co_argcount} positional arguments, but a call passes {given}"
    elif code.co_argcount - len(function.__defaults__ or ()) > given + len(
        set(signature.keywords).intersection(code.co_varnames[given : code.co_argcount])
    ):
        fault = f"it needs more than the {given} positional arguments that a call passes"
    elif not code.co_flags & _VARKEYWORDS:
        names = code.co_varnames[given : code.co_argcount + code.co_kwonlyargcount]
        missing = [n for n in signature.keywords if n not in names]
        if missing:
            fault = f"it does not take the keyword-only argument '{missing[0]}'"
    if not fault:
        required = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        defaults = function.__kwdefaults__ or {}
        for name in required:
            if name not in defaults and name not in signature.keywords:
                fault = f"its keyword-only argument '{name}' is not in the schema"
    if not fault and signature.types and function.__annotations__:
        from .annotations import fault_of_annotations

        fault = fault_of_annotations(signature, function, first)
    if fault:
        raise TypeError(_message(signature, kernel, function, fault))


def check_callable(kernel: Kernel) -> None:
    """Raise TypeError for a kernel that no call could run."""
    if not callable(kernel.function) and not isinstance(kernel.function, BoxedKernel):
        raise TypeError(f"a kernel must be callable, not {kernel.function!r}; {kernel.debug}")


def check_name(given: str, name: str) -> None:
    """Raise DispatcherError unless `define` accepts `name`, the part after the namespace."""
    base, dot, overload_name = name.partition(".")
    is_name = base.isidentifier() and (not dot or overload_name.isidentifier())
    if not is_name or not name.isascii():
        fault = "an operator's name has the form `name` or `name.overload`"
    elif overload_name == "default" or overload_name.startswith("__"):
        fault = f"`{overload_name}` cannot be an overload name"
    else:
        return
    raise DispatcherError(f'impl("{given}", ...): {fault}')


def name_of(operator: object) -> str:
    """The name of an operator that is given itself. Raises TypeError for anything else."""
    name = getattr(operator, "full_name", None)
    if not isinstance(name, str):
        raise TypeError(f"impl takes an operator or the name of one, not {operator!r}")
    return name


def check_namespace(given: object) -> None:
    """Raise for what no schema could name: TypeError if it is not text, else DispatcherError."""
    if not isinstance(given, str):
        raise TypeError(f"a namespace is text, not {given!r}")
    if not given.isascii() or not all(part.isidentifier() for part in given.split("::")):
        raise DispatcherError(f"`{given}` cannot be a namespace: it is not an identifier")


def _message(signature: Signature, kernel: Kernel, function: FunctionType, fault: str) -> str:
    import inspect

    keyset = "the keyset and then " if kernel.with_keyset else ""
    return (
        f"the kernel of {signature.full_name} does not fit its schema: {fault}\n"
        f"  schema: {signature.schema}\n"
        f"  kernel: {function.__qualname__}{inspect.signature(function)}, called with {keyset}"
        f"the schema's arguments\n"
        f"  {kernel.debug}"
    )
