"""What `torch.library` registers besides kernels: fakes, formulas, and vmap and autocast rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchgen_lite.analysis.derive.layout import is_tensor_like, tensors_in
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.plan import AutogradPlan
from torchgen_lite.analysis.fakes.results import is_view_rule, new_results, results_of, uses_axes
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.loader.entry.entry import LOOP, NativeFunction
from torchgen_lite.schema import BaseType, FunctionSchema, ListType, SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import without_none
from torchgen_lite.schema.model import annotations_of, bare_type, bare_types

# The devices that `torch.autocast` knows.
_AUTOCAST = ("CPU", "CUDA", "XPU", "MPS", "PrivateUse1")


def rules_of(operator: Operator) -> Iterator[tuple[str, Origin]]:
    """Fakes, which are Meta kernels, and the rules from the entry's `vmap`, `axes` and `autocast`.

    A fake that is a view also replaces the operator when calls are traced.
    """
    function = operator.function
    has_fake = function.fake is not None or not new_results(function.func) or uses_axes(operator)
    if has_fake and not operator.is_only_composed:
        yield "Meta", Origin.fake
        if is_view_rule(function):
            yield "Functionalize", Origin.traced_view
            yield "Autograd", Origin.traced_view
    batched = _rule_of_vmap(operator)
    if batched is not None:
        yield "FuncTorchBatched", batched
    elif has_fake and is_view_rule(function) and not operator.is_only_composed:
        yield "FuncTorchBatched", Origin.traced_view
    if function.autocast:
        for device in _AUTOCAST:
            yield f"Autocast{device}", Origin.autocast


def _rule_of_vmap(operator: Operator) -> Origin | None:
    """What `torch.vmap` runs: what `vmap` says, one call by the axes, or a loop where PyTorch has none and refuses."""
    if operator.function.vmap_function:
        return Origin.vmap
    if operator.function.is_looped:
        return Origin.loop
    if operator.axes is not None and not _takes_by_name(operator):
        return Origin.axes
    schema = operator.schema
    is_refused = bool(schema.written) and not (operator.is_only_composed or takes_a_loop(schema))
    if is_refused and not unstackable(schema):
        return Origin.loop
    return None


def takes_a_loop(schema: FunctionSchema) -> bool:
    """Whether PyTorch's fallback for `vmap` calls the operator for each item (functorch `BatchedFallback.cpp`)."""
    returns = schema.returns
    if schema.annotated and not _writes_to_first(schema):
        return False
    if annotations_of(schema.annotated) != without_none(annotations_of(returns)):
        return False
    if any(isinstance(argument.type, ListType) for argument in tensors_in(schema.arguments)):
        return False
    return set(bare_types(returns)) == {"Tensor"}


def _writes_to_first(schema: FunctionSchema) -> bool:
    """Whether it writes to its first argument, and returns that alone."""
    first = schema.arguments[:1]
    return schema.annotated == schema.written == first and len(schema.returns) == 1


def unstackable(schema: FunctionSchema) -> str:
    """Why the results of calls for each item can't be those of all items; empty if they can."""
    for number, value in enumerate(schema.returns):
        what = f"result `{value.name}`" if value.name else f"result {number}"
        if len(schema.returns) == 1:
            what = "the result"
        if not dispatch_kind(value.type).has_tensors:
            return f"{what} is no tensor"
        is_plain = isinstance(value.type, BaseType)
        if value.annotation and not (value.annotation.is_write and is_plain):
            return f"{what} shares memory with an argument"
    return ""


def check_loop(operator: Operator, vmap: str) -> Findings:
    """TG397: `vmap: loop` of an operator whose results can't be stacked."""
    reason = unstackable(operator.schema) if vmap == LOOP else ""
    if reason:
        name = operator.schema.full_name
        place = operator.function.place("vmap")
        message = f"`torch.vmap` can't loop over `{name}`: {reason}"
        hint = "name a function that does it, or leave it out"
        yield Found("TG397", message, place, "not possible", hint)


def returns_what_it_writes(operator: Operator) -> bool:
    """Whether an operator that PyTorch does not have writes to tensors, and returns those and nothing else."""
    written = operator.schema.written
    results = [r.argument for r in results_of(operator.schema)]
    is_plain = all(isinstance(a.type, BaseType) for a in written)
    is_own = not operator.function.is_pytorchs
    return is_own and is_plain and bool(written) and results == [*written]


def _takes_by_name(operator: Operator) -> bool:
    """Whether tensors are given by keyword, which neither rules of vmap nor formulas can have."""
    return any(a.kwarg_only and is_tensor_like(a.type) for a in operator.schema.arguments)


def has_formulas(operator: Operator, plan: AutogradPlan) -> bool:
    """Whether formulas are registered: they make something differentiable, and can be used."""
    info = plan.info
    if info is None or unrecordable(operator, info) is not None:
        return False
    return bool(info.slots or info.output_differentiability)


def unrecordable(operator: Operator, info: DifferentiabilityInfo | None) -> str | None:
    """Why `torch.library` can't differentiate an operator that has formulas, or None."""
    schema = operator.schema
    name = operator.schema.full_name
    if is_view_rule(operator.function):
        return f"`{name}` is a view, whose derivative is known"
    if schema.is_aliasing:
        return f"`{name}` shares memory with an argument: give it a fake with `view`"
    if _takes_by_name(operator):
        return f"`{name}` has tensors that are given by keyword"
    for argument in schema.arguments:
        # It would be kept without a check of its version.
        is_list = bare_type(argument.type) in ("Tensor[]?", "Tensor?[]?")
        if is_list and info is not None and argument.name in info.uses:
            return f"`{name}` has a list of tensors that may be absent, `{argument.name}`"
    if operator.kind in (SchemaKind.functional, SchemaKind.mutable):
        return None
    if operator.kind is not SchemaKind.inplace or len(schema.returns) != 1:
        return f"`{name}` writes to its arguments"
    if not schema.written:
        return f"`{name}` has the name of an in-place operator, but writes to no argument"
    if len(schema.written) != 1:
        return f"`{name}` writes to several arguments"
    if not schema.arguments[0].is_write:
        return f"`{name}` does not write to its first argument"
    return None


def check_recording(operator: Operator) -> Reported:
    """TG338: formulas that `torch.library` is to register, and cannot."""
    function = operator.function
    if function.derivatives is None or is_view_rule(function):
        return
    info = operator.info
    # Of what an operator only notes down, nothing is recorded.
    is_noted = bool(operator.schema.written and info and not info.slots)
    problem = unrecordable(operator, info)
    if problem is None or is_noted:
        return
    # What it writes to is not in the schema, as TG402 says.
    lacks_a_mark = operator.kind is SchemaKind.inplace and not operator.schema.written
    yield finding(
        function,
        "TG338",
        problem,
        function.place("derivatives") or function.place("func"),
        "formulas here",
        "write `Tensor(a!)` for what it writes to" if lacks_a_mark else None,
    )


def check_composite(function: NativeFunction, keys: Collection[str]) -> Reported:
    """TG520, of an entry with kernels in Python for these keys."""
    if not {COMPOSITE_IMPLICIT, "Meta"}.issubset(keys):
        return
    places = {entry.key: entry.key_span for entry in function.dispatch}
    yield finding(
        function,
        "TG520",
        f"`torch.library` takes no `Meta` kernel beside a `{COMPOSITE_IMPLICIT}` one",
        places.get("Meta"),
        "refused",
        "leave it out, as the other kernel runs for `Meta`, too; or make that one `CompositeExplicitAutograd`",
        (places.get(COMPOSITE_IMPLICIT), "composed of operators"),
    )
