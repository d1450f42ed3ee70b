"""The files of autograd, made where any entry of the schema has formulas.

`nodes.py`, `register_autograd.py` and `register_adinplaceorview.py`, or their shards: which operators get which kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.differentiability import (
    AutogradPlan,
    Category,
    DifferentiabilityInfo,
    Tracking,
)
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.autograd import (
    AutogradView,
    KernelView,
    autograd_view,
    kernel_view,
    tracking_view,
)
from torchgen_lite.targets.python.model import Overload, shard_of
from torchgen_lite.targets.python.nodes import Functions, node_view
from torchgen_lite.targets.python.package import Package, module_imports, sharded, type_imports

_Planned = tuple[Overload, AutogradPlan]


def build_differentiation(
    package: Package, resolved: Resolved, helpers: KernelIndex | None
) -> tuple[list[OutputFile], list[str]]:
    """The files and the modules that `registration.py` imports; none without formulas."""
    if all(overload.function.derivatives is None for overload in package.overloads):
        return [], []
    plans = resolved.autograd
    planned = [(o, plans[o.function.name]) for o in package.overloads]
    files = [*_node_files(package, [plan for _, plan in planned], helpers)]
    modules: list[str] = []
    for name, build in (
        ("register_autograd", _autograd_file),
        ("register_adinplaceorview", _adinplaceorview_file),
    ):
        for shard, module in zip(package.shards, sharded(package, name), strict=True):
            own = [(o, plan) for o, plan in planned if o.names.shard == shard]
            files.append(build(package, module, own))
            modules.append(module)
    return files, modules


def _node_files(
    package: Package, plans: Sequence[AutogradPlan], helpers: KernelIndex | None
) -> Iterator[OutputFile]:
    functions = Functions(_modules_of(helpers))
    infos = {info.node_name: info for info in map(_recorded, plans) if info is not None}
    for module in sharded(package, "nodes"):
        own = [info for info in infos.values() if _node_module(package, info) == module]
        context = {
            "framework": package.options.framework,
            "helpers": list(dict.fromkeys(functions.helpers.values())),
            "nodes": [node_view(info, functions) for info in own],
        }
        yield OutputFile(f"{package.root}/{module}.py", "python/nodes.py.j2", context)


def _recorded(plan: AutogradPlan) -> DifferentiabilityInfo | None:
    return plan.info if plan.categories.get(DEFAULT) is Category.record else None


def _node_module(package: Package, info: DifferentiabilityInfo) -> str:
    """Operators may share a node: it is in the shard of the one whose formulas they are."""
    shard = shard_of(info.function.func.base_name, len(package.shards))
    return "nodes" if shard is None else f"nodes_{shard}"


def _autograd_file(package: Package, module: str, planned: Sequence[_Planned]) -> OutputFile:
    kernels: list[AutogradView] = []
    fallthroughs: list[KernelView] = []
    used: list[Overload] = []
    nodes: list[str] = []
    for overload, plan in planned:
        info, category = plan.info, plan.categories.get(DEFAULT)
        if info is None or category in (None, Category.not_implemented):
            continue
        used.append(overload)
        if category is Category.fall_through:
            fallthroughs.append(kernel_view("autograd", overload))
            continue
        module_of_node = _node_module(package, info)
        if category is Category.record:
            nodes.append(module_of_node)
        kernels.append(autograd_view(overload, plan, info, module_of_node))
    context = _context(package, used) | {
        "imports": [
            *module_imports(".", nodes),
            "from . import operators as _operators",
        ],
        "kernels": kernels,
        "fallthroughs": fallthroughs,
    }
    return OutputFile(f"{package.root}/{module}.py", "python/register_autograd.py.j2", context)


def _modules_of(helpers: KernelIndex | None) -> dict[str, str]:
    """For each helper function the module that defines it."""
    if helpers is None:
        return {}
    return {name: module.name for module in reversed(helpers.modules) for name in module.names}


def _adinplaceorview_file(package: Package, module: str, planned: Sequence[_Planned]) -> OutputFile:
    tracked = [
        (overload, plan)
        for overload, plan in planned
        if plan.tracking in (Tracking.view, Tracking.untracked_view)
        or (plan.tracking is Tracking.raise_versions and plan.versioned)
    ]
    used = [overload for overload, _ in tracked]
    context = _context(package, used) | {
        "imports": ["from . import operators as _operators"],
        "kernels": [tracking_view(overload, plan) for overload, plan in tracked],
    }
    path = f"{package.root}/{module}.py"
    return OutputFile(path, "python/register_adinplaceorview.py.j2", context)


def _context(package: Package, used: Sequence[Overload]) -> dict[str, object]:
    namespaces = dict.fromkeys(o.names.namespace for o in used)
    return {
        "framework": package.options.framework,
        "types": type_imports(package, [o.function for o in used], frozenset()),
        "libraries": [{"name": identifier(n), "namespace": quote(n)} for n in namespaces],
    }
