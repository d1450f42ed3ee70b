"""Boxed kernels: `fallback.h`, `functionalize.h`, and what is registered with the second.

See Note [Functionalization].

    TORCH_LIBRARY_IMPL(mylib, Functionalize, m) {
      m.impl("scale_", mylib::fallback::functionalize("mylib::scale", ""));
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.dialects.cpp_text import call, quote
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.registrations import StatementView
from torchgen_lite.targets.output import OutputFile

_HEADERS = ("fallback.h", "functionalize.h")
_SOURCE = "register_functionalize.cpp"


@dataclass(frozen=True, slots=True)
class FunctionalizeView:
    """The registrations for the operators of one namespace, each under the condition of those it names."""

    name: str
    calls: tuple[StatementView, ...]


def fallback_files(
    registered: Iterable[Registration], folder: str, namespace: str
) -> Iterator[OutputFile]:
    """The headers, and the registrations if there is something to register."""
    for name in _HEADERS:
        path = f"{folder}/include/{namespace.replace('::', '/')}/{name}"
        yield OutputFile(path, f"cpp_torch/{name}.j2", {"namespace": namespace})
    libraries = functionalize_views(registered, namespace)
    if libraries:
        context = {
            "namespace": namespace,
            "folder": namespace.replace("::", "/"),
            "has_guards": any(call.guard for view in libraries for call in view.calls),
            "libraries": libraries,
        }
        yield OutputFile(f"{folder}/src/{_SOURCE}", f"cpp_torch/{_SOURCE}.j2", context)


def functionalize_views(
    registered: Iterable[Registration], namespace: str
) -> tuple[FunctionalizeView, ...]:
    """For each namespace of operators, in the order of the file."""
    calls: dict[str, list[StatementView]] = {}
    for one in registered:
        if one.origin is Origin.functionalize and one.source is not None:
            function, functional = one.operator.function, one.source.function
            line = _registration(function, functional, namespace)
            call = StatementView(condition(function, functional), line)
            calls.setdefault(function.namespace, []).append(call)
    return tuple(FunctionalizeView(name, tuple(lines)) for name, lines in calls.items())


def _registration(function: NativeFunction, functional: NativeFunction, namespace: str) -> str:
    name = f"{functional.namespace}::{functional.func.base_name}"
    kernel = [quote(name), quote(functional.func.overload_name)]
    head = f"{namespace}::fallback::functionalize("
    operator = quote(function.func.local_name)
    line = f"  m.impl({operator}, {head}{', '.join(kernel)}));"
    if len(line) <= 80:
        return line
    items = [operator, call(head, kernel, indent=6)]
    return "  " + call("m.impl(", items, ");", indent=2)
