"""The fields of an entry of native_functions.yaml, each declared once.

The table drives the loader, overlays, `fmt` (whose canonical order it gives), the JSON Schema and
docs/schema.md. What people read about a field is prose, and stands in `fields.txt`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_lite.diagnostics import Label
from torchgen_lite.loader.config.options import Json, descriptions
from torchgen_lite.loader.entry import native_fields as native
from torchgen_lite.loader.entry import shapes
from torchgen_lite.loader.entry.reader import PYTORCH, Dialect, EntryReader
from torchgen_lite.loader.entry.shapes import FLAG, TEXT, UNREAD, Shape, declared_in


class Field(NamedTuple):
    """A field of an entry.

    `fills` says that an overlay may supply the field if it is missing. `retired` is the release of
    PyTorch since which the field means nothing. `part_of` is the field that this one is read with.
    """

    name: str
    shape: Shape
    ours: bool = False
    fills: bool = False
    retired: str = ""
    part_of: str = ""

    @property
    def attribute(self) -> str:
        """The attribute of `NativeFunction` that the field is read into."""
        return self.part_of or self.name

    @property
    def description(self) -> str:
        """What editors and docs/schema.md say of the field: its line in `fields.txt`."""
        return descriptions(__file__)[self.name]


def _ours(name: str, shape: Shape, *, fills: bool = True, part_of: str = "") -> Field:
    return Field(name, shape, ours=True, fills=fills, part_of=part_of)


_FIELDS = (
    Field("func", shapes.FUNC),
    _ours("doc", TEXT),
    _ours("torch", shapes.RANGE, fills=False),
    _ours("guard", native.GUARD, fills=False),
    Field("variants", native.VARIANTS_OF),
    Field("device_check", native.DEVICE_CHECK),
    Field("device_guard", FLAG),
    Field("structured", FLAG),
    Field("structured_delegate", shapes.OPERATOR_OF),
    Field("structured_inherits", TEXT),
    Field("precomputed", native.PRECOMPUTED),
    Field("ufunc_inner_loop", native.LOOPS),
    Field("python_module", native.PYTHON_MODULE, fills=True),
    Field("category_override", native.CATEGORY),
    Field("manual_kernel_registration", FLAG),
    Field("manual_cpp_binding", FLAG),
    Field("cpp_no_default_args", native.NO_DEFAULTS),
    Field("dispatch", native.DISPATCH),
    Field("autogen", native.AUTOGEN, fills=True),
    Field("tags", native.TAGS, fills=True),
    _ours("fake", declared_in("fakes")),
    _ours("axes", declared_in("axes")),
    _ours("vmap", shapes.FUNCTION),
    _ours("effects", native.EFFECTS),
    _ours("checkpoint", native.CHECKPOINT),
    _ours("decompose", native.DECOMPOSE),
    _ours("triton", native.TRITON),
    _ours("flops", declared_in("fakes", "FLOPS")),
    _ours("autocast", declared_in("autocast")),
    _ours("derivatives", native.DERIVATIVES),
    _ours("output_differentiability", native.DIFFERENTIABILITY, part_of="derivatives"),
    _ours("dtypes", native.KERNEL_DTYPES),
    _ours("samples", declared_in("samples")),
    Field("use_const_ref_for_mutable_tensors", FLAG),
    *[Field(name, UNREAD[type_], retired=release) for release, name, type_ in native.RETIRED],
)
FIELDS: dict[str, Field] = {field.name: field for field in _FIELDS}
# The attribute that a field is read into, and its reader; fields kept as text are left out.
_READERS = {f.name: (f.attribute, f.shape.read) for f in _FIELDS if f.shape.read is not None}
# Fields that are not retired and not kept as text, so nothing is left to check.
USUAL_FIELDS = frozenset(["func", *[name for name in _READERS if not FIELDS[name].retired]])
FIELD_ORDER: dict[str, int] = {field.name: index for index, field in enumerate(_FIELDS)}


def read_fields(reader: EntryReader) -> dict[str, Any]:
    """Every field that the entry has, by the attribute of `NativeFunction` that it fills."""
    values: dict[str, Any] = {}
    for name, (_, node) in reader.fields.items():
        found = _READERS.get(name)
        if found is not None and found[0] not in values:
            values[found[0]] = found[1](reader, name, node)
    if "ufunc_inner_loop" in values:
        dispatch = values.get("dispatch", ())
        implied = native.implied_kernels(reader, values["ufunc_inner_loop"], dispatch)
        values["dispatch"] = dispatch + implied
    if values and not reader.fields.keys().isdisjoint(_EXCLUSIVE):
        _check_exclusive(reader, values)
    return values


# An entry with none of these fields can't contradict itself.
_EXCLUSIVE = frozenset(
    "manual_kernel_registration precomputed python_module structured structured_delegate structured_inherits "
    "ufunc_inner_loop".split()
)


def _check_exclusive(reader: EntryReader, values: dict[str, Any]) -> None:
    """Fields that contradict each other (torchgen `NativeFunction.from_yaml`)."""
    fields, func = reader.fields, reader.func
    structured = values.get("structured", reader.is_structured) is True
    if structured and "structured_delegate" in fields:
        _exclude(reader, "structured", "structured_delegate")
    if values.get("manual_kernel_registration") is True and "dispatch" in fields:
        _exclude(reader, "manual_kernel_registration", "dispatch")
    for name in ("precomputed", "ufunc_inner_loop", "structured_inherits"):
        if name in fields and not structured:
            message = f"`{name}` needs `structured: True`"
            reader.report("TG116", message, fields[name][0], "not structured")
    if "python_module" in fields and "method" in values.get("variants", ()):
        _exclude(reader, "variants", "python_module")
    if structured and "structured" in fields and func is not None and not func.out:
        message = "`structured: True` on an operator without out arguments"
        hint = "put it on the out variant and give this one `structured_delegate`"
        reader.report("TG310", message, fields["structured"][0], "not an out variant", hint)


def _exclude(reader: EntryReader, first: str, second: str) -> None:
    """Report two exclusive fields; the first may be from the operator that the entry names."""
    fields = reader.fields
    given = (Label(reader.span(fields[first][0]), "given here"),) if first in fields else ()
    message, label = f"`{first}` and `{second}` exclude each other", f"not together with `{first}`"
    reader.report("TG116", message, fields[second][0], label, secondary=given)


def build_json_schema(dialect: Dialect = PYTORCH) -> Json:
    """The JSON Schema (Draft-07) of native_functions.yaml in a dialect, for editors."""
    properties: dict[str, object] = {}
    for field in FIELDS.values():
        text = field.description
        if field.retired:
            text += f" Retired in PyTorch {field.retired}."
        if field.ours:
            text += " An extension of torchgen-lite."
        properties[field.name] = {"description": text, **field.shape.schema(dialect)}
    for name in dialect.extra_fields:
        properties[name] = {"description": "A field of a vendor, declared in the configuration."}
    is_true = {"structured": {"const": True}}
    entry: Json = {
        "type": "object",
        "required": ["func"],
        "properties": properties,
        "additionalProperties": False,
        "not": {"required": ["structured", "structured_delegate"], "properties": is_true},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "native_functions.yaml",
        "description": "Operators, declared in PyTorch's format with the extensions of "
        "torchgen-lite.",
        "type": "array",
        "items": {"$ref": "#/definitions/entry"},
        "definitions": {"entry": entry},
    }
