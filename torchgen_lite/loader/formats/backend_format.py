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

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite.loader.entry.entry import Backend, DispatchEntry, FieldSpans, NativeFunction
from torchgen_lite.loader.entry.native_entry import load_entry
from torchgen_lite.loader.entry.reader import KERNEL_NAME, EntryReader
from torchgen_lite.loader.formats.backend_items import (
    VENDOR,
    Item,
    flag_in,
    read_items,
    releases_of,
)
from torchgen_lite.loader.formats.earlier import Earlier, unstructured
from torchgen_lite.loader.formats.vendor_versions import Releases, VendorVersions
from torchgen_lite.loader.versions import Version
from torchgen_lite.loader.yaml.nodes import ListNode

# Lists of operators that get a kernel. To the dispatcher, a kernel that a lazy backend generates is
# like any other.
_KERNEL_LISTS = ("supported", "full_codegen", "official", "autograd", "quant")
# Lists that give no kernel: `symint` says how kernels take sizes; `ir_gen` and `non_native` ask
# for nodes of a lazy backend.
_OTHER_LISTS = ("symint", "ir_gen", "non_native", "tocpu")
_ENTRY_LISTS = ("custom", "custom_autograd", "custom_supported")
_FIELDS = (
    *("backend", "cpp_namespace", "class_name", "extra_headers", "device_guard", "all_version"),
    *("autocast", "use_out_as_primary", "external", *_KERNEL_LISTS, *_OTHER_LISTS, *_ENTRY_LISTS),
)

# Backends that PyTorch has no key for, and which use a private one.
_PRIVATE = {"NPU": "PrivateUse1", "Ascend": "PrivateUse1", "PrivateUse": "PrivateUse1"}
# The prefix of the backend's key for the operators of a list.
_PREFIXES = {"autograd": "Autograd", "custom_autograd": "Autograd", "quant": "Quantized"}
# Fields of entries under a namespace, which a vendor's own generator reads.
_OF_NAMESPACES = ("derived_type", "custom_autograd", "override_meta", "override_impl")
_NAMESPACES = {"vision": "torchvision", "audio": "torchaudio"}


class _File(NamedTuple):
    """A backend's file while it is read. `symint` has the releases in which kernels take symbolic sizes, by operator."""

    reader: EntryReader
    earlier: Earlier
    backend: Backend
    versions: VendorVersions
    symint: Mapping[str, Releases]

    def key_of(self, field: str) -> str:
        """The dispatch key of the kernels in a list."""
        return f"{_PREFIXES.get(field, '')}{self.backend.key}"


def load_backend_file(reader: EntryReader, earlier: Earlier) -> None:
    """Give the operators this backend's kernels, and append the backend's own operators."""
    _check_fields(reader)
    backend = _backend(reader)
    versions = VendorVersions(reader)
    symint: dict[str, Releases] = {}
    for item in read_items(reader, "symint", versions):
        symint[item.name] = symint.get(item.name, frozenset()) | item.releases
    file = _File(reader, earlier, backend, versions, symint)
    appended = _append_own(file)
    for name, items in _listed(file, appended).items():
        before = len(earlier.functions)
        for place in appended.get(name) or _places(reader, earlier, items, versions):
            _give_kernels(file, place, items, is_declared=place < before)
    _add_autocast(reader, backend, earlier)


def _check_fields(reader: EntryReader) -> None:
    dialect = reader.dialect
    for name, (key, _) in reader.fields.items():
        if name not in dialect.extra_fields:
            reader.choice("TG102", "field", name, key, _FIELDS)
        if name == "full_codegen":
            reader.report(
                "TG130",
                f"`{name}` asks for kernels and nodes of a lazy backend, which are not generated",
                key,
                "read as `supported`",
                "run `torchgen.gen_lazy_tensor`, or write the kernels under `supported`",
            )
        if name == "non_native":
            reader.report(
                "TG130",
                f"`{name}` asks for nodes of a lazy backend, which are not generated",
                key,
                "not read",
                "run `torchgen.gen_lazy_tensor`",
            )


def _append_own(file: _File) -> dict[str, list[int]]:
    """Append the backend's own operators; their positions by name, as other lists of the file may name them."""
    reader = file.reader
    backend = file.backend
    versions = file.versions
    dialect = reader.dialect._replace(
        extra_fields={*reader.dialect.extra_fields, *VENDOR},
        namespace=reader.dialect.namespace or (reader.text("backend") or backend.key).lower(),
    )
    functions = file.earlier.functions
    positions: dict[str, list[int]] = {}
    for field in _ENTRY_LISTS:
        for node in reader.items(field, "a list of entries"):
            entry = EntryReader(reader.source, reader.diagnostics, dialect, node)
            releases = releases_of(entry.fields, versions)
            function = load_entry(entry, node) if releases else None
            if function is None:
                continue
            name = function.func.local_name
            for part, is_symint, _ in _alike((), file.symint.get(name), releases):
                positions.setdefault(name, []).append(len(functions))
                kernel = _kernel(function, backend, is_symint, function.structured)
                ranged = function._replace(torch=versions.text(part, function.torch))
                functions.append(_with_kernels(ranged, [file.key_of(field)], kernel, backend))
    return positions


