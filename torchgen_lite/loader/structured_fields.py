"""The fields of structured kernels that are more than text: `precomputed` and `ufunc_inner_loop`.

    precomputed:                                       ufunc_inner_loop:
    - kernel_size -> int poolSizeH, int poolSizeW        Generic: add (AllAndComplex, BFloat16, Half)
    - int outputHeight, int outputWidth                  ScalarOnly: add (Bool)

`precomputed` says which arguments the meta function replaces. Its last line may leave out the arrow: it
then adds parameters and replaces nothing.

`ufunc_inner_loop` says which inner loop of an element-wise kernel serves which element types. `Generic`
loops have a scalar and a vector form, `ScalarOnly` loops only a scalar form. Both give the operator
kernels for CPU and CUDA. A single line of text means `Generic`.
"""

from __future__ import annotations

import re

from torchgen_lite.diagnostics import Label, did_you_mean
from torchgen_lite.loader.entry import DispatchEntry
from torchgen_lite.loader.options import Json
from torchgen_lite.loader.reader import EntryReader, short
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.schema import parse_schema

_LOOP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*) \(([A-Za-z0-9_]+(?:, [A-Za-z0-9_]+)*)\)", re.ASCII)
_KEYS = tuple("""
    CUDAFunctor CUDAFunctorOnOther CUDAFunctorOnSelf CPUScalar CPUVector ScalarOnly Generic
    """.split())
_DISPATCH_KEYS = ("CUDA", "CPU")
# Element types, and words that stand for several (torchgen `ScalarType`, `DTYPE_CLASSES`).
_TYPES = tuple("""
    Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool BFloat16
    Float8_e5m2 Float8_e5m2fnuz Float8_e4m3fn Float8_e4m3fnuz Float8_e8m0fnu
    Integral Floating Complex All AllAndComplex FloatingAndComplex
    """.split())
_LOOP_TABLE: Json = {
    "type": "object",
    "propertyNames": {"enum": list(_KEYS)},
    "additionalProperties": {"type": "string"},
}
LOOPS_SCHEMA: Json = {"anyOf": [{"type": "string"}, _LOOP_TABLE]}

Loops = tuple[tuple[str, str], ...]


def read_precomputed(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    """The lines as written; each has been checked."""
    if not isinstance(node, ListNode):
        reader.wrong_type(name, node, "a list of lines")
        return ()
    lines: list[str] = []
    for item in node.items:
        line = reader.text_of(name, item, "a line of text")
        if line is not None and "->" not in line and item is not node.items[-1]:
            message = "only the last line of `precomputed` may be without `->`"
            reader.report("TG118", message, item, "no `->`")
        elif line is not None and _is_replacement(reader, line, item):
            lines.append(line)
    return tuple(lines)


def _is_replacement(reader: EntryReader, line: str, node: Node) -> bool:
    replaced, arrow, parameters = line.partition("->")
    if arrow and reader.func is not None:
        names = [argument.name for argument in reader.func.arguments]
        if not reader.choice("TG118", "argument", replaced.strip(), node, names):
            return False
    parameters = parameters if arrow else replaced
    schema, _ = parse_schema(f"f({parameters.strip()}) -> ()")
    if schema is None or not schema.arguments:
        label = "expected `type name, type name ...`"
        reader.refuse("TG118", parameters, "a list of parameters", node, label)
        return False
    for name in [argument.name for argument in schema.arguments]:
        if name == name.upper():
            message = f"the name of parameter `{name}` is in upper case"
            hint = f"call it `{name.lower()}`: upper-case names are for template parameters"
            reader.report("TG118", message, node, "in upper case", hint)
            return False
    return True


def read_inner_loops(reader: EntryReader, name: str, node: Node) -> Loops:
    """Each key with its line as written; the lines have been checked."""
    if isinstance(node, ScalarNode) and not node.is_null:
        return (("Generic", _loop(reader, node.value, node)),)
    if not isinstance(node, MapNode):
        reader.wrong_type(name, node, "a mapping or text")
        return ()
    loops: list[tuple[str, str]] = []
    for key, value in reader.read_keys(node):
        if reader.choice("TG107", "ufunc key", key.value, key, _KEYS):
            text = reader.text_of(key.value, value, "an inner loop")
            loops += [] if text is None else [(key.value, _loop(reader, text, value))]
    return tuple(loops)


def _loop(reader: EntryReader, text: str, node: Node) -> str:
    found = _LOOP.fullmatch(text)
    if found is None:
        label, hint = "not `name (Type, Type)`", "write it like `add (AllAndComplex, Half)`"
        reader.refuse("TG124", text, "an inner loop", node, label, hint)
    for name in found[2].split(", ") if found else ():
        if name not in _TYPES:
            message = f"unknown element type `{short(name)}`"
            near = did_you_mean(name, _TYPES)
            reader.report("TG124", message, node, "not an element type", near)
    return text


def implied_kernels(
    reader: EntryReader, loops: Loops, dispatch: tuple[DispatchEntry, ...]
) -> tuple[DispatchEntry, ...]:
    """The kernels that the loops give; the table may not name others (torchgen `from_yaml`)."""
    func = reader.func
    if func is None or not any(key in ("Generic", "ScalarOnly") for key, _ in loops):
        return ()
    field, value = reader.fields["ufunc_inner_loop"]
    for entry in dispatch:
        if entry.key in _DISPATCH_KEYS and entry.key_span is not None:
            message = f"`ufunc_inner_loop` gives the kernel for `{entry.key}`"
            hint, place = f"leave `{entry.key}` out", (Label(reader.span(field), "given here"),)
            reader.report("TG116", message, entry.key_span, "a second kernel", hint, place)
    span, present = reader.span(value), {entry.key for entry in dispatch}
    return tuple(
        DispatchEntry.at(key, f"ufunc_{func.base_name}_{key}", span)
        for key in _DISPATCH_KEYS
        if key not in present
    )
