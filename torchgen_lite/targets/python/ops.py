"""`ops.py` and `ops.pyi`: every overload by namespace, name and overload name.

    ops.aten.add.Tensor(x, y); ops.aten.add.Tensor.redispatch(keyset, x, y); ops.aten.add(x, y)

`ops.aten.add.Tensor` is the stub function itself, with its redispatch stub as an attribute: calling a
function is more than twice as fast as calling an object with `__call__`.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Parameter
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.functions import Groups, is_function
from torchgen_lite.targets.python.overloads import (
    Packet,
    build_packet,
    group_by_base,
)
from torchgen_lite.targets.python.package import Package, type_imports, used_constants
from torchgen_lite.targets.python.views import shadowed_types


def build_ops(package: Package, merged: Groups) -> Iterator[OutputFile]:
    """The namespaces at run time, and their types."""
    # A class with an overload named `Tensor` would hide the type with that name.
    shadowed = shadowed_types([o.attribute for o in package.overloads])
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
) -> list[tuple[Packet, str, dict[str, str]]]:
    """The packets of a namespace. Each has the same packet in `functions.py`, or empty, and its
    stubs by overload."""
    overloads = [o for o in package.overloads if o.function.namespace == namespace]
    prefix = f"{identifier(namespace)}."
    first = Parameter("_packet")
    packets = []
    for base, group in group_by_base(overloads).items():
        name = identifier(base)
        mine = [o for o in merged[base] if o.function.namespace == namespace]
        packet = build_packet(name, mine, prefix=prefix)
        if not packet.is_only:
            packet = build_packet(name, mine, prefix=prefix, first=first, shadowed=shadowed)
        # `functions.py` has the same packet if it has exactly these overloads for the name.
        is_shared = len(mine) == len(merged[base]) and all(map(is_function, group))
        function = name if is_shared and not packet.stub else ""
        packets.append((packet, function, {o.attribute: o.stub for o in group}))
    return packets