def _listed(file: _File, own: Collection[str]) -> dict[str, list[tuple[str, Item]]]:
    """What the lists of kernels have for each operator, with the key of each list."""
    listed: dict[str, list[tuple[str, Item]]] = {}
    for field in _KERNEL_LISTS:
        for item in read_items(file.reader, field, file.versions):
            if item.name not in own or field in _PREFIXES:
                listed.setdefault(item.name, []).append((file.key_of(field), item))
    return listed


def _give_kernels(
    file: _File, place: int, items: Sequence[tuple[str, Item]], *, is_declared: bool
) -> None:
    """Give the operator at a position its kernels: in one entry, or in one for each range of releases."""
    functions = file.earlier.functions
    base = functions[place]
    parts = _alike(items, file.symint.get(items[0][1].name), file.versions.of(base.torch))
    if not is_declared:
        # An operator that no file declares has entries for the releases that get a kernel.
        parts = [part for part in parts if part[2]]
    for count, (releases, is_symint, given) in enumerate(parts):
        extended = _extended(file, base, given, is_symint)
        if len(parts) > 1 or base.torch is None:
            extended = extended._replace(torch=file.versions.text(releases, base.torch))
        if count:
            functions.append(extended)
        else:
            functions[place] = extended


def _extended(
    file: _File, function: NativeFunction, items: Sequence[tuple[str, Item]], is_symint: bool
) -> NativeFunction:
    """The operator with a kernel for each of these items."""
    # An operator that has kernels already is declared by another file, and stays as it is.
    is_theirs = bool(function.dispatch)
    for key, item in items:
        span = file.reader.span(item.node)
        is_structured = item.is_structured and _may_be_structured(file.reader, function, item)
        if is_theirs:
            _refuse_options(file.reader, item)
        else:
            if not function.dispatch:
                function = _external(function, item, is_structured=is_structured)
            function = _with_options(function, item)
        if item.has_kernel:
            kernel = _kernel(function, file.backend, is_symint, is_structured)
            entry = DispatchEntry.at(key, kernel, span, backend=file.backend)
            function = _add(file.reader, function, entry, span)
    return function


def _may_be_structured(reader: EntryReader, function: NativeFunction, item: Item) -> bool:
    """Whether the operator is structured where it is declared; the class of a kernel derives from its meta function."""
    if function.structured:
        return True
    delegate = function.structured_delegate
    reader.report(
        "TG310",
        f"`{item.name}` is not structured where it is declared",
        item.node,
        "marked `structured: true`",
        f"put it on `{delegate}`" if delegate else f"leave `structured` of `{item.name}` out",
    )
    return False


def _refuse_options(reader: EntryReader, item: Item) -> None:
    """Refuse what an item says of an operator that an entry declares with its kernels."""
    for name in item.values:
        reader.report(
            "TG116",
            f"`{name}` of `{item.name}`, which has an entry elsewhere, is not read here",
            item.node,
            "here",
            "say it in that entry",
        )


def load_namespaces(reader: EntryReader, earlier: Earlier) -> None:
    """Append the entries under each namespace.

    The kernel of an entry without `dispatch` is named after the operator.
    """
    extra_fields = {*reader.dialect.extra_fields, *_OF_NAMESPACES}
    for name in reader.fields:
        namespace = "" if name == "aten" else _NAMESPACES.get(name, name)
        dialect = reader.dialect._replace(extra_fields=extra_fields, namespace=namespace)
        for item in reader.items(name, "a list of entries"):
            entry = EntryReader(reader.source, reader.diagnostics, dialect, item)
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
            if flag_in(entry, entry.fields, "custom_autograd"):
                keys.append("AutogradPrivateUse1")
            earlier.functions.append(_with_kernels(function, keys, function.kernel_name))


