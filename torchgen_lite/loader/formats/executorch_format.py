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
`arg_meta` is the CPU kernel. The specialized kernels are kept in `extra` under the name `kernels`.
"""

from __future__ import annotations

from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.entry.native_entry import load_entry
from torchgen_lite.loader.entry.reader import KERNEL_NAME, EntryReader
from torchgen_lite.loader.formats.earlier import Earlier
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.schema.grouped import names_of

_FIELDS = ("op", "kernels", "type_alias", "dim_order_alias")


def load_executorch_entry(
    reader: EntryReader, node: Node, earlier: Earlier
) -> NativeFunction | None:
    """The operator with these kernels; None if it can't be read."""
    reader.dialect = reader.dialect._replace(extra_fields={*reader.dialect.extra_fields, *_FIELDS})
    function = load_entry(reader, node, earlier)
    default = _default_kernel(reader)
    if function is None:
        return None
    if default is not None and all(entry.key != default.key for entry in function.dispatch):
        function = function._replace(dispatch=(*function.dispatch, default))
    extra = tuple((name, text.rstrip()) for name, text in function.extra if name != "op")
    return function._replace(extra=extra)


def _default_kernel(reader: EntryReader) -> DispatchEntry | None:
    """The default kernel as an entry for CPU; the others are only checked."""
    key, kernels = reader.fields.get("kernels", (None, None))
    if kernels is None:
        return None
    if not isinstance(kernels, ListNode):
        reader.wrong_type("kernels", kernels, "a list of kernels")
        return None
    default = None
    for item in kernels.items:
        if not isinstance(item, MapNode):
            reader.wrong_type("kernels", item, "mappings with `arg_meta` and `kernel_name`")
            continue
        fields = reader.fields_of(item)
        reader.check_names("field", fields, ("arg_meta", "kernel_name"))
        _, named = fields.get("kernel_name", (None, None))
        _, meta = fields.get("arg_meta", (None, None))
        if isinstance(meta, MapNode) and reader.func is not None:
            arguments = names_of(reader.func.arguments)
            reader.check_names("argument", reader.fields_of(meta), arguments)
        if not isinstance(named, ScalarNode):
            reader.report(
                "TG104", "a kernel without `kernel_name`", item, "here", "add `kernel_name:` to it"
            )
        elif not KERNEL_NAME.fullmatch(named.value):
            reader.refuse("TG108", named.value, "the name of a kernel", named, "not an identifier")
        elif meta is None or (isinstance(meta, ScalarNode) and meta.is_null):
            at = reader.span(key or named)
            kernel_at = reader.span(named)
            default = default or DispatchEntry.at("CPU", named.value, at, kernel_at)
    return default
