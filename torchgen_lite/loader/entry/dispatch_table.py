"""The `dispatch:` table of an entry: keys, comma lists of keys, kernels.

CPU: {kernel: rms_norm_cpu, language: numba}
CUDA:
  - {when: x.size(-1) <= 8192, kernel: rms_norm_small}
  - rms_norm_any
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from keyword import iskeyword

from torchgen_lite.diagnostics import Help, Span, did_you_mean, meant, write_instead
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.key_tables import CURRENT, FORMER_NAMES, registrable_keys
from torchgen_lite.loader.config.options import NAME
from torchgen_lite.loader.entry.entry import DispatchEntry, KernelRow, Options
from torchgen_lite.loader.entry.fakes import parse_in
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES
from torchgen_lite.loader.entry.reader import (
    KERNEL_NAME,
    EntryReader,
    cut_words,
    short,
)
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, is_text
from torchgen_lite.schema.grouped import without_none

# Registering under these is c10's `Library::impl` without a key: CompositeImplicitAutograd.
_CATCH_ALL = frozenset({"CatchAll", "Undefined"})
_PRIVATE = "PrivateUse1"
ROW_FIELDS = ("when", "kernel", "tune", "language")
# `block=64`, one of the options of a kernel; `num_warps=4, fast=True` is written in quotes.
_OPTION = re.compile(rf"\s*({NAME})\s*=\s*(-?\d+(?:\.\d+)?|True|False|'[^'\\]*')\s*", re.ASCII)
# What `dispatch` may say in the place of a function.
_INSTEAD = ("fallthrough", "cpu_fallback", "reference")
# Former names of backends; the key table has the other former names.
_RENAMED = {"ORT": "MAIA", "AutogradORT": "AutogradMAIA", "MLC": "MAIA", "MSNPU": "MAIA"}


@lru_cache(maxsize=2)
def key_names(privateuse1: str = "") -> dict[str, str]:
    """Every name that a table may use, and the canonical name of the key that it means.

    `privateuse1` is the project's name for that backend, such as `SIM`; it gives `AutogradSIM` etc.
    """
    names = {name: name for name in registrable_keys(CURRENT)}
    names.update(FORMER_NAMES)
    names.update({old: new for old, new in _RENAMED.items() if new in names and old not in names})
    names.update(dict.fromkeys(_CATCH_ALL, "CompositeImplicitAutograd"))
    return {**names, **renamed_keys(privateuse1)}


def renamed_keys(privateuse1: str) -> dict[str, str]:
    """The keys of PrivateUse1 by the names that a project gives them; empty if it gives none."""
    keys = registrable_keys(CURRENT) if privateuse1 else ()
    return {_renamed(key, privateuse1): key for key in keys if _PRIVATE in key}


def _renamed(key: str, privateuse1: str) -> str:
    return key.replace(_PRIVATE, privateuse1)


def read_dispatch(reader: EntryReader, name: str, node: Node) -> tuple[DispatchEntry, ...]:
    """The lines of an entry's dispatch table, in the order written, with each key once."""
    if is_text(node):
        # Until PyTorch 1.6 the value could be a single kernel for every backend.
        message = f"`{name}` is a mapping from keys to kernels"
        if hint := reader.missing_space(node):
            reader.report("TG108", message, node, "has no key", hint)
            return ()
        reader.report("TG112", message, node, "read as CompositeImplicitAutograd")
        if not _is_kernel_name(reader, node):
            return ()
        at = reader.span(reader.fields[name][0])
        kernel_at = reader.span(node)
        return (DispatchEntry.at("CompositeImplicitAutograd", node.value, at, kernel_at),)
    if not isinstance(node, MapNode):
        hint = "write the pairs without dashes: `CPU: kernel`"
        reader.wrong_type(name, node, "a mapping from keys to kernels", hint)
        return ()
    entries: dict[str, DispatchEntry] = {}
    for key, value in reader.read_keys(node):
        _read_line(reader, key, value, entries)
    return tuple(entries.values())


