"""What an operator composes with in PyTorch: `torch.vmap`, by a loop, PyTorch's batching fallback."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import has_tensors_by_name, tensors_in
from torchgen_lite.analysis.differentiability.linear import refuses_forward
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.kernels import DEVICES, Origin
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.registrations import FUNCTIONALIZE, META, RECORDING
from torchgen_lite.analysis.served import Served, Strength
from torchgen_lite.analysis.torch_library import takes_a_loop
from torchgen_lite.loader.entry.axes import Axes
from torchgen_lite.schema import FunctionSchema

REFUSED = "refused"
NO_RULE = "no rule"
WORKS = "works"
BY_A_LOOP = "by a loop"
_BY_STRENGTH = {
    Strength.nothing: REFUSED,
    Strength.fallback: NO_RULE,
    Strength.kernel: WORKS,
}
_VMAP = "FuncTorchBatched"
_COMPOSED = "composed of other operators"
_SILENT = "the entry says nothing"
# Dynamo takes no call that returns an integer or a boolean alone.
UNTRACED = ("-> int", "-> SymInt", "-> bool")
_LOST = frozenset({Origin.underived, Origin.not_implemented, Origin.refuses_out})


class Answer(NamedTuple):
    """A word, and why."""

    word: str
    why: str


class _Call(NamedTuple):
    """Calls of an operator that come to a key, and what is registered when all that a package loads is there."""

    operator: Operator
    served: Served
    key: str

    @property
    def answer(self) -> Answer:
        """By what serves the key: nothing, a fallback, a kernel."""
        strength = self.served.strength(self.key)
        if strength is Strength.nothing:
            return Answer(REFUSED, f"no kernel for `{self.key}`")
        return Answer(_BY_STRENGTH[strength], self.served.cells[self.key].label)

    @property
    def info(self) -> DifferentiabilityInfo | None:
        """The formulas, where they make the kernel."""
        makes_kernel = self.served.origin(self.key) in RECORDING
        return self.operator.info if makes_kernel else None


def composition(operator: Operator, served: Served) -> Iterator[tuple[str, str, str]]:
    """Each subject with a word, and why. `served` is what is registered when all that a package loads is there."""
    devices = operator.keys & {"CPU", *DEVICES}
    device = min(devices, default="CPU")
    for subject, key, answer in _SUBJECTS:
        verdict = answer(_Call(operator, served, key.format(device)))
        if verdict is not None:
            yield subject, *verdict
    if Origin.vmap in served.policy.makes:
        yield from _of_package(operator, served.is_composed)


def _gradients(call: _Call) -> Answer:
    origin = call.served.origin(call.key)
    is_recorded = call.info is None or (call.info.slots and call.info.outputs)
    if origin is Origin.passes or not is_recorded:
        return Answer(NO_RULE, Origin.fallthrough.value)
    if origin in _LOST:
        return Answer(REFUSED, call.answer.why)
    return call.answer


def _forward(call: _Call) -> Answer:
    answer = _gradients(call)
    problem = refuses_forward(call.info) if call.info is not None else ""
    if problem and answer.word == WORKS:
        return Answer(REFUSED, problem)
    return answer


def _vmap(call: _Call) -> Answer:
    word, why = call.answer
    if call.served.origin(call.key) is Origin.loop:
        return Answer(BY_A_LOOP, why)
    if word != NO_RULE:
        return call.answer
    return Answer(BY_A_LOOP if takes_a_loop(call.operator.schema) else REFUSED, why)


def _compiled(call: _Call) -> Answer:
    schema = call.operator.schema
    if any(map(has_tensors_by_name, schema.types)) and not call.served.is_composed:
        return Answer(REFUSED, "no trace holds tensors in a dictionary")
    is_untraced = str(schema).endswith(UNTRACED)
    if is_untraced and call.served.strength(call.key):
        return Answer(REFUSED, "Dynamo takes no call that returns an integer or a boolean alone")
    return call.answer


def _writes(call: _Call) -> Answer | None:
    """None for an operator that neither writes nor returns a view."""
    if not call.operator.schema.annotated:
        return None
    word = WORKS if call.served.functionalizes(call.operator) else REFUSED
    return Answer(word, call.answer.why)


def _functionalized(call: _Call) -> Answer:
    """Under `torch.func.functionalize`, which has the package of torch-python copy what is written."""
    word, why = call.answer
    if word != NO_RULE:
        return call.answer
    schema = call.operator.schema
    if Origin.vmap in call.served.policy.makes:
        if call.served.is_composed and schema.annotated:
            return Answer(WORKS, f"{_COMPOSED}, from PyTorch 2.9 on")
        if schema.written:
            return Answer(WORKS, "on copies of what is written, from PyTorch 2.9 on")
    return Answer(REFUSED if schema.annotated else WORKS, why)


# What an operator may compose with, the key that its calls come to then, and the answer.
_SUBJECTS: Sequence[tuple[str, str, Callable[[_Call], Answer | None]]] = (
    ("Gradients", "Autograd{}", _gradients),
    ("Forward mode", "Autograd{}", _forward),
    ("torch.vmap", _VMAP, _vmap),
    ("torch.compile", META, _compiled),
    ("Writes and views, compiled", FUNCTIONALIZE, _writes),
    ("torch.autocast", "Autocast{}", attrgetter("answer")),
    ("torch.func.functionalize", FUNCTIONALIZE, _functionalized),
)


def _of_package(operator: Operator, is_composed: bool) -> Iterator[tuple[str, str, str]]:
    """What only the package of torch-python registers."""
    line = operator.axes
    without = Answer(WORKS, _COMPOSED) if is_composed else Answer(REFUSED, "no axes")
    of_dtensor = Answer(WORKS, "axes") if line else without
    yield "DTensor", *of_dtensor
    if line:
        yield "Jagged NestedTensor", *_jagged(operator.schema, line)
    elif _is_pointwise(operator):
        yield "Jagged NestedTensor", WORKS, "the tag `pointwise`"
    else:
        yield "Jagged NestedTensor", *without
    yield "Flop counter", *_said(_counted_by(operator))
    yield "Decompositions", *_said(", ".join(operator.function.decompose))
    yield "Selective checkpoint", *_said(operator.function.checkpoint or "")


def _said(text: str) -> Answer:
    if text:
        return Answer(WORKS, text)
    return Answer(NO_RULE, _SILENT)


def _is_pointwise(operator: Operator) -> bool:
    """Whether PyTorch has a rule for what `axes` leaves out, because it is random."""
    schema = operator.schema
    if "pointwise" not in operator.function.tags or schema.annotated or not takes_a_loop(schema):
        return False
    return len(tensors_in(schema.positional)) <= 2


def _counted_by(operator: Operator) -> str:
    """The field that says how many operations a call takes: as `_axes.py` counts, a sum over an axis of several tensors."""
    if operator.function.flops is not None:
        return "flops"
    summed = list[str]()
    if operator.axes:
        for tensor in operator.axes.tensors:
            summed += [axis.name for axis in tensor.axes if axis.mark == "+"]
    if len(summed) > len(set(summed)):
        return "axes"
    return ""


def _jagged(schema: FunctionSchema, line: Axes) -> Answer:
    """As `_axes.py` decides for each call: the items and the jagged dimension are in the only `*`."""
    stars = set[str]()
    for tensor in line.tensors:
        stars.update(axis.name for axis in tensor.axes if axis.is_star)
    first = [tensor.axes[0] for tensor in line.tensors if tensor.axes]
    has_place = any(axis.is_star and axis.mark != "!" for axis in first)
    inner = [axis for result in line.results for axis in result.axes[1:]]
    is_inner = any(axis.is_star for axis in inner)
    is_fresh = bool(schema.written) and not all(value.annotation for value in schema.returns)
    if len(stars) == 1 and has_place and not is_inner and not is_fresh:
        return Answer(WORKS, "axes")
    return Answer(REFUSED, "not with such axes and results")
