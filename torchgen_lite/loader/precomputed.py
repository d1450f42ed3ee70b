"""`precomputed`: lines that say which arguments a structured meta function replaces.

    precomputed:
    - kernel_size -> int poolSizeH, int poolSizeW
    - int outputHeight, int outputWidth

The last line may leave out the arrow: it then adds parameters and replaces nothing.
"""

from __future__ import annotations

from torchgen_lite.loader.reader import EntryReader
from torchgen_lite.loader.yaml_nodes import ListNode, ScalarNode
from torchgen_lite.schema import FunctionSchema, parse_schema


def read_precomputed(reader: EntryReader, name: str) -> tuple[str, ...]:
    """The lines as written; each has been checked."""
    node = reader.fields[name][1]
    if not isinstance(node, ListNode):
        reader.wrong_type(name, node, "a list of lines")
        return ()
    lines: list[str] = []
    for item in node.items:
        if not isinstance(item, ScalarNode) or item.is_null:
            reader.wrong_type("precomputed", item, "a line of text")
            continue
        if "->" not in item.value and item is not node.items[-1]:
            message = "only the last line of `precomputed` may be without `->`"
            reader.report("TG118", message, item, "no `->`")
        elif _check_line(reader, item, reader.func):
            lines.append(item.value)
    return tuple(lines)


def _check_line(reader: EntryReader, node: ScalarNode, func: FunctionSchema | None) -> bool:
    replaced, arrow, parameters = node.value.partition("->")
    span = reader.span(node)
    if not arrow:
        parameters = replaced
    elif func is not None:
        names = [argument.name for argument in func.arguments]
        if not reader.choice("TG118", "argument", replaced.strip(), span, names):
            return False
    schema, _ = parse_schema(f"f({parameters.strip()}) -> ()")
    if schema is None or not schema.arguments:
        label = "expected `type name, type name ...`"
        reader.refuse("TG118", parameters, "a list of parameters", span, label)
        return False
    for argument in schema.arguments:
        if argument.name == argument.name.upper():
            message = f"the name of parameter `{argument.name}` is in upper case"
            hint = (
                f"call it `{argument.name.lower()}`: upper-case names are for template parameters"
            )
            reader.report("TG118", message, span, "in upper case", hint)
            return False
    return True
