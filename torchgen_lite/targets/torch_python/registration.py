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

from torchgen_lite.analysis.differentiability.linear import refuses_forward
from torchgen_lite.analysis.fakes.results import results_of
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.languages.python.torch_library import reference
from torchgen_lite.languages.text import quote
from torchgen_lite.schema import BaseType, SchemaKind
from torchgen_lite.targets.torch_python.autograd import Autograd
from torchgen_lite.targets.torch_python.kernels import kernels_of
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


def build_registrations(
    package: Package, autograd: Autograd
) -> list[tuple[PackagedOperator, dict[str, str], list[str]]]:
    """Every operator, what is registered for it (by dispatch key, `fake`, or the like), and its tags."""
    refusing = {view.operator.name for view in autograd.operators if view.undifferentiable}
    return [(o, dict(_rules(package, o, refusing)), _tags(o)) for o in package.operators]


def _tags(operator: PackagedOperator) -> list[str]:
    """Those of the entry, and `inplace` or `out` where PyTorch allows them: with them, such operators compile."""
    if operator.is_torchs:
        return []
    tags, arguments = [*operator.function.tags], operator.schema.arguments
    written = [a for a in arguments if a.is_write]
    results = [r.argument for r in results_of(operator.schema)]
    if not written or results != written or any(not isinstance(a.type, BaseType) for a in written):
        return tags
    if operator.kind is SchemaKind.out:
        tag, is_allowed = "out", all(a.kwarg_only for a in written)
    else:
        tag, is_allowed = "inplace", written == [*arguments[:1]] and not written[0].kwarg_only
    return [*tags, tag] if is_allowed and tag not in tags else tags


def _rules(
    package: Package, operator: PackagedOperator, refusing: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The kernels, and the other registrations of operators that PyTorch doesn't have."""
    for entry, module, function in kernels_of(package, operator):
        kernel = operator.named(entry.key)
        if entry.key in operator.function.triton:
            kernel = f'_library.launching(_places.{kernel}, "{module}", "{function}", {kernel})'
        yield entry.key, kernel
    if package.registration(operator, Origin.fake):
        fake = _named(package, operator, "fake") or operator.named("fake")
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
        yield "setup_context", operator.named("setup_context")
        yield "backward", operator.named("backward")
        reason = refuses_forward(info)
        if reason:
            yield "no_forward", f"_library.refused({quote(operator.name)}, {quote(reason)})"
        elif info.forward and info.outputs:
            yield "forward", operator.named("forward")
    elif package.registration(operator, Origin.underived):
        yield "underived", "torch.is_tensor"
    vmap = _named(package, operator, "vmap")
    if vmap and package.registration(operator, Origin.vmap):
        yield "vmap", vmap
    elif package.registration(operator, Origin.axes):
        yield "vmap", f"{operator.named('axes')}.vmap"
    if operator.function.effects:
        yield "effects", quote(operator.function.effects)
    if operator.function.checkpoint:
        yield "checkpoint", quote(operator.function.checkpoint)
    samples = operator.function.samples
    for compiler in operator.function.decompose:
        assert samples is not None and samples.reference is not None
        named = _named(package, operator, "reference")
        yield compiler, named or reference(operator.schema, samples.reference.text)
    if operator.function.flops is not None and not operator.is_torchs:
        yield "flops", operator.named("flops")
    if package.registration(operator, Origin.autocast):
        yield "autocast", _autocast(operator)


def _autocast(operator: PackagedOperator) -> str:
    """`_library.float32`, or `_library.CastBack(_library.float32, 0)`, which casts results back to
    the dtype of argument 0."""
    rule = operator.function.autocast
    assert rule is not None
    if not rule.result:
        return f"_library.{rule.dtype}"
    places = {a.name: str(i) for i, a in enumerate(operator.schema.positional)}
    place = places.get(rule.result) or quote(rule.result)
    return f"_library.CastBack(_library.{rule.dtype}, {place})"


def _named(package: Package, operator: PackagedOperator, field: str) -> str:
    """`_library.named(_places.fake_nonzero, "my_fakes", "nonzero_fake")`, which imports the
    function at its first call."""
    found = package.named_function(operator, field)
    if found is None:
        return ""
    place = f"_places.{operator.named(field)}"
    return f"_library.named({place}, {quote(found[0])}, {quote(found[1])})"
