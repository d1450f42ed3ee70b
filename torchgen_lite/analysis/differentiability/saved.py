"""What a formula needs of the inputs and results of the forward call (torchgen `saved_variables`).

A formula that only asks for the shape of a tensor must not keep its memory alive, so these are told apart:

    grad.expand(self.sym_sizes())    keeps self_sym_sizes
    grad * self                      keeps self
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.differentiability.model import SavedAttribute
from torchgen_lite.schema.formula import (
    Call,
    Expression,
    Literal,
    Member,
    Name,
    Unary,
    called_name,
    children,
)

METHODS = {
    "dim": "dim",
    "is_conj": "conjugate",
    "layout": "layout",
    "numel": "numel",
    "options": "options",
    "scalar_type": "scalar_type",
    "sym_blocksize": "self_sym_blocksize_opt",
    "sym_numel": "sym_numel",
    "sym_sizes": "sym_sizes",
    "sym_strides": "sym_strides",
}
"""Methods without arguments whose result is kept in place of the tensor, and the suffix of its name."""

ATTRIBUTES = ("device", "dtype", "ndim", "shape")
"""The same as attributes, in formulas of our own: `self.shape`."""

FUNCTIONS = {
    "TensorGeometry": "geometry",
    "to_args_scalartypes": "args_scalartypes",
    "to_args_sizes": "args_sizes",
    "to_args_sizes_symint": "args_sizes_symint",
    "zeros_like": "info",
}
"""Functions of one tensor that need only facts about it."""


def find_saved(expression: Expression, names: Collection[str]) -> tuple[SavedAttribute, ...]:
    """What a formula keeps of the values called `names`, in the order they appear."""
    found: dict[SavedAttribute, None] = {}
    for attribute in _find(expression, frozenset(names)):
        found[attribute] = None
    return tuple(found)


def _find(node: Expression, names: frozenset[str]) -> Iterator[SavedAttribute]:
    fact = fact_of(node, names)
    if fact is not None:
        yield fact
    elif isinstance(node, Name):
        if node.text in names:
            yield SavedAttribute(node.text, node.text, node.text)
    else:
        for child in children(node):
            is_method = isinstance(node, Call) and child is node.function
            # `self.device()` is a call of a method, and `self.device` alone a fact.
            inner = children(child) if is_method and isinstance(child, Member) else (child,)
            for part in inner:
                yield from _find(part, names)


def fact_of(node: Expression, names: Collection[str]) -> SavedAttribute | None:
    """The fact about one of these tensors that an expression is, or None."""
    if isinstance(node, Member):
        value = node.value
        if isinstance(value, Name) and value.text in names and node.name in ATTRIBUTES:
            return SavedAttribute(f"{value.text}_{node.name}", str(node), value.text)
        return None
    if not isinstance(node, Call):
        return None
    suffix = FUNCTIONS.get(called_name(node) or "")
    if suffix and len(node.arguments) == 1 and not node.keywords:
        argument = node.arguments[0]
        if isinstance(argument, Name) and argument.text in names:
            # PyTorch keeps the tensor's type and size where the formula makes zeros like it.
            text = argument.text if suffix == "info" else str(node)
            return SavedAttribute(f"{argument.text}_{suffix}", text, argument.text)
    return _method_fact(node, names)


def _method_fact(node: Call, names: Collection[str]) -> SavedAttribute | None:
    method = node.function
    if not (isinstance(method, Member) and isinstance(method.value, Name)):
        return None
    source, name = method.value.text, method.name
    if source not in names or node.keywords:
        return None
    if method.arrow:
        if name != "sym_sizes" or node.arguments:
            return None
        text = (
            f"{source}.has_value() ? std::optional<c10::SymIntArrayRef>({source}->sym_sizes())"
            " : std::nullopt"
        )
        return SavedAttribute(f"{source}_sym_sizes_opt", text, source)
    if name == "sym_size" and len(node.arguments) == 1:
        index = str(node.arguments[0])
        if isinstance(node.arguments[0], (Literal, Name, Unary)):
            suffix = f"sym_argsize_{index.replace('-', 'minus_')}"
            return SavedAttribute(f"{source}_{suffix}", str(node), source)
    if name in METHODS and not node.arguments:
        text = str(node)
        if name == "sym_strides":
            text = f'strides_or_error({source}, "{source}")'
        elif name == "sym_blocksize":
            text = f"at::sparse_csr::getSymIntBlockSize({source})"
        return SavedAttribute(f"{source}_{METHODS[name]}", text, source)
    return None
