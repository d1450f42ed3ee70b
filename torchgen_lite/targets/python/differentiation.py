"""The two files of autograd, made where any entry of the file has formulas.

`register_autograd.py` and `register_adinplaceorview.py`: which operators get which kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torchgen_lite.analysis.differentiability import (
    AutogradPlan,
    Category,
    Tracking,
)
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import import_line, quote
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.autograd import (
    KernelView,
    autograd_kernel,
    out_kernel,
    passing_kernel,
    register_line,
    untracked_kernel,
    view_kernel,
    written_kernel,
)
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.nodes import Functions, NodeView, node_view
from torchgen_lite.targets.python.package import Package, module_imports, type_imports
from torchgen_lite.targets.python.views import assignment

_Planned = tuple[Overload, AutogradPlan]

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
    package: Package, resolved: Resolved, helpers: KernelIndex | None
) -> tuple[list[OutputFile], list[str]]:
    """The files and the modules that `registration.py` imports; none without formulas."""
    functions = [overload.function for overload in package.overloads]
    if all(function.derivatives is None for function in functions):
        return [], []
    plans = resolved.autograd
    planned = [(o, plans[o.function.name]) for o in package.overloads]
    files = [
        _autograd_file(package, planned, helpers),
        _adinplaceorview_file(package, planned),
    ]
    return files, ["register_autograd", "register_adinplaceorview"]


def _autograd_file(
    package: Package, planned: Sequence[_Planned], helpers: KernelIndex | None
) -> OutputFile:
    functions = Functions(_modules_of(helpers))
    nodes: dict[str, NodeView] = {}
    kernels: list[KernelView] = []
    fallthroughs: list[str] = []
    used: list[Overload] = []
    for overload, plan in planned:
        info = plan.info
        if info is None:
            continue
        category = plan.categories.get(DEFAULT)
        if category is Category.fall_through:
            fallthroughs.append(register_line(overload, "_fallthrough", keyset=False))
            continue
        if category is Category.pass_through:
            kernels.append(passing_kernel(overload, plan))
        elif category is Category.refuse_out:
            kernels.append(out_kernel(overload, plan, info))
        elif category is Category.record:
            kernels.append(autograd_kernel(overload, plan, info))
            if info.node_name not in nodes:
                nodes[info.node_name] = node_view(info, functions)
        else:
            continue
        used.append(overload)
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


def _adinplaceorview_file(package: Package, planned: Sequence[_Planned]) -> OutputFile:
    kernels: list[KernelView] = []
    used: list[Overload] = []
    for overload, plan in planned:
        if plan.tracking is Tracking.raise_versions and plan.versioned:
            kernels.append(written_kernel(overload, plan))
        elif plan.tracking is Tracking.view:
            kernels.append(view_kernel(overload))
        elif plan.tracking is Tracking.untracked_view:
            kernels.append(untracked_kernel(overload))
        else:
            continue
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
