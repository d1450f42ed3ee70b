"""One operator with everything that follows from its entry and from the others of the program."""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.analysis.derive.model import VariantGroup, ViewGroup
from torchgen_lite.analysis.derive.signature import Signature
from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema, SchemaKind


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator, declared or derived. Two of them are the same only if they are the same object.

    `tags` are those in effect. `group` is there for operators that have a functional and an out variant,
    `views` for views and what goes with them; `is_view` says that a result aliases an argument.
    """

    function: NativeFunction
    name: str
    kind: SchemaKind
    signature: Signature
    is_derived: bool
    is_view: bool
    tags: tuple[str, ...]
    kernels: tuple[KernelEntry, ...]
    group: VariantGroup | None
    views: ViewGroup | None

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func
