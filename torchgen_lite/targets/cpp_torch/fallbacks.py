"""What is registered with the boxed kernels of `functionalize.h` and `autocast.h`.

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

from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp.text import quote
from torchgen_lite.loader.autocast import Autocast
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall

_DTYPES = {"float32": "at::kFloat", "lower_precision": "std::nullopt"}


def functionalized(
    registered: Iterable[Registration], by_name: Mapping[str, CppOperator], layout: Layout
) -> Iterator[TorchImplCall]:
    """The registrations at `Functionalize`."""
    for one in registered:
        if one.origin is Origin.functionalize and one.source is not None:
            operator, functional = by_name[one.operator.name], one.source.function
            name = quote(f"{functional.namespace}::{functional.func.base_name}")
            overload = quote(functional.func.overload_name)
            kernel = f"{layout.namespace}::fallback::functionalize({name}, {overload})"
            guard = condition(operator.function, functional)
            header = layout.own("functionalize.h")
            yield TorchImplCall(operator, one.key, kernel, guard, header=header)


def autocast_registrations(
    registered: Iterable[Registration], by_name: Mapping[str, CppOperator], layout: Layout
) -> Iterator[TorchImplCall]:
    """What is registered for the operators that have an `autocast`."""
    for one in registered:
        rule = one.operator.function.autocast
        if one.origin is Origin.autocast and rule is not None:
            operator = by_name[one.operator.name]
            kernel = _kernel(operator, one.key, rule, layout.namespace)
            header = layout.own("autocast.h")
            yield TorchImplCall(operator, one.key, kernel, operator.guard, header=header)


def _kernel(operator: CppOperator, key: str, rule: Autocast, namespace: str) -> str:
    names = [argument.name for argument in operator.schema.arguments]
    device = f"c10::DeviceType::{key.removeprefix('Autocast')}"
    place = f", {names.index(rule.result)}" if rule.result else ""
    return f"{namespace}::fallback::autocast({device}, {_DTYPES[rule.dtype]}{place})"
