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
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.differentiability.linear import is_tried, refuses_forward
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.kernels import REFERENCE
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.languages.python import torch_library
from torchgen_lite.languages.text import quote, tuple_display
from torchgen_lite.schema import ListType, SchemaKind, Type
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.torch_python.autograd import Autograd
from torchgen_lite.targets.torch_python.forward import has_tangents
from torchgen_lite.targets.torch_python.kernels import kernels_of
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


def build_registrations(
    package: Package, autograd: Autograd
) -> list[tuple[PackagedOperator, dict[str, str], list[str]]]:
    """Every operator, what is registered for it (by dispatch key, `fake`, or the like), and its tags."""
    refusing = {view.operator.name for view in autograd.operators if view.undifferentiable}
    return [(o, dict(_rules(package, o, refusing)), [*o.function.tags]) for o in package.operators]


def _rules(
    package: Package, operator: PackagedOperator, refusing: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The kernels, and the other registrations of operators that PyTorch doesn't have."""
    names, kinds = dict.fromkeys(operator.schema.opaque_types), package.options.opaque
    if names:
        yield "classes", f"{{{', '.join(f'{quote(n)}: {quote(kinds[n])}' for n in names)}}}"
    for entry, module, function in kernels_of(package, operator):
        kernel = operator.named(entry.key)
        if entry.key in operator.function.triton:
            kernel = f'_triton.launching(_places.{kernel}, "{module}", "{function}", {kernel})'
        yield entry.key, kernel
    has_reference = package.has_reference_kernel(operator)
    for entry in operator.facts.own_kernels:
        if has_reference and entry.kernel == REFERENCE:
            yield entry.key, f"_apart.apart({package.reference(operator)})"
    if package.registration(operator, Origin.fake):
        fake = package.named(operator, "fake") or operator.named("fake")
        yield "fake", fake
        if package.registration(operator, Origin.traced_view):
            yield "view", fake
    functionalized = package.registration(operator, Origin.functionalize)
    if functionalized is not None and functionalized.source is not None:
        name = quote(functionalized.source.name)
        yield "functionalize", f"_functionalize.functional({name})"
    if package.registration(operator, Origin.formulas):
        info = package.resolved.autograd[operator.name].info
        assert info is not None
        if operator.name in refusing:
            count = len(operator.schema.arguments)
            yield "refuse", f"_refusals.refusing({operator.named('refuse')}, {count})"
        yield from _recording(operator, info)
        yield from _tangents(operator, info, package.helpers)
    elif package.registration(operator, Origin.underived):
        yield "underived", "torch.is_tensor"
    vmap = package.named(operator, "vmap")
    if vmap and package.registration(operator, Origin.vmap):
        yield "vmap", vmap
    elif package.registration(operator, Origin.axes):
        yield "vmap", f"_batches.rule({operator.named('axes')})"
    if operator.function.effects:
        yield "effects", quote(operator.function.effects)
    if operator.function.checkpoint:
        yield "checkpoint", quote(operator.function.checkpoint)
    for compiler in operator.function.decompose:
        yield compiler, package.reference(operator)
    if operator.function.flops is not None and not operator.is_torchs:
        yield "flops", operator.named("flops")
    if package.registration(operator, Origin.autocast):
        yield "autocast", _autocast(operator)


def _recording(
    operator: PackagedOperator, info: DifferentiabilityInfo
) -> Iterator[tuple[str, str]]:
    """How calls are recorded, and what backward computes."""
    schema = operator.schema
    if _is_special(operator):
        yield "special", "_special.Special"
    uses_old = any(saved.name == "self" for saved in info.saved) or info.reads_original
    if operator.kind is SchemaKind.inplace and uses_old:
        yield "original", "torch.clone"
    is_single = len(schema.returns) == 1 and not _is_tensor_list(schema.returns[0].type)
    if not is_single and not info.tests_gradients:
        yield "keep_results", "_zeros.keep_results"
        yield "fill", "_zeros.filled"
    given = torch_library.given(schema)
    if given:
        yield "given", given
    yield "setup_context", operator.named("setup_context")
    yield "backward", operator.named("backward")


def _is_special(operator: PackagedOperator) -> bool:
    """Whether calls write to an argument, or have keyword-only arguments or lists of tensors."""
    schema = operator.schema
    types = [value.type for value in schema.arguments] + [value.type for value in schema.returns]
    has_lists = any(map(_is_tensor_list, types))
    return bool(schema.written or schema.kwarg_only) or has_lists


def _is_tensor_list(type_: Type) -> bool:
    return isinstance(type_, ListType) and dispatch_kind(type_).has_tensors


def _tangents(
    operator: PackagedOperator, info: DifferentiabilityInfo, helpers: Collection[str]
) -> Iterator[tuple[str, str]]:
    """What gives the tangents of results, or refuses to."""
    reason = refuses_forward(info)
    if reason:
        yield "no_forward", f"_refusals.refused({quote(operator.name)}, {quote(reason)})"
    elif has_tangents(operator, info):
        yield "forward", operator.named("forward")
    else:
        yield "transposed", "_transposed.transposed"
        if is_tried(info, helpers):
            yield "tried", "_linear.tried"


def _autocast(operator: PackagedOperator) -> str:
    """`_autocast.float32`, or `_autocast.Casts(_autocast.float32, only=(1,), back=0)`, which casts argument 1, and
    results back to the dtype of argument 0."""
    rule = operator.function.autocast
    assert rule is not None
    places = {a.name: str(i) for i, a in enumerate(operator.schema.positional)}
    found = [places.get(name) or quote(name) for name in (*rule.only, rule.result)]
    only = f", only={tuple_display(found[:-1])}" if rule.only else ""
    back = f", back={found[-1]}" if rule.result else ""
    rule_text = f"_autocast.{rule.dtype}"
    return f"_autocast.Casts({rule_text}{only}{back})" if only or back else rule_text
