"""What is registered: an operator, a key, a kernel, and the reason.

Note [Registrations as data]
Most registrations are explicit: a line of `dispatch`. Others are derived: functional and in-place
kernels from a structured out kernel, an Autograd kernel from formulas, a BackendSelect kernel from
tensor options. A target's policy decides which. Targets print this data, `table`, `why` and the
export read it, and tests compare it with the live dispatcher and PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.analysis.derive.copying import copied_entries
from torchgen_lite.analysis.derive.layout import (
    argument_layout,
    element_name,
    tensor_options,
    tensors_in,
)
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo, tensor_arguments
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.following import functional_variant, out_kernels
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import (
    AUTHORS,
    AUTOGRAD_KERNELS,
    BY_WORD,
    TORCH_LIBRARY,
    Origin,
    Policy,
)
from torchgen_lite.analysis.torch_library import has_formulas, rules_of
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.entry.derivatives import DEFAULT
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.type_names import SYMBOLIC_TYPES

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program

AUTOGRAD = "Autograd"
BACKEND_SELECT = "BackendSelect"
FUNCTIONALIZE = "Functionalize"
META = "Meta"
EXPLICIT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
VIEWS = "ADInplaceOrView"


class Registration(NamedTuple):
    """A kernel of an operator under a key. `kernel` is the entry that it finally runs, if any;
    `source` is the variant that the kernel is derived from, or calls. `target` registers it; none if PyTorch does.
    """

    operator: Operator
    key: str
    origin: Origin
    kernel: DispatchEntry | None = None
    source: Operator | None = None
    target: str = ""


def registrations(
    program: Program, policy: Policy, operators: Sequence[Operator] | None = None
) -> Iterator[Registration]:
    """Everything that is registered, by operator; written kernels take precedence.

    `operators` restricts the result to these, if given.
    """
    resolved = program.resolved
    wanted = policy.makes | AUTHORS | {*BY_WORD.values()}
    if operators is None:
        operators = resolved.operators if Origin.derived in wanted else resolved.declared
        operators = (*operators, *resolved.copying)
    names = set(names_of(operators))
    lent = set(names_of(resolved.copying))
    has_autograd = _has_autograd(operators, policy)
    for operator in operators:
        every = [] if operator.name in lent else [_kernels_of(program, operator, policy)]
        if has_autograd and operator.name not in lent:
            plan = resolved.autograd.get(operator.name)
            every += [] if plan is None else [_autograd(operator, plan, policy)]
        if Origin.underived in wanted and not _is_pytorchs(operator, policy):
            every.append(_underived(operator, policy))
        if Origin.copied in wanted and operator.group is not None:
            every.append(_copied(program, operator, operator.group))
        taken = set()
        for registration in chain.from_iterable(every):
            is_whole = registration.source is None or registration.source.name in names
            if registration.origin in wanted and registration.key not in taken and is_whole:
                taken.add(registration.key)
                yield registration._replace(target=policy.target)


def together(loaded: Iterable[Iterable[Registration]]) -> Iterator[Registration]:
    """What is registered after all of these were loaded, one over the other.

    A kernel stays that was there first. Only a refusal to differentiate gives way to formulas, and to a view's rule.
    """
    by_place: dict[tuple[str, str], Registration] = {}
    for registered in loaded:
        for registration in registered:
            place = registration.operator.name, registration.key
            before = by_place.setdefault(place, registration)
            is_refusal = before.origin in (Origin.underived, Origin.not_implemented)
            if is_refusal and registration.origin in (Origin.formulas, Origin.traced_view):
                by_place[place] = registration
    yield from by_place.values()


def _copied(program: Program, operator: Operator, group: VariantGroup) -> Iterator[Registration]:
    """The kernels that copy the results of the functional variant's kernels."""
    for kernel in copied_entries(group, operator.function):
        source = program.resolved.by_name[group.functional.name]
        yield Registration(operator, kernel.key, Origin.copied, kernel, source)


def _kernels_of(program: Program, operator: Operator, policy: Policy) -> Iterator[Registration]:
    """What could be registered for one operator besides autograd; the policy selects from it."""
    function = operator.function
    for kernel in _kernels(program, operator, policy):
        if not kernel.is_structured or Origin.structured not in policy.makes:
            yield Registration(operator, kernel.key, _origin_of(operator, kernel), kernel)
    if function.is_structured:
        yield from _structured(program, operator, policy)
    if Origin.from_out in policy.makes and operator.group is not None:
        for kernel in out_kernels(operator.group, function):
            out = program.resolved.by_name[operator.group.out.name]
            yield Registration(operator, kernel.key, Origin.from_out, kernel, out)
    if not operator.is_derived and not function.is_written:
        # A backend may have a kernel for it, but PyTorch's own is registered too.
        yield Registration(operator, EXPLICIT, Origin.derived)
    if not _is_pytorchs(operator, policy):
        yield from _made_for_new(program, operator, policy)
    elif function.autocast is not None:
        # PyTorch itself has the rest.
        yield Registration(operator, function.autocast.key, Origin.autocast_over)


