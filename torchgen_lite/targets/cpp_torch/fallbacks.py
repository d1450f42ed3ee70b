"""Boxed kernels: `fallback.h`, `functionalize.h`, and what is registered with the second.

Note [Functionalization]
torch.compile replaces what is written in place by new tensors. PyTorch does so for its own operators and
for those that return nothing; an operator that returns what it writes, as `scale_` and `scale.out` do, it
refuses. Where the functional variant is in the file too, the kernel follows from it, so it is registered:

    TORCH_LIBRARY_IMPL(mylib, Functionalize, m) {
      m.impl("scale_", mylib::fallback::functionalize("mylib::scale", ""));
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.dialects.cpp_text import call, quote
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import walk_type
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.registrations import StatementView
from torchgen_lite.targets.output import OutputFile

_HEADERS = ("fallback.h", "functionalize.h")
_SOURCE = "register_functionalize.cpp"
# With a kernel for one of these the operator is not seen at Functionalize, or sees to it itself.
_SERVED = frozenset({"CompositeImplicitAutograd", "Functionalize"})


@dataclass(frozen=True, slots=True)
class FunctionalizeView:
    """The registrations for the operators of one namespace, each under the condition of those it names."""

    name: str
    calls: tuple[StatementView, ...]


def fallback_files(
    resolved: Resolved, operators: Sequence[Operator], folder: str, namespace: str
) -> Iterator[OutputFile]:
    """The headers, and the registrations if there is something to register.

    `operators` are those whose schemas the library defines; operators of PyTorch's are served.
    """
    for name in _HEADERS:
        path = f"{folder}/include/{namespace.replace('::', '/')}/{name}"
        yield OutputFile(path, f"cpp_torch/{name}.j2", {"namespace": namespace})
    libraries = functionalize_views(resolved, operators, namespace)
    if libraries:
        context = {
            "namespace": namespace,
            "folder": namespace.replace("::", "/"),
            "has_guards": any(call.guard for view in libraries for call in view.calls),
            "libraries": libraries,
        }
        yield OutputFile(f"{folder}/src/{_SOURCE}", f"cpp_torch/{_SOURCE}.j2", context)


def functionalize_views(
    resolved: Resolved, operators: Sequence[Operator], namespace: str
) -> tuple[FunctionalizeView, ...]:
    """For each namespace of operators, in the order of the file."""
    calls: dict[str, list[StatementView]] = {}
    for operator in operators:
        functional = _functional(resolved, operator)
        if functional is not None:
            function = operator.function
            line = _registration(function, functional, namespace)
            call = StatementView(condition(function, functional), line)
            calls.setdefault(function.namespace, []).append(call)
    return tuple(FunctionalizeView(name, tuple(lines)) for name, lines in calls.items())


def _functional(resolved: Resolved, operator: Operator) -> NativeFunction | None:
    """The functional variant that gives the results of an in-place or out variant."""
    if operator.kind not in (SchemaKind.inplace, SchemaKind.out, SchemaKind.scratch):
        return None
    found = resolved.functional_of(operator)
    if found is None or not _returns_what_it_writes(operator.function, found.function):
        return None
    is_served = any(kernel.key in _SERVED for kernel in own_kernels(operator.function))
    return None if is_served else found.function


def _returns_what_it_writes(function: NativeFunction, functional: NativeFunction) -> bool:
    """Whether the results are the written tensors, one for each result of the functional variant."""
    written = [argument for argument in function.func.arguments if argument.is_write]
    returns = function.func.returns
    return (
        all(len(list(walk_type(argument.type))) == 1 for argument in written)
        and [argument.annotation for argument in written] == [r.annotation for r in returns]
        and len(returns) == len(functional.func.returns)
    )


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
