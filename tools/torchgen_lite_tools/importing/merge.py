"""Merges what the registry and the source text say into one library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from torchgen_lite.analysis.kernels import COMPOSITE_KEYS
from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.schema import parse_schema
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
            if _are_named(one.schema, written.schema):
                schema = written.schema
            else:
                schema = one.schema
            written = replace(written, schema=schema, tags=one.tags)
        both.definitions.append(written)
    defined = {one.name for one in text.definitions}
    both.definitions += (one for one in registry.definitions if one.name not in defined)
    named = {(one.name, one.key) for one in text.implementations}
    rest = (one for one in registry.implementations if (one.name, one.key) not in named)
    both.implementations = [*text.implementations, *rest]
    return both


def is_for_every_build(key: str) -> bool:
    """Whether a build without other devices than CPU has use for kernels of this key."""
    return key in COMPOSITE_KEYS or key.endswith(("CPU", "Meta", "Autograd"))


def built_with_cuda(library: Library) -> Iterator[Diagnostic]:
    """TG616: kernels that only a file of CUDA defines, under keys that there are without CUDA, too."""
    for one in library.implementations:
        places = [function.spans[-1] for function in one.functions if function.body]
        in_cuda = []
        for place in places:
            in_cuda.append(place.source.path.endswith((".cu", ".cuh", ".hip")))
        is_guarded = re.search("CUDA|HIP|ROCM|GPU", " ".join(one.conditions))
        if is_for_every_build(one.key) and in_cuda and all(in_cuda) and not is_guarded:
            message = f"kernel `{one.kernel}` of `{one.name}` for {one.key} is in a file of CUDA"
            related = (Label(one.span, "registered here"),) if one.span else ()
            help_ = "move it into a file that builds without CUDA compile, too"
            yield Diagnostic("TG616", message, Label(places[0], "only here"), related, help_)


def _are_named(inferred: str, written: str) -> bool:
    """Whether a text names the arguments, `_0` and so on, of a schema that PyTorch inferred, and says nothing else."""
    theirs = parse_schema(inferred)[0]
    ours = parse_schema(written)[0]
    if theirs is None or ours is None:
        return False
    same = [str(one.type) for one in theirs.arguments] == [str(one.type) for one in ours.arguments]
    return same and all(one.name == f"_{at}" for at, one in enumerate(theirs.arguments))


def name_kernels(library: Library) -> Library:
    """The library, with diagnostics for kernels whose names are assumed or whose files are not always built, and for schemas that are those of kernels."""
    if library.inferred:
        count = counted(len(library.inferred), "schema")
        first = library.inferred[0]
        message = f"{count} taken from types of kernels, such as that of `{first}`"
        help_ = "write `(a!)` at what a kernel writes to; PyTorch took these to write to any tensor"
        library.diagnostics.append(Diagnostic("TG615", message, help=help_))
    library.diagnostics += built_with_cuda(library)
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
