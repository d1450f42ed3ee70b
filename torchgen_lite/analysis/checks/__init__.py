"""Errors that only show when all entries are known. One function is one check; this file lists them all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from torchgen_lite.analysis.checks import entries, kernels, names, schemas, structured
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.kernel_modules import KernelIndex

__all__ = ["check_functions"]


def check_functions(
    functions: Sequence[NativeFunction], tags: Collection[str], modules: KernelIndex | None
) -> Iterator[Diagnostic]:
    """The findings of every check.

    `tags` are those that there are; `modules` those that kernels are looked up in, if any are given.
    """
    yield from schemas.check_schemas(functions)
    yield from entries.check_methods(functions)
    yield from entries.check_tags(functions, tags)
    yield from structured.check_delegates(functions)
    yield from structured.check_kernels_beside(functions)
    yield from names.check_names(functions)
    yield from names.check_autogen(functions)
    if modules is not None and modules.modules:
        yield from kernels.check_kernels(functions, modules)
