"""The backend format: what an out-of-tree backend implements of operators declared elsewhere.

    backend: XLA
    cpp_namespace: torch_xla
    supported:
      - abs
      - add.Tensor
    autograd:
      - max_pool2d
    custom:
      - func: xla_op(Tensor self) -> Tensor

An item may also be a mapping whose `func` or `op` is the name. Each name adds a dispatch entry to the operator of that name in an earlier file; `custom` declares
operators of the backend's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchgen_lite.diagnostics import Diagnostic, Source, did_you_mean
from torchgen_lite.loader.dispatch_table import key_names
from torchgen_lite.loader.earlier import Earlier
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.native_entry import load_entry
from torchgen_lite.loader.reader import KERNEL_NAME, OPERATOR_NAME, EntryReader, Words, short
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.schema import SchemaKind

# Lists of operator names. The lazy backends' lists (`full_codegen`, `ir_gen`, `non_native`) name
# operators whose kernel is generated, which for the dispatcher is a kernel like any other.
_NAME_LISTS = (
    "supported",
    "autograd",
    "symint",
    "full_codegen",
    "ir_gen",
    "tocpu",
    "quant",
    "official",
)
_ENTRY_LISTS = ("custom", "custom_autograd", "custom_supported", "non_native")
_TEXTS = (
    *("backend", "cpp_namespace", "class_name", "extra_headers", "device_guard"),
    "all_version",
)
_FLAGS = ("use_out_as_primary", "external")
BACKEND_FIELDS = (*_TEXTS, *_FLAGS, *_NAME_LISTS, *_ENTRY_LISTS)

# Backends that had no key of their own and live in a private one.
_PRIVATE = {"NPU": "PrivateUse1", "Ascend": "PrivateUse1", "PrivateUse": "PrivateUse1"}


def load_backend_file(
    source: Source,
    node: MapNode,
    earlier: Earlier,
    words: Words,
    diagnostics: list[Diagnostic],
) -> None:
    """Give the earlier functions this backend's kernels, and let its own operators follow."""
    reader = EntryReader(source, diagnostics, words)
    reader.fields = {key.value: (key, value) for key, value in reader.read_keys(node)}
    for name, (key, _) in reader.fields.items():
        if name not in BACKEND_FIELDS and name not in words.extra_fields:
            hint = did_you_mean(name, BACKEND_FIELDS)
            message = f"unknown field `{short(name)}`"
            reader.report("TG102", message, reader.span(key), "not a field", hint)
    key_name = _backend_key(reader)
    functions = earlier.functions
    symint = {text for text, _ in _names(reader, "symint")}
    for list_name in _NAME_LISTS:
        if list_name in ("symint", "tocpu"):
            continue
        wanted = f"Autograd{key_name}" if list_name == "autograd" else key_name
        for text, item in _names(reader, list_name):
            position = earlier.find(reader, text, item)
            if position is not None:
                kernel = _kernel(reader, functions[position], text in symint)
                functions[position] = _add(reader, functions[position], wanted, kernel, item)
    own_words = replace(words, extra_fields={*words.extra_fields, *_VENDOR})
    for list_name in _ENTRY_LISTS:
        functions += _own_entries(reader, list_name, key_name, own_words, diagnostics)


# Fields of custom entries in files of vendors and of the lazy backends.
_VENDOR = ("op_api", "acl_op", "gen_opapi", "exposed", "sparse", "shape", "opkind", "properties")


def _backend_key(reader: EntryReader) -> str:
    text = reader.text("backend")
    if text is None:
        # The files of torch_npu's operator plug-in are all for one backend and don't name it.
        if "backend" not in reader.fields and "official" not in reader.fields:
            first = next(iter(reader.fields.values()))[0]
            reader.report("TG104", "a backend file without `backend`", reader.span(first), "here")
        return "PrivateUse1"
    name = _PRIVATE.get(text, text)
    span = reader.span(reader.fields["backend"][1])
    names = key_names(reader.words.privateuse1)
    reader.choice("TG103", "dispatch key", name, span, names)
    return names.get(name, "PrivateUse1")


def _names(reader: EntryReader, field: str) -> Iterator[tuple[str, ScalarNode]]:
    """The operator names of a list; an item may also be a mapping whose `op` or `func` names it."""
    pair = reader.fields.get(field)
    if pair is None:
        return
    node = pair[1]
    if isinstance(node, ScalarNode) and node.is_null:
        return
    if not isinstance(node, ListNode):
        reader.wrong_type(field, node, "a list of operator names")
        return
    for item in node.items:
        named: Node | None = item
        if isinstance(item, MapNode):
            named = next(
                (v for k, v in item.items if isinstance(k, ScalarNode) and k.value in _NAMING), None
            )
        if not isinstance(named, ScalarNode) or named.is_null:
            reader.wrong_type(field, item, "the name of an operator")
            continue
        text = named.value.split("(", 1)[0].strip()
        if OPERATOR_NAME.fullmatch(text):
            yield text.removeprefix("aten::"), named
        else:
            message = f"`{short(text)}` is not the name of an operator"
            reader.report("TG123", message, reader.span(named), "not a name")


_NAMING = ("op", "func")


def _kernel(reader: EntryReader, function: NativeFunction, symint: bool) -> str:
    """The C++ function that torchgen expects: `torch_xla::XLANativeFunctions::add_out`."""
    name = function.func.base_name
    name += "_out" if function.func.kind() is SchemaKind.out else ""
    name += "_symint" if symint else ""
    parts = [reader.text("cpp_namespace") or "", reader.text("class_name") or "", name]
    path = "::".join(part for part in parts if part)
    return path if KERNEL_NAME.fullmatch(path) else name


def _add(
    reader: EntryReader, function: NativeFunction, key: str, kernel: str, node: ScalarNode
) -> NativeFunction:
    span = reader.span(node)
    if any(entry.key == key for entry in function.dispatch):
        name = function.name.removeprefix("aten::")
        message = f"dispatch key `{key}` of `{name}` is given twice"
        reader.report("TG115", message, span, "given again here")
        return function
    dispatch = function.dispatch
    entry = DispatchEntry(key, kernel, span, span)
    has_table = function.place("dispatch") is not None or function.structured
    if (
        not dispatch
        and not has_table
        and function.is_written
        and function.structured_delegate is None
    ):
        # The implicit kernel stays: adding a backend must not take it away.
        base = function.func.base_name
        overload = function.func.overload_name
        implicit = f"{base}_{overload}" if overload else base
        own = function.place("func")
        dispatch = (DispatchEntry("CompositeImplicitAutograd", implicit, own, own),)
    return replace(function, dispatch=(*dispatch, entry))


def _own_entries(
    reader: EntryReader,
    field: str,
    key: str,
    words: Words,
    diagnostics: list[Diagnostic],
) -> Iterator[NativeFunction]:
    pair = reader.fields.get(field)
    if pair is None or (isinstance(pair[1], ScalarNode) and pair[1].is_null):
        return
    if not isinstance(pair[1], ListNode):
        reader.wrong_type(field, pair[1], "a list of entries")
        return
    for item in pair[1].items:
        function = load_entry(reader.source, item, words, diagnostics)
        if function is None:
            continue
        if not function.dispatch and function.place("dispatch") is None:
            wanted = f"Autograd{key}" if field == "custom_autograd" else key
            span = function.func.name_span
            entry = DispatchEntry(wanted, _kernel(reader, function, False), span, span)
            function = replace(function, dispatch=(entry,))
        yield function
