"""A PyTorch's operators as context: an author's file may refer to them, but none is generated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from torchgen_lite.analysis.resolve import derive_functions
from torchgen_lite.diagnostics import Diagnostics, placed_at
from torchgen_lite.loader.config.project import Config, locate_value
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.loader.torch.files import find_torch_files, read_tags
from torchgen_lite.loader.torch.releases import INSTALLED, load_related, read_release
from torchgen_lite.loader.versions import Version, parse_version
from torchgen_lite.schema.grouped import by_name


@dataclass(frozen=True)
class NativeOperators:
    """The operators by full name, including derived ones; the tags, version and header of autocast rules, if known.

    `is_found`: there is a PyTorch to compare with, even if it has none of the requested operators.
    """

    functions: Mapping[str, NativeFunction] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    version: Version = ()
    is_found: bool = False
    diagnostics: Diagnostics = ()
    autocast: str = ""

    def release_for(self, config: Config) -> Version:
        """The release of PyTorch that entries are read for, if it is known."""
        return parse_version(config.for_torch) or self.version


NO_NATIVE = NativeOperators()


def follow_native(
    functions: Sequence[NativeFunction], context: Sequence[NativeFunction]
) -> tuple[NativeFunction, ...]:
    """The author's entries, with the fields of PyTorch's that decide the C++ types of kernels."""
    native = by_name(context)
    return tuple([_follow(function, native.get(function.name, function)) for function in functions])


def _follow(function: NativeFunction, native: NativeFunction) -> NativeFunction:
    if native.shares_structured and not function.shares_structured:
        function = function._replace(is_part_of_structured=True)
    if native.use_const_ref_for_mutable_tensors and not function.use_const_ref_for_mutable_tensors:
        function = function._replace(use_const_ref_for_mutable_tensors=True)
    return function


def load_native(config: Config) -> NativeOperators:
    """The operators that the option `native` names. Mistakes in them are not reported."""
    if not config.native:
        return NO_NATIVE
    native = read_native(config.native, config.root)
    place = locate_value(config, "", "native", config.native)
    return replace(native, diagnostics=tuple(placed_at(native.diagnostics, place)))


def read_native(release: str, root: Path, names: Collection[str] = ()) -> NativeOperators:
    """A release's operators (see `read_release`), or only those sharing a root with `names`."""
    native = read_release(release, root)
    if native.source is None:
        return NativeOperators(diagnostics=native.diagnostics)
    files = find_torch_files()[0] if release == INSTALLED else None
    tags = {} if files is None else read_tags(files)[0]
    vocabulary = tags or KNOWN_TAGS
    if names:
        declared = tuple(load_related(native.source, names))
    else:
        declared, _ = load_native_functions([native.source], Dialect(vocabulary))
    every = by_name((*declared, *derive_functions(declared, vocabulary)))
    return NativeOperators(every, tags, native.version, True, autocast=native.autocast)
