"""What a node keeps for backward: the member's type, how it is read, and what formulas see.

SavedVariable saved_self;               _node->saved_self = SavedVariable(self, false);
std::vector<c10::SymInt> saved_self_shape;    _node->saved_self_shape = self.sym_sizes().vec();
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability import (
    DifferentiabilityInfo,
    SavedAttribute,
    return_names,
)
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp import torch_types
from torchgen_lite.dialects.cpp.torch_types import Conventions
from torchgen_lite.dialects.cpp.types import VOID, CType, unrooted
from torchgen_lite.schema import FunctionSchema, ListType
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.cpp_torch import types

TENSOR_KINDS = frozenset("TO")
LIST_KINDS = frozenset("LP")
_SIZES = "std::vector<c10::SymInt>"
# Suffix of a fact: the type of the member, how it is read of a tensor, and its kind in formulas.
_FACTS = {
    "args_scalartypes": (
        "std::vector<at::ScalarType>",
        "torch::autograd::to_args_scalartypes({0})",
        "other",
    ),
    "args_sizes": (
        "std::vector<std::vector<int64_t>>",
        "torch::autograd::to_args_sizes({0})",
        "other",
    ),
    "args_sizes_symint": (
        f"std::vector<{_SIZES}>",
        "torch::autograd::to_args_sizes_symint({0})",
        "other",
    ),
    "conjugate": ("bool", "{0}.is_conj()", "bool"),
    "device": ("std::optional<at::Device>", "{0}.device()", "other"),
    "dim": ("int64_t", "{0}.dim()", "int"),
    "dtype": ("at::ScalarType", "{0}.scalar_type()", "other"),
    "geometry": ("at::TensorGeometry", "at::TensorGeometry({0})", "other"),
    "info": ("autograd::Zeros", "autograd::Zeros({0})", "zeros"),
    "layout": ("at::Layout", "{0}.layout()", "other"),
    "ndim": ("int64_t", "{0}.dim()", "int"),
    "numel": ("c10::SymInt", "{0}.sym_numel()", "symint"),
    "options": ("at::TensorOptions", "{0}.options()", "other"),
    "scalar_type": ("at::ScalarType", "{0}.scalar_type()", "other"),
    "shape": (_SIZES, "{0}.sym_sizes().vec()", "symints"),
    "sym_numel": ("c10::SymInt", "{0}.sym_numel()", "symint"),
    "sym_sizes": (_SIZES, "{0}.sym_sizes().vec()", "symints"),
    "sym_sizes_opt": (_SIZES, "{0}.sym_sizes().vec()", "symints"),
    "sym_strides": (_SIZES, "{0}.sym_strides().vec()", "symints"),
}
_KINDS = {
    "bool": "bool",
    "c10::SymInt": "symint",
    "double": "float",
    "int64_t": "int",
    "at::Scalar": "scalar",
    "std::vector<c10::SymInt>": "symints",
    "std::vector<int64_t>": "ints",
    "std::vector<double>": "floats",
}

# Types that have no value by default.
_WITHOUT_DEFAULT = frozenset({"at::Device", "at::Stream", "c10::Device", "c10::Stream"})


@dataclass(frozen=True, slots=True)
class Saved:
    """One member of a node.

    `type` is that of the member, `kind` what formulas take it for. `read` has the expression that is kept, with
    `{0}` for the value; `local` is what formulas call it and `unpack` how they get it. `index` is that of a
    result, or -1, and `needed` are the gradients that use it, none meaning all.
    """

    attribute: SavedAttribute
    type: str
    kind: str
    read: str
    unpack: str
    source_kind: str
    index: int = -1
    needed: tuple[int, ...] = ()

    @property
    def member(self) -> str:
        return f"saved_{self.attribute.name}"

    @property
    def local(self) -> str:
        return cpp_text.identifier(self.attribute.name)

    @property
    def is_variable(self) -> bool:
        """Whether a tensor is kept alive."""
        return "SavedVariable" in self.type

    @property
    def is_optional(self) -> bool:
        return self.source_kind == "O"

    def expression(self, value: str) -> str:
        """What is kept of the value with that text."""
        if self.is_variable or not self.is_optional:
            return self.read.format(value)
        return f"{value}.has_value() ? {self.read.format(f'(*{value})')} : {self.type}()"


def saved_members(
    info: DifferentiabilityInfo, problems: list[str]
) -> tuple[list[Saved], list[Saved]]:
    """What a node keeps: of the inputs, then of the results."""
    schema = info.function.func
    kinds = {a.name: dispatch_kind(a.type) or "" for a in schema.arguments}
    signature = types.signature(info.function)
    written = {p.name: p.type for p in signature.parameters}
    inputs = [
        _saved(attribute, kinds[attribute.source], written[attribute.source], problems)
        for attribute in info.saved_inputs
    ]
    inputs = [_with_needed(saved, info, kinds) for saved in inputs]
    return inputs, list(_results(info, schema, problems))


def _results(
    info: DifferentiabilityInfo, schema: FunctionSchema, problems: list[str]
) -> Iterator[Saved]:
    names = return_names(schema)
    for attribute in info.saved_outputs:
        index = names.index(attribute.source)
        returned = schema.returns[index].type
        kind = "L" if isinstance(returned, ListType) else "T"
        if not is_tensor_like(returned):
            type_ = torch_types.return_type(returned, False, Conventions(symint=True))
            yield replace(_saved(attribute, "", type_, problems), index=index)
            continue
        saved = _saved(attribute, kind, VOID, problems)
        if attribute.is_whole and kind == "T":
            # The node that made a result is its history, so it doesn't keep it in a circle.
            unpack = f"{saved.member}.unpack(getptr())"
            yield Saved(attribute, saved.type, "tensor", saved.read, unpack, kind, index)
        else:
            yield Saved(attribute, saved.type, saved.kind, saved.read, saved.unpack, kind, index)


def _saved(attribute: SavedAttribute, kind: str, type_: CType, problems: list[str]) -> Saved:
    member = f"saved_{attribute.name}"
    if not attribute.is_whole:
        return _fact(attribute, kind, member, problems)
    if kind in TENSOR_KINDS:
        return Saved(
            attribute,
            "autograd::SavedVariable",
            "tensor",
            "autograd::SavedVariable({0}, false)",
            f"autograd::unpack({member})",
            kind,
        )
    if kind in LIST_KINDS:
        unpack = "unpack_optional" if kind == "P" else "unpack"
        return Saved(
            attribute,
            "std::vector<autograd::SavedVariable>",
            "tensors",
            "torch::autograd::make_saved_variable_list({0})",
            f"autograd::{unpack}({member})",
            kind,
        )
    owned = str(unrooted(torch_types.kept(type_)))
    if "at::Tensor" in owned:
        problems.append(f"`{attribute.source}` is kept by no node: it is a list that may be absent")
    if owned in _WITHOUT_DEFAULT:
        # The member is made before there is a value.
        owned = f"std::optional<{owned}>"
        return Saved(attribute, owned, "other", "{0}", f"*{member}", kind)
    return Saved(attribute, owned, _kind_of(owned), _owned_value(owned, type_), member, kind)


def _owned_value(owned: str, type_: CType) -> str:
    if owned.startswith("std::vector<") and type_.name.endswith("ArrayRef"):
        return "{0}.vec()"
    return "std::string({0})" if owned == "std::string" else "{0}"


def _kind_of(owned: str) -> str:
    inner = re.fullmatch(r"std::optional<(.*)>", owned)
    if inner:
        return f"{_KINDS.get(inner[1], 'other')}?"
    array = re.fullmatch(r"c10::OptionalArray<(.*)>", owned)
    if array:
        return "symints?" if array[1] == "c10::SymInt" else "ints?"
    return _KINDS.get(owned, "other")


def _fact(attribute: SavedAttribute, kind: str, member: str, problems: list[str]) -> Saved:
    suffix = attribute.name.removeprefix(f"{attribute.source}_")
    if suffix.startswith("sym_argsize_"):
        index = suffix.removeprefix("sym_argsize_").replace("minus_", "-")
        return Saved(attribute, "c10::SymInt", "symint", f"{{0}}.sym_size({index})", member, kind)
    known = _FACTS.get(suffix)
    if known is None:
        problems.append(f"nothing is kept for `{attribute.expression}`")
        known = ("bool", "false", "other")
    type_, read, fact_kind = known
    # A device has no value by default, so it is kept as an optional one.
    unpack = f"*{member}" if type_ == "std::optional<at::Device>" else member
    return Saved(attribute, type_, fact_kind, read, unpack, kind)


def _with_needed(saved: Saved, info: DifferentiabilityInfo, kinds: Mapping[str, str]) -> Saved:
    """Which gradients need a tensor; where lists have gradients, their numbers are not known."""
    if not saved.is_variable or any(kinds[name] in LIST_KINDS for name in info.arguments):
        return saved
    name = saved.attribute.name
    used = [d for d in info.derivatives if any(s.name == name for s in d.saved_inputs)]
    indices = sorted({info.arguments.index(n) for d in used for n in d.names})
    if len(indices) == len(info.arguments):
        return saved
    return Saved(
        saved.attribute,
        saved.type,
        saved.kind,
        saved.read,
        saved.unpack,
        saved.source_kind,
        saved.index,
        tuple(indices),
    )


def scope_kinds(schema: FunctionSchema, members: Sequence[Saved]) -> dict[str, str]:
    """The kinds of the names that a formula may use."""
    kinds = {saved.attribute.name: saved.kind for saved in members if saved.attribute.is_whole}
    if any(isinstance(value.type, ListType) for value in schema.returns):
        kinds["grads"] = "tensors"
    for name, value in zip(return_names(schema), schema.returns):
        if isinstance(value.type, ListType):
            kinds[f"grad_{name}"] = "tensors"
    if schema.returns and isinstance(schema.returns[0].type, ListType):
        kinds["grad"] = "tensors"
    return kinds
