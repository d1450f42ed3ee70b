"""Kernels for autocast: `autocast.h`, and `register_autocast.cpp` with what `autocast:` of the entries says.

TORCH_LIBRARY_IMPL(mylib, AutocastCPU, m) {
  m.impl("scale", mylib::fallback::autocast(c10::DeviceType::CPU, at::kFloat, 0));
}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from torchgen_lite.analysis import registrations as analysis
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.loader.autocast import Autocast
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.registrations import Registration, blocks
from torchgen_lite.targets.output import Header, OutputFile

_DTYPES = {"float32": "at::kFloat", "lower_precision": "std::nullopt"}


def autocast_files(
    registered: Iterable[analysis.Registration], by_name: Mapping[str, Operator], layout: Layout
) -> Iterator[OutputFile]:
    """The header and the registrations, if there are any."""
    found = []
    for one in registered:
        rule = one.operator.function.autocast
        if one.origin is Origin.autocast and rule is not None:
            operator = by_name[one.operator.name]
            kernel = _kernel(operator, one.key, rule, layout.namespace)
            found.append(Registration(operator, one.key, kernel, operator.guard))
    if not found:
        return
    context = {"namespace": layout.namespace}
    yield OutputFile(layout.header("autocast.h"), "cpp_torch/autocast.h.j2", context)
    version = [layout.own("version.h")] if any(r.guard for r in found) else []
    registrations = {
        "includes": [[layout.own("autocast.h"), *version], [Header("torch/library.h")]],
        "macro": "TORCH_LIBRARY_IMPL",
        "blocks": blocks(found),
    }
    yield OutputFile(
        layout.source("register_autocast.cpp"), "cpp/register_key.cpp.j2", registrations
    )


def _kernel(operator: Operator, key: str, rule: Autocast, namespace: str) -> str:
    names = [argument.name for argument in operator.schema.arguments]
    device = f"c10::DeviceType::{key.removeprefix('Autocast')}"
    place = f", {names.index(rule.result)}" if rule.result else ""
    return f"{namespace}::fallback::autocast({device}, {_DTYPES[rule.dtype]}{place})"
