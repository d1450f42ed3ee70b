"""The fields of an entry of native_functions.yaml, each declared once.

The table drives the loader, overlays, `fmt` (whose canonical order it gives), the JSON Schema and
docs/schema.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_lite.loader.config.options import Json
from torchgen_lite.loader.entry import native_fields as native
from torchgen_lite.loader.entry import shapes
from torchgen_lite.loader.entry.reader import PYTORCH, Dialect, EntryReader
from torchgen_lite.loader.entry.shapes import FLAG, TEXT, UNREAD, Shape, declared_in
from torchgen_lite.schema.grouped import by_name, places_of


class Field(NamedTuple):
    """A field of an entry, and what editors and docs/schema.md say of it.

    `fills` says that an overlay may supply the field if it is missing. `retired` is the release of
    PyTorch since which the field means nothing. `part_of` is the field that this one is read with. What a field that
    `is_checked` says is held against the schema of its operator.
    """

    name: str
    description: str
    shape: Shape
    ours: bool = False
    fills: bool = False
    retired: str = ""
    part_of: str = ""
    is_checked: bool = False

    @property
    def attribute(self) -> str:
        """The attribute of `NativeFunction` that the field is read into."""
        return self.part_of or self.name


def _ours(
    name: str,
    description: str,
    shape: Shape,
    *,
    fills: bool = True,
    part_of: str = "",
    is_checked: bool = True,
) -> Field:
    return Field(
        name,
        description,
        shape,
        ours=True,
        fills=fills,
        part_of=part_of,
        is_checked=is_checked,
    )


_FIELDS = (
    Field("func", "the schema; the only required field", shapes.FUNC),
    _ours(
        "doc",
        "what the operator does; goes to docstrings, types and C++ headers",
        TEXT,
        is_checked=False,
    ),
    _ours(
        "torch",
        'the versions of PyTorch that the operator is for: `">=2.6,<2.9"`',
        shapes.RANGE,
        fills=False,
        is_checked=False,
    ),
    _ours(
        "guard",
        'a preprocessor condition around generated C++: `"#ifndef USE_ROCM"`, or a list of them',
        native.GUARD,
        fills=False,
        is_checked=False,
    ),
    Field("variants", "`function` (the default), `method`, or both", native.VARIANTS_OF),
    Field(
        "device_check",
        "for generated C++: whether arguments must share a device: `NoCheck` or `ExactSame`",
        native.DEVICE_CHECK,
    ),
    Field(
        "device_guard",
        "for generated C++: whether the device of the arguments becomes the current device",
        FLAG,
    ),
    Field(
        "structured", "the kernel is split into a meta and an impl function; for out variants", FLAG
    ),
    Field(
        "structured_delegate",
        "the structured out variant whose kernels this variant uses",
        shapes.OPERATOR_OF,
    ),
    Field("structured_inherits", "the C++ class that the structured kernel derives from", TEXT),
    Field(
        "precomputed",
        "arguments that the meta function replaces, `dim -> int dim`",
        native.PRECOMPUTED,
    ),
    Field(
        "ufunc_inner_loop",
        "the inner loop of an element-wise kernel; gives the kernels `ufunc_<name>_CPU` and "
        "`_CUDA`, which `dispatch` leaves out",
        native.LOOPS,
    ),
    Field(
        "python_module",
        "the submodule of `torch` that PyTorch binds the function in; not for methods",
        native.PYTHON_MODULE,
        fills=True,
    ),
    Field(
        "category_override",
        "`factory`, `new`, `like` or `dummy`, where names and types mislead PyTorch",
        native.CATEGORY,
    ),
    Field("manual_kernel_registration", "kernels are registered elsewhere, by hand", FLAG),
    Field("manual_cpp_binding", "the C++ function is written elsewhere, by hand", FLAG),
    Field(
        "cpp_no_default_args",
        "a list of arguments whose default C++ leaves out",
        native.NO_DEFAULTS,
    ),
    Field(
        "dispatch",
        "kernels by dispatch key; several keys, separated by commas, share a kernel. `{}` means "
        "none; without the field the operator is CompositeImplicitAutograd",
        native.DISPATCH,
    ),
    Field("autogen", "operators that PyTorch derives from this one", native.AUTOGEN, fills=True),
    Field("tags", "names from tags.yaml", native.TAGS, fills=True),
    _ours(
        "unstable",
        "callers are promised nothing: what `breaking` finds in the operator are notes",
        FLAG,
        is_checked=False,
    ),
    _ours(
        "fake",
        "what the operator returns when only shapes are known, "
        "[below](#fake-samples-vmap-autocast)",
        declared_in("fakes"),
    ),
    _ours(
        "axes",
        "what each dimension is to the operator, `a[m, k+], b[k+, n] -> [m, n]`, [below](#axes)",
        declared_in("axes"),
    ),
    _ours(
        "vmap",
        "the name of the Python function that runs the operator under `torch.vmap`, or `loop`: a call for each item",
        shapes.FUNCTION,
    ),
    _ours(
        "effects",
        "`ordered`: calls do something that no schema says, and compilers keep them, in order",
        native.EFFECTS,
        is_checked=False,
    ),
    _ours(
        "checkpoint",
        "`save` or `recompute`: what selective checkpoints do with the results of a call",
        native.CHECKPOINT,
    ),
    _ours(
        "decompose",
        "the compilers that put the reference of `samples` in the operator's place: `inductor`, "
        "`onnx`",
        native.DECOMPOSE,
    ),
    _ours(
        "triton",
        "the keys whose kernels, Python functions, launch Triton kernels that compilers look into",
        native.TRITON,
    ),
    _ours(
        "flops",
        "how many floating-point operations a call takes, an expression as in `fake`",
        declared_in("fakes", "FLOPS"),
    ),
    _ours(
        "autocast",
        "the precision under autocast: `float32`, `lower_precision` or `like CUDA`, "
        "[below](#fake-samples-vmap-autocast)",
        declared_in("autocast"),
    ),
    _ours(
        "derivatives",
        "a mapping from arguments to derivative formulas, or `auto`, see "
        "[autograd.md](autograd.md)",
        native.DERIVATIVES,
    ),
    _ours(
        "output_differentiability",
        "whether each result has a derivative; also accepted under `derivatives`",
        native.DIFFERENTIABILITY,
        part_of="derivatives",
    ),
    _ours(
        "dtypes",
        "the dtypes that the kernels of a backend are for, which the [tests of its "
        "device](backends.md#tests-of-the-device) run",
        native.KERNEL_DTYPES,
        is_checked=False,
    ),
    _ours(
        "samples",
        "a list of example arguments for generated tests, or a mapping with `calls` and a "
        "reference to compare them with",
        declared_in("samples"),
    ),
    Field(
        "use_const_ref_for_mutable_tensors",
        "for generated C++: whether tensors that are written to are passed by const reference",
        FLAG,
    ),
    *[
        Field(name, meant, UNREAD[type_], retired=release)
        for release, name, type_, meant in native.RETIRED
    ],
)
FIELDS = by_name(_FIELDS)
# The attribute that a field is read into, and its reader; fields kept as text are left out.
_READERS = {f.name: (f.attribute, f.shape.read) for f in _FIELDS if f.shape.read is not None}
FIELD_ORDER = places_of(FIELDS)


def read_fields(reader: EntryReader) -> dict[str, Any]:
    """Every field that the entry has, by the attribute of `NativeFunction` that it fills."""
    values: dict[str, Any] = {}
    for name, (_, node) in reader.fields.items():
        if name not in _READERS:
            continue
        attribute, read = _READERS[name]
        if attribute not in values:
            values[attribute] = read(reader, name, node)
    if "ufunc_inner_loop" in values:
        dispatch = values.get("dispatch", ())
        implied = native.implied_kernels(reader, values["ufunc_inner_loop"], dispatch)
        values["dispatch"] = dispatch + implied
    _check_exclusive(reader, values)
    return values


def _check_exclusive(reader: EntryReader, values: dict[str, Any]) -> None:
    """Fields that contradict each other (torchgen `NativeFunction.from_yaml`)."""
    fields = reader.fields
    func = reader.func
    structured = values.get("structured", reader.is_structured) is True
    if structured and "structured_delegate" in fields:
        _exclude(reader, "structured", "structured_delegate")
    if values.get("manual_kernel_registration") is True and "dispatch" in fields:
        _exclude(reader, "manual_kernel_registration", "dispatch")
    for name in ("precomputed", "ufunc_inner_loop", "structured_inherits"):
        if name in fields and not structured:
            reader.report(
                "TG116",
                f"`{name}` needs `structured: True`",
                fields[name][0],
                "not structured",
            )
    if "python_module" in fields and "method" in values.get("variants", ()):
        _exclude(reader, "variants", "python_module")
    if structured and "structured" in fields and func is not None and not func.out:
        reader.report(
            "TG310",
            "`structured: True` on an operator without out arguments",
            fields["structured"][0],
            "not an out variant",
            "put it on the out variant and give this one `structured_delegate`",
        )


def _exclude(reader: EntryReader, first: str, second: str) -> None:
    """Report two exclusive fields; the first may be from the operator that the entry names."""
    fields = reader.fields
    reader.report(
        "TG116",
        f"`{first}` and `{second}` exclude each other",
        fields[second][0],
        f"not together with `{first}`",
        other=(reader.span(fields[first][0]) if first in fields else None, "given here"),
    )


def build_json_schema(dialect: Dialect = PYTORCH) -> Json:
    """The JSON Schema (Draft-07) of native_functions.yaml in a dialect, for editors."""
    properties = {}
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
    entry = {
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
