"""Which overloads share a public name, and how a caller's arguments choose between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier, unshadowed
from torchgen_lite.dialects.text import LINE_LENGTH, exploded, quote, tuple_text
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.model import BaseType, ListType, bare_type
from torchgen_lite.targets.python.model import Overload

# What PyTorch calls TensorOptions: every factory has these four.
FACTORY_OPTIONS = frozenset({"dtype", "layout", "device", "pin_memory"})


@dataclass(frozen=True, slots=True)
class FunctionView:
    """One public name. `value` is what it is bound to: a stub, or a `packet(...)` of several."""

    name: str
    value: str
    signatures: tuple[str, ...]

    @property
    def is_overloaded(self) -> bool:
        return len(self.signatures) > 1


def group_by_base(overloads: Iterable[Overload]) -> dict[str, list[Overload]]:
    """Overloads by base name, in the order in which the names first appear."""
    groups: dict[str, list[Overload]] = {}
    for overload in overloads:
        groups.setdefault(overload.names.base, []).append(overload)
    return groups


def merge_out(overloads: Sequence[Overload]) -> list[Overload]:
    """Fold every out variant into the overload that it is the out variant of, as PyTorch's Python API does.

    `add.Tensor` and `add.out` become one overload with `out=`; a factory's out variant has no dtype, layout
    and device. An out variant without partner stays, and is its own: it can be called with `out=` only.
    """
    out_of: dict[tuple[str, ...], Overload] = {}
    for overload in overloads:
        if overload.schema.out:
            out_of.setdefault(_call_shape(overload), overload)
    if not out_of:
        return list(overloads)
    merged = []
    for overload in overloads:
        if not overload.schema.out:
            partner = out_of.pop(_call_shape(overload), None)
            merged.append(overload.with_out(partner) if partner else overload)
    alone = {id(overload) for overload in out_of.values()}
    merged += [o.with_out(o) for o in overloads if id(o) in alone]
    return merged


def _call_shape(overload: Overload) -> tuple[str, ...]:
    """Names and bare types of the arguments that are not out arguments; without a factory's options."""
    arguments = overload.schema.arguments
    shape = [f"{bare_type(a.type)} {a.name}" for a in arguments if not a.is_out]
    factory = [s for s in shape if s.partition(" ")[2] not in FACTORY_OPTIONS]
    is_factory = len(shape) - len(factory) == len(FACTORY_OPTIONS)
    return (overload.names.namespace, *(factory if is_factory else shape))


def in_matching_order(overloads: Sequence[Overload]) -> list[Overload]:
    """The order in which a call tries overloads: those with fewer `Scalar` arguments first.

    A `Scalar` takes what narrower types take too, so `add.Tensor` comes before `add.Scalar`; otherwise the
    order of the source stays.
    """

    def scalars(overload: Overload) -> int:
        return sum([bare_type(a.type) == "Scalar" for a in overload.schema.positional])

    return sorted(overloads, key=scalars)


def candidate(overload: Overload, *, redispatch: bool = False, method: bool = False) -> str:
    """One overload as a packet tries it; out arguments are reached by `out=` and not named.

    >>> _Candidate(_operators.add_Tensor, ("self", "other", "alpha"), ("Tensor", "Tensor", "Scalar"), 2, 2)
    """
    schema = overload.schema
    arguments = self_first(schema) if method else schema.arguments
    if overload.out is not None:
        arguments = tuple([a for a in arguments if not a.is_out])
    positional = [a for a in arguments if not a.kwarg_only]
    required = [i for i, a in enumerate(positional) if a.default is None]
    keywords = [a.name for a in arguments if a.kwarg_only and a.default is None]
    items = [
        overload.names.redispatch_stub if redispatch else overload.names.stub,
        tuple_text([quote(identifier(a.name)) for a in arguments], indent=12),
        tuple_text([quote(bare_type(a.type)) for a in arguments], indent=12),
        str(len(positional)),
        str(required[-1] + 1 if required else 0),
    ]
    if keywords:
        names = [quote(identifier(name)) for name in keywords]
        items.append(f"required_keywords={tuple_text(names, indent=12, tail=' ' * 19)}")
    if overload.out is not None:
        out = overload.out
        items.append(f"out={out.names.redispatch_stub if redispatch else out.names.stub}")
        out_names = [quote(identifier(a.name)) for a in out.schema.out]
        items.append(f"out_names={tuple_text(out_names, indent=12, tail=' ' * 11)}")
    varargs = varargs_position(positional, method=method)
    if varargs is not None:
        items.append(f"varargs={varargs}")
    return exploded("_Candidate(", items, indent=8)


