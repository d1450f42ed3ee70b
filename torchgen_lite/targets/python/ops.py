"""`ops.py` and `ops.pyi`: every overload by namespace, name and overload name.

    ops.aten.add.Tensor(x, y); ops.aten.add.Tensor.redispatch(keyset, x, y); ops.aten.add(x, y)

`ops.aten.add.Tensor` is the stub function itself, with its redispatch stub as an attribute: calling a
function is more than twice as fast as calling an object with `__call__`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.functions import assignment_value, is_function
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.overloads import (
    function_value,
    group_by_base,
    in_matching_order,
    stub_signature,
)
from torchgen_lite.targets.python.package import (
    Package,
    module_imports,
    sharded,
    type_imports,
    used_constants,
)
from torchgen_lite.targets.python.views import annotation, assignment, shadowed_types


@dataclass(frozen=True, slots=True)
class OverloadLine:
    """`aten.add.Tensor = _operators.add_Tensor`, and its `.redispatch`."""

    attribute: str
    bind: str
    bind_redispatch: str
    declare: str


@dataclass(frozen=True, slots=True)
class PacketView:
    """One name of a namespace: what is called, and its overloads."""

    name: str
    bind: str
    declare: str
    type_name: str
    overloads: tuple[OverloadLine, ...]
    signatures: tuple[str, ...]

    @property
    def is_overloaded(self) -> bool:
        return len(self.signatures) > 1


@dataclass(frozen=True, slots=True)
class NamespaceView:
    name: str
    type_name: str
    packets: tuple[PacketView, ...]


def build_ops(package: Package, merged: Mapping[str, Sequence[Overload]]) -> Iterator[OutputFile]:
    """The namespaces at run time, and their types."""
    # A class that has an overload called `Tensor` would hide the type of that name.
    shadowed = shadowed_types([o.names.attribute for o in package.overloads])
    namespaces = [
        _namespace_view(
            n, [o for o in package.overloads if o.names.namespace == n], merged, shadowed
        )
        for n in package.namespaces
    ]
    functions = [o.function for o in package.overloads]
    modules = sharded(package, "operators") + sharded(package, "redispatch_operators")
    context = {
        "imports": module_imports(".", modules),
        "stub_imports": module_imports(".", sharded(package, "operators")),
        "namespaces": namespaces,
        "types": [t.replace("\n    ", "\n") for t in type_imports(package, functions, shadowed)],
        "constants": used_constants(functions),
    }
    for suffix in ("py", "pyi"):
        yield OutputFile(f"{package.root}/ops.{suffix}", f"python/ops.{suffix}.j2", context)


def _namespace_view(
    namespace: str,
    overloads: Sequence[Overload],
    merged: Mapping[str, Sequence[Overload]],
    shadowed: frozenset[str],
) -> NamespaceView:
    name = identifier(namespace)
    packets = []
    for base, group in group_by_base(overloads).items():
        mine = [o for o in merged[base] if o.names.namespace == namespace]
        # What `functions.py` has under this name is the same thing if nothing is added or missing there.
        shared = len(mine) == len(merged[base]) and all(map(is_function, group))
        packets.append(_packet_view(name, base, group, mine, shadowed, shared=shared))
    return NamespaceView(name, f"_{name}", tuple(packets))


def _packet_view(
    namespace: str,
    base: str,
    group: Sequence[Overload],
    merged: Sequence[Overload],
    shadowed: frozenset[str],
    *,
    shared: bool,
) -> PacketView:
    attribute = identifier(base)
    target = f"{namespace}.{attribute}"
    value = function_value(target, merged)
    if "\n" in value and shared:
        value = f"_functions.{attribute}"
    return PacketView(
        name=attribute,
        bind=f"{target} = {assignment_value(target, value)}",
        declare=annotation(attribute, f"_{namespace}_{attribute}", indent=4),
        type_name=f"_{namespace}_{attribute}",
        overloads=tuple(_overload_line(target, o) for o in group),
        signatures=tuple(
            stub_signature("__call__", o, first="_packet", indent=4, shadowed=shadowed)
            for o in in_matching_order(merged)
        ),
    )


def _overload_line(target: str, overload: Overload) -> OverloadLine:
    names = overload.names
    return OverloadLine(
        attribute=names.attribute,
        bind=assignment(f"{target}.{names.attribute}", names.stub),
        bind_redispatch=assignment(f"{names.stub}.redispatch", names.redispatch_stub),
        declare=bracketed(f"{names.attribute} = _overload(", [names.stub], indent=4),
    )
