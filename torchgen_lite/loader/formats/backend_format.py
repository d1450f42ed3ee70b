"""The formats of backend files.

A backend file lists the operators, declared elsewhere, that an out-of-tree backend implements:

    backend: XLA
    cpp_namespace: torch_xla
    supported:
      - abs
      - add.Tensor
    autograd:
      - max_pool2d
    custom:
      - func: xla_op(Tensor self) -> Tensor

Each item names an operator and gives it a kernel. An item may also be a mapping: its `func` or `op`
is the name or the whole schema, or its first key is the name, with the fields below or beside it.
`custom` declares the backend's own operators, in the project's namespace or, without one, in a
namespace named after the backend.

Other files list entries, by name or with a schema, under their namespace:

    aten:
      - func: cat.out
        structured: True
    custom:
      - func: dump(Tensor input) -> bool
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite.loader.entry.entry import Backend, DispatchEntry, FieldSpans, NativeFunction
from torchgen_lite.loader.entry.native_entry import load_entry
from torchgen_lite.loader.entry.reader import KERNEL_NAME, OPERATOR_NAME, EntryReader
from torchgen_lite.loader.formats.earlier import Earlier, unstructured
from torchgen_lite.loader.formats.vendor_versions import Releases, VendorVersions
from torchgen_lite.loader.versions import Version
from torchgen_lite.loader.yaml.nodes import MapNode, Node, ScalarNode
from torchgen_lite.schema import FunctionSchema, parse_schema

# Lists of operators that get a kernel. To the dispatcher, a kernel that a lazy backend generates is
# like any other.
_KERNEL_LISTS = ("supported", "full_codegen", "official", "autograd", "quant")
# Lists that give no kernel: `symint` says how kernels take sizes; `ir_gen` and `non_native` ask
# for nodes of a lazy backend.
_OTHER_LISTS = ("symint", "ir_gen", "non_native", "tocpu")
# Fields of an operator that ask for a meta function in the place of PyTorch's.
_METAS = ("define_meta", "ext_structured_meta")
_ENTRY_LISTS = ("custom", "custom_autograd", "custom_supported")
_FIELDS = (
    *("backend", "cpp_namespace", "class_name", "extra_headers", "device_guard", "all_version"),
    *("autocast", "use_out_as_primary", "external", *_KERNEL_LISTS, *_OTHER_LISTS, *_ENTRY_LISTS),
)

# Backends that PyTorch has no key for, and which use a private one.
_PRIVATE = {"NPU": "PrivateUse1", "Ascend": "PrivateUse1", "PrivateUse": "PrivateUse1"}
# The prefix of the backend's key for the operators of a list.
_PREFIXES = {"autograd": "Autograd", "custom_autograd": "Autograd", "quant": "Quantized"}
# Fields that say which releases have a kernel.
_RANGES = ("acl_op", "op_api")
# Fields of entries in files of vendors and of the lazy backends.
_VENDOR = (
    *(*_RANGES, "internal_format_opapi", "gen_opapi", "exposed", "sparse", "dvm"),
    *("shape", "opkind", "properties"),
    *("derived_type", "custom_autograd", "override_meta", "override_impl"),
)
_NAMESPACES = {"vision": "torchvision", "audio": "torchaudio"}


class _Item(NamedTuple):
    """An operator in a list: its name, its releases, its schema if there is one, and whether it is structured."""

    name: str
    node: ScalarNode
    releases: Releases
    schema: FunctionSchema | None = None
    is_structured: bool = False


def load_backend_file(reader: EntryReader, earlier: Earlier) -> None:
    """Give the operators this backend's kernels, and append the backend's own operators."""
    dialect = reader.dialect
    for name, (key, _) in reader.fields.items():
        if name not in dialect.extra_fields:
            reader.choice("TG102", "field", name, key, _FIELDS)
        if name == "full_codegen":
            said = f"`{name}` asks for kernels and nodes of a lazy backend, which are not generated"
            hint = "run `torchgen.gen_lazy_tensor`, or write the kernels under `supported`"
            reader.report("TG130", said, key, "read as `supported`", hint)
    backend, versions = _backend(reader), VendorVersions(reader)
    functions = earlier.functions
    symint: dict[str, Releases] = {}
    for item in _items(reader, "symint", versions):
        symint[item.name] = symint.get(item.name, frozenset()) | item.releases
    own_dialect = dialect._replace(
        extra_fields={*dialect.extra_fields, *_VENDOR},
        namespace=dialect.namespace or (reader.text("backend") or backend.key).lower(),
    )
    # One of the backend's own operators may be named in another list of the file.
    own: dict[str, list[int]] = {}
    for field in _ENTRY_LISTS:
        wanted = f"{_PREFIXES.get(field, '')}{backend.key}"
        for node in reader.items(field, "a list of entries"):
            releases = _releases(_named(node)[1], versions)
            entry = EntryReader(reader.source, reader.diagnostics, own_dialect, node)
            function = load_entry(entry, node) if releases else None
            if function is None:
                continue
            name = function.func.local_name
            for part, is_symint, _ in _alike((), symint.get(name), releases):
                own.setdefault(name, []).append(len(functions))
                kernel = _kernel(function, backend, is_symint, function.structured)
                one = function._replace(torch=versions.text(part, function.torch))
                functions.append(_with_kernels(one, [wanted], kernel, backend))
    listed: dict[str, list[tuple[str, _Item]]] = {}
    for field in _KERNEL_LISTS:
        wanted = f"{_PREFIXES.get(field, '')}{backend.key}"
        for item in _items(reader, field, versions):
            if item.name not in own or field in _PREFIXES:
                listed.setdefault(item.name, []).append((wanted, item))
    for name, items in listed.items():
        before = len(functions)
        for place in own.get(name) or _places(reader, earlier, items, versions):
            base = functions[place]
            parts = _alike(items, symint.get(name), versions.of(base.torch))
            # An operator that no file declares has entries for the releases that get a kernel.
            parts = [part for part in parts if part[2] or place < before]
            for count, (releases, is_symint, given) in enumerate(parts):
                extended = base
                for wanted, item in given:
                    extended = _external(extended, item)
                    kernel = _kernel(extended, backend, is_symint, item.is_structured)
                    span = reader.span(item.node)
                    dispatched = DispatchEntry.at(wanted, kernel, span, backend=backend)
                    extended = _add(reader, extended, dispatched, span)
                if len(parts) > 1 or base.torch is None:
                    extended = extended._replace(torch=versions.text(releases, base.torch))
                if count:
                    functions.append(extended)
                else:
                    functions[place] = extended
    _add_autocast(reader, backend, earlier)


def load_namespaces(reader: EntryReader, earlier: Earlier) -> None:
    """Append the entries under each namespace.

    The kernel of an entry without `dispatch` is named after the operator.
    """
    extra_fields = {*reader.dialect.extra_fields, *_VENDOR}
    for name in reader.fields:
        namespace = "" if name == "aten" else _NAMESPACES.get(name, name)
        own = reader.dialect._replace(extra_fields=extra_fields, namespace=namespace)
        for item in reader.items(name, "a list of entries"):
            entry = EntryReader(reader.source, reader.diagnostics, own, item)
            function = load_entry(entry, item, earlier)
            if function is None:
                continue
            if function.place("structured") is None:
                # This file says whether a kernel is structured; PyTorch's entry does not count.
                delegate = function.structured_delegate
                function = unstructured(function)._replace(structured_delegate=delegate)
            if function.place("structured_delegate") is None:
                function = function._replace(structured_delegate=None)
            keys = ["PrivateUse1"]
            if function.place("custom_autograd") is not None:
                keys.append("AutogradPrivateUse1")
            earlier.functions.append(_with_kernels(function, keys, function.kernel_name))


def _add_autocast(reader: EntryReader, backend: Backend, earlier: Earlier) -> None:
    """Give the operators in PyTorch's lists their rules for this backend, except those that have one."""
    text, key = reader.text("autocast"), f"Autocast{backend.key}"
    if text is None:
        return
    # Imported here: few files have it.
    from torchgen_lite.loader.entry.autocast import LIKE_CUDA, Autocast, rules_like_cuda

    node, functions = reader.fields["autocast"][1], earlier.functions
    if not reader.choice("TG337", "autocast rule", text, node, (LIKE_CUDA,)):
        return
    if reader.choice("TG103", "dispatch key", key, node, key_names()):
        rules = rules_like_cuda(reader, node)
        known = [name for name in rules if earlier.is_native(f"aten::{name}")]
        # Without PyTorch's operators, the first stands for all that are not declared.
        for name in known or [*rules][:1]:
            position = earlier.find(reader, name, node)
            if position is not None and functions[position].autocast is None:
                rule = Autocast(rules[name], span=reader.span(node), backend=backend.key)
                functions[position] = functions[position]._replace(autocast=rule)


