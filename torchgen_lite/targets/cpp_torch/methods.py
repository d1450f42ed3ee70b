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

from torchgen_lite.targets.cpp.calls import Taken, distinct
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch.calls import TorchFunction, call_includes, public_functions
from torchgen_lite.targets.cpp_torch.model import TorchLayout
from torchgen_lite.targets.cpp_torch.types import Classes
from torchgen_lite.targets.output import OutputFile

SELF = "tensor_()"


def build_methods(operators: Sequence[CppOperator], layout: TorchLayout) -> Iterator[OutputFile]:
    """The mixin, if any operator is a method."""
    shown = list(methods(operators, layout.classes))
    if not shown:
        return
    context = {
        "namespace": layout.namespace,
        "includes": call_includes(layout, "operators", shown),
        "methods": shown,
    }
    yield OutputFile(layout.header("methods.h"), "cpp_torch/methods.h.j2", context)


def methods(operators: Sequence[CppOperator], classes: Classes) -> Iterator[TorchFunction]:
    """The methods; of overloads that look the same in C++, only the first."""
    taken: Taken = {}
    shown = [o for o in operators if "method" in o.function.variants]
    with_self = [o for o in shown if any(a.name == "self" for a in o.schema.arguments)]
    found = public_functions(with_self, classes, "method", SELF)
    for operator, signature, passed in found:
        if distinct(operator, signature, taken):
            yield operator, signature, passed
