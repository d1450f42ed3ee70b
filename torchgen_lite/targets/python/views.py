"""Views of one overload: everything its template prints, worked out beforehand.

Note [Views]
A template loops, tests a named boolean and prints a named string. What is cleverer than that is a field
of a view, computed here once for each overload and tested without a template. The views are slotted
because Jinja reads attributes of slotted objects several times faster than keys of dicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import (
    BUILTIN_TYPES,
    FRAMEWORK_TYPES,
    identifier,
    type_words,
    unshadowed,
)
from torchgen_lite.dialects.text import (
    LINE_LENGTH,
    bracketed,
    docstring,
    exploded,
    literal,
    quote,
    subscripted,
    tuple_text,
)
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import NamedConstant
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.python.model import Overload


@dataclass(frozen=True, slots=True)
class SchemaView:
    """`add_Tensor = aten.define_signature(Signature(...))` in `schemas.py`."""

    name: str
    library: str
    operator: str
    overload: str
    schema: str
    arguments: str
    kinds: str
    positional: int
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StubView:
    """One stub of `operators.py` or `redispatch_operators.py`."""

    name: str
    bind_handle: str
    bind_memo: str
    bind_stub: str
    parameters: str
    returns: str
    doc: str
    declare_kernel: str
    lookup: tuple[str, ...]
    resolve: str
    invoke: str


def qualified(function: NativeFunction) -> str:
    """The schema with its namespace: `aten::relu(Tensor self) -> Tensor`."""
    text = str(function.func)
    return text if function.func.namespace else f"{function.namespace}::{text}"


def build_schema_view(overload: Overload) -> SchemaView:
    """
    >>> aten.define_signature(Signature("aten::add", "Tensor", "aten::add...", ("self", ...), "TT-", 2, ...))
    """
    function, names = overload.function, overload.names
    schema = function.func
    defaults = [
        f"({quote(a.name)}, {_signature_default(python.default(a))})"
        for a in schema.arguments
        if a.default is not None
    ]
    more = []
    if defaults:
        more.append(f"defaults={tuple_text(defaults, indent=8, tail=' ' * 10)}")
    if function.tags:
        more.append(f"tags={tuple_text([quote(t) for t in function.tags], indent=8, tail=' ' * 6)}")
    if len(schema.returns) != 1:
        more.append(f"returns={len(schema.returns)}")
    return SchemaView(
        name=names.flat,
        library=identifier(names.namespace),
        operator=quote(f"{names.namespace}::{names.base}"),
        overload=quote(schema.overload_name),
        schema=quote(qualified(function)),
        arguments=tuple_text([quote(a.name) for a in schema.arguments], indent=8),
        kinds=quote("".join([dispatch_kind(a.type) for a in schema.arguments])),
        positional=len(schema.positional),
        more=tuple(more),
    )


def _signature_default(value: object) -> str:
    return quote(value.name) if isinstance(value, NamedConstant) else literal(value)


def build_stub_view(overload: Overload, shadowed: frozenset[str] = frozenset()) -> StubView:
    """The stub that a caller calls; see `templates/python/operators.py.j2` for what it emits."""
    function, names = overload.function, overload.names
    schema, name = function.func, names.flat
    taken = {identifier(a.name) for a in schema.arguments}
    kernel, table = _local("kernel", taken), _local("table", taken)
    pairs = [(dispatch_kind(a.type), identifier(a.name)) for a in schema.arguments]
    dispatching = [(kind, argument) for kind, argument in pairs if kind != "-"]
    subscripts = ["_state()", *(python.keyset_of(kind, argument) for kind, argument in dispatching)]
    returns, annotation = _returns(overload.returns, shadowed)
    return StubView(
        name=name,
        bind_handle=assignment(f"_handle_{name}", f"_{names.schemas_module}.{name}"),
        bind_memo=assignment(f"_memo_{name}", f"_handle_{name}.memo"),
        bind_stub=assignment(f"_handle_{name}.call", name),
        parameters=python.signature(python.unshadow(overload.parameters, shadowed)),
        returns=returns,
        doc=docstring(qualified(function)),
        declare_kernel=f"{kernel}: {annotation}",
        lookup=tuple(_lookup(f"_memo_{name}", kernel, table, subscripts)),
        resolve=bracketed(
            f"{kernel} = _handle_{name}.resolve(",
            [argument for _, argument in dispatching],
            indent=8,
        ),
        invoke=bracketed(f"return {kernel}(", python.forwarded(schema), indent=4),
    )


def build_redispatch_view(overload: Overload, shadowed: frozenset[str] = frozenset()) -> StubView:
    """The stub that takes the keyset first and looks at no argument."""
    function, names = overload.function, overload.names
    schema, name = function.func, names.flat
    taken = {identifier(a.name) for a in schema.arguments}
    kernel, keyset = _local("kernel", taken), _local("keyset", taken)
    returns, annotation = _returns(overload.returns, shadowed)
    lines = [f"{keyset}: DispatchKeySet", *python.unshadow(overload.parameters, shadowed)]
    return StubView(
        name=name,
        bind_handle=assignment(f"_handle_{name}", f"_{names.schemas_module}.{name}"),
        bind_memo=assignment(f"_memo_{name}: Any", f"_handle_{name}.redispatch_memo"),
        bind_stub=assignment(f"_handle_{name}.redispatch", name),
        parameters=python.signature(lines),
        returns=returns,
        doc=docstring(qualified(function)),
        declare_kernel=f"{kernel}: {annotation}",
        lookup=(subscripted(f"{kernel} = _memo_{name}", [keyset], indent=8),),
        resolve=bracketed(f"{kernel} = _handle_{name}.resolve_redispatch(", [keyset], indent=8),
        invoke=bracketed(f"return {kernel}(", python.forwarded(schema), indent=4),
    )


def assignment(target: str, value: str, *, indent: int = 0) -> str:
    """`target = value`, the value in brackets on its own line if it is too long."""
    if indent + len(target) + 3 + len(value) <= LINE_LENGTH:
        return f"{target} = {value}"
    margin = " " * indent
    return f"{target} = (\n{margin}    {value}\n{margin})"


def annotation(name: str, type_: str, *, indent: int = 0) -> str:
    """`name: Type`, the type in brackets on its own line if it is too long."""
    if indent + len(name) + 2 + len(type_) <= LINE_LENGTH:
        return f"{name}: {type_}"
    margin = " " * indent
    return f"{name}: (\n{margin}    {type_}\n{margin})"


def _lookup(memo: str, kernel: str, table: str, subscripts: Sequence[str]) -> list[str]:
    """`memo[a][b][c]` in as few lines as fit, through a local table where it takes several.

    One expression would be split by black within its subscripts; a local costs a nanosecond.
    """
    lines: list[str] = []
    head, pending = f" = {memo}", list(subscripts)
    while pending:
        count = len(pending)
        while count > 1 and len(_subscripted(kernel + head, pending[:count])) > LINE_LENGTH - 8:
            count -= 1
        target = kernel if count == len(pending) else table
        lines.append(subscripted(target + head, pending[:count], indent=8))
        head, pending = f" = {table}", pending[count:]
    return lines


def _subscripted(head: str, subscripts: Sequence[str]) -> str:
    return head + "".join(f"[{s}]" for s in subscripts)


def _local(name: str, taken: set[str]) -> str:
    """A local name that no argument has."""
    while name in taken:
        name = f"_{name}"
    return name


@lru_cache(maxsize=1024)
def _returns(types: tuple[str, ...], shadowed: frozenset[str]) -> tuple[str, str]:
    """The return annotation, and the type of a kernel that gives it, both laid out."""
    types = tuple(unshadowed(t, shadowed) for t in types)
    flat = python.returns_annotation(types)
    # The longest things around it are `) -> ` and `:`.
    annotation = flat if len(flat) + 6 <= LINE_LENGTH else exploded("tuple[", types, "]")
    kernel = f"Callable[..., {flat}]"
    if len(kernel) + 14 > LINE_LENGTH:
        inner = exploded("tuple[", types, "]", indent=8)
        kernel = exploded("Callable[", ["...", inner], "]", indent=4)
    return annotation, kernel


def shadowed_types(names: Sequence[str]) -> frozenset[str]:
    """The type names that a module with these functions hides."""
    return (BUILTIN_TYPES | FRAMEWORK_TYPES).intersection(names)


def used_types(functions: Sequence[NativeFunction]) -> frozenset[str]:
    """Every word in the annotations of these functions."""
    texts: set[str] = set()
    for function in functions:
        texts.update([python.argument_type(a.type) for a in function.func.arguments])
        texts.update(python.returns(function.func.returns))
    return type_words(" ".join(texts))
