"""The public functions, by base name: `functions.py` and `redispatch.py`, each with its `.pyi`.

relu = _operators.relu
add = _packet("add", _Candidate(_operators.add_Tensor, ..., out=_operators.add_out), ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Annotation, Parameter
from torchgen_lite.languages.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.overloads import (
    FunctionView,
    function_view,
    group_by_base,
    is_stub,
    merge_out,
    signatures_view,
)
from torchgen_lite.targets.python.package import Package, type_imports, used_constants
from torchgen_lite.targets.python.taken import is_exported
from torchgen_lite.targets.python.views import shadowed_types

_KEYSET = Parameter("keyset", Annotation("DispatchKeySet"))
Groups = Mapping[str, Sequence[Overload]]


def is_function(overload: Overload) -> bool:
    """Whether an overload is a function in Python (`variants: function`)."""
    return "function" in overload.function.variants


def merged_groups(every: Groups) -> dict[str, list[Overload]]:
    """Overloads by base name, with out variants merged in."""
    return {base: merge_out(group) for base, group in every.items()}


def build_functions(package: Package, every: Groups, merged: Groups) -> Iterator[OutputFile]:
    """`functions.py` and `functions.pyi`; `every` has all overloads by base name, and `merged` the
    same with out variants merged in."""
    groups = {
        base: merged[base] if len(group) == len(every[base]) else merge_out(group)
        for base, group in group_by_base(filter(is_function, package.overloads)).items()
    }
    context: dict[str, object] = {
        "runtime": package.runtime,
        "functions": [function_view(base, group) for base, group in groups.items()],
        "names": [quote(name) for name in map(identifier, groups) if is_exported(name)],
    }
    yield OutputFile(f"{package.root}/functions.py", "python/functions.py.j2", context)
    yield _types_of(package, "functions", groups, names=context["names"])


def build_redispatch(package: Package, groups: Groups) -> Iterator[OutputFile]:
    """`redispatch.py` and `redispatch.pyi`: functions for all base names, with the keyset first."""
    context = {
        "runtime": package.runtime,
        "functions": [_redispatched(base, group) for base, group in groups.items()],
    }
    yield OutputFile(f"{package.root}/redispatch.py", "python/redispatch.py.j2", context)
    yield _types_of(package, "redispatch", groups, first=_KEYSET)


def _redispatched(base: str, overloads: Sequence[Overload]) -> tuple[FunctionView, str]:
    """One name of `redispatch.py`, and the packet whose overloads it redispatches, or empty.

    If the overloads are in several namespaces, they have no common packet, and the view has them.
    """
    name, namespaces = identifier(base), {o.names.namespace for o in overloads}
    if is_stub(overloads):
        return FunctionView(name, "", overloads[0].names.redispatch_stub, ()), ""
    if len(namespaces) == 1:
        return FunctionView(name, "", "", ()), f"_ops.{identifier(*namespaces)}.{name}"
    return function_view(base, overloads), ""


def _types_of(
    package: Package,
    module: str,
    groups: Groups,
    *,
    names: object = (),
    first: Parameter | None = None,
) -> OutputFile:
    overloads = [part for group in groups.values() for o in group for part in (o, o.out) if part]
    shadowed = shadowed_types([identifier(base) for base in groups])
    context: dict[str, object] = {
        "runtime": package.runtime,
        "functions": [
            signatures_view(identifier(base), group, first=first, shadowed=shadowed)
            for base, group in groups.items()
        ],
        "names": names,
        "types": type_imports(package, overloads, shadowed),
        "constants": used_constants(overloads),
        "is_redispatch": module == "redispatch",
    }
    return OutputFile(f"{package.root}/{module}.pyi", "python/functions.pyi.j2", context)
