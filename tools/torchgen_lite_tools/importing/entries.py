"""A library as a schema file: one entry for each operator, in the canonical form."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.diagnostics import Diagnostic, Label, Source
from torchgen_lite.loader.entry.guards import read_guard
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, ScalarNode, read_yaml
from torchgen_lite_tools.importing.conditions import is_of_device
from torchgen_lite_tools.importing.cpp_preprocessor import guard_of
from torchgen_lite_tools.importing.library import Definition, Extra, Implementation, Library

_WIDTH = 96


@dataclass(slots=True)
class _Entry:
    """What is known about one operator."""

    name: str
    definition: Definition | None = None
    kernels: dict[str, Implementation] = field(default_factory=dict)
    extras: list[Extra] = field(default_factory=list)


def write_entries(
    library: Library, defined_elsewhere: frozenset[str]
) -> tuple[str, int, tuple[Diagnostic, ...]]:
    """The YAML of a library, the number of its entries, and what entries cannot express.

    `defined_elsewhere` are namespaces whose operators another library defines.
    """
    diagnostics: list[Diagnostic] = []
    entries = _gather(library, diagnostics)
    texts: list[str] = []
    # Generated code looks up short names in the namespace of the first operator.
    owners = {definition.name.partition("::")[0] for definition in library.definitions}
    home = f"{owners.pop()}::" if len(owners) == 1 else ""
    for entry in entries.values():
        namespace = entry.name.partition("::")[0]
        if entry.definition is None and namespace not in defined_elsewhere:
            first = next(iter(entry.kernels.values()), None)
            message = f"`{entry.name}` has a kernel but is not defined"
            help_ = "give the files that define it too"
            diagnostics.append(Diagnostic("TG605", message, _at(first, "its kernel"), help=help_))
            continue
        text = "\n".join(_lines(entry, home, diagnostics)) + "\n"
        if entry.definition is not None:
            text, problems = format_text(text, entry.name)
            diagnostics += problems
        texts.append(text)
    return "\n".join(texts), len(texts), tuple(diagnostics)


def _at(found: Definition | Implementation | None, text: str) -> Label | None:
    if found is not None and found.span is not None:
        return Label(found.span, text)
    return None


def _gather(library: Library, diagnostics: list[Diagnostic]) -> dict[str, _Entry]:
    """The entries, in the order of the definitions."""
    entries: dict[str, _Entry] = {}
    for definition in library.definitions:
        entry = entries.setdefault(definition.name, _Entry(definition.name))
        first = entry.definition
        if first is None:
            entry.definition = definition
        elif replace(first, doc=definition.doc) != definition:
            message = f"`{definition.name}` is defined twice, in different ways"
            diagnostics.append(_twice(message, first, definition))
    for kernel in library.implementations:
        if not kernel.kernel:
            continue  # It has been reported.
        entry = entries.setdefault(kernel.name, _Entry(kernel.name))
        before = entry.kernels.setdefault(kernel.key, kernel)
        if (before.kernel, before.conditions) != (kernel.kernel, kernel.conditions):
            message = f"`{kernel.name}` has two kernels for {kernel.key}"
            diagnostics.append(_twice(message, before, kernel))
    for extra in (extra for extra in library.extras if extra.value):
        entries.setdefault(extra.name, _Entry(extra.name)).extras.append(extra)
    return entries


def _twice(
    message: str, first: Definition | Implementation, second: Definition | Implementation
) -> Diagnostic:
    earlier = _at(first, "this one is written")
    later = _at(second, "this one is left out")
    help_ = "an entry has one condition and one kernel for each key"
    return Diagnostic("TG603", message, later, (earlier,) if earlier else (), help=help_)


def _lines(entry: _Entry, home: str, diagnostics: list[Diagnostic]) -> Iterator[str]:
    definition = entry.definition
    questions = definition.asks if definition else ()
    yield from (f"# ? {question}" for question in questions)
    yield f"- func: {_scalar(definition.schema if definition else entry.name)}"
    conditions: Sequence[str] = ()
    if definition is not None:
        conditions = definition.conditions
        if definition.doc:
            yield from _text("doc", definition.doc)
        if conditions:
            yield from _guard(entry, definition, diagnostics)
    if entry.kernels:
        yield "  dispatch:"
        by_kernel: dict[str, list[str]] = {}
        for key, implementation in entry.kernels.items():
            by_kernel.setdefault(implementation.kernel, []).append(key)
            more = [
                c
                for c in implementation.conditions
                if c not in conditions and not is_of_device(c, key)
            ]
            if more:
                shown = guard_of(more)
                message = f"the kernel of `{entry.name}` for {key} has a condition of its own"
                help_ = "an entry has one `guard` for all that it says; leave the file of this key out where it is false"
                diagnostics.append(
                    Diagnostic("TG603", message, _at(implementation, shown), help=help_)
                )
        for kernel, keys in by_kernel.items():
            asked = dict.fromkeys(entry.kernels[key].asks for key in keys)
            yield from (f"    # ? {asks}" for asks in asked if asks and asks not in questions)
            word = kernel.removeprefix(home)
            yield f"    {', '.join(keys)}: {kernel if '::' in word else word}"
    elif definition is not None:
        yield "  dispatch: {}"
    if definition is not None and definition.tags:
        yield f"  tags: [{', '.join(definition.tags)}]"
    for extra in _without_own_fake(entry):
        if extra.asks and extra.asks not in questions:
            yield f"  # ? {extra.asks}"
        yield f"  {extra.field}: {_scalar(extra.value)}"


def _without_own_fake(entry: _Entry) -> list[Extra]:
    """What an operator has besides. A `triton_op` is its own fake until another one is registered."""
    kernels = {implementation.kernel for implementation in entry.kernels.values()}
    fakes = [extra for extra in entry.extras if extra.field == "fake"]
    of_kernels = [extra for extra in fakes if extra.value in kernels]
    if len(of_kernels) == len(fakes):
        return entry.extras
    return [extra for extra in entry.extras if extra not in of_kernels]


def _guard(entry: _Entry, definition: Definition, diagnostics: list[Diagnostic]) -> Iterator[str]:
    guard = guard_of(definition.conditions)
    if read_guard(guard) is not None:
        yield f"  guard: {json.dumps(guard)}"
        return
    message = f"the condition of `{entry.name}` cannot be a `guard`"
    diagnostics.append(Diagnostic("TG603", message, _at(definition, guard)))


def _text(name: str, text: str) -> Iterator[str]:
    """A field of prose: on its line if it fits there, else folded."""
    line = f"  {name}: {_scalar(text)}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"  {name}: >-"
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _scalar(text: str) -> str:
    """A text as YAML: plain if that reads as the same text, else in quotes."""
    if re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+", text):
        root, problems = read_yaml(Source("", f"- a: {text}\n"))
        if isinstance(root, ListNode) and len(root.items) == 1:
            item = root.items[0]
        else:
            item = None
        if isinstance(item, MapNode) and len(item.items) == 1:
            value = item.items[0][1]
        else:
            value = None
        if isinstance(value, ScalarNode) and (value.value, value.style) == (text, ""):
            if not problems and not value.is_null:
                return text
            return json.dumps(text)
    return json.dumps(text, ensure_ascii=True)
