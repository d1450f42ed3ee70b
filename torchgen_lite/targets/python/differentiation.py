"""The autograd files, which are generated if any schema entry has formulas.

`nodes.py`, `autograd.py` and `adinplaceorview.py`, or their shards: the kernels and nodes of each
operator. Their registrations are in `register_autograd.py` and `register_adinplaceorview.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.policy import AUTOGRAD_KERNELS, Origin
from torchgen_lite.analysis.registrations import AUTOGRAD, VIEWS, Registration
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.entry.derivatives import DEFAULT
from torchgen_lite.targets.options import shard_of
from torchgen_lite.targets.output import Files, OutputFile
from torchgen_lite.targets.python.autograd import autograd_view, tracking_view
from torchgen_lite.targets.python.framework import FORWARD
from torchgen_lite.targets.python.key_file import Registered, generated, module_aliases
from torchgen_lite.targets.python.nodes import node_view
from torchgen_lite.targets.python.package import Overload, Package, kernel_file, sharded


class _Planned(NamedTuple):
    """An overload with a kernel for autograd."""

    overload: Overload
    plan: AutogradPlan
    origin: Origin

    @property
    def info(self) -> DifferentiabilityInfo:
        return self.plan.infos[DEFAULT]


def build_differentiation(
    package: Package,
    resolved: Resolved,
    registered: Sequence[Registration],
    helpers: Mapping[str, str],
) -> tuple[list[OutputFile], list[Registered]]:
    """The files of autograd, and what they register; nothing without formulas.

    `helpers` has the module of each function that formulas may call.
    """
    by_name = package.by_name
    recorded: dict[int | None, list[_Planned]] = {}
    tracked: dict[int | None, list[_Planned]] = {}
    for shard in package.shards:
        recorded[shard] = []
        tracked[shard] = []
    for registration in registered:
        if registration.origin in AUTOGRAD_KERNELS:
            name = registration.operator.name
            planned = _Planned(by_name[name], resolved.autograd[name], registration.origin)
            if registration.origin in (Origin.view, Origin.raises_versions):
                tracked[planned.overload.shard].append(planned)
            else:
                # Operators that share a node share the shard of the one that has the formulas.
                base = planned.info.schema.base_name
                recorded[shard_of(base, package.shards)].append(planned)
    files: list[OutputFile] = []
    registrations: list[Registered] = []
    kernel_module = partial(kernel_file, package, runtime=package.runtime)
    has_tangents = package.known is not None and package.known >= FORWARD
    for of_shard, module, nodes in zip(
        recorded.values(), sharded(package, "autograd"), sharded(package, "nodes"), strict=True
    ):
        node_files = [*_node_file(package, nodes, of_shard, helpers)]
        files += node_files
        recorder = nodes if node_files else ""
        overloads = []
        recording = []
        for overload, plan, origin in of_shard:
            made = generated(AUTOGRAD, overload, module, "autograd")
            if origin is Origin.fallthrough:
                registrations.append(made._replace(kernel=None))
                continue
            info = plan.infos[DEFAULT]
            recording.append(autograd_view(overload, plan, info, has_tangents=has_tangents))
            overloads.append(overload)
            registrations.append(made)
        if recording:
            files.append(
                kernel_module(module, "autograd", overloads, nodes=recorder, kernels=recording)
            )
    for of_shard, module in zip(tracked.values(), sharded(package, "adinplaceorview"), strict=True):
        overloads = []
        tracking = []
        for overload, plan, _ in of_shard:
            overloads.append(overload)
            tracking.append(tracking_view(overload, plan))
            registrations.append(generated(VIEWS, overload, module, "adinplaceorview"))
        if tracking:
            files.append(kernel_module(module, "adinplaceorview", overloads, kernels=tracking))
    return files, registrations


def _node_file(
    package: Package, module: str, planned: Sequence[_Planned], helpers: Mapping[str, str]
) -> Files:
    infos = {}
    for kernel in planned:
        if kernel.origin is Origin.autograd:
            infos[kernel.info.node_name] = kernel.info
    aliases = module_aliases(dict.fromkeys(helpers.values()))
    functions = {name: aliases[module] for name, module in helpers.items()}
    nodes = [node_view(info, functions) for info in infos.values()]
    arithmetic = set[str]().union(*[node.arithmetic for node in nodes])
    context = {
        "runtime": package.runtime,
        "framework": package.called,
        "helpers": aliases,
        "arithmetic": sorted(arithmetic),
        "nodes": nodes,
    }
    if nodes:
        yield OutputFile(f"{package.root}/{module}.py", "python/nodes.py.j2", context)
