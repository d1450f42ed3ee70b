"""The views that the templates of the stub package print.

class _op_add__Tensor(OpOverload[..., Tensor]):
    \"\"\"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\"\"\"

    def __call__(_op, /, self: Tensor, other: Tensor, *, alpha: Number | complex = 1) -> Tensor: ...

class _op_add(OpOverloadPacket[..., Tensor]):
    Tensor: _op_add__Tensor
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import NamedTuple

from torchgen_lite.languages.python import torch_ops
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import (
    Annotation,
    ImportedName,
    Parameter,
    imported_names,
    imports,
    names_in,
    unshadowed,
)
from torchgen_lite.languages.text import doc_lines, doc_text, lengthened
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.file_names import WINDOWS_DEVICES
from torchgen_lite.targets.output import Context

# The parameters and the return type of `__call__`.
Signature = tuple[tuple[Parameter, ...], Annotation]


class OverloadView(NamedTuple):
    """One overload: its class, and the name of the packet's attribute that holds it."""

    name: str
    type_name: str
    docstring: str
    signature: Signature


class PacketView(NamedTuple):
    """One name of a namespace, and its class. Calling it tries the overloads in turn."""

    name: str
    type_name: str
    overloads: Sequence[OverloadView]
    signatures: Sequence[Signature]
    # What `typing.overload` is called in the class.
    decorator: str


def build_namespace(
    namespace: str,
    schemas: Sequence[FunctionSchema],
    modules: dict[str, str],
    docs: Mapping[str, str | None],
) -> tuple[str, Context]:
    """The name of the module of one namespace, and what is in it. `schemas` are all its schemas by name, `modules`
    the attributes of `torch.ops` that are taken, each with its module, `docs` the `doc:` texts of operators.
    """
    # Python looks in a class before it looks in the module, so that no class has the name of an attribute.
    attributes = {schema.base_name for schema in schemas}
    attributes.update(map(torch_ops.overload_attribute, schemas))
    classes = _Classes(namespace, docs, dict.fromkeys(attributes))
    packets = []
    for base, overloads in groupby(schemas, attrgetter("base_name")):
        packets.append(classes.packet(base, list(overloads)))
    imported = imports(classes.used, torch_ops.TYPE_MODULES)
    attribute = lengthened(identifier(namespace.replace(".", "_")), modules)
    modules[attribute] = _module(attribute, modules.values())
    return modules[attribute], {"imports": imported, "packets": packets}


def _module(name: str, modules: Iterable[str]) -> str:
    """The name of a module that is the file of no other on a disk that ignores case."""
    taken = {"__init__", *WINDOWS_DEVICES, *map(str.lower, modules)}
    apart = lengthened(name.lower(), taken)
    return name + apart[len(name) :]


@dataclass(slots=True)
class _Classes:
    """The classes of one module: the names that are taken, and what their signatures import."""

    namespace: str
    docs: Mapping[str, str | None]
    taken: dict[str, None]
    used: set[ImportedName] = field(default_factory=set)

    def packet(self, base: str, schemas: Sequence[FunctionSchema]) -> PacketView:
        # Overloads that write into `out` come last: a call without it cannot mean them.
        ordered = sorted(schemas, key=lambda schema: bool(schema.out))
        type_name = _fresh(f"_op_{base}", self.taken)
        overloads = [self.overload(type_name, schema) for schema in ordered]
        hidden = torch_ops.TYPE_MODULES.keys() & set(map(torch_ops.overload_attribute, ordered))
        signatures = [overload.signature for overload in overloads]
        if hidden:
            signatures = [self.signature(schema, frozenset(hidden)) for schema in ordered]
        signatures = list(dict.fromkeys(signatures))
        [decorator] = imported_names(["overload"], frozenset(hidden))
        if len(signatures) > 1:
            self.used.add(decorator)
        called = decorator.alias or decorator.name
        return PacketView(base, type_name, overloads, signatures, called)

    def overload(self, packet: str, schema: FunctionSchema) -> OverloadView:
        lines = doc_lines(self.docs.get(f"{self.namespace}::{schema.local_name}"))
        name = torch_ops.overload_attribute(schema)
        type_name = _fresh(f"{packet}__{name}", self.taken)
        doc = doc_text([str(schema), "", *lines] if lines else [str(schema)])
        return OverloadView(name, type_name, doc, self.signature(schema))

    def signature(
        self, schema: FunctionSchema, shadowed: frozenset[str] = frozenset()
    ) -> Signature:
        """The signature of `__call__`; types that attributes of the class hide get an underscore."""
        parameters = torch_ops.parameters(schema)
        returns = torch_ops.returns_type(schema)
        names = names_in([returns, *[parameter.annotation for parameter in parameters]])
        self.used |= imported_names(names, shadowed)
        return tuple(unshadowed(parameters, shadowed)), returns.unshadowed(shadowed)


def _fresh(name: str, taken: dict[str, None]) -> str:
    """`name`, with underscores appended until it is not taken: `a__b.c` and `a.b__c` both exist,
    and so do `a::b` and `a__b`."""
    name = lengthened(identifier(name), taken)
    taken[name] = None
    return name


def group_by_namespace(
    schemas: Sequence[tuple[str, FunctionSchema]],
) -> Mapping[str, list[FunctionSchema]]:
    """Schemas by namespace, both sorted by name. Of two with the same name, the first is used."""
    by_name = {(n, schema.local_name): schema for n, schema in reversed(schemas)}
    grouped = {}
    for namespace, names in groupby(sorted(by_name), itemgetter(0)):
        grouped[namespace] = [by_name[name] for name in names]
    return grouped
