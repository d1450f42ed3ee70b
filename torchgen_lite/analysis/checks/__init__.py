"""Errors that only show when all entries are known. Each check is one function, listed here."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.analysis.checks import entries, native, schemas, structured
from torchgen_lite.analysis.finding import Reported, of_each
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.loader.versions import Version

_OF_ENTRIES = (
    schemas.check_schemas,
    entries.check_methods,
    entries.check_own_tags,
    entries.check_references,
    entries.check_rows,
    structured.check_kernels_beside,
)


def check_functions(
    resolved: Resolved, tags: Collection[str], releases: Collection[Version] | None = None
) -> Reported:
    """The findings of every check. `tags` are the known tags; entries for all `releases` must agree with PyTorch's."""
    yield from of_each(resolved.functions, _OF_ENTRIES)
    yield from entries.check_tags(resolved, tags)
    yield from structured.check_delegates(resolved)
    yield from structured.check_groups(resolved)
    yield from entries.check_names(resolved)
    yield from entries.check_autogen(resolved)
    if releases is not None:
        yield from native.check_native(resolved, releases)
