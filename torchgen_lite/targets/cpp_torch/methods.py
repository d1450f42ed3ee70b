"""`methods.h`: a mixin with a method for each operator with `variants: method`.

template <class Self>
struct TensorMethods {
  at::Tensor add(const at::Tensor& other, const at::Scalar& alpha = 1) const {
    return ops::add_Tensor::call(tensor_(), other, alpha);
  }
};
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import cpp, cpp_text
from torchgen_lite.dialects.cpp import Style
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.arguments import pass_on
from torchgen_lite.targets.cpp_torch.types import own_types
from torchgen_lite.targets.output import OutputFile

SELF = "tensor_()"


@dataclass(frozen=True, slots=True)
class MethodView:
    """One method."""

    guard: str
    opening: str
    body: str


def build_methods(operators: Sequence[Operator], layout: Layout) -> Iterator[OutputFile]:
    """The mixin, if any operator is a method."""
    views = list(methods(operators))
    if not views:
        return
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "has_limits": any("numeric_limits" in view.opening for view in views),
        "methods": views,
    }
    yield OutputFile(layout.header("methods.h"), "cpp_torch/methods.h.j2", context)


def methods(operators: Sequence[Operator]) -> Iterator[MethodView]:
    """Of overloads that look the same in C++ the first one is there."""
    taken: set[tuple[str, tuple[str, ...]]] = set()
    for operator in operators:
        arguments = operator.schema.arguments
        if "method" not in operator.function.variants or all(a.name != "self" for a in arguments):
            continue
        for style in cpp.styles(operator.function, method=True):
            view = _method(operator, style, taken)
            if view is not None:
                yield view


def _method(
    operator: Operator, style: Style, taken: set[tuple[str, tuple[str, ...]]]
) -> MethodView | None:
    signature = own_types(operator.function, cpp.signature(operator.function, style))
    key = (signature.name, tuple([p.type for p in signature.parameters]))
    if key in taken:
        return None
    taken.add(key)
    items = cpp_text.parameters(signature.parameters, defaults=True, indent=2)
    name = cpp_text.function_name(signature.name)
    call = f"return ops::{operator.flat}::call("
    return MethodView(
        operator.guard,
        cpp_text.declaration("", signature.returns, name, items, ") const {", indent=2),
        cpp_text.call(call, pass_on(operator, style, self=SELF), ");", indent=4),
    )