def _add_autocast(reader: EntryReader, backend: Backend, earlier: Earlier) -> None:
    """Give the operators in PyTorch's lists their rules for this backend, except those that have one."""
    text = reader.text("autocast")
    key = f"Autocast{backend.key}"
    if text is None:
        return
    # Imported here: few files have it.
    from torchgen_lite.loader.entry.autocast import LIKE_CUDA, Autocast, rules_like_cuda

    node = reader.fields["autocast"][1]
    functions = earlier.functions
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
    namespace = _cpp_name(reader, "cpp_namespace")
    class_name = _cpp_name(reader, "class_name")
    flags = [
        flag_in(reader, reader.fields, field) for field in ("use_out_as_primary", "device_guard")
    ]
    if text is None:
        # The files of torch_npu's operator plug-in are all for one backend and don't name it.
        if "backend" not in reader.fields and "official" not in reader.fields:
            reader.report(
                "TG104",
                "a backend file without `backend`",
                next(iter(reader.fields.values()))[0],
                "here",
                "write `backend:` with the key of its kernels, as in `backend: XLA`",
            )
        return Backend("PrivateUse1", namespace, class_name, *flags)
    # Kernels need a namespace, as torchgen says; autocast rules alone have none.
    if "cpp_namespace" not in reader.fields and reader.fields.keys() != {"backend", "autocast"}:
        reader.report(
            "TG104",
            "a backend file without `cpp_namespace`",
            reader.fields["backend"][0],
            "here",
            "add `cpp_namespace`, the C++ namespace of the kernels",
        )
    class_name = class_name or f"{text}NativeFunctions"
    return Backend(_backend_key(reader, text), namespace, class_name, *flags)


def _backend_key(reader: EntryReader, text: str) -> str:
    """The key of a backend. Its lists need one, and that of autograd or quantized tensors beside it, too.

    Like torchgen, a file whose lists are empty may name any backend.
    """
    name = _PRIVATE.get(text, text)
    names = key_names(reader.dialect.privateuse1)
    key = names.get(name, "PrivateUse1")
    lists = [field for field in (*_KERNEL_LISTS, *_ENTRY_LISTS) if _has_items(reader, field)]
    if not lists and "autocast" not in reader.fields:
        return key
    if not reader.choice("TG103", "dispatch key", name, reader.fields["backend"][1], names):
        return key
    for field in lists:
        prefixed = f"{_PREFIXES.get(field, '')}{key}"
        if prefixed not in names:
            reader.report(
                "TG103",
                f"`{key}` has no key `{prefixed}` for the kernels under `{field}`",
                reader.fields[field][0],
                "not a dispatch key",
                "no call has such a key; leave them out",
            )
    return key


def _has_items(reader: EntryReader, field: str) -> bool:
    node = reader.node(field)
    return isinstance(node, ListNode) and bool(node.items)


def _cpp_name(reader: EntryReader, field: str) -> str:
    text = reader.text(field) or ""
    is_path = KERNEL_NAME.fullmatch(text) and "." not in text and not text.startswith("::")
    if text and not is_path:
        reader.refuse("TG108", text, "a name in C++", reader.fields[field][1])
        return ""
    return text


def _alike(
    items: Sequence[tuple[str, Item]], symint: Releases | None, releases: Releases
) -> list[tuple[Releases, bool, list[tuple[str, Item]]]]:
    """The releases in which an operator has the same kernels, whether these take symbolic sizes, and their items."""
    releases_by_content: dict[tuple[bool, tuple[int, ...]], set[Version]] = {}
    for release in sorted(releases):
        places = []
        for place, (_, item) in enumerate(items):
            if release in item.releases:
                places.append(place)
        is_symint = release in (symint or ())
        releases_by_content.setdefault((is_symint, tuple(places)), set()).add(release)
    alike = []
    for (is_symint, its_places), its_releases in releases_by_content.items():
        its_items = [items[place] for place in its_places]
        alike.append((frozenset(its_releases), is_symint, its_items))
    return alike


def _places(
    reader: EntryReader,
    earlier: Earlier,
    items: Sequence[tuple[str, Item]],
    versions: VendorVersions,
) -> list[int]:
    """The position of an operator. Of one that the release lacks, and that is for others, an item has the schema."""
    item = next((i for _, i in items if versions.has(i.releases)), items[0][1])
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


def _external(function: NativeFunction, item: Item, *, is_structured: bool) -> NativeFunction:
    """The operator as the backend's file has it: its kernels are functions, or structured if the file says so."""
    schema = item.schema or function.func
    if item.schema is None:
        # The operator is only named here: places in PyTorch's file are none of its own.
        schema = schema.placed_in(schema.name_span and schema.name_span.source)
    function = function._replace(func=schema)
    if is_structured or not item.has_kernel:
        return function
    return unstructured(function)


def _with_options(function: NativeFunction, item: Item) -> NativeFunction:
    values = dict(item.values)
    # The device is guarded where PyTorch's entry and the item both say so.
    values["device_guard"] = function.device_guard and values.get("device_guard", True)
    return function._replace(**values)


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
        reader.report(
            "TG115",
            f"dispatch key `{entry.key}` of `{name}` is given twice",
            span,
            "given again here",
        )
        return function
    dispatch = function.dispatch
    if (
        not (dispatch or function.is_structured or function.place("dispatch"))
        and function.is_written
    ):
        # The implicit kernel stays: adding a backend must not take it away.
        implicit = function.func.flat_name
        place = function.place("func") or span
        dispatch = (DispatchEntry.at("CompositeImplicitAutograd", implicit, place),)
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
