"""Reads several schema files, in order, into functions; the shape of a file tells its format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from torchgen_lite.diagnostics import (
    Diagnostic,
    Diagnostics,
    Label,
    Source,
    errors_among,
    placed_at,
)
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.entry.native_entry import load_entry
from torchgen_lite.loader.entry.reader import PYTORCH, Dialect, EntryReader
from torchgen_lite.loader.formats.earlier import Derive, Earlier, Native
from torchgen_lite.loader.sources import read_or_take
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, read_yaml

# After this many errors the rest of a file is not read.
MAX_ERRORS = 1000
# Fields that identify other formats.
_OF_BACKENDS = frozenset({"backend", "supported", "official"})
_OF_OTHERS = _OF_BACKENDS | {"aten", "backward"}
_OF_EXECUTORCH = frozenset({"op", "kernels"})

Loaded = tuple[tuple[NativeFunction, ...], Diagnostics]


def load_schema_sources(
    paths: Iterable[Path],
    root: Path,
    places: Mapping[Path, Label | None] | None = None,
    texts: Mapping[Path, str] = {},
) -> tuple[tuple[Source, ...], Diagnostics]:
    """Read the schema files in order; a file that can't be read gives a diagnostic.

    `places` says where each file is named. `texts`, by resolved path, replace what is on disk.
    """
    sources = []
    diagnostics = []
    for path in paths:
        source, problems = read_or_take(path, root, texts)
        place = (places or {}).get(path)
        diagnostics += placed_at(problems, place)
        if source is not None:
            sources.append(source)
    return tuple(sources), tuple(diagnostics)


def load_native_functions(
    sources: Sequence[Source],
    dialect: Dialect = PYTORCH,
    *,
    derive: Derive = lambda functions: (),
    native: Native | None = None,
    earlier: Sequence[NativeFunction] = (),
) -> Loaded:
    """The entries of several files, in order, after those of `earlier` ones. Every mistake is a diagnostic; never
    raises.

    A file is in PyTorch's format, in one of the backend formats, or in ExecuTorch's. The latter two
    add kernels to operators of earlier files or of `native`. `derive` gives the operators that
    PyTorch derives from others, which may get kernels too.
    """
    functions = list(earlier)
    diagnostics: list[Diagnostic] = []
    for source in sources:
        named = Earlier(functions, derive, native, dialect.for_torch)
        _load_file(source, named, dialect, diagnostics)
    return tuple(functions), tuple(diagnostics)


def _load_file(
    source: Source, earlier: Earlier, dialect: Dialect, diagnostics: list[Diagnostic]
) -> None:
    """Add what this file declares to the functions read so far."""
    has_formulas = None
    is_over = False

    def take(item: Node) -> bool:
        """Read an entry as soon as its node is complete, unless this is a derivatives.yaml."""
        nonlocal has_formulas, is_over
        if has_formulas is None:
            # A derivatives.yaml that is a list.
            fields = _keys(item)
            has_formulas = (
                "name" in fields and "func" not in fields and not fields <= {"name", *FIELDS}
            )
        if not has_formulas and not is_over:
            is_over = _too_many_errors(source, item, diagnostics) or not _load_item(
                EntryReader(source, diagnostics, dialect, item), item, earlier
            )
        return not has_formulas

    node, problems = read_yaml(source, take, FIELDS)
    diagnostics += problems
    if node is None or (isinstance(node, ScalarNode) and node.is_null):
        return
    keys = _keys(node)
    if not has_formulas and keys.isdisjoint(_OF_OTHERS):
        if not isinstance(node, ListNode):
            reader = EntryReader(source, diagnostics)
            reader.report(
                "TG101",
                "not a list of entries",
                node,
                "here",
                "begin each entry with `- func: ...`",
            )
        return
    reader = EntryReader(source, diagnostics, dialect, node)
    # Readers of other formats are imported on demand: most projects never need one.
    if has_formulas or "backward" in keys:
        from torchgen_lite.loader.formats.derivatives_format import load_derivatives_file

        load_derivatives_file(reader, node, earlier)
    else:
        from torchgen_lite.loader.formats.backend_format import load_backend_file, load_namespaces

        load = load_namespaces if keys.isdisjoint(_OF_BACKENDS) else load_backend_file
        load(reader, earlier)


def _load_item(reader: EntryReader, item: Node, earlier: Earlier) -> bool:
    """Add the function of an entry; False if it belongs to another kind of file."""
    keys = reader.fields.keys()
    others = ""
    if "op" in keys and ("args" in keys or "infer_meta" in keys):
        others = "these are operators of Paddle, which have another schema language"
    elif "inherits" in keys and "type_constraint" in keys:
        others = "these are types that operators of the edge dialect take, not operators"
    if others:
        reader.report("TG101", others, item, "not an entry of PyTorch")
        return False
    if keys.isdisjoint(_OF_EXECUTORCH):
        function = load_entry(reader, item, earlier)
    else:
        from torchgen_lite.loader.formats.executorch_format import load_executorch_entry

        function = load_executorch_entry(reader, item, earlier)
    if function is not None:
        earlier.functions.append(function)
    return True


def _too_many_errors(source: Source, item: Node, diagnostics: list[Diagnostic]) -> bool:
    """Whether to stop before this entry: nobody reads so many errors, and each costs time."""
    few = len(diagnostics) < MAX_ERRORS
    if few or len(errors_among(diagnostics)) < MAX_ERRORS:
        return False
    reader = EntryReader(source, diagnostics)
    reader.report(
        "TG110",
        f"more than {MAX_ERRORS} errors",
        item,
        "not read from here on",
    )
    return True


def _keys(node: Node) -> Set[str]:
    pairs = node.items if isinstance(node, MapNode) else ()
    return {key.value for key, _ in pairs if isinstance(key, ScalarNode)}
