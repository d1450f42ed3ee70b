"""One overload as the package sees it: the entry, its names, its signature in Python."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import identifier, overload_attribute
from torchgen_lite.languages.python.signature import Annotation, Parameter
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema, SchemaKind


class Names(NamedTuple):
    """The names of one overload in the generated modules."""

    flat: str
    namespace: str
    base: str
    attribute: str
    shard: int | None

    @property
    def stub(self) -> str:
        """The stub as other modules refer to it: `_operators.add_Tensor`."""
        return f"_operators.{self.flat}"

    @property
    def redispatch_stub(self) -> str:
        return f"_operators.redispatch_{self.flat}"


class Overload(NamedTuple):
    """One overload. Half a dozen files use `parameters` and `returns`, so they are computed once.

    The overload of a public name has the `parameters` and `arguments` of that: a method takes
    `self` first, and `out` is the out variant that callers get with `out=`. `varargs` is the position
    of a list of integers that may be passed as separate arguments.
    """

    function: NativeFunction
    kind: SchemaKind
    names: Names
    parameters: tuple[Parameter, ...]
    returns: tuple[Annotation, ...]
    arguments: tuple[Argument, ...]
    varargs: int | None = None
    out: Overload | None = None

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    @property
    def out_names(self) -> list[str]:
        """The keywords of the out variant, if they are others than `out` alone."""
        names = [identifier(a.name) for a in self.out.schema.out] if self.out else []
        return [] if names == ["out"] else names


def shard_of(base: str, shards: int) -> int | None:
    """The shard of a base name; it depends on nothing else, so adding an entry moves no other."""
    return zlib.crc32(base.encode()) % shards if shards > 1 else None


def build_overload(facts: Operator, home: str, shards: int) -> Overload:
    """Make the overload of an operator, with its names and its signature."""
    function, schema = facts.function, facts.schema
    namespace, base = function.namespace, schema.base_name
    names = Names(
        flat=identifier(function.flat_name(home)),
        namespace=namespace,
        base=base,
        attribute=overload_attribute(schema.overload_name),
        shard=shard_of(base, shards),
    )
    parameters = tuple(python.parameters(schema))
    returns = python.returns(schema.returns)
    return Overload(function, facts.kind, names, parameters, returns, schema.arguments)