def _backend(reader: EntryReader) -> Backend:
    text = reader.text("backend")
    namespace, class_name = _cpp_name(reader, "cpp_namespace"), _cpp_name(reader, "class_name")
    if text is None:
        # The files of torch_npu's operator plug-in are all for one backend and don't name it.
        if "backend" not in reader.fields and "official" not in reader.fields:
            first = next(iter(reader.fields.values()))[0]
            reader.report("TG104", "a backend file without `backend`", first, "here")
        return Backend("PrivateUse1", namespace, class_name)
    name = _PRIVATE.get(text, text)
    names = key_names(reader.dialect.privateuse1)
    flags = [
        field in reader.fields and reader.flag(field, reader.fields[field][1])
        for field in ("use_out_as_primary", "device_guard")
    ]
    reader.choice("TG103", "dispatch key", name, reader.fields["backend"][1], names)
    class_name = class_name or f"{text}NativeFunctions"
    return Backend(names.get(name, "PrivateUse1"), namespace, class_name, *flags)


def _cpp_name(reader: EntryReader, field: str) -> str:
    text = reader.text(field) or ""
    is_path = KERNEL_NAME.fullmatch(text) and "." not in text and not text.startswith("::")
    if text and not is_path:
        reader.refuse("TG108", text, "a name in C++", reader.fields[field][1])
        return ""
    return text


