"""`methods.py` and `methods.pyi`: the mixin `TensorMethods`, with Python's operators.

class TensorMethods:
    add = _packet("add", _Candidate(_operators.add_Tensor, ...), ...)
    __add__ = add
"""

from __future__ import annotations

from itertools import chain

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.operators import PYTHON_OPERATORS, PythonOperator
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.output import Context, Files, OutputFile
from torchgen_lite.targets.python.functions import Groups, is_function
from torchgen_lite.targets.python.overloads import Packet, as_method, build_packet, group_by_base
from torchgen_lite.targets.python.package import Overload, Package, typing_context


def build_methods(package: Package) -> Files:
    """The mixin and its types."""
    adapters = []
    methods = []
    for overload in filter(_is_method, package.overloads):
        if overload.schema.arguments[0].name != "self":
            # `methods.py` itself defines the adapter, which takes the place of the stub.
            adapters.append(overload)
            overload = overload._replace(flat=f"_{overload.flat}", scope="")
        methods.append(as_method(overload))
    groups = group_by_base(methods)
    operators = [o for o in PYTHON_OPERATORS if _has_operator(o, groups, package)]
    views = {}
    for base, group in groups.items():
        views[base] = build_packet(identifier(base), group, "TensorMethods.")
    common: Context = {"methods": views, "operators": operators}
    context = {
        "runtime": package.runtime,
        "adapters": adapters,
        "hoisted": list(filter(_is_mangled, views.values())),
    }
    yield OutputFile(f"{package.root}/methods.py", "python/methods.py.j2", common | context)
    overloads = list(chain.from_iterable(groups.values()))
    types = typing_context(package, overloads, list(map(identifier, groups)))
    yield OutputFile(f"{package.root}/methods.pyi", "python/methods.pyi.j2", common | types)


def _is_mangled(packet: Packet) -> bool:
    """Whether Python mangles a name inside a class: one with two leading underscores, as in `_operators.__and___Tensor`."""
    return any(overload.flat.startswith("__") for overload in packet.overloads)


def _is_method(overload: Overload) -> bool:
    has_self = "self" in names_of(overload.schema.arguments)
    return "method" in overload.function.variants and has_self and not overload.schema.out


def _has_operator(operator: PythonOperator, groups: Groups, package: Package) -> bool:
    if operator.dunder in groups:
        return False
    if operator.style == "reflected":
        return any(o.schema.base_name == operator.base for o in package.overloads if is_function(o))
    if operator.style == "reciprocal":
        return "reciprocal" in groups and operator.base in groups
    return operator.base in groups
