"""What any reader finds in an existing library: operators, kernels and their other fields."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.loader.importing.cpp_functions import Function
from torchgen_lite.loader.kernel_modules import PythonSignature

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


@dataclass(slots=True)
class Library:
    """Everything that was found, in order, and diagnostics for what was not understood.

    `modules` are the Python modules of kernels and of fakes. `statements` is the number of registrations that were
    looked at, `files` that of files; `binders` has what binds functions to Python, by file.
    """

    definitions: list[Definition] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    extras: list[Extra] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    modules: dict[str, list[str]] = field(default_factory=dict)
    statements: int = 0
    files: int = 0
    binders: dict[str, str] = field(default_factory=dict)
