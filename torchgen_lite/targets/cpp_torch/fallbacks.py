"""Boxed kernels: `fallback.h`, `functionalize.h`, and what is registered with the second.

See Note [Functionalization].

    TORCH_LIBRARY_IMPL(mylib, Functionalize, m) {
      m.impl("scale_", mylib::fallback::functionalize("mylib::scale", ""));
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.dialects.cpp_text import quote
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.registrations import ImplementationView, LibraryView, library_views
from torchgen_lite.targets.output import OutputFile

_HEADERS = ("fallback.h", "functionalize.h")
_SOURCE = "register_functionalize.cpp"


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
            "has_guards": any(call.guard for view in libraries for call in view.statements),
            "libraries": libraries,
        }
        yield OutputFile(f"{folder}/src/{_SOURCE}", f"cpp_torch/{_SOURCE}.j2", context)


def functionalize_views(
    registered: Iterable[Registration], namespace: str
) -> list[LibraryView[ImplementationView]]:
    """For each namespace of operators, in the order of the file."""
    calls = []
    for one in registered:
        if one.origin is Origin.functionalize and one.source is not None:
            function, functional = one.operator.function, one.source.function
            name = quote(f"{functional.namespace}::{functional.func.base_name}")
            overload = quote(functional.func.overload_name)
            call = ImplementationView(
                condition(function, functional),
                quote(function.func.local_name),
                f"{namespace}::fallback::functionalize({name}, {overload})",
            )
            calls.append((function.namespace, call))
    return library_views(calls)
