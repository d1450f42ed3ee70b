"""`libraries.py`, and `operators.py` or its shards.

_handle_add_Tensor = _library_aten.define_signature("aten::add.Tensor(Tensor self, ...", ...)

def add_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
def redispatch_add_Tensor(keyset: DispatchKeySet, self: Tensor, ...) -> Tensor: ...

A stub's view has texts where templates elsewhere call verbs: the text of the runtime's stubs is
printed from one with holes in it (`tests/unit/runtime/test_stub.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import free_name, identifier, identifiers
from torchgen_lite.languages.python.signature import returned, unshadowed
from torchgen_lite.languages.text import doc_lines, doc_text, quote, quoted
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.model import OptionalType, Type, sized_list
from torchgen_lite.targets.output import Files, OutputFile
from torchgen_lite.targets.python.package import (
    Overload,
    Package,
    libraries_of,
    shadowed_types,
    sharded,
    type_imports,
    used_constants,
)


def build_libraries(package: Package, privateuse1: str) -> OutputFile:
    """The file that makes the dispatcher and the libraries. `privateuse1` names the backend."""
    is_own = package.options.dispatcher == "own"
    context = {
        "runtime": package.runtime,
        "dispatcher": "Dispatcher()" if is_own else "Dispatcher.singleton()",
        "privateuse1": quote(privateuse1) if privateuse1 else "",
        "libraries": libraries_of(package.overloads),
    }
    return OutputFile(f"{package.root}/libraries.py", "python/libraries.py.j2", context)


def build_operators(package: Package) -> Files:
    """One file, or one for each shard and one that imports the stubs of all shards."""
    if len(package.shards) == 1:
        yield _operators_file(package, "operators", package.overloads)
        return
    shards = {}
    for shard, module in zip(package.shards, sharded(package, "operators"), strict=True):
        overloads = [o for o in package.overloads if o.shard == shard]
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


class StubView(NamedTuple):
    """One overload in `operators.py`: its call stub, its redispatch stub and its definition.

    `kernel` and `keyset` are local names that no argument has, `path` has the keys that the stub
    looks up for the `dispatching` arguments, in `rows` if these are many, and `passed` are the
    arguments of the kernel call. Each of the `sized` lists has a position, a name, and a test:
    kernels get a tuple, which the stub makes if that holds. `doc` (a docstring), `tags` and `types`
    (of the `sized` arguments) may be empty. `returns` is the number of results, or empty if there
    is one.
    """

    name: str
    parameters: str
    result: str
    doc: str
    sized: Sequence[tuple[int, str, str]]
    kernel: str
    keyset: str
    path: str
    rows: Sequence[str]
    dispatching: str
    passed: str
    library: str
    schema: str
    kinds: str
    tags: str
    returns: str
    types: str


def qualified(function: NativeFunction) -> str:
    """The schema with its namespace: `aten::relu(Tensor self) -> Tensor`."""
    text = str(function.func)
    if function.func.namespace:
        return text
    return f"{function.namespace}::{text}"


def stub_view(overload: Overload, shadowed: frozenset[str] = frozenset()) -> StubView:
    """The view of one overload; `templates/python/operators.py.j2` shows the code."""
    function = overload.function
    schema = overload.schema
    names = identifiers(schema.arguments)
    lines = doc_lines(function.doc)
    kinds = ""
    dispatching = []
    keys = []
    sized = []
    types = []
    for position, (name, argument) in enumerate(zip(names, schema.arguments)):
        kind = dispatch_kind(argument.type)
        kinds += kind.value
        if kind is not DispatchKind.nothing:
            dispatching.append(name)
            keys.append(f"[{python.keyset_of(kind, name)}]")
        if sized_list(argument.type) is not None:
            sized.append((position, name, _not_tuple(name, argument.type)))
            types.append(f"{position}: {quote(str(argument.type))}")
    rows = []
    if len(keys) > 2:
        rows = ["".join(keys[start : start + 3]) for start in range(0, len(keys), 3)]
    return StubView(
        name=overload.flat,
        parameters=", ".join(map(str, unshadowed(overload.parameters, shadowed))),
        result=str(returned(overload.returns).unshadowed(shadowed)),
        doc=doc_text([qualified(function), "", *lines]) if lines else "",
        sized=sized,
        kernel=free_name("kernel", names),
        keyset=free_name("keyset", names),
        path="".join(keys),
        rows=rows,
        dispatching=", ".join(dispatching),
        passed=", ".join(python.forwarded(schema)),
        library=identifier(overload.function.namespace),
        schema=quote(qualified(function)),
        kinds=quote(kinds),
        tags=quoted(function.tags) if function.tags else "",
        returns=str(len(schema.returns)) if len(schema.returns) != 1 else "",
        types=", ".join(types),
    )


def _not_tuple(name: str, type_: Type) -> str:
    """The test whether a sized list has to become a tuple; `runtime/stub.py` has the same."""
    test = f"_type({name}) is not _tuple"
    if isinstance(type_, OptionalType):
        return f"{name} is not None and {test}"
    return test
