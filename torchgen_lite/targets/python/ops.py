"""`ops.py` and `ops.pyi`: every overload by namespace, name and overload name.

    ops.aten.add.Tensor(x, y); ops.aten.add.Tensor.redispatch(keyset, x, y); ops.aten.add(x, y)

`ops.aten.add.Tensor` is the stub function itself, with its redispatch stub as an attribute: calling a
function is more than twice as fast as calling an object with `__call__`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Parameter
from torchgen_lite.languages.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.functions import Groups, is_function
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.overloads import (
    CandidateView,
    SignatureView,
    candidate_views,
    group_by_base,
    is_stub,
    signatures_view,
)
from torchgen_lite.targets.python.package import Package, type_imports, used_constants
from torchgen_lite.targets.python.views import shadowed_types


class PacketView(NamedTuple):
    """One name of a namespace and its overloads, each with its stub.

    It is bound to the `function` in `functions.py` or, if that is empty, as a `FunctionView` is.
    """

    name: str
    literal: str
    function: str
    stub: str
    candidates: Sequence[CandidateView]
    overloads: Mapping[str, str]
    signatures: Sequence[SignatureView]

    @property
    def is_only(self) -> bool:
        """Whether it is bound to the stub of its only overload, `default`."""
        return bool(self.stub) and [*self.overloads] == ["default"]

    @property
    def is_overloaded(self) -> bool:
        return len(self.signatures) > 1


def build_ops(package: Package, merged: Groups) -> Iterator[OutputFile]:
    """The namespaces at run time, and their types."""
    # A class with an overload named `Tensor` would hide the type with that name.
    shadowed = shadowed_types([o.names.attribute for o in package.overloads])
    context: dict[str, object] = {
        "runtime": package.runtime,
        "namespaces": {
            identifier(n): _packets(package, n, merged, shadowed) for n in package.namespaces
        },
    }
    types = {
        "types": type_imports(package, package.overloads, shadowed),
        "constants": used_constants(package.overloads),
    }
    yield OutputFile(f"{package.root}/ops.py", "python/ops.py.j2", context)
    yield OutputFile(f"{package.root}/ops.pyi", "python/ops.pyi.j2", context | types)


def _packets(
    package: Package, namespace: str, merged: Groups, shadowed: frozenset[str]
) -> list[PacketView]:
    overloads = [o for o in package.overloads if o.names.namespace == namespace]
    packets = []
    for base, group in group_by_base(overloads).items():
        mine = [o for o in merged[base] if o.names.namespace == namespace]
        # `functions.py` has the same packet if it has exactly these overloads for the name.
        is_shared = len(mine) == len(merged[base]) and all(map(is_function, group))
        function = identifier(base) if is_shared else ""
        prefix = f"{identifier(namespace)}."
        packets.append(_packet_view(base, prefix, group, mine, shadowed, function))
    return packets


def _packet_view(
    base: str,
    prefix: str,
    group: Sequence[Overload],
    merged: Sequence[Overload],
    shadowed: frozenset[str],
    function: str,
) -> PacketView:
    name = identifier(base)
    stub = merged[0].names.stub if is_stub(merged) else ""
    types = signatures_view("__call__", merged, first=Parameter("_packet"), shadowed=shadowed)
    return PacketView(
        name=name,
        literal=quote(prefix + name),
        function="" if stub else function,
        stub=stub,
        candidates=() if function or stub else candidate_views(merged),
        overloads={o.names.attribute: o.names.stub for o in group},
        signatures=types.signatures,
    )
