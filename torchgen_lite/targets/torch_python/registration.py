"""The registrations in `_operators.py`: each operator and what is registered for it, as data.

_library.Operator(
    _places.func_muladd,
    "torch_ops::muladd",
    "muladd(Tensor a, Tensor b, float s) -> Tensor",
    {
        "CPU": cpu_muladd,
        "fake": fake_muladd,
    },
),

`templates/torch_python/registered.py.j2` writes the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.checks.compiled import looked_into
from torchgen_lite.analysis.differentiability.linear import is_tried, refuses_forward
from torchgen_lite.analysis.kernels import REFERENCE
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.languages.text import quote
from torchgen_lite.schema import ListType, SchemaKind, Type
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import names_of, places_of
from torchgen_lite.targets.torch_python.autograd import Autograd
from torchgen_lite.targets.torch_python.forward import has_tangents
from torchgen_lite.targets.torch_python.kernels import Row, kernels_of
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


class Recorded(NamedTuple):
    """What is registered with the formulas of an operator.

    Calls that need a gradient without a formula are refused. A call that writes to an argument, or has keyword-only
    arguments or lists of tensors, has the class `special`; an in-place operator may need what it overwrites. Absent
    gradients are filled in if there are several results and no formula asks which are defined. Forward mode is refused
    for the reason `no_forward`, or has a function of its own, or transposes the formulas, which may have to be tried
    first.
    """

    refuses: bool
    special: str
    uses_original: bool
    fills_gradients: bool
    no_forward: str
    has_forward: bool
    is_transposed: bool
    is_tried: bool


class Casts(NamedTuple):
    """A rule for autocast: arguments are cast to a dtype, `only` some of them, and results `back` to that of one."""

    dtype: str
    only: Sequence[str]
    back: str


class Registered(NamedTuple):
    """An operator, and what is registered for it besides what its entry says.

    `opaque` are the kinds of classes; each of the `kernels` has a key, and the functions in which Triton launches it, if it
    does. Kernels for the keys `computed` are the `reference`, which may also be what compilers take apart. `fake` and
    `vmap` are the functions for shapes and batches, of which some are done item by item, and `functional` is the operator
    that functionalization calls.
    """

    operator: PackagedOperator
    opaque: Mapping[str, str]
    kernels: Sequence[tuple[str, Sequence[Row]]]
    computed: Sequence[str]
    reference: str
    fake: str
    is_traced_view: bool
    functional: str
    recorded: Recorded | None
    is_underived: bool
    vmap: str
    is_looped: bool
    has_flops: bool
    casts: Casts | None


def build_registrations(package: Package, autograd: Autograd) -> list[Registered]:
    """Every operator, and what is registered for it."""
    refusing = {view.operator.name for view in autograd.operators if view.undifferentiable}
    return [_registered(package, operator, refusing) for operator in package.operators]


def _registered(
    package: Package, operator: PackagedOperator, refusing: Collection[str]
) -> Registered:
    function = operator.function
    origins = package.registered.get(operator.name, {})
    computed = []
    if Origin.reference in origins:
        entries = operator.facts.own_kernels
        computed = [entry.key for entry in entries if entry.kernel == REFERENCE]
    functional = ""
    functionalized = origins.get(Origin.functionalize)
    if functionalized is not None and functionalized.source is not None:
        functional = package.full_name(functionalized.source.function)
    fake = ""
    if Origin.fake in origins:
        fake = package.named(operator, "fake") or operator.named("fake")
    is_recorded = Origin.formulas in origins
    seen = looked_into(operator.facts)
    kernels = []
    for kernel in kernels_of(package, operator):
        kernels.append((kernel.key, kernel.rows if kernel.key in seen else ()))
    return Registered(
        operator,
        {name: package.options.opaque[name] for name in operator.schema.opaque_types},
        kernels,
        computed,
        package.reference(operator) if computed or function.decompose else "",
        fake,
        Origin.traced_view in origins,
        functional,
        _recorded(package, operator, refusing) if is_recorded else None,
        Origin.underived in origins and not is_recorded,
        _vmap(package, operator),
        Origin.loop in origins,
        function.flops is not None and not operator.is_torchs,
        _casts(operator) if Origin.autocast in origins else None,
    )


def _recorded(package: Package, operator: PackagedOperator, refusing: Collection[str]) -> Recorded:
    info = operator.facts.info
    assert info is not None
    schema = operator.schema
    uses_old = "self" in names_of(info.saved) or info.reads_original
    is_single = len(schema.returns) == 1 and not _is_tensor_list(schema.returns[0].type)
    no_forward = refuses_forward(info)
    has_forward = not no_forward and has_tangents(operator, info)
    is_transposed = not (no_forward or has_forward)
    special = ""
    if _is_special(operator):
        special = "Noting" if info.noted else "Special"
    return Recorded(
        operator.name in refusing,
        special,
        operator.kind is SchemaKind.inplace and uses_old,
        not (is_single or info.tests_gradients),
        no_forward,
        has_forward,
        is_transposed,
        is_transposed and is_tried(info, package.helpers),
    )


def _is_special(operator: PackagedOperator) -> bool:
    schema = operator.schema
    has_lists = any(map(_is_tensor_list, schema.types))
    return bool(schema.written or schema.kwarg_only) or has_lists


def _is_tensor_list(type_: Type) -> bool:
    return isinstance(type_, ListType) and dispatch_kind(type_).has_tensors


def _vmap(package: Package, operator: PackagedOperator) -> str:
    """The rule of the author's, or the one that follows from axes."""
    named = package.named(operator, "vmap")
    if named and package.registration(operator, Origin.vmap):
        return named
    is_by_axes = package.registration(operator, Origin.axes) is not None
    if is_by_axes:
        return f"_batches.rule({operator.named('axes')})"
    return ""


def _casts(operator: PackagedOperator) -> Casts:
    """Arguments by position, or by name if they have none."""
    rule = operator.function.autocast
    assert rule is not None
    places = places_of(names_of(operator.schema.positional))

    def place(name: str) -> str:
        return str(places[name]) if name in places else quote(name)

    back = place(rule.result) if rule.result else ""
    return Casts(rule.dtype, list(map(place, rule.only)), back)
