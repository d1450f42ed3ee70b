"""What the typed calls of the C++ targets have in common: the struct of an operator, free functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from torchgen_lite.languages.cpp.signature import (
    CppParameter,
    CppSignature,
    default_headers,
    signature_headers,
)
from torchgen_lite.languages.cpp.types import CType, Expression
from torchgen_lite.loader.versions import meet
from torchgen_lite.schema import Argument
from torchgen_lite.targets.cpp.layout import Blocks, Layout, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.proof import schema_line
from torchgen_lite.targets.output import Files, Header, OutputFile

# The names and types of functions that are there, and the ranges of releases that have them.
Taken = dict[tuple[str, tuple[CType, ...]], list["str | None"]]


T = TypeVar("T")
# An inline function: its operator, its signature, and what it passes on to the struct's call.
CppFunction = tuple[CppOperator, CppSignature, Sequence["str | Expression"]]


def operator_headers(
    layout: Layout,
    operators: Sequence[CppOperator],
    includes: Callable[[Sequence[CppOperator]], Blocks],
    is_callable: Callable[[CppOperator], bool] = lambda operator: True,
    *,
    is_hidden: bool = False,
) -> Files:
    """`operators.h` for libtorch, for each shard; `includes` is what the signatures of its operators need. `is_hidden`:
    other libraries see nothing of the structs.

    The schema in a comment has no defaults: callers of a struct pass every argument, so a changed
    default recompiles nothing.
    """
    for shard in layout.shards:
        of_shard = [o for o in operators if o.shard == shard]
        context = {
            "namespace": layout.namespace,
            "given": "".join(layout.given.values()),
            "is_hidden": is_hidden,
            "includes": [*filter(None, [layout.given_namespace]), *includes(of_shard)],
            "operators": [(o, schema_line(o)[0], is_callable(o)) for o in of_shard],
        }
        path = layout.header(f"{stem('operators', shard)}.h")
        yield OutputFile(path, "cpp/operators.h.j2", context)
    if layout.shards != (None,):
        yield umbrella_file(layout, "operators")


def function_file(
    layout: Layout,
    name: str,
    includes: Blocks,
    functions: Sequence[CppFunction],
    inner: str = "functions",
    call: str = "call",
) -> OutputFile:
    """A header with functions in the namespace `inner`, each of which makes the `call` of a
    struct."""
    context = {
        "namespace": layout.namespace,
        "inner": inner,
        "call": call,
        "includes": includes,
        "functions": functions,
    }
    return OutputFile(layout.header(f"{name}.h"), "cpp/functions.h.j2", context)


def umbrella_file(
    layout: Layout, name: str, *, before: Blocks = (), after: Sequence[Header] = ()
) -> OutputFile:
    """The header that includes the headers of all shards, and others."""
    headers = [layout.own(f"{stem(name, shard)}.h") for shard in layout.shards]
    context = {"includes": [*before, [*headers, *after]]}
    return OutputFile(layout.header(f"{name}.h"), "cpp/umbrella.h.j2", context)


_Arguments = Callable[[Sequence[Argument]], tuple[CppParameter, ...]]


def free_functions(
    operators: Iterable[CppOperator],
    arguments: _Arguments,
    shown: Callable[[CppSignature], CppSignature],
    taken: Taken,
) -> Iterator[CppFunction]:
    """The free functions, with defaults, as they are `shown`; `taken` are those of other shards."""
    every = []
    for operator in operators:
        for signature in _free_signatures(operator, arguments):
            every.append((operator, signature, operator.names))
    for operator, signature, names in distinct(every, taken):
        yield operator, shown(signature), names


def _free_signatures(operator: CppOperator, arguments: _Arguments) -> Iterator[CppSignature]:
    """`add_out(out, self, other)` and, in the order of the schema, `add_outf(self, other, out)`."""
    schema = operator.schema
    signature = operator.signature
    if not schema.out:
        yield signature
        return
    swapped = arguments([*schema.out, *schema.inputs])
    yield signature._replace(name=f"{schema.base_name}_out", parameters=swapped)
    yield signature._replace(name=f"{schema.base_name}_outf", parameters=signature.plain)


def function_headers(
    functions: Sequence[tuple[CppOperator, CppSignature, object]],
) -> frozenset[str]:
    """The headers that the declarations of functions or methods need, with their defaults."""
    signatures = [signature for _, signature, _ in functions]
    return signature_headers(signatures) | default_headers(signatures)


def distinct(
    every: Iterable[tuple[CppOperator, CppSignature, T]], taken: Taken | None = None
) -> Iterator[tuple[CppOperator, CppSignature, T]]:
    """Those whose name and types are not `taken` in a release the operator is for; takes them.

    Of overloads that look the same in C++ (`int` and `SymInt`), only the first is generated.
    """
    taken = {} if taken is None else taken
    for operator, signature, more in every:
        ranges = taken.setdefault((signature.name, signature.types), [])
        release = operator.function.torch
        is_new = not any(meet(earlier, release) for earlier in ranges)
        ranges.append(release)
        if is_new:
            yield operator, signature, more
