"""The two files of autograd, made where any entry of the file has formulas.

`register_autograd.py` and `register_adinplaceorview.py`: which operators get which kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torchgen_lite.analysis.derive.views import is_aliasing
from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    differentiable_outputs,
    match_derivatives,
)
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import import_line, quote
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.autograd import (
    TENSORS,
    KernelView,
    autograd_kernel,
    is_composed,
    is_composite_implicit,
    out_kernel,
    passing_kernel,
    register_line,
    untracked_kernel,
    view_kernel,
    writes,
    written_kernel,
)
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.nodes import Functions, NodeView, node_view
from torchgen_lite.targets.python.package import Package, module_imports, type_imports
from torchgen_lite.targets.python.views import assignment

# Each is imported under an underscore, for arguments of operators may have the same names.
_AUTOGRAD_NAMES = (
    "Gradients",
    "Node",
    "after_autograd",
    "check_inplace_history",
    "conj",
    "edge_of",
    "edges_of",
    "grad_enabled",
    "needs_grad",
    "original",
    "output_of",
    "rebase_history",
    "refuse_out",
    "save",
    "save_list",
    "save_optional",
    "save_result",
    "set_histories",
    "set_history",
    "zeros",
)
_VIEW_NAMES = (
    "after_adinplaceorview",
    "as_view",
    "as_views",
    "bump_version",
)


def build_differentiation(
    package: Package, helpers: KernelIndex | None
) -> tuple[list[OutputFile], list[str]]:
    """The files and the modules that `registration.py` imports; none without formulas."""
    functions = [overload.function for overload in package.overloads]
    if all(function.derivatives is None for function in functions):
        return [], []
    matches = match_derivatives(functions).of
    found = {o.names.flat: matches.get(o.function.name, {}).get(DEFAULT) for o in package.overloads}
    files = [
        _autograd_file(package, found, helpers),
        _adinplaceorview_file(package, found),
    ]
    return files, ["register_autograd", "register_adinplaceorview"]


def _takes_tensors(overload: Overload) -> bool:
    return any(dispatch_kind(a.type) in TENSORS for a in overload.schema.arguments)


def _autograd_file(
    package: Package, found: Mapping[str, DifferentiabilityInfo | None], helpers: KernelIndex | None
) -> OutputFile:
    functions = Functions(_modules_of(helpers))
    nodes: dict[str, NodeView] = {}
    kernels: list[KernelView] = []
    fallthroughs: list[str] = []
    used: list[Overload] = []
    for overload in package.overloads:
        info = found[overload.names.flat]
        if info is None or not _takes_tensors(overload) or is_composite_implicit(overload):
            continue
        if not info.arguments or not differentiable_outputs(info.function.func, info):
            if is_composed(overload):
                used.append(overload)
                kernels.append(passing_kernel(overload))
            else:
                fallthroughs.append(register_line(overload, "_fallthrough", keyset=False))
            continue
        used.append(overload)
        if overload.schema.kind() is SchemaKind.out:
            kernels.append(out_kernel(overload, info))
            continue
        kernels.append(autograd_kernel(overload, info))
        if info.node_name not in nodes:
            nodes[info.node_name] = node_view(info, functions)
    context = _context(package, used, _AUTOGRAD_NAMES, "Autograd") | {
        "imports": [
            "from . import functions as _functions",
            *module_imports(".", [o.names.redispatch_module for o in used]),
        ],
        "nodes": list(nodes.values()),
        "kernels": kernels,
        "fallthroughs": fallthroughs,
    }
    modules = dict.fromkeys(functions.helpers.values())
    context["framework"] = [
        *(_import_module(module) for module in modules),
        *context["framework"],  # type: ignore[misc]
    ]
    path = f"{package.root}/register_autograd.py"
    return OutputFile(path, "python/register_autograd.py.j2", context)


def _import_module(module: str) -> str:
    parent, _, name = module.rpartition(".")
    return f"from {parent} import {name} as _{name}" if parent else f"import {name} as _{name}"


def _modules_of(helpers: KernelIndex | None) -> dict[str, str]:
    """For each helper function the module that defines it."""
    if helpers is None:
        return {}
    return {name: module.name for module in reversed(helpers.modules) for name in module.names}


def _adinplaceorview_file(
    package: Package, found: Mapping[str, DifferentiabilityInfo | None]
) -> OutputFile:
    kernels: list[KernelView] = []
    used: list[Overload] = []
    for overload in package.overloads:
        if is_composite_implicit(overload) or not _takes_tensors(overload):
            continue
        info = found[overload.names.flat]
        if writes(overload):
            kernels.append(written_kernel(overload))
            used.append(overload)
        elif is_aliasing(overload.schema) and info is not None:
            make = view_kernel if info.arguments else untracked_kernel
            kernels.append(make(overload))
            used.append(overload)
    context = _context(package, used, _VIEW_NAMES, "ADInplaceOrView") | {
        "imports": [
            *module_imports(".", [o.names.operators_module for o in used]),
            *module_imports(".", [o.names.redispatch_module for o in used]),
        ],
        "kernels": kernels,
    }
    path = f"{package.root}/register_adinplaceorview.py"
    return OutputFile(path, "python/register_adinplaceorview.py.j2", context)


def _context(
    package: Package, used: Sequence[Overload], names: Iterable[str], key: str
) -> dict[str, object]:
    namespaces = dict.fromkeys(o.names.namespace for o in used)
    framework = package.options.framework
    return {
        "framework": [import_line(framework, [f"{name} as _{name}"]) for name in names],
        "types": type_imports(package, [o.function for o in used], frozenset()),
        "constants": [],
        "libraries": [
            assignment(
                identifier(n), f'Library({quote(n)}, "IMPL", {quote(key)}, dispatcher=dispatcher)'
            )
            for n in namespaces
        ],
    }
