"""`libraries.py`, and `operators.py` or its shards.

_handle_add_Tensor = _library_aten.define_signature("aten::add.Tensor(Tensor self, ...", ...)

def add_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
def redispatch_add_Tensor(keyset: DispatchKeySet, self: Tensor, ...) -> Tensor: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.model import Overload
from torchgen_lite.targets.python.package import (
    Package,
    libraries_of,
    sharded,
    type_imports,
    used_constants,
)
from torchgen_lite.targets.python.views import shadowed_types, stub_view

_DISPATCHERS = {"singleton": "Dispatcher.singleton()", "own": "Dispatcher()"}


def build_libraries(package: Package, privateuse1: str) -> OutputFile:
    """The file that makes the dispatcher and the libraries. `privateuse1` names the backend."""
    context = {
        "runtime": package.runtime,
        "dispatcher": _DISPATCHERS[package.options.dispatcher],
        "privateuse1": quote(privateuse1) if privateuse1 else "",
        "libraries": libraries_of(package.overloads),
    }
    return OutputFile(f"{package.root}/libraries.py", "python/libraries.py.j2", context)


def build_operators(package: Package) -> Iterator[OutputFile]:
    """One file, or one for each shard and one that imports the stubs of all shards."""
    if len(package.shards) == 1:
        yield _operators_file(package, "operators", package.overloads)
        return
    shards = {}
    for shard, module in zip(package.shards, sharded(package, "operators"), strict=True):
        overloads = package.of_shard(shard)
        yield _operators_file(package, module, overloads)
        if overloads:
            shards[module] = [o.flat for o in overloads]
    context = {"shards": shards}
    yield OutputFile(f"{package.root}/operators.py", "python/operators_index.py.j2", context)


def _operators_file(package: Package, module: str, overloads: Sequence[Overload]) -> OutputFile:
    shadowed = shadowed_types([o.flat for o in overloads])
    operators = [stub_view(o, shadowed) for o in overloads]
    context = {
        "runtime": package.runtime,
        "libraries": sorted({identifier(o.function.namespace) for o in overloads}),
        "types": type_imports(package, overloads, shadowed),
        "constants": used_constants(overloads),
        "has_sized": any(operator.sized for operator in operators),
        "operators": operators,
    }
    return OutputFile(f"{package.root}/{module}.py", "python/operators.py.j2", context)
