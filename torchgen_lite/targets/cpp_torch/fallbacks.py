"""Boxed kernels: `fallback.h`, `functionalize.h`, and what is registered with the second.

See Note [Functionalization].

    TORCH_LIBRARY_IMPL(mylib, Functionalize, m) {
      m.impl("scale_", mylib::fallback::functionalize("mylib::scale", ""));
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.dialects.cpp_text import quote
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall
from torchgen_lite.targets.output import OutputFile


def fallback_headers(layout: Layout) -> Iterator[OutputFile]:
    """The headers, which are there for the author as well."""
    for name in ("fallback.h", "functionalize.h"):
        context = {"namespace": layout.namespace}
        yield OutputFile(layout.header(name), f"cpp_torch/{name}.j2", context)


def functionalized(
    registered: Iterable[Registration], by_name: Mapping[str, CppOperator], layout: Layout
) -> Iterator[TorchImplCall]:
    """The registrations of the second."""
    for one in registered:
        if one.origin is Origin.functionalize and one.source is not None:
            operator, functional = by_name[one.operator.name], one.source.function
            name = quote(f"{functional.namespace}::{functional.func.base_name}")
            overload = quote(functional.func.overload_name)
            kernel = f"{layout.namespace}::fallback::functionalize({name}, {overload})"
            guard = condition(operator.function, functional)
            header = layout.own("functionalize.h")
            yield TorchImplCall(operator, one.key, kernel, guard, header=header)
