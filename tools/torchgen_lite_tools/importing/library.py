"""What any reader finds in an existing library: operators, kernels and their other fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.loader.python.kernel_modules import PythonSignature
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
    """A kernel for a key of an operator; "" for one that YAML has no name for. `is_named` says that its name is not
    assumed; `functions` are the declarations of that name in C++, `signature` is that in Python."""

    name: str
    key: str
    kernel: str
    conditions: tuple[str, ...] = ()
    is_named: bool = True
    span: Span | None = field(default=None, compare=False)
    functions: tuple[Function, ...] = field(default=(), compare=False)
    asks: str = field(default="", compare=False)
    signature: PythonSignature | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Extra:
    """A field of an operator that is neither schema, kernel nor tag: `fake: muladd_fake`. The signature and the place
    are those in a text."""

    name: str
    field: str
    value: str
    signature: PythonSignature | None = None
    span: Span | None = None
    asks: str = ""


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
    C++ that register, and `inferred` the operators whose schema is that of a kernel that may write to tensors. `python`
    counts the registrations of each Python file: those that were read, and the others. `refused` are the operators of
    C++ that have a kernel which entries cannot express, `stable` those that blocks of libtorch's stable ABI define, and
    `converted` those that a binder binds with numbers which generated code converts.
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
    python: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    stable: set[str] = field(default_factory=set)
    converted: set[str] = field(default_factory=set)

    def only(self, fits: Callable[[str], bool]) -> Library:
        """The library with the operators whose names fit."""
        return replace(
            self,
            definitions=[one for one in self.definitions if fits(one.name)],
            implementations=[one for one in self.implementations if fits(one.name)],
            extras=[one for one in self.extras if fits(one.name)],
        )

    def add_autocast(self, name: str, dtypes: Mapping[str, str]) -> None:
        """Add `autocast:`, which applies to every device and has only two words for dtypes, here by device."""
        if set(dtypes.values()) == {"torch.float32"}:
            self.extras.append(Extra(name, "autocast", "float32"))
            message = f"`{name}` is run in float32 under autocast only on {', '.join(dtypes)}"
            help_ = "`autocast: float32` applies to every device"
            self.diagnostics.append(Diagnostic("TG606", message, help=help_))
        elif dtypes:
            listed = ", ".join(f"{dtype} on {device}" for device, dtype in dtypes.items())
            message = f"`{name}` is run in {listed} under autocast"
            help_ = "`autocast: lower_precision` takes the dtype of the autocast context"
            self.diagnostics.append(Diagnostic("TG607", message, help=help_))

    def shorten(self) -> None:
        """Leave the modules of Python functions away where their names are different without them."""
        kernels = self.implementations
        extras = self.extras
        names = {*(one.kernel for one in kernels), *(one.value for one in extras)}
        words = {full: full.rpartition(".")[2] for full in names}
        uses = Counter(words.values())
        short = {full: word if uses[word] == 1 else full for full, word in words.items()}
        self.implementations = [replace(one, kernel=short[one.kernel]) for one in kernels]
        self.extras = [replace(one, value=short[one.value]) for one in extras]

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