def _read_line(
    reader: EntryReader, key: ScalarNode, value: Node, entries: dict[str, DispatchEntry]
) -> None:
    rows: tuple[KernelRow, ...] = ()
    kernel = None
    if isinstance(value, ListNode):
        rows = _read_rows(reader, short(key.value), value)
        kernel = "" if rows else None
    elif isinstance(value, MapNode):
        row = _read_row(reader, short(key.value), value)
        rows = () if row is None else (row,)
        kernel = "" if rows else None
    elif not is_text(value):
        if _missing_colon(key.value, reader.dialect.privateuse1) is None:
            reader.wrong_type(
                short(key.value),
                value,
                "the name of a kernel",
                missing=f"write the kernel: `{short(key.value)}: my_kernel`",
            )
    elif _is_kernel_name(reader, value):
        kernel = value.value
    known = _usual_keys(key.value, reader.dialect.privateuse1)
    if known and kernel is not None and key.is_verbatim and entries.keys().isdisjoint(known):
        source = reader.source
        begin = key.start
        for usual, (start, end) in known.items():
            number = source.keep(begin + start, begin + end, value.start, value.end)
            parts = (usual, kernel, None, rows, source, number, False, False)
            entries[usual] = tuple.__new__(DispatchEntry, parts)
        return
    for word, span in reader.split_words(key):
        name = _read_key(reader, word, span)
        earlier = entries.get(name or "")
        if earlier is not None:
            reader.report(
                "TG115",
                f"dispatch key `{name}` is in the table twice",
                span,
                "given again here",
                other=(earlier.key_span, "first given here"),
            )
        elif name is not None and kernel is not None:
            entry = DispatchEntry.at(name, kernel, span, reader.span(value))
            entries[name] = entry._replace(rows=rows)


def _read_rows(reader: EntryReader, key: str, node: ListNode) -> tuple[KernelRow, ...]:
    """Several kernels under one key; empty, with diagnostics, if one of them can't be read."""
    first = node.items[0] if node.items else None
    if first is None:
        reader.report("TG392", f"no kernel for `{key}`", node, "here", "write the kernel")
    elif len(node.items) == 1 and is_text(first):
        reader.report(
            "TG392", "a list of one kernel", node, "here", f"write `{key}: {first.value}`"
        )
        return ()
    rows = [_read_row(reader, key, item) for item in node.items]
    kept = tuple(without_none(rows))
    return kept if len(kept) == len(rows) else ()


def _read_row(reader: EntryReader, key: str, node: Node) -> KernelRow | None:
    if is_text(node):
        return _row_of(reader, node, node)
    if not isinstance(node, MapNode):
        hint = "write `{when: x.size(0) <= 8192, kernel: my_kernel}`"
        reader.wrong_type(key, node, "a kernel, or a mapping with `when` and `kernel`", hint)
        return None
    fields = {field.value: value for field, value in reader.read_keys(node)}
    for field, _ in reader.read_keys(node):
        if field.value not in ROW_FIELDS:
            message = f"unknown field `{short(field.value)}` in a row of kernels"
            near = did_you_mean(field.value, ROW_FIELDS)
            reader.report("TG392", message, field, "not a field", near)
            return None
    kernel = fields.get("kernel")
    if kernel is None or not is_text(kernel):
        reader.report("TG392", "a row without a kernel", node, "here", "add `kernel: my_kernel`")
        return None
    tune = _read_tune(reader, fields.get("tune"))
    language = _read_language(reader, fields.get("language"))
    row = _row_of(reader, kernel, node)
    if tune is None or language is None or row is None:
        return None
    row = row._replace(tune=tune, language=language)
    when = fields.get("when")
    if when is None:
        return row
    scalar = reader.scalar("when", when, "a condition", "leave `when` out for the rest")
    if scalar is None:
        return None
    condition = parse_in(reader, scalar.value, reader.locator(scalar), is_condition=True)
    if condition is None:
        return None
    return row._replace(when=condition, text=" ".join(scalar.value.split()))


def _read_language(reader: EntryReader, node: Node | None) -> str | None:
    """What a kernel of Python is written in, or empty; None, with a diagnostic, for what is no language."""
    if node is None:
        return ""
    names = quoted(KERNEL_LANGUAGES)
    if not is_text(node):
        reader.wrong_type("language", node, "the name of a language", f"write one of {names}")
        return None
    if node.value not in KERNEL_LANGUAGES:
        message = f"unknown language `{short(node.value)}` of a kernel"
        near = did_you_mean(node.value, KERNEL_LANGUAGES)
        hint = near or f"write one of {names}, or leave `language` out"
        reader.report("TG392", message, node, "not a language", hint)
        return None
    return node.value


