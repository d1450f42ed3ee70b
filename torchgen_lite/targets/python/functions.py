"""The public functions, by base name: `functions.py` and `redispatch.py`, each with its `.pyi`.

relu = _operators.relu
add = _packet("add", (_Candidate(_operators.add_Tensor, ..., out=_operators.add_out), ...))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.overloads import (
    FunctionView,
    function_value,
    group_by_base,
    in_matching_order,
    merge_out,
    stub_signature,
)
from torchgen_lite.targets.python.package import (
    Package,
    module_imports,
    sharded,
    type_imports,
    used_constants,
)
from torchgen_lite.targets.python.views import assignment, shadowed_types

_KEYSET = "keyset: DispatchKeySet"


def is_function(overload: Overload) -> bool:
    """Whether an overload is a function in Python (`variants: function`)."""
    return "function" in overload.function.variants


def public_groups(package: Package) -> dict[str, list[Overload]]:
    """The overloads that are functions in Python (`variants: function`), out variants merged in."""
    functions = [o for o in package.overloads if is_function(o)]
    return {base: merge_out(group) for base, group in group_by_base(functions).items()}


def all_groups(package: Package) -> dict[str, list[Overload]]:
    """All overloads by base name, out variants merged in."""
    return {base: merge_out(group) for base, group in group_by_base(package.overloads).items()}


def build_functions(package: Package) -> Iterator[OutputFile]:
    """`functions.py` and `functions.pyi`."""
    groups = public_groups(package)
    views = build_views(groups, redispatch=False)
    imports = module_imports(".", sharded(package, "operators"))
    yield from _module(package, "functions", groups, views, imports)


def build_redispatch(
    package: Package, groups: Mapping[str, Sequence[Overload]]
) -> Iterator[OutputFile]:
    """`redispatch.py` and `redispatch.pyi`: the same for all base names, keyset first."""
    views = build_views(groups, redispatch=True)
    imports = module_imports(".", sharded(package, "redispatch_operators"))
    yield from _module(package, "redispatch", groups, views, imports)


def build_views(
    groups: Mapping[str, Sequence[Overload]], *, redispatch: bool
) -> list[FunctionView]:
    """One view for each public name."""
    names = {base: identifier(base) for base in groups}
    shadowed = shadowed_types(list(names.values()))
    first = _KEYSET if redispatch else ""
    return [
        FunctionView(
            name=names[base],
            value=assignment_value(
                names[base], function_value(names[base], overloads, redispatch=redispatch)
            ),
            signatures=tuple(
                stub_signature(names[base], o, first=first, shadowed=shadowed)
                for o in in_matching_order(overloads)
            ),
        )
        for base, overloads in groups.items()
    ]


def assignment_value(name: str, value: str) -> str:
    """The right-hand side of `name = value`: a packet is laid out already, a long stub needs brackets."""
    return value if "\n" in value else assignment(name, value)[len(name) + 3 :]


def _module(
    package: Package,
    module: str,
    groups: Mapping[str, Sequence[Overload]],
    views: Sequence[FunctionView],
    imports: Sequence[str],
) -> Iterator[OutputFile]:
    functions = [
        part.function for group in groups.values() for o in group for part in (o, o.out) if part
    ]
    shadowed = shadowed_types([v.name for v in views])
    context: dict[str, object] = {
        "imports": imports,
        "functions": views,
        "names": [quote(v.name) for v in views],
        "types": [t.replace("\n    ", "\n") for t in type_imports(package, functions, shadowed)],
        "constants": used_constants(functions),
        "is_redispatch": module == "redispatch",
    }
    for suffix in ("py", "pyi"):
        yield OutputFile(
            f"{package.root}/{module}.{suffix}", f"python/functions.{suffix}.j2", context
        )
