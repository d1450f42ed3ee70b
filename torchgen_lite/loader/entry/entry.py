"""An entry of `native_functions.yaml` after reading: a schema and the fields beside it.

Attributes are named like the YAML's fields (torchgen `NativeFunction`). Every field that a
diagnostic may point at keeps its span. Higher layers compute derived facts (groups, signatures,
backend index).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Union

from torchgen_lite.diagnostics import Source, Span
from torchgen_lite.loader.entry.reader import python_names
from torchgen_lite.loader.versions import Version, has_release
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.schema.model import compared

if TYPE_CHECKING:
    from torchgen_lite.formulas.model import Expression
    from torchgen_lite.loader.entry.autocast import Autocast
    from torchgen_lite.loader.entry.axes import Axes
    from torchgen_lite.loader.entry.derivatives import Derivatives
    from torchgen_lite.loader.entry.fakes import Fake
    from torchgen_lite.loader.entry.samples import Samples

# What `vmap` says in the place of a function.
LOOP = "loop"


# The namespaces that PyTorch defines. Libraries may add kernels to operators in them, but define none. libtorch accepts
# only one definition of a namespace, so a library with a second one aborts on load.
TORCH_NAMESPACES = frozenset("""
    _c10d_functional _quantized aten c10d inductor mkldnn onednn prim prims profiler quantized sparse
    """.split())


@dataclass(slots=True, eq=False)
class FieldSpans:
    """Where an entry and its fields are written, as pairs of a name and a span.

    The source stores the spans from `first` on, beginning with the span of the entry. `others` are
    the fields of another entry, whose operator this one names.
    """

    source: Source | None = None
    names: tuple[str, ...] = ()
    first: int = 0
    others: tuple[tuple[str, Span], ...] = ()

    @staticmethod
    def at(span: Span | None, *names: str, entry: Span | None = None) -> FieldSpans:
        """Fields that all stand at one place, which only names the operator."""
        if span is None:
            return NO_FIELDS
        places = [(0, 0) if entry is None else entry[1:], *[span[1:]] * len(names)]
        return FieldSpans(span.source, names, span.source.keep(*chain.from_iterable(places)))

    @property
    def entry(self) -> Span | None:
        span = None if self.source is None else self.source.kept(self.first)
        return span if span is not None and span.end else None

    def find(self, name: str) -> Span | None:
        """Where a field is written."""
        if self.source is not None and name in self.names:
            return self.source.kept(self.first + 2 * self.names.index(name) + 2).first_line
        return next((span for other, span in self.others if other == name), None)

    def __iter__(self) -> Iterator[tuple[str, Span]]:
        for name in self.names:
            if (span := self.find(name)) is not None:
                yield name, span
        yield from self.others

    def __bool__(self) -> bool:
        return bool(self.names)


NO_FIELDS = FieldSpans()


class Backend(NamedTuple):
    """The backend whose file gives an operator its kernels.

    Kernels are functions of a C++ namespace, or static functions of a class. `use_out_as_primary`
    says that PyTorch derives variants from the out variant and that no others are made;
    `device_guard` says whether wrappers take care of the device (torchgen `BackendIndex`).
    """

    key: str
    namespace: str
    class_name: str
    use_out_as_primary: bool = False
    device_guard: bool = False

    @property
    def copies_variants(self) -> bool:
        """Whether variants are made from the functional one: see Note [Variants that copy]."""
        return bool(self.class_name) and not self.use_out_as_primary


# Keyword arguments of a kernel.
Options = tuple[tuple[str, Union[int, float, str]], ...]


@compared(4)
class KernelRow(NamedTuple):
    """One of several kernels under a key. It runs if `when` holds and no row before it does; None always holds.

    It gets one of the options of `tune`, which one is measured. `language` is one of KERNEL_LANGUAGES, or empty.
    `text` is the condition as written.
    """

    kernel: str
    when: Expression | None
    tune: tuple[Options, ...] = ()
    language: str = ""
    text: str = ""
    span: Span | None = None
    kernel_span: Span | None = None


@compared(4)
class DispatchEntry(NamedTuple):
    """`KEY: kernel` of a `dispatch:` table; a comma list gives one entry for each key.

    `key` is the canonical name of a `DispatchKey`; `kernel` is an identifier, or several joined
    with `.` or `::`, and empty if the key has `rows`, of which each names one.
    `backend` is set if a backend's file gives the kernel, not one of our tables.
    The source stores the spans of key and kernel from `number` on. Among the kernels of an
    operator, an impl function `is_structured`, and one that no table names `is_implied`. This is a
    named tuple, not a dataclass, because each operator has two of them.
    """

    key: str
    kernel: str
    backend: Backend | None = None
    rows: tuple[KernelRow, ...] = ()
    source: Source | None = None
    number: int = 0
    is_structured: bool = False
    is_implied: bool = False

    @staticmethod
    def at(
        key: str,
        kernel: str,
        key_span: Span | None,
        kernel_span: Span | None = None,
        backend: Backend | None = None,
    ) -> DispatchEntry:
        """An entry written at these places of one source; `kernel_span` defaults to `key_span`."""
        if key_span is None:
            return DispatchEntry(key, kernel, backend)
        number = key_span.source.keep(*key_span[1:], *(kernel_span or key_span)[1:])
        return DispatchEntry(key, kernel, backend, (), key_span.source, number)

    @property
    def kernels(self) -> tuple[DispatchEntry, ...]:
        """The kernels that authors write: the entry itself, or one for each of its rows."""
        if not self.rows:
            return (self,)
        return tuple([DispatchEntry.at(self.key, r.kernel, r.kernel_span) for r in self.rows])

    @property
    def key_span(self) -> Span | None:
        return None if self.source is None else self.source.kept(self.number).first_line

    @property
    def kernel_span(self) -> Span | None:
        return None if self.source is None else self.source.kept(self.number + 2).first_line


@compared(-1)
class NativeFunction(NamedTuple):
    """An operator as declared. `namespace` is `aten` unless the schema names another.

    `dispatch` is as written, plus what PyTorch's reader adds by rule. If an entry has neither
    `dispatch:` nor `structured_delegate:`, it gets `CompositeImplicitAutograd: <name>_<overload>`
    from `analysis`, never here. `is_part_of_structured` says that the operator is structured in
    PyTorch but not in this entry, which affects the types of lists of tensors. `doc`, `torch`,
    `guard`, `unstable`, `fake`, `axes`, `derivatives`, `dtypes`, `samples`, `vmap`, `effects`, `checkpoint`, `decompose`, `triton`,
    `flops` and `autocast` are our own fields. `extra` holds fields that are kept as text. Where an entry is written makes no difference to `==`.
    """

    func: FunctionSchema
    namespace: str
    dispatch: tuple[DispatchEntry, ...] = ()
    variants: tuple[str, ...] = ("function",)
    structured: bool = False
    structured_delegate: str | None = None
    structured_inherits: str | None = None
    is_part_of_structured: bool = False
    precomputed: tuple[str, ...] = ()
    ufunc_inner_loop: tuple[tuple[str, str], ...] = ()
    autogen: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    device_check: str | None = None
    device_guard: bool = True
    use_const_ref_for_mutable_tensors: bool = False
    python_module: str | None = None
    category_override: str | None = None
    manual_kernel_registration: bool = False
    manual_cpp_binding: bool = False
    cpp_no_default_args: tuple[str, ...] = ()
    doc: str | None = None
    torch: str | None = None
    guard: str | None = None
    unstable: bool = False
    fake: Fake | None = None
    axes: Axes | None = None
    vmap: str | None = None
    effects: str | None = None
    checkpoint: str | None = None
    decompose: tuple[str, ...] = ()
    triton: tuple[str, ...] = ()
    flops: Expression | None = None
    autocast: Autocast | None = None
    derivatives: Derivatives | None = None
    dtypes: tuple[str, ...] = ()
    samples: Samples | None = None
    extra: tuple[tuple[str, str], ...] = ()
    field_spans: FieldSpans = NO_FIELDS

    @property
    def name(self) -> str:
        """The name that identifies the operator everywhere: `aten::add.Tensor`.

        It has the namespace even if the entry does not write `aten::`.
        """
        func = self.func
        return func.full_name if "::" in func.name else f"{self.namespace}::{func.local_name}"

    @property
    def is_pytorchs(self) -> bool:
        """Whether it is an operator of PyTorch, by its namespace."""
        return self.namespace in TORCH_NAMESPACES

    @property
    def delegate(self) -> str | None:
        """The full name of the structured operator that does the work."""
        delegate = self.structured_delegate
        return delegate and f"{self.namespace}::{delegate.rpartition('::')[2]}"

    @property
    def shares_structured(self) -> bool:
        """Whether it is structured, here or in PyTorch (torchgen `part_of_structured_group`)."""
        return self.is_structured or self.is_part_of_structured

    @property
    def is_structured(self) -> bool:
        """Whether its kernel, or that of the variant it delegates to, is split into two functions."""
        return self.structured or self.structured_delegate is not None

    @property
    def reference_function(self) -> str:
        """The function that the reference of its samples names; empty for an expression, which an argument is, too."""
        reference = self.samples.reference if self.samples is not None else None
        named = reference.function if reference is not None else ""
        return "" if named.partition(".")[0] in python_names(self.func) else named

    @property
    def vmap_function(self) -> str:
        """The function that `vmap` names; empty for the word `loop`."""
        return "" if self.is_looped else self.vmap or ""

    @property
    def is_looped(self) -> bool:
        """Whether `torch.vmap` calls the operator for each item: `vmap: loop`."""
        return self.vmap == LOOP

    @property
    def is_auto(self) -> bool:
        """Whether the gradients are those of the reference: `derivatives: auto`."""
        return self.derivatives is not None and self.derivatives.is_auto

    @property
    def packet(self) -> tuple[str, str]:
        """Namespace and base name, which PyTorch's packet of overloads has: `("aten", "add")`."""
        return self.namespace, self.func.base_name

    def flat_name(self, home: str) -> str:
        """A name for generated code: `add_Tensor` in namespace `home`, else `mylib__add_Tensor`."""
        name = self.func.flat_name
        return name if self.namespace == home else f"{self.namespace.replace('::', '_')}__{name}"

    @property
    def kernel_name(self) -> str:
        """torchgen's name for the kernel of an out-of-tree backend: `add_out` (`api.cpp.name`).

        Overloads of an operator share the name in C++.
        """
        is_out = self.func.kind() is SchemaKind.out
        return f"{self.func.base_name}_out" if is_out else self.func.base_name

    @property
    def keys(self) -> set[str]:
        """The dispatch keys of its table."""
        return {entry.key for entry in self.dispatch}

    def has_kernel(self, name: str) -> bool:
        """Whether its table has a kernel, or a word in the place of one."""
        return any(entry.kernel == name for entry in self.dispatch)

    def is_for(self, release: Version) -> bool:
        """Whether the entry applies to a release of PyTorch: whether its range `torch` has it."""
        return not self.torch or has_release(self.torch, release)

    @property
    def is_written(self) -> bool:
        """Whether an entry declares the operator; if not, PyTorch derives it from another one."""
        return bool(self.field_spans)

    @property
    def span(self) -> Span | None:
        """Where the entry is written; for a derived operator, the entry that it is derived from."""
        return self.field_spans.entry

    def place(self, name: str) -> Span | None:
        """Where a field is written; None if the entry does not have it."""
        return self.field_spans.find(name)
