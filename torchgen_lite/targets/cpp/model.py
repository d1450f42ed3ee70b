"""One operator as a C++ target sees it: names, signature, shard, and the condition around it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.reserved import KEYWORDS
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.languages.text import lengthened
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.targets.options import Shards, shard_of

# Members of a typed call's struct, which a struct of the same name could not have.
MEMBERS = frozenset(
    {"schema", "ptr_schema", "name", "overload_name", "schema_str", "call", "redispatch"}
)


@dataclass(frozen=True, slots=True)
class CppOperator:
    """An operator. `facts` is what is known about it, `flat` the name of its struct, `signature`
    what the dispatcher calls, `guard` the condition around its code, or empty, and `macro` the namespace that the build
    gives, if it gives that.

    Templates have operators, so they compare by value: `facts`, of which no template reads, follow
    from the entry, `function`, and the others.
    """

    facts: Operator = field(compare=False)
    function: NativeFunction
    flat: str
    shard: int | None
    signature: CppSignature
    guard: str
    macro: str = ""

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    @property
    def library(self) -> str:
        """Its namespace in `TORCH_LIBRARY`."""
        return self.macro or self.function.namespace

    @property
    def full_name(self) -> str:
        """Its name without an overload, as a literal: `"mylib::scale"`, or `TORCHGEN_LITE_TEXT(MACRO) "::scale"`."""
        name = f"::{self.schema.base_name}"
        if self.macro:
            return f"TORCHGEN_LITE_TEXT({self.macro}) {cpp_text.quote(name)}"
        return cpp_text.quote(f"{self.function.namespace}{name}")

    @property
    def is_inplace(self) -> bool:
        return self.facts.kind is SchemaKind.inplace

    @property
    def names(self) -> list[str]:
        """The parameters, by their names in C++."""
        return cpp_text.forwarded(self.signature.parameters)


def build_operators(
    facts: Sequence[Operator],
    shards: Shards,
    signature: Callable[[Operator], CppSignature],
    guard: Callable[[NativeFunction], str],
    spelled: Collection[str],
    given: Mapping[str, str] = MappingProxyType({}),
) -> tuple[CppOperator, ...]:
    """The operators in source order; structs of the first namespace, the home, have no prefix.

    `guard` gives the condition of an entry; no struct has a name that is `spelled` in the same
    scope, a keyword or what may be a macro: `new_` for `new`. The shard depends on the base name alone, so
    adding an entry changes only one shard. `given` is the macro for a namespace that the build gives.
    """
    home = facts[0].function.namespace if facts else ""
    names = [operator.function.flat_name(home) for operator in facts]
    avoided = {*MEMBERS, *spelled, *KEYWORDS}
    for index, name in enumerate(names):
        if name in avoided or cpp_text.may_be_macro(name):
            names[index] = lengthened(name, avoided.union(names))
    return tuple(
        [
            CppOperator(
                operator,
                operator.function,
                name,
                shard_of(operator.schema.base_name, shards),
                signature(operator),
                guard(operator.function),
                given.get(operator.function.namespace, ""),
            )
            for operator, name in zip(facts, names)
        ]
    )