def _items(reader: EntryReader, field: str, versions: VendorVersions) -> Iterator[_Item]:
    """The operators of a list, without those for other releases."""
    for item in reader.items(field, "a list of operator names"):
        named, fields = _named(item)
        if named is None or named.is_null:
            reader.wrong_type(field, item, "the name of an operator")
            continue
        releases = _releases(fields, versions)
        text = named.value.split("(", 1)[0].strip()
        if not releases:
            continue
        if not OPERATOR_NAME.fullmatch(text):
            reader.refuse("TG123", text, "the name of an operator", named)
            continue
        schema = None
        if "(" in named.value:
            schema, found = parse_schema(named.value, locate=reader.locator(named))
            reader.diagnostics += found
        for name in (name for name in _METAS if _is_true(fields.get(name))):
            message = f"`{name}` asks for a meta function of the backend, which is not generated"
            label, hint = "its class derives from PyTorch's", f"leave `{name}` out"
            reader.report("TG130", message, fields[name], label, hint)
        is_structured = _is_true(fields.get("structured"))
        yield _Item(text.removeprefix("aten::"), named, releases, schema, is_structured)


def _is_true(node: Node | None) -> bool:
    return isinstance(node, ScalarNode) and node.value.lower() == "true"


def _named(item: Node) -> tuple[ScalarNode | None, dict[str, Node]]:
    """The node that names an item's operator, and the item's fields."""
    if not isinstance(item, MapNode):
        return item if isinstance(item, ScalarNode) else None, {}
    pairs = [(key, value) for key, value in item.items if isinstance(key, ScalarNode)]
    fields = {key.value: value for key, value in pairs}
    named = fields.get("func", fields.get("op"))
    if named is None and pairs:
        # `- maximum.out:` with fields below or beside it.
        named, below = pairs[0]
        if isinstance(below, MapNode):
            fields |= {key.value: node for key, node in below.items if isinstance(key, ScalarNode)}
        elif not isinstance(below, ScalarNode) or not below.is_null:
            named = None
    return named if isinstance(named, ScalarNode) else None, fields


