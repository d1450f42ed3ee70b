"""ExecuTorch's format: kernels by the types and memory order of their arguments.

    - op: add.out
      type_alias:
        T0: [Float, Int]
      dim_order_alias:
        D0: [0, 1, 2, 3]
      kernels:
        - arg_meta: null
          kernel_name: torch::executor::add_out
        - arg_meta: {self: [T0, D0], out: [T0, D0]}
          kernel_name: torch::executor::add_out_fast

`op:` takes an operator of an earlier file, `func:` declares one. The kernel without `arg_meta` is the
one for CPU; the specialised ones are kept in `extra` under the name `kernels`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from torchgen_lite.diagnostics import Diagnostic, Source, did_you_mean
from torchgen_lite.loader.earlier import Earlier
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.native_entry import load_entry
from torchgen_lite.loader.reader import KERNEL_NAME, EntryReader, Words, short
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, ScalarNode

EXECUTORCH_FIELDS = ("op", "kernels", "type_alias", "dim_order_alias")
_KERNEL_FIELDS = ("arg_meta", "kernel_name")


def load_executorch_entry(
    source: Source,
    node: MapNode,
    earlier: Earlier,
    words: Words,
    diagnostics: list[Diagnostic],
) -> None:
    """Give an earlier function these kernels, or let one that is declared here follow."""
    reader = EntryReader(source, diagnostics)
    # Keys that are written twice are reported by the reader of the whole entry where there is one.
    is_new = any(isinstance(key, ScalarNode) and key.value == "func" for key, _ in node.items)
    quiet = EntryReader(source, [] if is_new else diagnostics)
    reader.fields = {key.value: (key, value) for key, value in quiet.read_keys(node)}
    function: NativeFunction | None
    position: int | None = None
    if is_new:
        allowed = {*words.extra_fields, *EXECUTORCH_FIELDS}
        function = load_entry(source, node, replace(words, extra_fields=allowed), diagnostics)
    else:
        position = _find(reader, earlier, words.extra_fields)
        function = None if position is None else earlier.functions[position]
    kernels = _read_kernels(reader)
    if function is None:
        return
    present = {entry.key for entry in function.dispatch}
    added = tuple(kernel for kernel in kernels if kernel.key not in present)
    raw = tuple(
        (name, source.text[value.start : value.end].rstrip())
        for name, (_, value) in reader.fields.items()
        if name in EXECUTORCH_FIELDS[1:]
    )
    kept = tuple(item for item in function.extra if item[0] not in EXECUTORCH_FIELDS)
    function = replace(function, dispatch=function.dispatch + added, extra=kept + raw)
    if position is None:
        earlier.functions.append(function)
    else:
        earlier.functions[position] = function


def _find(reader: EntryReader, earlier: Earlier, extra_fields: Collection[str]) -> int | None:
    known = (*EXECUTORCH_FIELDS, "func", *extra_fields)
    for name, (key, _) in reader.fields.items():
        if name not in known:
            hint = did_you_mean(name, known)
            message = f"unknown field `{short(name)}`"
            reader.report("TG102", message, reader.span(key), "not a field", hint)
    operator = reader.operator_name("op")
    if operator is not None:
        return earlier.find(reader, operator, reader.fields["op"][1])
    if "op" not in reader.fields:
        first = next(iter(reader.fields.values()))[0]
        reader.report("TG104", "an entry without `op` or `func`", reader.span(first), "here")
    return None


def _read_kernels(reader: EntryReader) -> tuple[DispatchEntry, ...]:
    """The default kernel as an entry for CPU; the others are only checked."""
    pair = reader.fields.get("kernels")
    if pair is None:
        return ()
    if not isinstance(pair[1], ListNode):
        reader.wrong_type("kernels", pair[1], "a list of kernels")
        return ()
    entries: list[DispatchEntry] = []
    for item in pair[1].items:
        if not isinstance(item, MapNode):
            reader.wrong_type("kernels", item, "mappings with `arg_meta` and `kernel_name`")
            continue
        fields = {key.value: (key, value) for key, value in reader.read_keys(item)}
        for name, (key, _) in fields.items():
            reader.choice("TG102", "field", name, reader.span(key), _KERNEL_FIELDS)
        named = fields.get("kernel_name")
        if named is None or not isinstance(named[1], ScalarNode):
            reader.report("TG104", "a kernel without `kernel_name`", reader.span(item), "here")
            continue
        span = reader.span(named[1])
        if not KERNEL_NAME.fullmatch(named[1].value):
            message = f"`{short(named[1].value)}` is not the name of a kernel"
            reader.report("TG108", message, span, "not an identifier")
            continue
        meta = fields.get("arg_meta")
        is_default = meta is None or (isinstance(meta[1], ScalarNode) and meta[1].is_null)
        if is_default and not entries:
            entries.append(DispatchEntry("CPU", named[1].value, reader.span(pair[0]), span))
    return tuple(entries)
