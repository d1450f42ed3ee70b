"""Methods as a mixin: `methods.h` declares them, `method_bodies.h` defines them.

template <class Self>
struct TensorMethods {
  Self add(const Self& other, double alpha = 1) const;
};

See Note [Order of headers]. The tensor is `Self` throughout, so that nothing is looked up in it before a
method is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.signature import CppSignature, default_headers, signature_headers
from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.calls import Taken, distinct
from torchgen_lite.targets.cpp.layout import include_blocks
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_runtime.model import RuntimeLayout, function_name
from torchgen_lite.targets.output import OutputFile

SELF = CType("Self")


class MethodView(NamedTuple):
    """One method. `declared` are its parameters with their defaults."""

    guard: str
    doc: tuple[str, ...]
    returns: CType
    name: str
    declared: str
    parameters: str
    is_const: bool
    flat: str
    passed: tuple[str, ...]
    headers: frozenset[str]


def build_methods(views: Sequence[MethodView], layout: RuntimeLayout) -> Iterator[OutputFile]:
    """Both headers, if any operator is a method."""
    if not views:
        return
    context: dict[str, object] = {"namespace": layout.namespace, "methods": views}
    for name, more in (
        ("methods", {"includes": include_blocks({h for view in views for h in view.headers})}),
        ("method_bodies", {"folder": layout.folder}),
    ):
        yield OutputFile(layout.header(f"{name}.h"), f"cpp_runtime/{name}.h.j2", context | more)


def methods(operators: Sequence[CppOperator], types: Types) -> list[MethodView]:
    """The methods; of overloads that look the same in C++, only the first."""
    own = types.with_tensor(SELF)
    taken: Taken = set()
    found = []
    for operator in operators:
        schema = operator.schema
        receiver = next((a for a in schema.arguments if a.name == "self"), None)
        if receiver is None or bare_type(receiver.type) != "Tensor":
            continue
        if "method" in operator.function.variants:
            others = [a for a in schema.arguments if a is not receiver]
            returns = runtime.returns_type(schema, own)
            signature = CppSignature(schema.base_name, returns, runtime.arguments(others, own))
            if distinct(signature, taken):
                found.append(_method(operator, signature, is_const=not receiver.is_write))
    return found


def _method(operator: CppOperator, signature: CppSignature, *, is_const: bool) -> MethodView:
    return MethodView(
        guard=operator.guard,
        doc=cpp_text.doc_comment(operator.function.doc),
        returns=signature.returns,
        name=function_name(signature.name),
        declared=cpp_text.defaulted_list(signature.parameters),
        parameters=cpp_text.parameter_list(signature.parameters),
        is_const=is_const,
        flat=operator.flat,
        passed=tuple(["self_()" if name == "self" else name for name in operator.names]),
        headers=signature_headers([signature]) | default_headers(signature),
    )
