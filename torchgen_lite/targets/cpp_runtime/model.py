"""The operators of a library for the runtime, and what their declarations need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.dialects import cpp_runtime, cpp_text
from torchgen_lite.dialects.cpp_runtime import Types
from torchgen_lite.dialects.cpp_signature import CppSignature
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.conditions import guard_expression
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator, build_operator

# What each header is needed for, as it is spelled in a signature.
_OURS = {
    "torchgen_lite::DispatchKeySet": "torchgen_lite/dispatch_key_set.h",
    "torchgen_lite::Span": "torchgen_lite/span.h",
}
_STANDARD = {
    "std::complex": "complex",
    "int64_t": "cstdint",
    "std::numeric_limits": "limits",
    "std::optional": "optional",
    "std::string": "string",
    "std::string_view": "string_view",
    "std::tuple": "tuple",
    "std::vector": "vector",
}
# What a struct of a typed call has in it, and what its definitions spell.
_TAKEN = frozenset(
    {"schema", "ptr_schema", "name", "overload_name", "schema_str", "call", "redispatch"}
    | {"std", "torchgen_lite", "int64_t", "ops"}
)
# What the methods' class has in it and spells, and so the functions.
MEMBERS = frozenset({"int64_t", "Self", "self_", "TensorMethods"})


@dataclass(frozen=True, slots=True)
class RuntimeLayout(Layout):
    """Where files go, and the framework whose types they use."""

    types: Types
    headers: tuple[str, ...]

    def framework(self) -> list[str]:
        """The lines that declare the types of the framework."""
        return [f'#include "{header}"' for header in self.headers]


def build_operators(
    functions: Sequence[NativeFunction], shards: int, types: Types
) -> tuple[Operator, ...]:
    """The operators in source order; the first namespace is the home.

    No libtorch is here, so `torch:`, which asks for one of its releases, says nothing.
    """
    home = functions[0].namespace if functions else ""
    operators = [
        build_operator(
            function,
            home,
            shards,
            cpp_runtime.signature(function.func, function.func.base_name, types),
            cpp_text.condition(guard_expression(function.guard)) if function.guard else "",
        )
        for function in functions
    ]
    flat = {operator.flat for operator in operators}
    avoided = _TAKEN | cpp_text.KEYWORDS | _roots(types)
    for index, operator in enumerate(operators):
        if operator.flat in avoided:
            operators[index] = replace(
                operator, flat=cpp_text.free_name(operator.flat, avoided | flat)
            )
    return tuple(operators)


def _roots(types: Types) -> set[str]:
    """Where the names of the framework's types begin: `toy` for `toy::Tensor`."""
    text = " ".join([types.tensor, *types.named.values(), *types.constants.values()])
    return set(re.findall(r"(?<![:\w])[A-Za-z_]\w*", text))


def includes_of(texts: Iterable[str]) -> list[str]:
    """The lines that include what these texts use: ours, then those of the standard library.

    >>> includes_of(["torchgen_lite::Span<int64_t>", "const std::string_view"])
    ['#include <torchgen_lite/span.h>', '', '#include <cstdint>', '#include <string_view>']
    """
    text = "\n".join(texts)
    ours, standard = (
        [f"#include <{h}>" for spelled, h in table.items() if _spells(text, spelled)]
        for table in (_OURS, _STANDARD)
    )
    return [*ours, *([""] if ours and standard else []), *standard]


def _spells(text: str, name: str) -> bool:
    """Whether a name is in the text, and not only as a part of a longer one."""
    return re.search(rf"(?<!\w){name}(?!\w)", text) is not None


def signature_texts(signatures: Iterable[CppSignature]) -> list[str]:
    """Everything that declarations of these functions spell."""
    found: dict[str, None] = {}
    for signature in signatures:
        found[signature.returns] = None
        found.update(dict.fromkeys(p.type for p in signature.parameters))
    return list(found)
