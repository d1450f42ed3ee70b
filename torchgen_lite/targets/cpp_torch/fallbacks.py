"""What is registered with the boxed kernels of `fallback.h`, `functionalize.h` and `autocast.h`.

    TORCH_LIBRARY_IMPL(mylib, Functionalize, m) {
      m.impl("scale_", mylib::fallback::functionalize("mylib::scale", ""));
    }
    TORCH_LIBRARY_IMPL(mylib, AutocastCPU, m) {
      m.impl("scale", mylib::fallback::autocast(c10::DeviceType::CPU, at::kFloat, 0));
    }

See Note [Functionalization].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp.text import quote
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall

_BOXED = {
    Origin.falls_through: "torch::CppFunction::makeFallthrough()",
    Origin.cpu_fallback: "{}::cpu()",
}
_CASTS = {
    "float32": "at::kFloat",
    "lower_precision": "std::nullopt",
    "promote": "{}::Cast::promote",
    "dtype_argument": "{}::Cast::dtype_argument",
}


def boxed_registrations(
    registered: Iterable[Registration], by_facts: Mapping[Operator, CppOperator], layout: Layout
) -> Iterator[TorchImplCall]:
    """The registrations at `Functionalize`, those that are no function of the author's, and those of `autocast`."""
    scope = f"{layout.namespace}::fallback"
    for one in registered:
        operator, rule = by_facts[one.operator], one.operator.function.autocast
        if one.origin is Origin.functionalize and one.source is not None:
            functional = one.source.function
            name = quote(f"{functional.namespace}::{functional.func.base_name}")
            kernel = f"{scope}::functionalize({name}, {quote(functional.func.overload_name)})"
            guard = condition(operator.function, functional)
            header = layout.own("functionalize.h")
            yield TorchImplCall(operator, one.key, kernel, guard, header=header)
        elif one.origin in _BOXED:
            kernel = _BOXED[one.origin].format(scope)
            header = layout.own("fallback.h")
            yield TorchImplCall(operator, one.key, kernel, operator.guard, header=header)
        elif one.origin in (Origin.autocast, Origin.autocast_over) and rule is not None:
            names = [argument.name for argument in operator.schema.arguments]
            device = f"c10::DeviceType::{one.key.removeprefix('Autocast')}"
            place = f", {names.index(rule.result)}" if rule.result else ""
            kernel = f"{scope}::autocast({device}, {_CASTS[rule.dtype].format(scope)}{place})"
            header = layout.own("autocast.h")
            yield TorchImplCall(operator, one.key, kernel, operator.guard, header=header)
