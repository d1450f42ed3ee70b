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

from torchgen_lite.dialects.cpp import public
from torchgen_lite.targets.cpp.calls import FunctionView, Taken, distinct, function_view
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.arguments import pass_on
from torchgen_lite.targets.cpp_torch.calls import call_includes
from torchgen_lite.targets.cpp_torch.types import own_types
from torchgen_lite.targets.output import OutputFile

SELF = "tensor_()"


def build_methods(operators: Sequence[Operator], layout: Layout) -> Iterator[OutputFile]:
    """The mixin, if any operator is a method."""
    views = list(methods(operators))
    if not views:
        return
    context = {
        "namespace": layout.namespace,
        "includes": call_includes(layout, "operators", views),
        "methods": views,
    }
    yield OutputFile(layout.header("methods.h"), "cpp_torch/methods.h.j2", context)


def methods(operators: Sequence[Operator]) -> Iterator[FunctionView]:
    """Of overloads that look the same in C++ the first one is there."""
    taken: Taken = set()
    for operator in operators:
        arguments = operator.schema.arguments
        if "method" not in operator.function.variants or all(a.name != "self" for a in arguments):
            continue
        for style in public.styles(operator.function, method=True):
            signature = own_types(operator.function, public.signature(operator.function, style))
            if distinct(signature, taken):
                passed = pass_on(operator, style, self=SELF)
                yield function_view(operator, signature, passed)
