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
from dataclasses import dataclass

from torchgen_lite.dialects import cpp_runtime, cpp_text
from torchgen_lite.dialects.cpp_runtime import Types
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.calls import declare
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_runtime.model import MEMBERS, RuntimeLayout, includes_of
from torchgen_lite.targets.output import OutputFile

SELF = "Self"


@dataclass(frozen=True, slots=True)
class MethodView:
    """One method: its declaration, and its body outside of the class."""

    guard: str
    declaration: str
    opening: str
    body: str


def build_methods(views: Sequence[MethodView], layout: RuntimeLayout) -> Iterator[OutputFile]:
    """Both headers, if any operator is a method."""
    if not views:
        return
    context = {
        "namespace": layout.namespace,
        "folder": layout.folder,
        "includes": includes_of([view.declaration for view in views]),
        "methods": views,
    }
    for name in ("methods", "method_bodies"):
        yield OutputFile(layout.header(f"{name}.h"), f"cpp_runtime/{name}.h.j2", context)


def methods(operators: Sequence[Operator], types: Types) -> list[MethodView]:
    """Of overloads that look the same in C++ the first one is there."""
    own = types.with_tensor(SELF)
    found: dict[tuple[str, ...], MethodView] = {}
    for operator in operators:
        receiver = next((a for a in operator.schema.arguments if a.name == "self"), None)
        if receiver is None or bare_type(receiver.type) != "Tensor":
            continue
        if "method" in operator.function.variants:
            others = [a for a in operator.schema.arguments if a is not receiver]
            key = (operator.schema.base_name, *[cpp_runtime.argument_type(a, own) for a in others])
            if key not in found:
                found[key] = _method(operator, own, is_const=not receiver.is_write)
    return list(found.values())


def _method(operator: Operator, types: Types, *, is_const: bool) -> MethodView:
    schema = operator.schema
    others = [a for a in schema.arguments if a.name != "self"]
    parameters = cpp_runtime.with_defaults(others, types)
    returns = cpp_runtime.returns_type(schema, types)
    name = cpp_text.free_name(cpp_text.function_name(schema.base_name), MEMBERS)
    closing = ") const" if is_const else ")"
    passed = [
        "self_()" if p.name == "self" else cpp_text.identifier(p.name)
        for p in operator.signature.parameters
    ]
    return MethodView(
        operator.guard,
        declare("", returns, name, parameters, f"{closing};", indent=2, defaults=True),
        declare("", returns, f"TensorMethods<Self>::{name}", parameters, f"{closing} {{"),
        cpp_text.call(f"return ops::{operator.flat}::call(", passed, ");", indent=2),
    )
