"""Merges what the registry and the source text say into one library."""

from __future__ import annotations

from dataclasses import replace

from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.diagnostics.text import counted
from torchgen_lite_tools.importing.library import Library


def put_together(registry: Library, text: Library) -> Library:
    """The registry's library, completed from the text.

    The text adds conditions, kernel names, comments, and what other builds have.
    """
    definitions = {one.name: one for one in registry.definitions}
    both = Library(extras=[*registry.extras], modules=registry.modules)
    both.statements = registry.statements + text.statements
    said = registry.diagnostics
    both.diagnostics = [*said, *(one for one in text.diagnostics if one not in said)]
    both.python = text.python
    known = {(one.name, one.field) for one in registry.extras}
    both.extras += (one for one in text.extras if (one.name, one.field) not in known)
    for kind, modules in text.modules.items():
        both.modules[kind] = list(dict.fromkeys([*both.modules.get(kind, []), *modules]))
    for written in text.definitions:
        one = definitions.get(written.name)
        if one is not None:
            written = replace(written, schema=one.schema, tags=one.tags)
        both.definitions.append(written)
    defined = {one.name for one in text.definitions}
    both.definitions += (one for one in registry.definitions if one.name not in defined)
    named = {(one.name, one.key) for one in text.implementations}
    rest = (one for one in registry.implementations if (one.name, one.key) not in named)
    both.implementations = [*text.implementations, *rest]
    return both


def name_kernels(library: Library) -> Library:
    """The library, with diagnostics for kernels whose names are assumed, and for schemas that are those of kernels."""
    if library.inferred:
        count, first = counted(len(library.inferred), "schema"), library.inferred[0]
        message = f"{count} taken from types of kernels, such as that of `{first}`"
        help_ = "write `(a!)` at what a kernel writes to; PyTorch took these to write to any tensor"
        library.diagnostics.append(Diagnostic("TG615", message, help=help_))
    unnamed = [one for one in library.implementations if not one.is_named]
    for one in unnamed:
        if one.span is not None:
            message = f"`{one.kernel}` is declared in none of these files"
            label = Label(one.span, "taken to be in this namespace")
            library.diagnostics.append(Diagnostic("TG608", message, label))
    unplaced = [one for one in unnamed if one.span is None]
    if unplaced:
        message = f"{counted(len(unplaced), 'kernel')} named after operator and key, such as `{unplaced[0].kernel}`"
        help_ = "give the C++ too: `import --module MODULE PATH`"
        library.diagnostics.append(Diagnostic("TG608", message, help=help_))
    return library
