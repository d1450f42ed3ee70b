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
from dataclasses import replace

from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.signature import CppSignature, default_headers, signature_headers
from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.calls import Taken, distinct
from torchgen_lite.targets.cpp.layout import Layout, include_blocks
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.output import OutputFile

SELF = CType("Self")
# What the class of the methods has in it and spells.
_IN_METHODS = frozenset({"int64_t", "Self", "self_", "TensorMethods"})
# An operator, its signature without the receiver, and whether it leaves that as it is.
Method = tuple[CppOperator, CppSignature, bool]


def build_methods(found: Sequence[Method], layout: Layout) -> Iterator[OutputFile]:
    """Both headers, if any operator is a method."""
    if not found:
        return
    headers = signature_headers([signature for _, signature, _ in found])
    headers = headers.union(*[default_headers(signature) for _, signature, _ in found])
    context: dict[str, object] = {"namespace": layout.namespace, "methods": found}
    for name, more in (
        ("methods", {"includes": include_blocks(headers)}),
        ("method_bodies", {"folder": layout.folder}),
    ):
        yield OutputFile(layout.header(f"{name}.h"), f"cpp_runtime/{name}.h.j2", context | more)


def methods(operators: Sequence[CppOperator], types: Types) -> list[Method]:
    """The methods; of overloads that look the same in C++, only the first."""
    own = replace(types, tensor=SELF)
    taken: Taken = {}
    found = []
    for operator in operators:
        schema = operator.schema
        receiver = next((a for a in schema.arguments if a.name == "self"), None)
        if receiver is None or bare_type(receiver.type) != "Tensor":
            continue
        if "method" in operator.function.variants:
            name, returns = function_name(schema.base_name), runtime.returns_type(schema, own)
            others = [a for a in schema.arguments if a is not receiver]
            signature = CppSignature(name, returns, runtime.arguments(others, own))
            if distinct(operator, signature, taken):
                found.append((operator, signature, not receiver.is_write))
    return found


def function_name(name: str) -> str:
    """The name of a function and of a method."""
    return cpp_text.free_name(cpp_text.function_name(name), _IN_METHODS)