def _origin_of(operator: Operator, kernel: DispatchEntry) -> Origin:
    """Why there is a kernel that has an entry."""
    if operator.is_derived:
        return Origin.derived
    if kernel.is_implied:
        return Origin.implied
    if kernel.rows:
        return Origin.selected
    return BY_WORD.get(kernel.kernel, Origin.written)


def _made_for_new(program: Program, operator: Operator, policy: Policy) -> Iterator[Registration]:
    """What an operator gets that PyTorch does not have."""
    if _returns_self_on_meta(operator):
        yield Registration(operator, META, Origin.returns_self)
    if _selects_backend(operator, policy):
        yield Registration(operator, BACKEND_SELECT, Origin.backend_select)
    if TORCH_LIBRARY.isdisjoint(policy.makes):
        return
    functional = functional_variant(program.resolved, operator)
    if functional is not None:
        yield Registration(operator, FUNCTIONALIZE, Origin.functionalize, source=functional)
    for key, origin in rules_of(operator):
        yield Registration(operator, key, origin)


def _is_pytorchs(operator: Operator, policy: Policy) -> bool:
    """Whether the target's kernels go into PyTorch and PyTorch already has the operator."""
    is_beside = policy.in_pytorch and not policy.is_pytorch
    return is_beside and operator.function.is_pytorchs


def _kernels(program: Program, operator: Operator, policy: Policy) -> tuple[DispatchEntry, ...]:
    """The kernels in effect, without inner loop kernels that no kernel module defines."""
    kernels = operator.own_kernels
    if not operator.function.ufunc_inner_loop:
        return kernels
    defined = program.module_functions(policy.target, "kernels")
    if defined is None:
        return kernels
    # CUDA's kernel is asked for even where there is none.
    ufunc = f"ufunc_{operator.function.func.base_name}_CUDA"
    return tuple([k for k in kernels if k.kernel != ufunc or defined.find(ufunc) is not None])


def _structured(program: Program, operator: Operator, policy: Policy) -> Iterator[Registration]:
    """A structured out kernel also serves the variants that delegate to it."""
    out = program.resolved.find(operator.function.delegate or operator.name)
    if out is None or not out.function.structured:
        return
    for kernel in _kernels(program, out, policy):
        if kernel.is_structured:
            yield Registration(operator, kernel.key, Origin.structured, kernel, out)
    if not _is_pytorchs(out, policy):
        yield Registration(operator, META, Origin.meta, source=out)
    if operator is not out:
        yield Registration(operator, NON_FUNCTIONAL, Origin.default, source=out)


def _returns_self_on_meta(operator: Operator) -> bool:
    """In-place operators keep shape and type. Those on lists return nothing and are left out."""
    if operator.kind is not SchemaKind.inplace or len(operator.schema.returns) != 1:
        return False
    is_by_hand = not operator.keys and operator.function.manual_kernel_registration
    composite = COMPOSITE_KEYS - {"CompositeImplicitAutogradNestedTensor"}
    return not is_by_hand and operator.keys.isdisjoint(composite)


def _selects_backend(operator: Operator, policy: Policy) -> bool:
    """Whether tensor options (in PyTorch all four), not a tensor, select the backend."""
    schema = operator.schema
    if policy.is_pytorch:
        # PyTorch looks at the options, except in `new_*` and `*_like`, which take a tensor.
        name = root_of(schema.base_name)
        is_by_hand = operator.function.manual_kernel_registration
        if is_by_hand or name.startswith("new_") or name.endswith("_like"):
            return False
        return argument_layout(schema).options is not None
    if policy.in_pytorch and argument_layout(schema).options is None or not tensor_options(schema):
        return False
    if tensors_in(schema.arguments):
        return False
    return any(kernel.key in key_sets().backends for kernel in operator.own_kernels)


BY_FORMULAS = AUTOGRAD_KERNELS | {Origin.formulas}
RECORDING = (Origin.autograd, Origin.formulas)


def _has_autograd(operators: Sequence[Operator], policy: Policy) -> bool:
    """PyTorch tracks versions and views everywhere; other targets need them only with formulas."""
    if policy.in_pytorch and not policy.is_pytorch and policy.makes & AUTOGRAD_KERNELS:
        return True
    knows_formulas = not BY_FORMULAS.isdisjoint(policy.makes)
    return knows_formulas and any(o.function.derivatives is not None for o in operators)


