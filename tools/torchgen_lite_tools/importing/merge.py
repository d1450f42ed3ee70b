"""Merges what the registry and the source text say into one library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from torchgen_lite.analysis.kernels import COMPOSITE_KEYS
from torchgen_lite.diagnostics import Diagnostic, Label, Span
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.schema import parse_schema
from torchgen_lite_tools.importing.library import Definition, Extra, Implementation, Library


def put_together(registry: Library, text: Library) -> Library:
    """The registry's library, completed from the text.

    The text adds conditions, kernel names, comments, and what other builds have.
    """
    diagnostics = [*registry.diagnostics]
    for diagnostic in text.diagnostics:
        if diagnostic not in registry.diagnostics:
            diagnostics.append(diagnostic)
    modules = dict(registry.modules)
    for kind, names in text.modules.items():
        of_both = [*modules.get(kind, []), *names]
        modules[kind] = list(dict.fromkeys(of_both))
    # What is known of statements, of binders and of what they bind is known from the text alone.
    return replace(
        text,
        modules=modules,
        statements=registry.statements + text.statements,
        diagnostics=diagnostics,
        extras=_extras_of_both(registry, text),
        definitions=_definitions_of_both(registry, text),
        implementations=_implementations_of_both(registry, text),
    )


def _extras_of_both(registry: Library, text: Library) -> list[Extra]:
    """What the registry has of a field goes before what the text has."""
    known = {(extra.name, extra.field) for extra in registry.extras}
    extras = [*registry.extras]
    for extra in text.extras:
        if (extra.name, extra.field) not in known:
            extras.append(extra)
    return extras


def _definitions_of_both(registry: Library, text: Library) -> list[Definition]:
    """The text's definitions, with schemas and tags as PyTorch has them, then those that the text does not have."""
    registered = {definition.name: definition for definition in registry.definitions}
    definitions = []
    for written in text.definitions:
        known = registered.get(written.name)
        if known is not None:
            names_arguments = _are_named(known.schema, written.schema)
            schema = written.schema if names_arguments else known.schema
            written = replace(written, schema=schema, tags=known.tags)
        definitions.append(written)
    in_text = {definition.name for definition in text.definitions}
    for definition in registry.definitions:
        if definition.name not in in_text:
            definitions.append(definition)
    return definitions


def _implementations_of_both(registry: Library, text: Library) -> list[Implementation]:
    """The text's kernels, which have names, then those of other keys."""
    implementations = [*text.implementations]
    named = {(kernel.name, kernel.key) for kernel in implementations}
    for kernel in registry.implementations:
        if (kernel.name, kernel.key) not in named:
            implementations.append(kernel)
    return implementations


def is_for_every_build(key: str) -> bool:
    """Whether a build without other devices than CPU has use for kernels of this key."""
    return key in COMPOSITE_KEYS or key.endswith(("CPU", "Meta", "Autograd"))


def built_with_cuda(library: Library) -> Iterator[Diagnostic]:
    """TG616: kernels that only a file of CUDA defines, under keys that there are without CUDA, too."""
    for kernel in library.implementations:
        places = [function.spans[-1] for function in kernel.functions if function.body]
        is_guarded = re.search("CUDA|HIP|ROCM|GPU", " ".join(kernel.conditions))
        is_only_in_cuda = bool(places) and all(map(_is_in_cuda, places))
        if is_for_every_build(kernel.key) and is_only_in_cuda and not is_guarded:
            message = (
                f"kernel `{kernel.kernel}` of `{kernel.name}` for {kernel.key} is in a file of CUDA"
            )
            related = (Label(kernel.span, "registered here"),) if kernel.span else ()
            help_ = "move it into a file that builds without CUDA compile, too"
            yield Diagnostic("TG616", message, Label(places[0], "only here"), related, help_)


def _is_in_cuda(place: Span) -> bool:
    return place.source.path.endswith((".cu", ".cuh", ".hip"))


def _are_named(inferred: str, written: str) -> bool:
    """Whether a text names the arguments, `_0` and so on, of a schema that PyTorch inferred, and says nothing else."""
    of_pytorch, _ = parse_schema(inferred)
    of_text, _ = parse_schema(written)
    if of_pytorch is None or of_text is None:
        return False
    types = [str(argument.type) for argument in of_pytorch.arguments]
    types_in_text = [str(argument.type) for argument in of_text.arguments]
    names = [argument.name for argument in of_pytorch.arguments]
    unnamed = [f"_{at}" for at in range(len(names))]
    return types == types_in_text and names == unnamed


def name_kernels(library: Library) -> Library:
    """The library, with diagnostics for kernels whose names are assumed or whose files are not always built, and for schemas that are those of kernels."""
    if library.inferred:
        count = counted(len(library.inferred), "schema")
        first = library.inferred[0]
        message = f"{count} taken from types of kernels, such as that of `{first}`"
        help_ = "write `(a!)` at what a kernel writes to; PyTorch took these to write to any tensor"
        library.diagnostics.append(Diagnostic("TG615", message, help=help_))
    library.diagnostics += built_with_cuda(library)
    unplaced = list[Implementation]()
    for kernel in library.implementations:
        if kernel.is_named:
            continue
        if kernel.span is None:
            unplaced.append(kernel)
            continue
        message = f"`{kernel.kernel}` is declared in none of these files"
        label = Label(kernel.span, "taken to be in this namespace")
        library.diagnostics.append(Diagnostic("TG608", message, label))
    if unplaced:
        count = counted(len(unplaced), "kernel")
        first = unplaced[0].kernel
        message = f"{count} named after operator and key, such as `{first}`"
        help_ = "give the C++ too: `import --module MODULE PATH`"
        library.diagnostics.append(Diagnostic("TG608", message, help=help_))
    return library
