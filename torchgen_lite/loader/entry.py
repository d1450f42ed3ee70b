"""One entry of `native_functions.yaml`, read: a schema and what the fields beside it say.

The words are the YAML's own (torchgen `NativeFunction`). Every field that a diagnostic may point at
keeps its span. Derived facts (groups, signatures, backend index) are functions of the floors above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchgen_lite.schema import SchemaKind

if TYPE_CHECKING:
    from torchgen_lite.diagnostics import Span
    from torchgen_lite.loader.derivatives import Derivatives
    from torchgen_lite.loader.fakes import Fake
    from torchgen_lite.loader.samples import Samples
    from torchgen_lite.schema import FunctionSchema


CONST_REFS = "use_const_ref_for_mutable_tensors"


@dataclass(frozen=True, slots=True)
class Backend:
    """The backend whose file gives an operator its kernels: functions of a C++ namespace, or static ones of a class.

    `use_out_as_primary` says that PyTorch makes variants of the out one, and no others are made; `device_guard`,
    whether wrappers take care of the device (torchgen `BackendIndex`).
    """

    key: str
    namespace: str
    class_name: str
    use_out_as_primary: bool = False
    device_guard: bool = False

    @property
    def copies_variants(self) -> bool:
        """Whether variants are made of the functional one: see Note [Variants that copy]."""
        return bool(self.class_name) and not self.use_out_as_primary


@dataclass(frozen=True, slots=True)
class DispatchEntry:
    """`KEY: kernel` of a `dispatch:` table; a comma list gives one of these for each key.

    `key` is the canonical name of a `DispatchKey`; `kernel` is an identifier, or several
    joined with `.` or `::`. `backend` is the one whose file gives the kernel, if it is in none of our tables.
    """

    key: str
    kernel: str
    key_span: Span | None = field(default=None, compare=False, repr=False)
    kernel_span: Span | None = field(default=None, compare=False, repr=False)
    backend: Backend | None = None


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """An operator as declared. `namespace` is `aten` unless the schema names another.

    `dispatch` is as written, plus what PyTorch's reader adds by rule. An entry without `dispatch:` and
    without `structured_delegate:` gets `CompositeImplicitAutograd: <name>_<overload>` only through
    `analysis`, never here. `is_part_of_structured` says that PyTorch has it structured where this entry does
    not, which shows in the types of lists of tensors. `doc`, `torch`, `guard`, `fake`, `derivatives` and `samples` are fields
    of ours, as are `vmap` and `autocast`. `extra` holds fields that are read as text.
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
    python_module: str | None = None
    category_override: str | None = None
    manual_kernel_registration: bool = False
    manual_cpp_binding: bool = False
    cpp_no_default_args: tuple[str, ...] = ()
    doc: str | None = None
    torch: str | None = None
    guard: str | None = None
    fake: Fake | None = None
    vmap: str | None = None
    autocast: str | None = None
    derivatives: Derivatives | None = None
    samples: Samples | None = None
    extra: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    field_spans: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)

    @property
    def name(self) -> str:
        """What finds the operator everywhere: `aten::add.Tensor`, whether or not `aten::` was written."""
        return f"{self.namespace}::{self.func.local_name}"

    @property
    def delegate(self) -> str | None:
        """The structured operator that does the work, by its whole name."""
        delegate = self.structured_delegate
        return delegate and f"{self.namespace}::{delegate.rpartition('::')[2]}"

    @property
    def shares_structured(self) -> bool:
        """Whether a variant is structured, here or in PyTorch (torchgen `part_of_structured_group`)."""
        is_own = self.structured or self.structured_delegate is not None
        return is_own or self.is_part_of_structured

    def flat_name(self, home: str) -> str:
        """A name for generated code: `add_Tensor` in the namespace `home`, `mylib__add_Tensor` elsewhere."""
        name = self.func.flat_name
        return name if self.namespace == home else f"{self.namespace.replace('::', '_')}__{name}"

    @property
    def kernel_name(self) -> str:
        """`add_out`: what torchgen calls the kernel of a backend out of tree, which C++ overloads (`api.cpp.name`)."""
        is_out = self.func.kind() is SchemaKind.out
        return f"{self.func.base_name}_out" if is_out else self.func.base_name

    @property
    def takes_const_refs(self) -> bool:
        """Whether C++ takes by const reference what is written to."""
        return bool(self.extra) and dict(self.extra).get(CONST_REFS, "").lower() == "true"

    @property
    def is_written(self) -> bool:
        """Whether an entry declares it. Otherwise PyTorch derives it from another operator."""
        return bool(self.field_spans)

    def place(self, name: str) -> Span | None:
        """Where a field is written; None if the entry does not have it."""
        for field_, span in self.field_spans:
            if field_ == name:
                return span
        return None
