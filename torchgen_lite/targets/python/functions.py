"""The public functions, by base name: `functions.py` and `redispatch.py`, each with its `.pyi`; and every overload by
namespace, name and overload name: `ops.py` and `ops.pyi`.

relu = _operators.relu
add = _packet("add", _Candidate(_operators.add_Tensor, ..., out=_operators.add_out), ...)

    ops.aten.add.Tensor(x, y); ops.aten.add.Tensor.redispatch(keyset, x, y); ops.aten.add(x, y)

`ops.aten.add.Tensor` is the stub function itself, with its redispatch stub as an attribute: calling a
function is more than twice as fast as calling an object with `__call__`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Annotation, Parameter
from torchgen_lite.languages.text import quote
from torchgen_lite.schema.grouped import grouped, without_none
from torchgen_lite.targets.output import Context, Files, OutputFile
from torchgen_lite.targets.python.overloads import Packet, build_packet, group_by_base, merge_out
from torchgen_lite.targets.python.package import Overload, Package, is_module, typing_context

_KEYSET = Parameter("keyset", Annotation("DispatchKeySet"))
Groups = Mapping[str, Sequence[Overload]]


def is_function(overload: Overload) -> bool:
    """Whether an overload is a function in Python (`variants: function`)."""
    return "function" in overload.function.variants


def build_functions(package: Package, every: Groups, merged: Groups) -> Files:
    """`functions.py` and `functions.pyi`; `every` has all overloads by base name, and `merged` the
    same with out variants merged in."""
    groups = {}
    functions = []
    names = []
    for base, group in group_by_base(filter(is_function, package.overloads)).items():
        name = identifier(base)
        groups[base] = merged[base] if len(group) == len(every[base]) else merge_out(group)
        functions.append(build_packet(name, groups[base]))
        # A function with such a name would replace a module of the package, so only `functions` has it.
        if not is_module(name):
            names.append(quote(name))
    context: Context = {"runtime": package.runtime, "functions": functions, "names": names}
    yield OutputFile(f"{package.root}/functions.py", "python/functions.py.j2", context)
    types = {**context, "first": None, **_types(package, groups)}
    yield OutputFile(f"{package.root}/functions.pyi", "python/functions.pyi.j2", types)


def build_redispatch(package: Package, groups: Groups) -> Files:
    """`redispatch.py` and `redispatch.pyi`: functions for all base names, with the keyset first."""
    functions = []
    packets = []
    has_choices = False
    for base, group in groups.items():
        packet = build_packet(identifier(base), group)
        same = _common_packet(base, group)
        packets.append(packet)
        functions.append((packet, same))
        has_choices |= not (packet.stub or same)
    context = {"runtime": package.runtime, "functions": functions, "has_choices": has_choices}
    yield OutputFile(f"{package.root}/redispatch.py", "python/redispatch.py.j2", context)
    shown = {"runtime": package.runtime, "functions": packets, "names": (), "first": _KEYSET}
    types = {**shown, **_types(package, groups)}
    yield OutputFile(f"{package.root}/redispatch.pyi", "python/functions.pyi.j2", types)


def _common_packet(base: str, overloads: Sequence[Overload]) -> str:
    """The packet in `ops` with these overloads; empty if they are in several namespaces."""
    namespaces = {o.function.namespace for o in overloads}
    if len(namespaces) == 1:
        return f"_ops.{identifier(*namespaces)}.{identifier(base)}"
    return ""


def _types(package: Package, groups: Groups) -> Context:
    """What the annotations of functions need."""
    overloads = []
    for overload in chain.from_iterable(groups.values()):
        overloads += without_none([overload, overload.out])
    return typing_context(package, overloads, list(map(identifier, groups)))


def build_ops(package: Package, merged: Groups) -> Files:
    """The namespaces at run time, and their types."""
    namespaces = {}
    by_namespace = grouped(package.overloads, lambda overload: overload.function.namespace)
    for name, of_namespace in by_namespace.items():
        namespaces[identifier(name)] = _packets(of_namespace, name, merged)
    context: Context = {"runtime": package.runtime, "namespaces": namespaces}
    # A class with an overload named `Tensor` would hide the type with that name.
    attributes = [o.attribute for o in package.overloads]
    types = {
        "first": Parameter("_packet"),
        **typing_context(package, package.overloads, attributes),
    }
    yield OutputFile(f"{package.root}/ops.py", "python/ops.py.j2", context)
    yield OutputFile(f"{package.root}/ops.pyi", "python/ops.pyi.j2", context | types)


def _packets(
    overloads: Sequence[Overload], namespace: str, merged: Groups
) -> list[tuple[Packet, str, dict[str, str]]]:
    """The packets of a namespace with these overloads. Each has the same packet in `functions.py`, or empty, and its
    stubs by overload."""
    prefix = f"{identifier(namespace)}."
    packets = []
    for base, group in group_by_base(overloads).items():
        name = identifier(base)
        of_namespace = [o for o in merged[base] if o.function.namespace == namespace]
        packet = build_packet(name, of_namespace, prefix)
        # `functions.py` has the same packet if it has exactly these overloads for the name.
        is_shared = len(of_namespace) == len(merged[base]) and all(map(is_function, group))
        function = ""
        if is_shared and not packet.stub:
            function = name
        packets.append((packet, function, {o.attribute: o.stub for o in group}))
    return packets
