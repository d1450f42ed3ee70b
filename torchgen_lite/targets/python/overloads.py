"""Which overloads share a public name, and how a caller's arguments choose between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import TensorOptions, is_tensor_like, tensor_options
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import (
    STAR,
    Annotation,
    Parameter,
    optional,
    returned,
    sequence,
    union,
)
from torchgen_lite.schema.grouped import grouped
from torchgen_lite.schema.kind import Variant
from torchgen_lite.schema.model import ListType, bare_type
from torchgen_lite.targets.python.package import Overload

_SIZES = union(Annotation("int"), sequence(Annotation("int")))


class Packet(NamedTuple):
    """One public name. Its `overloads` are in the order in which a call tries them; `prefix` is
    written before the name in messages, as in `aten.add`."""

    name: str
    overloads: Sequence[Overload]
    prefix: str = ""

    @property
    def stub(self) -> str:
        """What the name is bound to if there is nothing to choose: only one overload, and one way
        to pass its arguments. Else it is empty."""
        only = self.overloads[0]
        is_only = len(self.overloads) == 1 and only.out is None and only.varargs is None
        return only.stub if is_only else ""

    @property
    def is_only(self) -> bool:
        """Whether it is bound to the stub of its only overload, `default`."""
        return bool(self.stub) and self.overloads[0].attribute == "default"


def build_packet(name: str, overloads: Sequence[Overload], prefix: str = "") -> Packet:
    """The packet of a name. A call tries overloads with fewer `Scalar` arguments first.

    A `Scalar` also accepts what narrower types accept, so `add.Tensor` comes before `add.Scalar`;
    otherwise they stay in source order. Most names have only one overload.
    """

    def scalars(overload: Overload) -> int:
        return sum([bare_type(a.type) == "Scalar" for a in overload.schema.positional])

    if len(overloads) > 1:
        overloads = sorted(overloads, key=scalars)
    return Packet(name, overloads, prefix)


def group_by_base(overloads: Iterable[Overload]) -> dict[str, list[Overload]]:
    """Overloads by base name, in the order in which the names first appear."""
    return grouped(overloads, lambda overload: overload.schema.base_name)


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
            partner = None
            if out_of:
                partner = out_of.pop(_call_shape(overload), None)
            merged.append(_public(overload, partner))
    merged += [_public(o._replace(arguments=o.schema.inputs, out=o)) for o in out_of.values()]
    return merged


def _call_shape(overload: Overload) -> tuple[str, ...]:
    """Names and bare types of the arguments, without out arguments and a factory's options."""
    inputs = overload.schema.inputs
    options = tensor_options(overload.schema)
    # An operator with a tensor argument and only some options (`sum(dtype=)`) is not a factory: its
    # out variant has them, too.
    if len(options) < len(TensorOptions._fields) and any(is_tensor_like(a.type) for a in inputs):
        options = {}
    shape = [f"{bare_type(a.type)} {a.name}" for a in inputs if a.name not in options]
    return (overload.function.namespace, *shape)


def _public(overload: Overload, out: Overload | None = None) -> Overload:
    """The overload with the parameters of a public function, with `out=` merged in."""
    public = _with_varargs(overload, "function")
    if out is None:
        return public
    star = () if any(p.stars for p in public.parameters) else (STAR,)
    # Several outputs are passed as a tuple.
    type_ = optional(returned([python.argument_type(a.type) for a in out.schema.out]))
    parameters = (*public.parameters, *star, Parameter("out", type_, "None"))
    return public._replace(parameters=parameters, arguments=overload.schema.inputs, out=out)


def as_method(overload: Overload) -> Overload:
    """The overload with the parameters of a method."""
    parameters = (Parameter("self"), *[p for p in overload.parameters if p.name != "self"])
    arguments = python.self_first(overload.schema)
    return _with_varargs(overload._replace(parameters=parameters, arguments=arguments), "method")


def _with_varargs(overload: Overload, variant: Variant) -> Overload:
    """The overload, with `*` for a list of integers that may be passed as separate arguments: `x.view(2, 3)`
    for `x.view((2, 3))`.

    As in torch (`FunctionSignature`), it has to be the only positional argument, apart from a
    method's `self`.
    """
    positional = [a for a in overload.arguments if not a.kwarg_only]
    at = 1 if variant == "method" else 0
    type_ = None
    if len(positional) == at + 1:
        type_ = positional[at].type
    if not isinstance(type_, ListType) or bare_type(type_.elem) not in ("int", "SymInt"):
        return overload
    if positional[at].default is not None:
        return overload._replace(varargs=at)
    parameters = overload.parameters
    sizes = Parameter(identifier(positional[at].name), _SIZES, stars="*")
    shown = (*parameters[:at], sizes, *[p for p in parameters[at + 1 :] if p != STAR])
    return overload._replace(parameters=shown, varargs=at)
