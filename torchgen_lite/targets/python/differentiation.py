"""The files of autograd, made where any entry of the schema has formulas.

`nodes.py`, `register_autograd.py` and `register_adinplaceorview.py`, or their shards: which operators get which kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.differentiability import (
    AutogradPlan,
    Category,
    Tracking,
)
from torchgen_lite.analysis.resolve import Resolved
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
from torchgen_lite.targets.python.package import (
    Package,
    libraries_of,
    sharded,
    type_imports,
)

_Planned = tuple[Overload, AutogradPlan]


def build_differentiation(
    package: Package, resolved: Resolved, helpers: KernelIndex | None
) -> tuple[list[OutputFile], list[str]]:
    """The files and the modules that `registration.py` imports; none without formulas."""
    if all(overload.function.derivatives is None for overload in package.overloads):
        return [], []
    plans = resolved.autograd
    planned = [(o, plans[o.function.name]) for o in package.overloads]
    functions = Functions(_modules_of(helpers))
    files: list[OutputFile] = []
    autograd = sharded(package, "register_autograd")
    for shard, module, nodes in zip(
        package.shards, autograd, sharded(package, "nodes"), strict=True
    ):
        own = [(o, plan) for o, plan in planned if _node_shard(package, o, plan) == shard]
        files.append(_node_file(package, nodes, [plan for _, plan in own], functions))
        files.append(_autograd_file(package, module, nodes, own))
    tracking = sharded(package, "register_adinplaceorview")
    for shard, module in zip(package.shards, tracking, strict=True):
        own = [(o, plan) for o, plan in planned if o.names.shard == shard]
        files.append(_adinplaceorview_file(package, module, own))
    return files, [*autograd, *tracking]


def _node_shard(package: Package, overload: Overload, plan: AutogradPlan) -> int | None:
    """Operators that share a node are together: in the shard of the one whose formulas they are."""
    function = overload.function if plan.info is None else plan.info.function
    return shard_of(function.func.base_name, len(package.shards))


def _node_file(
    package: Package, module: str, plans: Sequence[AutogradPlan], functions: Functions
) -> OutputFile:
    recorded = [p.info for p in plans if p.categories.get(DEFAULT) is Category.record]
    infos = {info.node_name: info for info in recorded if info is not None}
    context = {
        "framework": package.options.framework,
        "helpers": list(dict.fromkeys(functions.helpers.values())),
        "nodes": [node_view(info, functions) for info in infos.values()],
    }
    return OutputFile(f"{package.root}/{module}.py", "python/nodes.py.j2", context)


def _autograd_file(
    package: Package, module: str, nodes: str, planned: Sequence[_Planned]
) -> OutputFile:
    kernels: list[AutogradView] = []
    fallthroughs: list[KernelView] = []
    used: list[Overload] = []
    for overload, plan in planned:
        info, category = plan.info, plan.categories.get(DEFAULT)
        if info is None or category in (None, Category.not_implemented):
            continue
        used.append(overload)
        if category is Category.fall_through:
            fallthroughs.append(kernel_view("autograd", overload))
            continue
        kernels.append(autograd_view(overload, plan, info))
    context = _context(package, used) | {
        "nodes": nodes,
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
        "kernels": [tracking_view(overload, plan) for overload, plan in tracked],
    }
    path = f"{package.root}/{module}.py"
    return OutputFile(path, "python/register_adinplaceorview.py.j2", context)


def _context(package: Package, used: Sequence[Overload]) -> dict[str, object]:
    return {
        "framework": package.options.framework,
        "types": type_imports(package, [o.function for o in used], frozenset()),
        "libraries": libraries_of(used),
    }
