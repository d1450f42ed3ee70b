"""Which overloads share a public name, and how a caller's arguments choose between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import TensorOptions, is_tensor_like, tensor_options
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import free_name, identifier
from torchgen_lite.languages.python.signature import (
    STAR,
    Annotation,
    Parameter,
    optional,
    returned,
    sequence,
    union,
    unshadowed,
)
from torchgen_lite.languages.text import doc_lines, doc_text, quote, tuple_display
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.kind import Variant
from torchgen_lite.schema.model import ListType, bare_type
from torchgen_lite.targets.python.model import Overload

_SIZES = union(Annotation("int"), sequence(Annotation("int")))


class CandidateView(NamedTuple):
    """One overload as a packet tries it:
    `_Candidate(_operators.add_Tensor, ("Tensor", ...), out=...)`."""

    stub: str
    types: str
    out: str = ""
    out_names: str = ""
    varargs: str = ""


class FunctionView(NamedTuple):
    """One public name, bound to its `stub`, or to a packet if there is something to choose."""

    name: str
    literal: str
    stub: str
    candidates: Sequence[CandidateView]


class SignatureView(NamedTuple):
    """One `def` of a `.pyi` file; `doc` is a docstring, or empty."""

    parameters: Sequence[Parameter]
    result: Annotation
    doc: str


class SignaturesView(NamedTuple):
    """One name of a `.pyi` file."""

    name: str
    signatures: Sequence[SignatureView]

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
    """Merge each out variant into the overload with the same inputs, as PyTorch's Python API does.

    `add.Tensor` and `add.out` become one overload with `out=`; a factory's out variant lacks dtype,
    layout and device. An out variant without a partner stays separate, and can only be called with
    `out=`. The results have the parameters of public functions.
    """
    out_of: dict[tuple[str, ...], Overload] = {}
    for overload in overloads:
        if overload.schema.out:
            out_of.setdefault(_call_shape(overload), overload)
    merged = []
    for overload in overloads:
        if not overload.schema.out:
            partner = out_of.pop(_call_shape(overload), None) if out_of else None
            parameters = _public(overload, partner)
            merged.append(overload._replace(out=partner, parameters=parameters))
    merged += [o._replace(out=o, parameters=_public(o)) for o in out_of.values()]
    return merged


def _call_shape(overload: Overload) -> tuple[str, ...]:
    """Names and bare types of the arguments, without out arguments and a factory's options."""
    arguments = overload.schema.arguments
    inputs = [a for a in arguments if not a.is_out]
    options = tensor_options(overload.schema)
    # An operator with a tensor argument and only some options (`sum(dtype=)`) is not a factory: its
    # out variant has them, too.
    if len(options) < len(TensorOptions._fields) and any(is_tensor_like(a.type) for a in inputs):
        options = {}
    shape = [f"{bare_type(a.type)} {a.name}" for a in inputs if a.name not in options]
    return (overload.names.namespace, *shape)


def in_matching_order(overloads: Sequence[Overload]) -> Sequence[Overload]:
    """The order in which a call tries overloads: those with fewer `Scalar` arguments first.

    A `Scalar` also accepts what narrower types accept, so `add.Tensor` comes before `add.Scalar`;
    otherwise they stay in source order. Most names have only one overload.
    """
    if len(overloads) == 1:
        return overloads

    def scalars(overload: Overload) -> int:
        return sum([bare_type(a.type) == "Scalar" for a in overload.schema.positional])

    return sorted(overloads, key=scalars)


def function_view(
    base: str, overloads: Sequence[Overload], *, prefix: str = "", variant: Variant = "function"
) -> FunctionView:
    """What a public name is bound to: the stub itself if there is nothing to choose.

    `prefix` is written before the name, as in `aten.add`.
    """
    stub = overloads[0].names.stub if is_stub(overloads, variant) else ""
    candidates = () if stub else candidate_views(overloads, variant)
    return FunctionView(identifier(base), quote(prefix + identifier(base)), stub, candidates)


def candidate_views(
    overloads: Sequence[Overload], variant: Variant = "function"
) -> Sequence[CandidateView]:
    """The overloads of a packet, in the order in which it tries them."""
    tried = in_matching_order(overloads)
    return [_candidate_view(overload, variant) for overload in tried]


