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


class Overload(NamedTuple):
    """One overload, with its name `flat` in the generated modules. Half a dozen files use `parameters` and
    `returns`, so they are computed once.

    The overload of a public name has the `parameters` and `arguments` of that: a method takes
    `self` first, and `out` is the out variant that callers get with `out=`. `varargs` is the position
    of a list of integers that may be passed as separate arguments. `scope` is where its stub is, as other
    modules refer to it; a module that defines the stub itself has none.
    """

    function: NativeFunction
    kind: SchemaKind
    flat: str
    shard: int | None
    parameters: tuple[Parameter, ...]
    returns: tuple[Annotation, ...]
    arguments: tuple[Argument, ...]
    varargs: int | None = None
    out: Overload | None = None
    scope: str = "_operators."

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    @property
    def attribute(self) -> str:
        """The name of the overload as an attribute of its packet."""
        return overload_attribute(self.schema.overload_name)

    @property
    def stub(self) -> str:
        """The stub as other modules refer to it: `_operators.add_Tensor`."""
        return f"{self.scope}{self.flat}"

    @property
    def redispatch_stub(self) -> str:
        return f"{self.scope}redispatch_{self.flat}"

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
    flat = identifier(function.flat_name(home))
    shard = shard_of(schema.base_name, shards)
    parameters = tuple(python.parameters(schema))
    returns = python.returns(schema.returns)
    return Overload(function, facts.kind, flat, shard, parameters, returns, schema.arguments)
