"""What a node keeps for backward: the member's type, how it is read, and what formulas see.

SavedVariable saved_self;               _node->saved_self = SavedVariable(self, false);
std::vector<c10::SymInt> saved_self_shape;    _node->saved_self_shape = self.sym_sizes().vec();
"""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp import torch_types
from torchgen_lite.languages.cpp.torch_types import Conventions
from torchgen_lite.languages.cpp.types import VOID, CType, std, unrooted
from torchgen_lite.languages.text import lengthened
from torchgen_lite.loader.sources import lines_beside
from torchgen_lite.schema import return_names
from torchgen_lite.schema.dispatch_kind import DispatchKind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.types import NO_CLASSES, Classes

# The type of the member that keeps a fact, and how the fact is read of a tensor.
FACTS = {Fact[name]: (type_, read) for name, type_, read in map(str.split, lines_beside(__file__))}
# Types that are not default-constructible; a member is constructed before it has a value.
_WITHOUT_DEFAULT = frozenset({"at::Device", "at::Stream", "c10::Device", "c10::Stream"})
# Types that default initialization leaves indeterminate.
_PLAIN = frozenset(
    {"bool", "int64_t", "double", "at::ScalarType", "at::Layout", "at::MemoryFormat"}
)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a node, `name` of the type `type`; `read` is the expression that is kept, with `{0}` for the value
    and `{1}` for a dimension. One that `is_boxed` is optional, for its type has no value by default.
    """

    saved: Saved
    name: str
    type: str
    read: str
    is_boxed: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is initialized explicitly, so that no node holds an uninitialized number."""
        return self.type in _PLAIN

    @property
    def is_copied(self) -> bool:
        """Whether formulas see a separate value and not the member."""
        return self.saved.keeps_tensors or self.is_boxed

    @property
    def unpacked(self) -> str:
        """The value as formulas see it."""
        if not self.saved.keeps_tensors:
            if self.is_boxed:
                return f"*{self.name}"
            return self.name
        is_optional = self.saved.carries is DispatchKind.optional_tensor_list
        return f"autograd::unpack{'_optional' * is_optional}(*this, {self.name})"

    def input(self, value: str) -> str:
        """What is kept of the argument `value`."""
        if self.saved.is_whole or self.saved.carries is not DispatchKind.optional_tensor:
            return self.read.format(value, self.saved.dim)
        read = self.read.format(f"(*{value})", self.saved.dim)
        return f"{value}.has_value() ? {read} : {self.type}()"

    def result(self, value: str, is_view: str = "") -> str:
        """What is kept of a result; `is_view` is an expression that says whether it is a view."""
        if self.saved.keeps_list:
            return f"torch::autograd::make_saved_variable_list({value}, true)"
        if self.saved.keeps_tensors:
            items = [value, "true"]
            if is_view:
                items.append(is_view)
            return f"autograd::SavedVariable({', '.join(items)})"
        return self.read.format(value, self.saved.dim)


def members(info: DifferentiabilityInfo, classes: Classes = NO_CLASSES) -> list[Member]:
    """What a node keeps, of the inputs and then of the results."""
    written = {p.name: p.type for p in types.signature(info.function, classes=classes).parameters}
    fields = []
    names = _locals_of(info)
    for saved in info.saved:
        type_ = written.get(saved.source, VOID)
        if saved.result is not None:
            returned = info.schema.returns[saved.result].type
            type_ = torch_types.return_type(returned, False, Conventions("SymInt"))
        name = lengthened(f"saved_{saved.name}", names)
        names.add(name)
        fields.append(_member(saved, name, type_))
    return fields


def count_of(info: DifferentiabilityInfo, of: str | int) -> str:
    """The member that has the number of tensors in an argument, or in the result at a position."""
    name = f"saved_{of}_count" if isinstance(of, str) else f"result_{of}_count"
    return lengthened(name, _locals_of(info).union(names_of(members(info))))


def _locals_of(info: DifferentiabilityInfo) -> set[str]:
    """The names that formulas see, which would hide members."""
    schema = info.schema
    names = [
        *names_of(schema.arguments),
        *return_names(schema),
        *names_of(info.saved),
    ]
    return set(map(cpp_text.identifier, names))


def _member(saved: Saved, name: str, type_: CType) -> Member:
    if saved.keeps_list:
        read = "torch::autograd::make_saved_variable_list({0})"
        return Member(saved, name, "std::vector<autograd::SavedVariable>", read)
    if saved.keeps_tensors:
        return Member(saved, name, "autograd::SavedVariable", "autograd::SavedVariable({0}, false)")
    if not saved.is_whole:
        # A value that can't be kept is reported with the formula.
        owned, read = FACTS.get(saved.fact, ("bool", "false"))
    else:
        kept = torch_types.kept(type_)
        read = "{0}"
        owned = str(unrooted(kept))
        # What refers to a text or a list is copied.
        if kept == std("string"):
            read = "std::string({0})"
        elif kept.name == std("vector").name and type_.name != kept.name:
            read = "{0}.vec()"
    if owned in _WITHOUT_DEFAULT:
        return Member(saved, name, f"std::optional<{owned}>", read, is_boxed=True)
    return Member(saved, name, owned, read)
