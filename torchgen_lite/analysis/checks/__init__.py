"""Errors that only show when all entries are known. One function is one check; this file lists them all."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.checks import entries, kernels, names, schemas, structured
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.kernel_modules import KernelIndex

__all__ = ["check_functions"]


def check_functions(
    resolved: Resolved, tags: Collection[str], modules: KernelIndex | None
) -> Iterator[Diagnostic]:
    """The findings of every check.

    `tags` are those that there are; `modules` those that kernels are looked up in, if any are given.
    """
    yield from schemas.check_schemas(resolved)
    yield from entries.check_methods(resolved)
    yield from entries.check_tags(resolved, tags)
    yield from structured.check_delegates(resolved)
    yield from structured.check_kernels_beside(resolved)
    yield from names.check_names(resolved)
    yield from names.check_autogen(resolved)
    if modules is not None and modules.modules:
        yield from kernels.check_kernels(resolved, modules)
