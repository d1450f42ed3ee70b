"""What any reader finds in an existing library: operators, kernels and their other fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.loader.importing.cpp_functions import Function
from torchgen_lite.loader.kernel_modules import PythonSignature

# A kernel without a key serves every key.
CATCH_ALL = "CompositeImplicitAutograd"


@dataclass(frozen=True, slots=True)
class Definition:
    """An operator that is defined. `conditions` are preprocessor expressions that must all hold."""

    name: str
    schema: str
    tags: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    doc: str = ""
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Implementation:
    """A kernel for a key of an operator. `is_named` says that its name is not assumed; `functions` are the
    declarations of that name."""

    name: str
    key: str
    kernel: str
    conditions: tuple[str, ...] = ()
    is_named: bool = True
    span: Span | None = field(default=None, compare=False)
    functions: tuple[Function, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Extra:
    """A field of an operator that is neither schema, kernel nor tag: `fake: muladd_fake`. The signature and the place
    are those in a text."""

    name: str
    field: str
    value: str
    signature: PythonSignature | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a block that registers, or an object that does: where it and the block are, whether the block
    defines a namespace, the operators concerned, and whether it was understood whole."""

    span: Span
    block: Span
    defines: bool
    operators: frozenset[str]
    is_whole: bool


@dataclass(slots=True)
class Library:
    """Everything that was found, in order, and diagnostics for what was not understood.

    `modules` are the Python modules of kernels and of fakes. `statements` is the number of
    registrations that were looked at, and `read` are the statements of C++ in which they stand.
    """

    definitions: list[Definition] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    extras: list[Extra] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    modules: dict[str, list[str]] = field(default_factory=dict)
    statements: int = 0
    read: list[Statement] = field(default_factory=list)

    @contextmanager
    def reading(self, span: Span, block: Span, defines: bool) -> Iterator[None]:
        """While a statement is read, which is noted afterwards with what was found in it."""
        before = len(self.definitions), len(self.implementations), len(self.diagnostics)
        yield
        names = {one.name for one in self.definitions[before[0] :]}
        names |= {one.name for one in self.implementations[before[1] :]}
        is_whole = len(self.diagnostics) == before[2]
        self.read.append(Statement(span, block, defines, frozenset(names), is_whole))