def _releases(fields: dict[str, Node], versions: VendorVersions) -> Releases:
    given = [versions.read(field, fields[field]) for field in _RANGES if field in fields]
    return frozenset().union(*given) if given else versions.every


def _alike(
    items: Sequence[tuple[str, _Item]], symint: Releases | None, releases: Releases
) -> list[tuple[Releases, bool, list[tuple[str, _Item]]]]:
    """The releases in which an operator has the same kernels, whether these take symbolic sizes, and their items."""
    found: dict[tuple[bool, tuple[int, ...]], set[Version]] = {}
    for one in sorted(releases):
        own = tuple([place for place, (_, item) in enumerate(items) if one in item.releases])
        found.setdefault((one in (symint or ()), own), set()).add(one)
    return [
        (frozenset(part), is_symint, [items[place] for place in own])
        for (is_symint, own), part in found.items()
    ]


def _places(
    reader: EntryReader,
    earlier: Earlier,
    items: Sequence[tuple[str, _Item]],
    versions: VendorVersions,
) -> list[int]:
    """The position of an operator. Of one that the release lacks, and that is for others, an item has the schema."""
    item = next((one for _, one in items if versions.has(one.releases)), items[0][1])
    if versions.has(item.releases) or earlier.has(item.name):
        place = earlier.find(reader, item.name, item.node)
        return [] if place is None else [place]
    if item.schema is None:
        return []
    span = reader.span(item.node)
    spans = FieldSpans.at(span, "func", "dispatch", entry=span)
    namespace = item.schema.namespace or "aten"
    earlier.functions.append(NativeFunction(item.schema, namespace, field_spans=spans))
    return [len(earlier.functions) - 1]


def _external(function: NativeFunction, item: _Item) -> NativeFunction:
    """The operator as the backend's file has it.

    Its kernels are functions unless the file says that they are structured. An operator that has
    kernels already is declared by another file, and stays as it is.
    """
    if function.dispatch:
        return function
    schema = item.schema or function.func
    if item.schema is None:
        # The operator is only named here: places in PyTorch's file are none of its own.
        schema = schema.placed_in(schema.name_span and schema.name_span.source)
    function = function._replace(func=schema)
    return function if item.is_structured else unstructured(function)


def _kernel(function: NativeFunction, backend: Backend, symint: bool, is_structured: bool) -> str:
    """The C++ function that torchgen expects: `torch_xla::XLANativeFunctions::add_out`.

    A structured kernel is a separate class beside `XLANativeFunctions`.
    """
    name = f"{function.kernel_name}_symint" if symint else function.kernel_name
    scope = backend.namespace, "" if is_structured else backend.class_name
    return "::".join(filter(None, (*scope, name)))


def _add(
    reader: EntryReader, function: NativeFunction, entry: DispatchEntry, span: Span
) -> NativeFunction:
    if any(known.key == entry.key for known in function.dispatch):
        name = function.name.removeprefix("aten::")
        message = f"dispatch key `{entry.key}` of `{name}` is given twice"
        reader.report("TG115", message, span, "given again here")
        return function
    dispatch = function.dispatch
    is_structured = function.structured or function.structured_delegate is not None
    if not (dispatch or is_structured or function.place("dispatch")) and function.is_written:
        # The implicit kernel stays: adding a backend must not take it away.
        implicit, own = function.func.flat_name, function.place("func") or span
        dispatch = (DispatchEntry.at("CompositeImplicitAutograd", implicit, own),)
    return function._replace(dispatch=(*dispatch, entry))


def _with_kernels(
    function: NativeFunction, keys: Sequence[str], kernel: str, backend: Backend | None = None
) -> NativeFunction:
    """The operator with its implied kernel, if its entry has neither a table nor a delegate."""
    # If an entry only names an operator, the place of its table is that of the name: see `adopt`.
    has_table = function.place("dispatch") not in (None, function.place("func"))
    if has_table or function.dispatch or function.structured_delegate is not None:
        return function
    span = function.func.name_span
    entries = [DispatchEntry.at(key, kernel, span, backend=backend) for key in keys]
    return function._replace(dispatch=tuple(entries))