def _read_tune(reader: EntryReader, node: Node | None) -> tuple[Options, ...] | None:
    """The keyword arguments among which measuring chooses; None, with diagnostics, for what are none."""
    if node is None:
        return ()
    example = "write `tune: [block=64, block=128]`"
    if not isinstance(node, ListNode):
        reader.wrong_type("tune", node, "a list of keyword arguments", example)
        return None
    choices = []
    for item in node.items:
        options = None
        if is_text(item):
            options = _options_from(item.value)
        if options is None:
            reader.report("TG392", "no keyword arguments with values", item, "here", example)
            return None
        choices.append(options)
    names = set()
    for options in choices:
        names.add(tuple([name for name, _ in options]))
    if len(names) != 1:
        reader.report(
            "TG392", "options with other names than the first ones", node, "here", example
        )
        return None
    return tuple(choices)


def _options_from(text: str) -> Options | None:
    parts = [_OPTION.fullmatch(part) for part in text.split(",")]
    options: list[tuple[str, int | float | str]] = []
    for part in parts:
        if part is None or iskeyword(part[1]):
            return None
        options.append((part[1], ast.literal_eval(part[2])))
    return tuple(options)


def _row_of(reader: EntryReader, kernel: ScalarNode, node: Node) -> KernelRow | None:
    """A row that says nothing but its kernel."""
    if kernel.value in _INSTEAD:
        message = f"`{kernel.value}` is no function, and a row calls one"
        reader.report("TG392", message, kernel, "here", "name a function of another name")
        return None
    if not _is_kernel_name(reader, kernel):
        return None
    return KernelRow(kernel.value, None, span=reader.span(node), kernel_span=reader.span(kernel))


@lru_cache(maxsize=1024)
def _usual_keys(text: str, privateuse1: str) -> dict[str, tuple[int, int]] | None:
    """The keys of a line and where they are in it, or None if one of them needs a diagnostic.

    The result is empty for a long text. PyTorch's file has 2,905 lines with 300 distinct texts.
    """
    if len(text) >= 200:
        return {}
    names = key_names(privateuse1)
    keys = {}
    for word, start, end in cut_words(text):
        name = names.get(word)
        if name is None or name in keys or word not in (name, _renamed(name, privateuse1)):
            return None
        keys[name] = start, end
    return keys


def _read_key(reader: EntryReader, word: str, span: Span) -> str | None:
    privateuse1 = reader.dialect.privateuse1
    names = key_names(privateuse1)
    name = names.get(word)
    if name is None:
        hint = None if reader.is_full else _nearest_key(word, privateuse1)
        hint = reader.as_a_field(word) or hint if word else "remove the comma"
        reader.report(
            "TG103",
            f"unknown dispatch key `{short(word)}`" if word else "empty dispatch key",
            span,
            "not a dispatch key",
            hint,
        )
    elif word != name and word != _renamed(name, privateuse1):
        reader.report(
            "TG113",
            f"dispatch key `{word}` is called `{name}` today",
            span,
            f"read as `{name}`",
            write_instead(word, name),
        )
    return name


def _missing_colon(word: str, privateuse1: str) -> Help | None:
    """The help for `{CPU my_kernel}`, whose key is all of it."""
    key, _, kernel = word.partition(" ")
    if not kernel or key not in key_names(privateuse1):
        return None
    kernel = kernel.strip()
    return f"write `{key}: {kernel}`"


def _nearest_key(word: str, privateuse1: str) -> Help | None:
    """A hint at the key that is meant. An unknown device may be the user's own."""
    colon = _missing_colon(word, privateuse1)
    if colon is not None:
        return colon
    if word.upper() == "GPU":
        return meant(word, "CUDA")
    device = _device_in(word)
    # `NPU` is no slip for `XPU`.
    is_device = not privateuse1 and device[1:] == "PU"
    near = did_you_mean(word, [*registrable_keys(CURRENT), *renamed_keys(privateuse1)])
    if not is_device and (near or privateuse1 or not word.isidentifier()):
        return near
    return f'a device of your own is `PrivateUse1`; `privateuse1 = "{device}"` in the configuration names it'


def _device_in(word: str) -> str:
    """`NPU` of `AutogradNPU`, whatever keys of a device have before its name."""
    prefixes = [k.removesuffix(_PRIVATE) for k in registrable_keys(CURRENT) if k.endswith(_PRIVATE)]
    before = max(filter(word.startswith, prefixes), key=len)
    return word.removeprefix(before)


def _is_kernel_name(reader: EntryReader, node: ScalarNode) -> bool:
    if KERNEL_NAME.fullmatch(node.value):
        return True
    hint = "an identifier, or identifiers joined with `.` or `::`"
    if "<" in node.value and KERNEL_NAME.match(node.value):
        called = short(node.value)
        hint = f"a template has no name of its own: name a function that calls `{called}`"
    reader.refuse("TG108", node.value, "the name of a kernel", node, "not an identifier", hint)
    return False
