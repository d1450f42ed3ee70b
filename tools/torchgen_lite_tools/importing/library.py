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
    looked at, `files` that of files; `binders` has what binds functions to Python, by file, and
    `proposed` how many of these became an entry, or a kernel of one. `read` are the statements of
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
    proposed: Counter[str] = field(default_factory=Counter)
    read: list[Statement] = field(default_factory=list)
    inferred: list[str] = field(default_factory=list)
    python: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    stable: set[str] = field(default_factory=set)
    converted: set[str] = field(default_factory=set)

    def only(self, fits: Callable[[str], bool]) -> Library:
        """The library with the operators whose names fit."""
        definitions = [definition for definition in self.definitions if fits(definition.name)]
        implementations = [kernel for kernel in self.implementations if fits(kernel.name)]
        extras = [extra for extra in self.extras if fits(extra.name)]
        return replace(
            self, definitions=definitions, implementations=implementations, extras=extras
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
        names = {kernel.kernel for kernel in self.implementations}
        names |= {extra.value for extra in self.extras}
        words = {name: name.rpartition(".")[2] for name in names}
        uses = Counter(words.values())
        short = dict[str, str]()
        for name, word in words.items():
            is_only_one = uses[word] == 1
            short[name] = word if is_only_one else name
        implementations = []
        for kernel in self.implementations:
            implementations.append(replace(kernel, kernel=short[kernel.kernel]))
        extras = []
        for extra in self.extras:
            extras.append(replace(extra, value=short[extra.value]))
        self.implementations = implementations
        self.extras = extras

    @contextmanager
    def reading(self, span: Span, block: Span, defines: bool) -> Iterator[None]:
        """While a statement is read, which is noted afterwards with what was found in it."""
        definitions = len(self.definitions)
        implementations = len(self.implementations)
        diagnostics = len(self.diagnostics)
        yield
        span_of: dict[str, Span | None] = {}
        for definition in self.definitions[definitions:]:
            span_of[definition.name] = definition.span
        for kernel in self.implementations[implementations:]:
            span_of[kernel.name] = kernel.span
        is_here = all(place is not None and place.is_in(span) for place in span_of.values())
        is_understood = len(self.diagnostics) == diagnostics
        is_whole = is_here and is_understood
        self.read.append(Statement(span, block, defines, frozenset(span_of), is_whole))