def self_first(schema: FunctionSchema) -> tuple[Argument, ...]:
    """The arguments as a method takes them: `where(condition, self, other)` has `self` in the middle."""
    return tuple(sorted(schema.arguments, key=lambda a: a.name != "self"))


def varargs_position(positional: Sequence[Argument], *, method: bool) -> int | None:
    """Where `x.view(2, 3)` may stand for `x.view((2, 3))`: a list of integers, nothing positional after.

    As in torch (`FunctionSignature`), only if it is the only positional argument, `self` of a method aside.
    """
    at = 1 if method else 0
    if len(positional) != at + 1:
        return None
    type_ = positional[at].type
    is_list = isinstance(type_, ListType) and isinstance(type_.elem, BaseType)
    return at if is_list and bare_type(type_).startswith(("int[", "SymInt[")) else None


def packet(
    name: str, overloads: Sequence[Overload], *, redispatch: bool = False, method: bool = False
) -> str:
    """
    >>> _packet("add", (_Candidate(...), _Candidate(...)))
    """
    candidates = [
        candidate(o, redispatch=redispatch, method=method) for o in in_matching_order(overloads)
    ]
    # A tuple of one has a trailing comma that means nothing to black, so it lays this one out itself.
    group = exploded("(", candidates, indent=4)
    return exploded("_packet(", [quote(name), group])


def function_value(
    name: str, overloads: Sequence[Overload], *, redispatch: bool = False, method: bool = False
) -> str:
    """What a public name is bound to: the stub itself where there is nothing to choose."""
    only = overloads[0]
    positional = [a for a in only.schema.arguments if not a.kwarg_only]
    simple = only.out is None and varargs_position(positional, method=method) is None
    if len(overloads) == 1 and simple:
        return only.names.redispatch_stub if redispatch else only.names.stub
    return packet(name, overloads, redispatch=redispatch, method=method)


def stub_signature(
    name: str,
    overload: Overload,
    *,
    first: str = "",
    method: bool = False,
    indent: int = 0,
    shadowed: frozenset[str] = frozenset(),
) -> str:
    """One `def` of a `.pyi` file, `out=` merged in; `first` is a parameter to put before all others.

    >>> def relu(
    ...     self: Tensor,
    ... ) -> Tensor: ...
    """
    lines = list(python.unshadow(overload.parameters, shadowed))
    if method:
        lines = ["self", *[line for line in lines if line.partition(":")[0] != "self"]]
    positional = [a for a in overload.schema.arguments if not a.kwarg_only]
    at = varargs_position(positional, method=method)
    if at is not None and positional[at].default is None:
        elem = python.argument_type(positional[at].type).rpartition("[")[2].rstrip("]")
        parameter = identifier(positional[at].name)
        lines[at] = f"*{parameter}: {elem} | Sequence[{elem}]"
        lines = [line for line in lines if line != "*"]
    if first:
        lines.insert(0, first)
    if overload.out is not None and overload.out.function is not overload.function:
        lines += [] if any(line.startswith("*") for line in lines) else ["*"]
        lines.append(_out_parameter(overload.out.schema.out, shadowed))
    types = overload.returns
    annotation = unshadowed(python.returns_annotation(types), shadowed)
    head = f"def {name}{python.signature(lines, indent=indent)}"
    if len(types) > 1 and len(annotation) + indent + 10 > LINE_LENGTH:
        annotation = exploded(
            "tuple[", [unshadowed(t, shadowed) for t in types], "]", indent=indent
        )
    return f"{head} -> {annotation}: ..."


def _out_parameter(out: Sequence[Argument], shadowed: frozenset[str]) -> str:
    """`out: Tensor | None = None`; several outputs are passed as a tuple."""
    types = [unshadowed(python.argument_type(a.type), shadowed) for a in out]
    if len(types) == 1:
        return f"out: {types[0]} | None = None"
    return f"out: tuple[{', '.join(types)}] | None = None"
