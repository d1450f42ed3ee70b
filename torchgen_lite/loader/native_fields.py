"""The fields of an entry other than `func`, each checked and given its meaning."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.diagnostics import Label, Span
from torchgen_lite.loader.dispatch_table import read_dispatch
from torchgen_lite.loader.entry import DispatchEntry
from torchgen_lite.loader.fields import (
    DEVICE_CHECKS,
    UFUNC_DISPATCH_KEYS,
    UFUNC_KEYS,
    VARIANTS,
)
from torchgen_lite.loader.own_fields import read_own_fields
from torchgen_lite.loader.precomputed import read_precomputed
from torchgen_lite.loader.reader import OPERATOR_NAME, EntryReader, short
from torchgen_lite.loader.yaml_nodes import MapNode, ScalarNode
from torchgen_lite.schema import FunctionSchema

_FLAGS = {
    "structured": False,
    "manual_kernel_registration": False,
    "manual_cpp_binding": False,
    "device_guard": True,
}
_TEXTS = ("structured_inherits", "python_module", "category_override", "doc")


def read_fields(
    reader: EntryReader, func: FunctionSchema | None, tags: Collection[str]
) -> dict[str, object]:
    """Every field that is there, by the attribute of `NativeFunction` that it fills."""
    fields = reader.fields
    dispatch = read_dispatch(reader)
    if len(fields) == 1:
        return {"dispatch": dispatch}
    values: dict[str, object] = {"dispatch": dispatch}
    for name, default in _FLAGS.items():
        if name in fields:
            values[name] = reader.flag(name, default)
    for name in _TEXTS:
        if name in fields:
            values[name] = reader.text(name)
    if "structured_delegate" in fields:
        values["structured_delegate"] = reader.operator_name("structured_delegate")
    if "variants" in fields:
        values["variants"] = _variants(reader)
    if "device_check" in fields:
        values["device_check"] = _device_check(reader)
    if "precomputed" in fields:
        values["precomputed"] = read_precomputed(reader, func)
    if "ufunc_inner_loop" in fields:
        loops = _ufunc_loops(reader)
        values["ufunc_inner_loop"] = loops
        values["dispatch"] = dispatch + _ufunc_kernels(reader, func, loops, dispatch)
    if "autogen" in fields:
        values["autogen"] = _autogen(reader)
    if "tags" in fields:
        values["tags"] = _tags(reader, tags)
    if "cpp_no_default_args" in fields:
        values["cpp_no_default_args"] = _no_defaults(reader, func)
    values.update(read_own_fields(reader))
    _check_exclusive(reader, func, values)
    return values


def _variants(reader: EntryReader) -> tuple[str, ...]:
    """A set, in the order of `VARIANTS`."""
    words = {
        word
        for word, span in reader.words("variants")
        if reader.choice("TG107", "variant", word, span, VARIANTS)
    }
    return tuple(variant for variant in VARIANTS if variant in words) or ("function",)


def _device_check(reader: EntryReader) -> str | None:
    text = reader.text("device_check")
    span = reader.span(reader.fields["device_check"][1])
    if text is not None and reader.choice("TG107", "device check", text, span, DEVICE_CHECKS):
        return text
    return None


def _ufunc_loops(reader: EntryReader) -> tuple[tuple[str, str], ...]:
    node = reader.fields["ufunc_inner_loop"][1]
    if isinstance(node, ScalarNode) and not node.is_null:
        return (("Generic", node.value),)
    if not isinstance(node, MapNode):
        reader.wrong_type("ufunc_inner_loop", node, "a mapping or text")
        return ()
    loops: list[tuple[str, str]] = []
    for key, value in reader.read_keys(node):
        if not reader.choice("TG107", "ufunc key", key.value, reader.span(key), UFUNC_KEYS):
            continue
        if isinstance(value, ScalarNode) and not value.is_null:
            loops.append((key.value, value.value))
        else:
            reader.wrong_type(key.value, value, "an inner loop")
    return tuple(loops)


def _ufunc_kernels(
    reader: EntryReader,
    func: FunctionSchema | None,
    loops: tuple[tuple[str, str], ...],
    dispatch: tuple[DispatchEntry, ...],
) -> tuple[DispatchEntry, ...]:
    """The kernels that torchgen registers for a ufunc, where the table doesn't name others."""
    if func is None or not any(key in ("Generic", "ScalarOnly") for key, _ in loops):
        return ()
    span = reader.span(reader.fields["ufunc_inner_loop"][1])
    present = {entry.key for entry in dispatch}
    return tuple(
        DispatchEntry(key, f"ufunc_{func.base_name}_{key}", span, span)
        for key in UFUNC_DISPATCH_KEYS
        if key not in present
    )


def _autogen(reader: EntryReader) -> tuple[str, ...]:
    names: list[str] = []
    for word, span in reader.words("autogen"):
        if OPERATOR_NAME.fullmatch(word):
            names.append(word)
        else:
            message = f"`{short(word)}` is not the name of an operator"
            reader.report("TG123", message, span, "not a name")
    return tuple(names)


def _tags(reader: EntryReader, tags: Collection[str]) -> tuple[str, ...]:
    """All of them: a tag of another release still means something to that release."""
    words = reader.words("tags")
    for word, span in words:
        reader.choice("TG111", "tag", word, span, tags)
    return tuple(word for word, _ in words)


def _no_defaults(reader: EntryReader, func: FunctionSchema | None) -> tuple[str, ...]:
    words = reader.words("cpp_no_default_args")
    if func is None:
        return tuple(word for word, _ in words)
    names = [argument.name for argument in func.arguments]
    return tuple(
        word for word, span in words if reader.choice("TG107", "argument", word, span, names)
    )


def _check_exclusive(
    reader: EntryReader, func: FunctionSchema | None, values: dict[str, object]
) -> None:
    """Fields that contradict each other (torchgen `NativeFunction.from_yaml`)."""
    fields = reader.fields
    structured = values.get("structured") is True
    if structured and "structured_delegate" in fields:
        _exclude(reader, "structured", "structured_delegate")
    if values.get("manual_kernel_registration") is True and "dispatch" in fields:
        _exclude(reader, "manual_kernel_registration", "dispatch")
    for name in ("precomputed", "ufunc_inner_loop", "structured_inherits"):
        if name in fields and not structured:
            message = f"`{name}` needs `structured: True`"
            reader.report("TG116", message, reader.span(fields[name][0]), "not structured")
    if structured and func is not None and not func.out:
        message = "`structured: True` on an operator without out arguments"
        span = reader.span(fields["structured"][0])
        hint = "put it on the out variant and give this one `structured_delegate`"
        reader.report("TG310", message, span, "not an out variant", hint)


def _exclude(reader: EntryReader, first: str, second: str) -> None:
    fields = reader.fields
    given: Span = reader.span(fields[first][0])
    reader.report(
        "TG116",
        f"`{first}` and `{second}` exclude each other",
        reader.span(fields[second][0]),
        f"not together with `{first}`",
        secondary=(Label(given, "given here"),),
    )
