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

from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp import public
from torchgen_lite.dialects.cpp.public import Style
from torchgen_lite.dialects.cpp.signature import CppSignature, signature_headers
from torchgen_lite.dialects.cpp.types import CType
from torchgen_lite.targets.cpp.calls import Taken, distinct
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.arguments import pass_on
from torchgen_lite.targets.cpp_torch.types import own_types
from torchgen_lite.targets.output import OutputFile

SELF = "tensor_()"


@dataclass(frozen=True, slots=True)
class MethodView:
    """One method, and the headers that its declaration needs."""

    guard: str
    returns: CType
    name: str
    parameters: str
    flat: str
    passed: tuple[str, ...]
    headers: frozenset[str]


def build_methods(operators: Sequence[Operator], layout: Layout) -> Iterator[OutputFile]:
    """The mixin, if any operator is a method."""
    views = list(methods(operators))
    if not views:
        return
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "has_limits": any("limits" in view.headers for view in views),
        "methods": views,
    }
    yield OutputFile(layout.header("methods.h"), "cpp_torch/methods.h.j2", context)


def methods(operators: Sequence[Operator]) -> Iterator[MethodView]:
    """Of overloads that look the same in C++ the first one is there."""
    taken: Taken = set()
    for operator in operators:
        arguments = operator.schema.arguments
        if "method" not in operator.function.variants or all(a.name != "self" for a in arguments):
            continue
        for style in public.styles(operator.function, method=True):
            signature = own_types(operator.function, public.signature(operator.function, style))
            if distinct(signature, taken):
                yield _method(operator, signature, style)


def _method(operator: Operator, signature: CppSignature, style: Style) -> MethodView:
    return MethodView(
        guard=operator.guard,
        returns=signature.returns,
        name=cpp_text.function_name(signature.name),
        parameters=cpp_text.parameter_list(signature.parameters, defaults=True),
        flat=operator.flat,
        passed=tuple(pass_on(operator, style, self=SELF)),
        headers=signature_headers([signature], defaults=True),
    )
