"""The fields of an entry of native_functions.yaml, each declared once.

The table drives the loader, overlays, `fmt` (whose canonical order it gives), the JSON Schema and
docs/schema.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_lite.diagnostics import Label
from torchgen_lite.loader import native_fields as native
from torchgen_lite.loader import shapes
from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import PYTORCH, Dialect, EntryReader
from torchgen_lite.loader.shapes import FLAG, TEXT, UNREAD, UNREAD_FLAG, Shape, declared_in


class Field(NamedTuple):
    """A field of an entry.

    `fills` says that an overlay may supply the field if it is missing. `retired` is the release of
    PyTorch since which the field means nothing. `part_of` is the field that this one is read with.
    """

    name: str
    shape: Shape
    description: str
    ours: bool = False
    fills: bool = False
    retired: str = ""
    part_of: str = ""

    @property
    def attribute(self) -> str:
        """The attribute of `NativeFunction` that the field is read into."""
        return self.part_of or self.name


def _ours(
    name: str, shape: Shape, description: str, *, fills: bool = True, part_of: str = ""
) -> Field:
    return Field(name, shape, description, ours=True, fills=fills, part_of=part_of)


# What the loader still takes, by the release of PyTorch since which it means nothing.
_RETIRED: tuple[tuple[str, str, Shape, str], ...] = (
    ("1.10", "use_c10_dispatcher", UNREAD, "how the kernel was called"),
    ("1.10", "hacky_wrapper_for_legacy_signatures", UNREAD_FLAG, "adapted the kernel's signature"),
    ("1.3", "matches_jit_signature", UNREAD, "whether the schema was the JIT's"),
    ("1.6", "supports_named_tensor", UNREAD_FLAG, "kept names of dimensions"),
    ("1.6", "named_guard", UNREAD_FLAG, "refused names of dimensions"),
    ("1.8", "requires_tensor", UNREAD_FLAG, "one argument had to be a tensor"),
    ("1.8", "manual_kernel", UNREAD_FLAG, "kernels were registered by hand"),
    ("1.8", "abstract", UNREAD_FLAG, "there was no default kernel"),
    ("1.8", "deprecated", UNREAD_FLAG, "calling it gave a warning"),
    ("1.10", "device_init", UNREAD_FLAG, "the device was initialized first"),
    ("1.8", "zero_dim_dispatch_when_scalar", UNREAD, "legacy dispatch on zero dimensions"),
    ("1.8", "cpu_half", UNREAD_FLAG, "legacy kernels for half precision on CPU"),
    ("1.8", "cpu_bool", UNREAD_FLAG, "legacy kernels for bool on CPU"),
    ("1.8", "cuda_bool", UNREAD_FLAG, "legacy kernels for bool on CUDA"),
)
_FIELDS = (
    Field("func", shapes.FUNC, "the schema; the only required field"),
    _ours("doc", TEXT, "what the operator does; goes to docstrings, types and C++ headers"),
    _ours(
        "torch",
        shapes.RANGE,
        'the versions of PyTorch that the operator is for: `">=2.6,<2.9"`',
        fills=False,
    ),
    _ours(
        "guard",
        native.GUARD,
        'a preprocessor condition around generated C++: `"#ifndef USE_ROCM"`, or a list of them',
        fills=False,
    ),
    Field("variants", native.VARIANTS_OF, "`function` (the default), `method`, or both"),
    Field(
        "device_check",
        native.DEVICE_CHECK,
        "for generated C++: whether arguments must share a device: `NoCheck` or `ExactSame`",
    ),
    Field(
        "device_guard",
        FLAG,
        "for generated C++: whether the device of the arguments becomes the current device",
    ),
    Field(
        "structured", FLAG, "the kernel is split into a meta and an impl function; for out variants"
    ),
    Field(
        "structured_delegate",
        shapes.OPERATOR_OF,
        "the structured out variant whose kernels this variant uses",
    ),
    Field("structured_inherits", TEXT, "the C++ class that the structured kernel derives from"),
    Field(
        "precomputed",
        native.PRECOMPUTED,
        "arguments that the meta function replaces, `dim -> int dim`",
    ),
    Field(
        "ufunc_inner_loop",
        native.LOOPS,
        "the inner loop of an element-wise kernel; gives the kernels `ufunc_<name>_CPU` and `_CUDA`, which "
        "`dispatch` leaves out",
    ),
    Field(
        "python_module",
        native.PYTHON_MODULE,
        "the submodule of `torch` that PyTorch binds the function in; not for methods",
        fills=True,
    ),
    Field(
        "category_override",
        native.CATEGORY,
        "`factory`, `new`, `like` or `dummy`, where names and types mislead PyTorch",
    ),
    Field("manual_kernel_registration", FLAG, "kernels are registered elsewhere, by hand"),
    Field("manual_cpp_binding", FLAG, "the C++ function is written elsewhere, by hand"),
    Field(
        "cpp_no_default_args",
        native.NO_DEFAULTS,
        "a list of arguments whose default C++ leaves out",
    ),
    Field(
        "dispatch",
        native.DISPATCH,
        "kernels by dispatch key; several keys, separated by commas, share a kernel. `{}` means none; "
        "without the field the operator is CompositeImplicitAutograd",
    ),
    Field("autogen", native.AUTOGEN, "operators that PyTorch derives from this one", fills=True),
    Field("tags", native.TAGS, "names from tags.yaml", fills=True),
    _ours(
        "fake",
        declared_in("fakes"),
        "what the operator returns when only shapes are known, [below](#fake-samples-vmap-autocast)",
    ),
    _ours(
        "axes",
        declared_in("axes"),
        "what each dimension is to the operator, `a[m, k+], b[k+, n] -> [m, n]`, [below](#axes)",
    ),
    _ours(
        "vmap",
        shapes.FUNCTION,
        "the name of the Python function that runs the operator under `torch.vmap`",
    ),
    _ours(
        "effects",
        native.EFFECTS,
        "`ordered`: calls do something that no schema says, and compilers keep them, in order",
    ),
    _ours(
        "checkpoint",
        native.CHECKPOINT,
        "`save` or `recompute`: what selective checkpoints do with the results of a call",
    ),
    _ours(
        "decompose",
        native.DECOMPOSE,
        "the compilers that put the reference of `samples` in the operator's place: `inductor`, `onnx`",
    ),
    _ours(
        "triton",
        native.TRITON,
        "the keys whose kernels, Python functions, launch Triton kernels that compilers look into",
    ),
    _ours(
        "flops",
        declared_in("fakes", "FLOPS"),
        "how many floating-point operations a call takes, an expression as in `fake`",
    ),
    _ours(
        "autocast",
        declared_in("autocast"),
        "the precision under autocast: `float32`, `lower_precision` or `like CUDA`, [below](#fake-samples-vmap-autocast)",
    ),
    _ours(
        "derivatives",
        native.DERIVATIVES,
        "a mapping from arguments to derivative formulas, or `auto`, see [autograd.md](autograd.md)",
    ),
    _ours(
        "output_differentiability",
        native.DIFFERENTIABILITY,
        "whether each result has a derivative; also accepted under `derivatives`",
        part_of="derivatives",
    ),
    _ours(
        "dtypes",
        native.KERNEL_DTYPES,
        "the dtypes that the kernels of a backend are for, which the [tests of its device](backends.md#tests-of-the-device) run",
    ),
    _ours(
        "samples",
        declared_in("samples"),
        "a list of example arguments for generated tests, or a mapping with `calls` and a reference to compare them with",
    ),
    Field(
        "use_const_ref_for_mutable_tensors",
        FLAG,
        "for generated C++: whether tensors that are written to are passed by const reference",
    ),
    *[Field(name, shape, text, retired=release) for release, name, shape, text in _RETIRED],
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
