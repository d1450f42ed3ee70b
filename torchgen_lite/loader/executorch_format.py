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

`op:` names an operator that is declared elsewhere; `func:` declares one. The kernel without
`arg_meta` is the CPU kernel. The specialised kernels are kept in `extra` under the name `kernels`.
"""

from __future__ import annotations

from torchgen_lite.loader.earlier import Earlier
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.native_entry import load_entry
from torchgen_lite.loader.reader import KERNEL_NAME, EntryReader
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode

EXECUTORCH_FIELDS = ("op", "kernels", "type_alias", "dim_order_alias")
_KERNEL_FIELDS = ("arg_meta", "kernel_name")


def load_executorch_entry(
    reader: EntryReader, node: Node, earlier: Earlier
) -> NativeFunction | None:
    """The operator with these kernels; None if it can't be read."""
    allowed = {*reader.dialect.extra_fields, *EXECUTORCH_FIELDS}
    reader.dialect = reader.dialect._replace(extra_fields=allowed)
    function = load_entry(reader, node, earlier)
    kernels = _read_kernels(reader)
    if function is None:
        return None
    present = {entry.key for entry in function.dispatch}
    added = tuple(kernel for kernel in kernels if kernel.key not in present)
    extra = tuple((name, text.rstrip()) for name, text in function.extra if name != "op")
    return function._replace(dispatch=function.dispatch + added, extra=extra)


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
        fields = reader.fields_of(item)
        for name, (key, _) in fields.items():
            reader.choice("TG102", "field", name, key, _KERNEL_FIELDS)
        named = fields.get("kernel_name")
        if named is None or not isinstance(named[1], ScalarNode):
            reader.report("TG104", "a kernel without `kernel_name`", item, "here")
            continue
        span = reader.span(named[1])
        if not KERNEL_NAME.fullmatch(named[1].value):
            reader.refuse(
                "TG108", named[1].value, "the name of a kernel", span, "not an identifier"
            )
            continue
        meta = fields.get("arg_meta")
        is_default = meta is None or (isinstance(meta[1], ScalarNode) and meta[1].is_null)
        if is_default and not entries:
            entries.append(DispatchEntry.at("CPU", named[1].value, reader.span(pair[0]), span))
    return tuple(entries)
