"""Items of the lists of a backend's file: each names an operator, and may say more of its kernel.

    supported:
      - abs
      - maximum.out:
          structured: true
      - func: isnan(Tensor self) -> Tensor
        op_api: [v2.1, newest]

Note [Options of an item]
Everything that an item says is read, or reported by name: an option that is dropped gives another
kernel than the file asks for. What a vendor's own generator reads, and nothing here, is in `VENDOR`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.entry.reader import OPERATOR_NAME, EntryReader, Fields
from torchgen_lite.loader.formats.vendor_versions import Releases, VendorVersions
from torchgen_lite.loader.yaml.nodes import MapNode, Node, ScalarNode
from torchgen_lite.schema import FunctionSchema, parse_schema

# Fields that say which releases have a kernel.
_RANGES = ("acl_op", "op_api")
# Fields that a plug-in's or a lazy backend's own generator reads.
VENDOR = (
    *(*_RANGES, "internal_format_opapi", "gen_opapi", "exposed", "sparse", "dvm"),
    *("shape", "opkind", "properties"),
)
# Options that ask for a meta function in the place of PyTorch's.
_METAS = ("define_meta", "ext_structured_meta")
# Fields of PyTorch's entries that an item may have, too.
_OF_ENTRIES = (
    "device_guard",
    "device_check",
    "structured_delegate",
    "use_const_ref_for_mutable_tensors",
)
_OPTIONS = ("structured", *_METAS, *_OF_ENTRIES)
_NAMES = ("func", "op")


class Item(NamedTuple):
    """An operator in a list: its name, its releases, its schema if there is one, whether it is structured.

    `values` are what the item says in the place of PyTorch's entry, by the attribute of `NativeFunction`.
    """

    name: str
    node: ScalarNode
    releases: Releases
    schema: FunctionSchema | None = None
    is_structured: bool = False
    values: Mapping[str, Any] = {}

    @property
    def has_kernel(self) -> bool:
        """Whether the operator has a kernel of its own, not that of its structured out variant."""
        return self.values.get("structured_delegate") is None


def read_items(reader: EntryReader, field: str, versions: VendorVersions) -> Iterator[Item]:
    """The operators of a list, without those for other releases."""
    for node in reader.items(field, "a list of operator names"):
        named, fields = _named(reader, node)
        if named is None or named.is_null:
            reader.wrong_type(field, node, "the name of an operator")
            continue
        _check_names(reader, named, fields)
        is_structured, values = _options(reader, fields)
        releases = releases_of(fields, versions)
        text = named.value.split("(", 1)[0].strip()
        if not releases:
            continue
        if not OPERATOR_NAME.fullmatch(text):
            reader.refuse("TG123", text, "the name of an operator", named)
            continue
        schema = None
        if "(" in named.value:
            schema, problems = parse_schema(named.value, locate=reader.locator(named))
            reader.diagnostics += problems
        yield Item(text.removeprefix("aten::"), named, releases, schema, is_structured, values)


def releases_of(fields: Fields, versions: VendorVersions) -> Releases:
    """The releases in which the operator of an item or of an entry has a kernel."""
    given = [versions.read(field, fields[field][1]) for field in _RANGES if field in fields]
    return frozenset().union(*given) if given else versions.every


def _named(reader: EntryReader, item: Node) -> tuple[ScalarNode | None, Fields]:
    """The node that names an item's operator, and the item's other fields."""
    if not isinstance(item, MapNode):
        return item if isinstance(item, ScalarNode) else None, {}
    fields = reader.fields_of(item)
    field = next((name for name in _NAMES if name in fields), None)
    if field is not None:
        named = fields.pop(field)[1]
        return named if isinstance(named, ScalarNode) else None, fields
    if not fields:
        return None, {}
    # `- maximum.out:` with fields below or beside it.
    name, below = fields.pop(next(iter(fields)))
    if isinstance(below, MapNode):
        # Together, so that what is written both below and beside is written twice.
        pairs = [*below.items, *fields.values()]
        return name, reader.fields_of(MapNode(below.start, below.end, pairs))
    is_empty = isinstance(below, ScalarNode) and below.is_null
    return name if is_empty else None, fields


def _check_names(reader: EntryReader, named: ScalarNode, fields: Fields) -> None:
    """Refuse fields that no item has."""
    known = (*_OPTIONS, *VENDOR, *reader.dialect.extra_fields)
    for name, (key, _) in fields.items():
        if name in FIELDS and name not in known:
            reader.report(
                "TG102",
                f"an item in a list has no field `{name}`",
                key,
                "not read here",
                f"`{named.value.split('(', 1)[0]}` needs an entry with `func` for it",
            )
        else:
            reader.choice("TG102", "field", name, key, known)


def _options(reader: EntryReader, fields: Fields) -> tuple[bool, dict[str, Any]]:
    """Whether the kernel is structured, and what the item says in the place of PyTorch's entry."""
    is_structured = flag_in(reader, fields, "structured")
    for name in _METAS:
        if not flag_in(reader, fields, name):
            continue
        place = fields[name][1]
        if not is_structured:
            reader.report("TG116", f"`{name}` needs `structured: true`", place, "not structured")
            continue
        reader.report(
            "TG130",
            f"`{name}` asks for a meta function of the backend, which is not generated",
            place,
            "its class derives from PyTorch's",
            f"leave `{name}` out",
        )
    values = {}
    for name in _OF_ENTRIES:
        read = FIELDS[name].shape.read
        if name in fields and read is not None:
            values[FIELDS[name].attribute] = read(reader, name, fields[name][1])
    if is_structured and "structured_delegate" in fields:
        reader.report(
            "TG116",
            "`structured` and `structured_delegate` exclude each other",
            fields["structured_delegate"][1],
            "not together",
        )
        del values["structured_delegate"]
    return is_structured, values


def flag_in(reader: EntryReader, fields: Fields, name: str) -> bool:
    """Whether a flag among these fields is set; False if it is absent."""
    return name in fields and reader.flag(name, fields[name][1])