def is_stub(overloads: Sequence[Overload], variant: Variant = "function") -> bool:
    """Whether there is nothing to choose: only one overload, and one way to pass its arguments."""
    only = overloads[0]
    if len(overloads) > 1 or only.out is not None:
        return False
    arguments = self_first(only.schema) if variant == "method" else only.schema.arguments
    positional = [a for a in arguments if not a.kwarg_only]
    return varargs_position(positional, variant) is None


def _candidate_view(overload: Overload, variant: Variant) -> CandidateView:
    schema, out = overload.schema, overload.out
    arguments = self_first(schema) if variant == "method" else schema.arguments
    arguments = tuple([a for a in arguments if out is None or not a.is_out])
    positional = [a for a in arguments if not a.kwarg_only]
    varargs = varargs_position(positional, variant)
    out_names = [identifier(a.name) for a in out.schema.out] if out else []
    return CandidateView(
        stub=overload.names.stub,
        types=tuple_display([quote(bare_type(a.type)) for a in arguments]),
        out=out.names.stub if out else "",
        out_names="" if out_names in ([], ["out"]) else tuple_display([*map(quote, out_names)]),
        varargs="" if varargs is None else str(varargs),
    )


def self_first(schema: FunctionSchema) -> tuple[Argument, ...]:
    """The arguments with `self` first, as a method takes them; `where(condition, self, other)` has
    it in the middle."""
    return tuple(sorted(schema.arguments, key=lambda a: a.name != "self"))


def varargs_position(positional: Sequence[Argument], variant: Variant) -> int | None:
    """The position of a list of integers that may be passed as separate arguments: `x.view(2, 3)`
    for `x.view((2, 3))`.

    As in torch (`FunctionSignature`), it has to be the only positional argument, apart from a
    method's `self`.
    """
    at = 1 if variant == "method" else 0
    if len(positional) != at + 1:
        return None
    type_ = positional[at].type
    is_list = isinstance(type_, ListType) and bare_type(type_.elem) in ("int", "SymInt")
    return at if is_list else None


def signatures_view(
    name: str,
    overloads: Sequence[Overload],
    *,
    first: Parameter | None = None,
    shadowed: frozenset[str] = frozenset(),
) -> SignaturesView:
    """The `def`s of a name, in the order in which a call tries them, with `first` before the other
    parameters."""
    signatures = [
        SignatureView(
            unshadowed(_led_by(first, overload.parameters), shadowed),
            returned(overload.returns).unshadowed(shadowed),
            doc_text(lines) if (lines := doc_lines(overload.function.doc)) else "",
        )
        for overload in in_matching_order(overloads)
    ]
    return SignaturesView(name, signatures)


def _led_by(first: Parameter | None, parameters: Sequence[Parameter]) -> Sequence[Parameter]:
    if first is None:
        return parameters
    name = free_name(first.name, [p.name for p in parameters])
    return [first._replace(name=name), *parameters]


def _public(overload: Overload, out: Overload | None = None) -> tuple[Parameter, ...]:
    """The parameters of a public function, with `out=` merged in."""
    found = _with_varargs(overload, overload.parameters, "function")
    if out is None:
        return found
    star = () if any(p.stars for p in found) else (STAR,)
    return (*found, *star, _out_parameter(out.schema.out))


def as_method(overload: Overload) -> Overload:
    """The overload with the parameters of a method."""
    found = (Parameter("self"), *[p for p in overload.parameters if p.name != "self"])
    return overload._replace(parameters=_with_varargs(overload, found, "method"))


def _with_varargs(
    overload: Overload, parameters: tuple[Parameter, ...], variant: Variant
) -> tuple[Parameter, ...]:
    """The parameters, with `*` for a list of integers that may be passed as separate arguments."""
    positional = [a for a in overload.schema.arguments if not a.kwarg_only]
    at = varargs_position(positional, variant)
    if at is None or positional[at].default is not None:
        return parameters
    sizes = Parameter(identifier(positional[at].name), _SIZES, stars="*")
    return (*parameters[:at], sizes, *[p for p in parameters[at + 1 :] if p != STAR])


def _out_parameter(out: Sequence[Argument]) -> Parameter:
    """`out: Tensor | None = None`; several outputs are passed as a tuple."""
    types = [python.argument_type(a.type) for a in out]
    return Parameter("out", optional(returned(types)), "None")
