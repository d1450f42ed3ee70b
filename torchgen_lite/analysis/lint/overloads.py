"""The rule about overloads that Python cannot tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument
from torchgen_lite.schema.model import bare_type

# Types that accept the same Python values.
_SAME = {"SymInt": "int", "SymBool": "bool", "SymFloat": "float", "DeviceIndex": "int"}


def _python_type(argument: Argument) -> str:
    text = bare_type(argument.type).removesuffix("?")
    base, bracket, _ = text.partition("[")
    return _SAME.get(base, base) + ("[]" if bracket else "")


def call_key(function: NativeFunction) -> tuple[object, ...]:
    """Equal for overloads that the shortest possible call cannot choose between.

    That call passes only the required arguments, by position where possible.
    """
    required = [a for a in function.func.arguments if a.default is None]
    positional = tuple(_python_type(a) for a in required if not a.kwarg_only)
    keywords = tuple(sorted((a.name, _python_type(a)) for a in required if a.kwarg_only))
    return (function.namespace, function.func.base_name, positional, keywords)


def indistinguishable_overloads(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG411: the later of two overloads can only be called by its overload name."""
    names = Counter((f.namespace, f.func.base_name) for f in resolved.functions)
    seen: dict[tuple[object, ...], NativeFunction] = {}
    for function in resolved.functions:
        if names[function.namespace, function.func.base_name] == 1:
            continue
        first = seen.setdefault(call_key(function), function)
        if first is function:
            continue
        message = f"`{function.func.local_name}` and `{first.func.local_name}` cannot be told apart by a call"
        span, other = function.func.span, (first.func.span, "chosen first")
        yield finding(function, "TG411", message, span, "same arguments", None, other)
