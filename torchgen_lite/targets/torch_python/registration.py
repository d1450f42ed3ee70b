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
from torchgen_lite.analysis.kernels import REFERENCE
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.languages.python import torch_library
from torchgen_lite.languages.text import quote, tuple_display
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.torch_python.autograd import Autograd
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
            kernel = f'_library.launching(_places.{kernel}, "{module}", "{function}", {kernel})'
        yield entry.key, kernel
    is_computed = package.registration(operator, Origin.reference) is not None
    for entry in operator.facts.own_kernels:
        if is_computed and entry.kernel == REFERENCE:
            yield entry.key, f"_library.apart({package.reference(operator)})"
    if package.registration(operator, Origin.fake):
        fake = package.named(operator, "fake") or operator.named("fake")
        yield "fake", fake
        if package.registration(operator, Origin.traced_view):
            yield "view", fake
    functionalized = package.registration(operator, Origin.functionalize)
    if functionalized is not None and functionalized.source is not None:
        name = quote(functionalized.source.name)
        yield "functionalize", f"_library.functional({name})"
    if package.registration(operator, Origin.formulas):
        if operator.name in refusing:
            yield "refuse", operator.named("refuse")
        info = package.resolved.autograd[operator.name].info
        assert info is not None
        uses_old = any(s.name == "self" for s in info.saved) or info.reads_original
        if operator.kind is SchemaKind.inplace and uses_old:
            yield "original", "torch.clone"
        if info.tests_gradients:
            yield "undefined", "torch.is_tensor"
        given = torch_library.given(operator.schema)
        if given:
            yield "given", given
        yield "setup_context", operator.named("setup_context")
        yield "backward", operator.named("backward")
        reason = refuses_forward(info)
        if reason:
            yield "no_forward", f"_library.refused({quote(operator.name)}, {quote(reason)})"
        elif info.forward and info.outputs:
            yield "forward", operator.named("forward")
        elif is_tried(info, package.helpers):
            yield "tried", "torch.is_tensor"
    elif package.registration(operator, Origin.underived):
        yield "underived", "torch.is_tensor"
    vmap = package.named(operator, "vmap")
    if vmap and package.registration(operator, Origin.vmap):
        yield "vmap", vmap
    elif package.registration(operator, Origin.axes):
        yield "vmap", f"{operator.named('axes')}.vmap"
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


def _autocast(operator: PackagedOperator) -> str:
    """`_library.float32`, or `_library.Casts(_library.float32, only=(1,), back=0)`, which casts argument 1, and
    results back to the dtype of argument 0."""
    rule = operator.function.autocast
    assert rule is not None
    places = {a.name: str(i) for i, a in enumerate(operator.schema.positional)}
    found = [places.get(name) or quote(name) for name in (*rule.only, rule.result)]
    only = f", only={tuple_display(found[:-1])}" if rule.only else ""
    back = f", back={found[-1]}" if rule.result else ""
    rule_text = f"_library.{rule.dtype}"
    return f"_library.Casts({rule_text}{only}{back})" if only or back else rule_text
