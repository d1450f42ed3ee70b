"""The autograd files, which are generated if any schema entry has formulas.

`nodes.py`, `autograd.py` and `adinplaceorview.py`, or their shards: the kernels and nodes of each
operator. Their registrations are in `register_autograd.py` and `register_adinplaceorview.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.policy import AUTOGRAD_KERNELS, Origin
from torchgen_lite.analysis.registrations import AUTOGRAD, VIEWS, Registration
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.derivatives import DEFAULT
from torchgen_lite.loader.kernel_modules import KernelIndex
from torchgen_lite.targets.options import shard_of
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.autograd import autograd_view, tracking_view
from torchgen_lite.targets.python.key_file import KeyFile
from torchgen_lite.targets.python.nodes import helper_modules, node_view
from torchgen_lite.targets.python.package import Overload, Package, sharded, type_imports

_TRACKING = frozenset({Origin.view, Origin.raises_versions})


class _Planned(NamedTuple):
    """An overload with a kernel for autograd."""

    overload: Overload
    plan: AutogradPlan
    origin: Origin


def build_differentiation(
    package: Package,
    resolved: Resolved,
    registered: Sequence[Registration],
    helpers: KernelIndex | None,
) -> tuple[list[OutputFile], dict[str, KeyFile]]:
    """The files of autograd, and the registrations of each key; nothing without formulas."""
    by_name = {overload.function.name: overload for overload in package.overloads}
    planned = [
        _Planned(by_name[one.operator.name], resolved.autograd[one.operator.name], one.origin)
        for one in registered
        if one.origin in AUTOGRAD_KERNELS
    ]
    if not planned:
        return [], {}
    recorded = [one for one in planned if one.origin not in _TRACKING]
    tracked = [one for one in planned if one.origin in _TRACKING]
    modules = _modules_of(helpers)
    files: list[OutputFile | None] = []
    registrations = {AUTOGRAD: KeyFile(), VIEWS: KeyFile()}
    autograd, tracking = registrations.values()
    of_shard: dict[int | None, list[_Planned]] = {shard: [] for shard in package.shards}
    for one in recorded:
        of_shard[_node_shard(package, one.plan)].append(one)
    for own, module, nodes in zip(
        of_shard.values(), sharded(package, "autograd"), sharded(package, "nodes"), strict=True
    ):
        node_file = _node_file(package, nodes, own, modules)
        files += [
            node_file,
            _autograd_file(package, module, nodes if node_file else "", own, autograd),
        ]
    for shard, module in zip(package.shards, sharded(package, "adinplaceorview"), strict=True):
        own = [one for one in tracked if one.overload.shard == shard]
        files.append(_adinplaceorview_file(package, module, own, tracking))
    used = {key: registered for key, registered in registrations.items() if registered.overloads}
    return [file for file in files if file is not None], used


def _node_shard(package: Package, plan: AutogradPlan) -> int | None:
    """The shard of the operator that has the formulas: operators that share a node share its
    shard."""
    function = plan.infos[DEFAULT].function
    return shard_of(function.func.base_name, package.shards)


def _node_file(
    package: Package, module: str, planned: Sequence[_Planned], helpers: Mapping[str, str]
) -> OutputFile | None:
    recorded = [one.plan.infos[DEFAULT] for one in planned if one.origin is Origin.autograd]
    infos = {info.node_name: info for info in recorded}
    if not infos:
        return None
    nodes = [node_view(info, helpers) for info in infos.values()]
    context = {
        "runtime": package.runtime,
        "framework": package.called("_"),
        "helpers": helper_modules(helpers),
        "arithmetic": sorted({a for n in nodes for d in n.derivatives for a in d.arithmetic}),
        "nodes": nodes,
    }
    return OutputFile(f"{package.root}/{module}.py", "python/nodes.py.j2", context)


def _autograd_file(
    package: Package,
    module: str,
    nodes: str,
    planned: Sequence[_Planned],
    registered: KeyFile,
) -> OutputFile | None:
    """The kernels, if there are any; `nodes` is the module of their nodes, or empty."""
    kernels = []
    for one in planned:
        if one.origin is Origin.fallthrough:
            registered.add_fallthrough(one.overload)
        else:
            info = one.plan.infos[DEFAULT]
            kernels.append(autograd_view(one.overload, one.plan, info))
            registered.add_generated(one.overload, module, "autograd")
    if not kernels:
        return None
    context = _context(package, planned) | {"nodes": nodes, "kernels": kernels}
    return OutputFile(f"{package.root}/{module}.py", "python/autograd.py.j2", context)


def _modules_of(helpers: KernelIndex | None) -> dict[str, str]:
    """The module that defines each helper function."""
    if helpers is None:
        return {}
    return {name: module.name for module in reversed(helpers.modules) for name in module.names}


def _adinplaceorview_file(
    package: Package, module: str, planned: Sequence[_Planned], registered: KeyFile
) -> OutputFile | None:
    if not planned:
        return None
    kernels = [tracking_view(one.overload, one.plan) for one in planned]
    for one in planned:
        registered.add_generated(one.overload, module, "adinplaceorview")
    context = _context(package, planned) | {"kernels": kernels}
    return OutputFile(f"{package.root}/{module}.py", "python/adinplaceorview.py.j2", context)


def _context(package: Package, planned: Sequence[_Planned]) -> dict[str, object]:
    overloads = [one.overload for one in planned]
    return {
        "runtime": package.runtime,
        "framework": package.called("_"),
        "types": type_imports(package, overloads, frozenset()),
    }
