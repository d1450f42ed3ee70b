"""What an operator composes with in PyTorch: `torch.vmap`, by a loop, PyTorch's batching fallback."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability.linear import refuses_forward
from torchgen_lite.analysis.kernels import DEVICES, Origin, origins
from torchgen_lite.analysis.lost_calls import Served
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.registrations import FUNCTIONALIZE
from torchgen_lite.loader.axes import Axes
from torchgen_lite.schema import FunctionSchema, ListType
from torchgen_lite.schema.model import bare_type

_VMAP = "FuncTorchBatched"
_FUNC = "torch.func.functionalize"
# The keys whose kernels are the answers.
_KEYS = {
    "Gradients": "Autograd{}",
    "Forward mode": "Autograd{}",
    "torch.vmap": _VMAP,
    "torch.compile": "Meta",
    "Writes and views, compiled": FUNCTIONALIZE,
    "torch.autocast": "Autocast{}",
    _FUNC: FUNCTIONALIZE,
}
# By the strength of what serves a call: nothing, a fallback, a kernel.
REFUSED, NO_RULE, WORKS = _WORDS = ("refused", "no rule", "works")
_COMPOSED = "composed of other operators"
UNTRACED = ("-> int", "-> SymInt", "-> bool")
_LOST = origins("underived not_implemented refuses_out")


def composition(operator: Operator, served: Served) -> Iterator[tuple[str, str, str]]:
    """Each subject with a word, and why. `served` is what is registered when all that a package loads is there."""
    plan = operator.others.autograd.get(operator.name)
    schema = operator.schema
    is_composed = served.is_composed
    in_python = Origin.vmap in served.policy.makes
    device = min({k.key for k in operator.own_kernels} & {"CPU", *DEVICES}, default="CPU")
    for subject, pattern in _KEYS.items():
        key = pattern.format(device)
        strength = served.strength(key)
        origin = served.origin(key)
        word = _WORDS[strength]
        why = served.cells[key].label
        info = plan.info if plan and origin in (Origin.formulas, Origin.autograd) else None
        if origin is Origin.passes or info and not (info.slots and info.outputs):
            word = NO_RULE
            why = Origin.fallthrough.value
        elif origin in _LOST or subject == "Forward mode" and info and refuses_forward(info):
            word = REFUSED
            why = refuses_forward(info) if info else why
        elif subject == "torch.compile" and str(schema).endswith(UNTRACED):
            word = REFUSED
            why = "Dynamo takes no call that returns an integer or a boolean alone"
        elif key == _VMAP and word == NO_RULE:
            word = "by a loop" if takes_a_loop(schema) else REFUSED
        elif subject == _FUNC and word == NO_RULE:
            word = REFUSED if schema.annotated else WORKS
            if in_python and (schema.written or is_composed and schema.annotated):
                how = _COMPOSED if is_composed else "on copies of what is written"
                word = WORKS
                why = f"{how}, from PyTorch 2.9 on"
        elif key == FUNCTIONALIZE and subject != _FUNC:
            word = WORKS if served.functionalizes(operator) else REFUSED
        if key != FUNCTIONALIZE or subject == _FUNC or schema.annotated:
            yield subject, word, why if strength else f"no kernel for `{key}`"
    if in_python:
        yield from _of_package(operator, is_composed)


def _of_package(operator: Operator, is_composed: bool) -> Iterator[tuple[str, str, str]]:
    """What only the package of torch-python registers."""
    function = operator.function
    schema = operator.schema
    line = operator.axes
    others = (WORKS, _COMPOSED) if is_composed else (REFUSED, "no axes")
    yield "DTensor", *((WORKS, "axes") if line else others)
    # PyTorch has a rule for what `axes` leaves out, because it is random.
    is_known = "pointwise" in function.tags and takes_a_loop(schema) and not schema.annotated
    if is_known and sum(is_tensor_like(a.type) for a in schema.positional) <= 2:
        others = (WORKS, "the tag `pointwise`")
    yield "Jagged NestedTensor", *(_jagged(schema, line) if line else others)
    summed = [a.name for one in (line.tensors if line else ()) for a in one.axes if a.mark == "+"]
    # As `_axes.py` counts: a sum over an axis that several tensors have.
    by_axes = "axes" if len(summed) > len({*summed}) else ""
    said = {"Flop counter": by_axes if function.flops is None else "flops"}
    said["Decompositions"] = ", ".join(function.decompose)
    said["Selective checkpoint"] = function.checkpoint or ""
    for subject, text in said.items():
        yield subject, WORKS if text else NO_RULE, text or "the entry says nothing"


def _jagged(schema: FunctionSchema, line: Axes) -> tuple[str, str]:
    """As `_axes.py` decides for each call: the items and the jagged dimension are in the only `*`."""
    stars = {axis.name for one in line.tensors for axis in one.axes if axis.is_star}
    first = [one.axes[0] for one in line.tensors if one.axes]
    has_place = any(axis.is_star and axis.mark != "!" for axis in first)
    is_inner = any(axis.is_star for one in line.results for axis in one.axes[1:])
    is_fresh = bool(schema.written) and not all(value.annotation for value in schema.returns)
    is_taken = len(stars) == 1 and has_place and not is_inner and not is_fresh
    if is_taken:
        return (WORKS, "axes")
    return (REFUSED, "not with such axes and results")


def takes_a_loop(schema: FunctionSchema) -> bool:
    """Whether PyTorch's fallback for `vmap` calls the operator for each item (functorch `BatchedFallback.cpp`)."""
    first = schema.arguments[:1]
    returns = schema.returns
    if schema.annotated and not (schema.annotated == schema.written == first and len(returns) == 1):
        return False
    if [a.annotation for a in schema.annotated] != [r.annotation for r in returns if r.annotation]:
        return False
    lists = [a for a in schema.arguments if is_tensor_like(a.type) and isinstance(a.type, ListType)]
    return bool(returns) and not lists and all(bare_type(r.type) == "Tensor" for r in returns)
