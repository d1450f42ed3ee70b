"""What any reader finds in an existing library: operators, kernels and their other fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.loader.kernel_modules import PythonSignature
from torchgen_lite_tools.importing.cpp_functions import Function

# A kernel without a key serves every key.
CATCH_ALL = "CompositeImplicitAutograd"


@dataclass(frozen=True, slots=True)
class Definition:
    """An operator that is defined. `conditions` are preprocessor expressions that must all hold; `asks` are questions
    to the author about what is only proposed, since a `binder` (pybind11) binds it."""

    name: str
    schema: str
    tags: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    doc: str = ""
    span: Span | None = field(default=None, compare=False)
    asks: tuple[str, ...] = field(default=(), compare=False)
    binder: str = ""


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
    asks: str = field(default="", compare=False)


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
    """A statement of a block that registers, or an object that does: its place, that of the block, whether the block
    defines a namespace, what the statement registers, and whether all of that stands in it and was understood.
    """

    span: Span
    block: Span
    defines: bool
    operators: frozenset[str]
    is_whole: bool


@dataclass(slots=True)
class Library:
    """Everything that was found, in order, and diagnostics for what was not understood.

    `modules` are the Python modules of kernels and of fakes. `statements` is the number of registrations that were
    looked at, `files` that of files; `binders` has what binds functions to Python, by file. `read` are the statements of
    C++ that register, and `inferred` the operators whose schema is that of a kernel that may write to tensors.
    """

    definitions: list[Definition] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    extras: list[Extra] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    modules: dict[str, list[str]] = field(default_factory=dict)
    statements: int = 0
    files: int = 0
    binders: dict[str, str] = field(default_factory=dict)
    read: list[Statement] = field(default_factory=list)
    inferred: list[str] = field(default_factory=list)

    def only(self, fits: Callable[[str], bool]) -> Library:
        """The library with the operators whose names fit."""
        return replace(
            self,
            definitions=[one for one in self.definitions if fits(one.name)],
            implementations=[one for one in self.implementations if fits(one.name)],
            extras=[one for one in self.extras if fits(one.name)],
        )

    @contextmanager
    def reading(self, span: Span, block: Span, defines: bool) -> Iterator[None]:
        """While a statement is read, which is noted afterwards with what was found in it."""
        before = len(self.definitions), len(self.implementations), len(self.diagnostics)
        yield
        found = {one.name: one.span for one in self.definitions[before[0] :]}
        found |= {one.name: one.span for one in self.implementations[before[1] :]}
        is_here = all(one is not None and one.is_in(span) for one in found.values())
        is_whole = is_here and len(self.diagnostics) == before[2]
        self.read.append(Statement(span, block, defines, frozenset(found), is_whole))