def _autograd(operator: Operator, plan: AutogradPlan, policy: Policy) -> Iterator[Registration]:
    """What differentiates an operator, or refuses to, and what raises versions and marks views."""
    is_pytorchs = _is_pytorchs(operator, policy)
    raises_versions = plan.tracking is Origin.raises_versions
    if raises_versions and policy.in_pytorch and not (is_pytorchs or plan.tensors):
        # Arguments carry no keys, and inference mode takes ADInplaceOrView away.
        yield Registration(operator, BACKEND_SELECT, Origin.raises_versions)
    if Origin.formulas in policy.makes:
        if not is_pytorchs and has_formulas(operator, plan):
            yield Registration(operator, AUTOGRAD, Origin.formulas)
        if raises_versions and not (is_pytorchs or _is_underived_below(plan, policy)):
            yield Registration(operator, VIEWS, Origin.raises_versions)
        return
    for key in plan.origins:
        # libtorch already has kernels for the default formulas of its operators; formulas for a
        # single backend are possible only there.
        is_made = policy.in_pytorch
        if key == DEFAULT:
            is_made = not is_pytorchs
        origin = _differentiation(operator, plan, policy, key)
        if is_made and origin is not None:
            yield Registration(operator, AUTOGRAD if key == DEFAULT else key, origin)
    if not is_pytorchs:
        tracking = _tracking(operator, plan, policy)
        if tracking is not None:
            yield Registration(operator, VIEWS, tracking)


def _differentiation(
    operator: Operator, plan: AutogradPlan, policy: Policy, key: str
) -> Origin | None:
    """The kernel under a key of autograd; None if there is none."""
    if operator.name in policy.elsewhere and plan.tracking is not Origin.unknown_view:
        return None
    origin = plan.origins[key]
    if origin is Origin.not_implemented:
        is_by_hand = VIEWS in operator.function.keys
        is_left = policy.in_pytorch and _has_several_views(operator)
        return None if is_by_hand or is_left else origin
    info = plan.infos[key]
    if policy.refuses(operator, plan, info):
        return None
    if origin is Origin.fallthrough and Origin.underived in policy.makes:
        # What the kernel calls may not be recorded.
        return None if _is_half_said(info) else Origin.passes
    return origin


def _tracking(operator: Operator, plan: AutogradPlan, policy: Policy) -> Origin | None:
    """The kernel that raises versions or marks views; None if there is none."""
    tracking = plan.tracking
    if tracking is Origin.unknown_view:
        is_elsewhere = operator.name in policy.elsewhere
        if is_elsewhere or _has_several_views(operator) or _takes_symbols(operator):
            # PyTorch's kernel here would refuse every call. Results are the views that the kernel makes with PyTorch's.
            return None
    if _is_underived_below(plan, policy):
        return None
    if tracking is Origin.view and policy.in_pytorch and plan.viewed is None:
        tracking = Origin.unknown_view
    if tracking is Origin.unknown_view and AUTOGRAD in operator.function.keys:
        return None
    return tracking


def _takes_symbols(operator: Operator) -> bool:
    """Whether an argument is a symbolic number, or has some: then PyTorch marks no view."""
    names = {element_name(argument.type) for argument in operator.schema.arguments}
    return not names.isdisjoint(SYMBOLIC_TYPES)


def _has_several_views(operator: Operator) -> bool:
    """Whether several results are views, of which PyTorch marks none."""
    views = [
        result for result in operator.schema.returns if result.annotation and not result.is_write
    ]
    return len(views) > 1


def _underived(operator: Operator, policy: Policy) -> Iterator[Registration]:
    """What refuses derivatives that would be lost: tensors go in and come out, and neither an entry nor the operators
    that the kernel is made of say what is between them."""
    info = operator.info
    schema = operator.schema
    # Formulas that are not this target's are those of other code.
    records = not policy.makes.isdisjoint(RECORDING)
    is_said = info is not None and not (records and (info.slots or _is_half_said(info)))
    takes = bool(tensors_in(schema.arguments))
    gives = schema.written or tensors_in(schema.returns)
    is_elsewhere = operator.function.manual_kernel_registration or operator.is_derived
    if not (takes and gives) or is_said or is_elsewhere or operator.is_only_composed:
        return
    if tensor_arguments(schema.arguments):
        yield Registration(operator, AUTOGRAD, Origin.underived)
    elif Origin.raises_versions in policy.makes:
        # Calls carry no key of autograd; this one is there for every call.
        yield Registration(operator, VIEWS, Origin.underived)


def _is_underived_below(plan: AutogradPlan, policy: Policy) -> bool:
    """Whether what refuses derivatives also raises versions: no argument carries a key of autograd."""
    return Origin.underived in policy.makes and not plan.tensors and not plan.infos


def _is_half_said(info: DifferentiabilityInfo) -> bool:
    """Whether some arguments are said not to be differentiable, and of the others nothing."""
    return bool(info.outputs and info.without_formula and not info.slots)
