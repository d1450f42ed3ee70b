"""`_kernels.py`: a function for each kernel of the YAML, which imports the author's at its first call.

def cpu_muladd(a: Tensor, b: Tensor, s: float) -> Any:
    return _resolve("ops.yaml:12", "my_kernels", "muladd_cpu")(a, b, s)
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.fakes import disagreement
from torchgen_lite.analysis.finding import finding
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.dialects import python, torch_library
from torchgen_lite.dialects.text import bracketed, docstring, quote
from torchgen_lite.loader.entry import DispatchEntry
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.fakes import FunctionView
from torchgen_lite.targets.torch_python.model import Operator, Package


def build_kernels(package: Package) -> tuple[list[OutputFile], list[tuple[str, str, str]]]:
    """The file, and (operator, key, expression) of every kernel."""
    views: list[FunctionView] = []
    schemas = []
    registered: list[tuple[str, str, str]] = []
    for operator in package.operators:
        for entry in operator.dispatch:
            found = package.module_of("kernels", entry.kernel)
            if found is None:
                continue
            view = _view(operator, entry, found)
            views.append(view)
            schemas.append(operator.schema)
            registered.append((operator.name, entry.key, f"_kernels.{view.name}"))
    if not views:
        return [], []
    context = {
        "imports": torch_library.type_imports(schemas, ["Any"]),
        "functions": views,
    }
    path = f"{package.root}/_kernels.py"
    return [OutputFile(path, "torch_python/kernels.py.j2", context)], registered


def _view(operator: Operator, entry: DispatchEntry, found: tuple[str, str]) -> FunctionView:
    place = _place(operator, entry)
    items = [quote(place), quote(found[0]), quote(found[1])]
    lines = bracketed("_kernel = _resolve(", items, indent=4).split("\n    ")
    call = bracketed("return _kernel(", python.forwarded(operator.schema), indent=4).split("\n    ")
    return FunctionView(
        f"{entry.key.lower()}_{operator.flat}",
        python.signature(torch_library.parameters(operator.schema, inside=True)),
        "Any",
        docstring(f"{operator.name} for {entry.key}"),
        (*lines, *call),
    )


def _place(operator: Operator, entry: DispatchEntry) -> str:
    span = entry.kernel_span
    return f"{span.source.path}:{span.line}" if span else operator.place


def check_kernels(package: Package) -> Iterator[Diagnostic]:
    """Kernels that no module defines, or that can't be called with the operator's arguments."""
    index = package.modules.get("kernels")
    if index is None:
        return
    for operator in package.operators:
        function = operator.function
        for entry in operator.dispatch:
            if package.module_of("kernels", entry.kernel) is None:
                hint = did_you_mean(entry.kernel.rpartition(".")[2], index.names())
                hint = hint or "write the function in one of the modules of `kernels`"
                message = f"no kernel module defines `{entry.kernel}`"
                yield finding(function, "TG302", message, entry.kernel_span, "not found", hint)
                continue
            signature = index.signature(entry.kernel)
            problem = signature and disagreement(
                signature, operator.schema, leaves_out_defaults=False
            )
            if problem:
                yield finding(function, "TG334", problem, entry.kernel_span, "this kernel")
