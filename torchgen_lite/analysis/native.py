"""The operators of a PyTorch as context: they lend what an author's file refers to, and are nobody's to generate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from torchgen_lite.analysis.resolve import derive_functions
from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.loader.config import Config, locate_value
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.known_tags import KNOWN_TAGS
from torchgen_lite.loader.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.torch_files import find_torch_files, load_related, read_tags
from torchgen_lite.loader.versions import Version, parse_version
from torchgen_lite.records import dataclass, field

TORCH = "torch"
"""What the option `native` says for the installed PyTorch."""


@dataclass(frozen=True)
class NativeOperators:
    """By whole names, derived ones too; the tags and the version, where they are known."""

    functions: Mapping[str, NativeFunction] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    version: Version = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def load_native(config: Config) -> NativeOperators:
    """What the option `native` names. Mistakes in it are for its authors to mend, and are not reported."""
    if not config.native:
        return NativeOperators()
    if config.native == TORCH:
        return installed_native()
    path = config.root / config.native
    places = {path: locate_value(config, "", "native", config.native)}
    sources, found = load_schema_sources([path], config.root, places)
    return _read(sources[0], {}, ()) if sources else NativeOperators(diagnostics=found)


def installed_native(names: Collection[str] = ()) -> NativeOperators:
    """The operators of the installed PyTorch; with `names`, those that share a root with one of these."""
    files, found = find_torch_files()
    if files is None:
        return NativeOperators(diagnostics=found)
    source, found = read_source(files.native_functions, files.native_functions.parent)
    if source is None:
        return NativeOperators(diagnostics=found)
    tags, _ = read_tags(files)
    return _read(source, tags, parse_version(files.version), names)


def _read(
    source: Source, tags: Mapping[str, str], version: Version, names: Collection[str] = ()
) -> NativeOperators:
    vocabulary = tags or KNOWN_TAGS
    if names:
        declared: Sequence[NativeFunction] = tuple(load_related(source, names))
    else:
        declared, _ = load_native_functions([source], tags=vocabulary)
    every = (*declared, *derive_functions(declared, vocabulary))
    return NativeOperators({function.name: function for function in every}, tags, version)
