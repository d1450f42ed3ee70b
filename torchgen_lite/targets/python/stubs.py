"""`schemas.py`, `operators.py` and `redispatch_operators.py`, or their shards.

add_Tensor = aten.define_signature(Signature("aten::add", "Tensor", ...))

def add_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
def add_Tensor(keyset: DispatchKeySet, self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.package import Package, sharded, type_imports, used_constants
from torchgen_lite.targets.python.views import (
    build_redispatch_view,
    build_schema_view,
    build_stub_view,
    shadowed_types,
)

_DISPATCHERS = {"singleton": "Dispatcher.singleton()", "own": "Dispatcher()"}


def build_schemas(package: Package) -> Iterator[OutputFile]:
    """`schemas.py` makes dispatcher and libraries; with shards the operators are in `schemas_0.py` and on."""
    libraries = [{"name": identifier(n), "namespace": quote(n)} for n in package.namespaces]
    context = {
        "dispatcher": _DISPATCHERS[package.options.dispatcher],
        "libraries": libraries,
        "library_names": ", ".join(identifier(n) for n in package.namespaces),
    }
    template, root = "python/schemas.py.j2", package.root
    if package.shards != (None,):
        yield OutputFile(f"{root}/schemas.py", template, context | {"home": True, "schemas": []})
    for shard, module in zip(package.shards, sharded(package, "schemas"), strict=True):
        schemas = [build_schema_view(o) for o in package.of_shard(shard)]
        more = {"home": shard is None, "schemas": schemas}
        yield OutputFile(f"{root}/{module}.py", template, context | more)


def build_operators(package: Package) -> Iterator[OutputFile]:
    """The stubs and the redispatch stubs, one file of each for each shard."""
    for shard in package.shards:
        overloads = package.of_shard(shard)
        functions = [o.function for o in overloads]
        shadowed = shadowed_types([o.names.flat for o in overloads])
        context = {
            "schemas_module": "schemas" if shard is None else f"schemas_{shard}",
            "types": type_imports(package, functions, shadowed),
            "constants": used_constants(functions),
        }
        suffix = "" if shard is None else f"_{shard}"
        stubs = [build_stub_view(o, shadowed) for o in overloads]
        yield OutputFile(
            f"{package.root}/operators{suffix}.py",
            "python/operators.py.j2",
            context | {"stubs": stubs},
        )
        stubs = [build_redispatch_view(o, shadowed) for o in overloads]
        yield OutputFile(
            f"{package.root}/redispatch_operators{suffix}.py",
            "python/redispatch_operators.py.j2",
            context | {"stubs": stubs},
        )
