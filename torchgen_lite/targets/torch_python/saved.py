"""What forward keeps for backward: tensors by `save_for_backward`, the rest as attributes of `ctx`.

    ctx.save_for_backward(a if needs[1] else None)
    ctx.b_shape = b.shape

A tensor is kept only if a gradient that uses it is wanted. For a formula that asks only for a shape
or a dtype, just that is kept, which frees the tensor's memory.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.model import Call, Expression, Name
from torchgen_lite.languages.python.formula import readings
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.reserved import IN_DERIVATIVES
from torchgen_lite.languages.text import quote
from torchgen_lite.schema import FunctionSchema, return_names
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.grouped import names_of, places_of
from torchgen_lite.targets.output import Named

# Any other fact keeps the tensor.
_READ = {**readings(prefix="", ndim="{0}.ndim"), Fact.info: "_zeros.info_of({0})"}


def local(name: str) -> str:
    """The local variable for an argument or a result; a name that is taken gets an underscore.

    So does a name that already looks like that, or two names could become one.
    """
    bare = name.rstrip("_")
    is_taken = bare in IN_DERIVATIVES or keyword.iskeyword(bare) or name.startswith("_")
    # `grad_x_` is where the gradient of `x` goes.
    is_gradient = name.startswith("grad_") and name.endswith("_")
    if is_taken or is_gradient:
        return f"{name}_"
    return identifier(name)


def values_of(schema: FunctionSchema) -> Iterator[Named]:
    """The arguments, and then the results as formulas call them, each with its value when a call is recorded."""
    for index, argument in enumerate(schema.positional):
        yield argument.name, f"inputs[{index}]"
    for argument in schema.kwarg_only:
        yield argument.name, f"keyword_only_inputs[{quote(argument.name)}]"
    for index, name in enumerate(return_names(schema)):
        yield name, output(schema, index)


def output(schema: FunctionSchema, index: int) -> str:
    if len(schema.returns) > 1:
        return f"output[{index}]"
    return "output"


class Tensors(NamedTuple):
    """A tensor, or a list of tensors, that is kept. `needed` is the condition; empty if it always
    is."""

    name: str
    is_list: bool
    needed: str

    @property
    def passed(self) -> str:
        """As `save_for_backward` takes it."""
        if self.is_list:
            return f"*{self.name}"
        if self.needed:
            return f"{self.name} if {self.needed} else None"
        return self.name


def kept(info: DifferentiabilityInfo) -> tuple[Saved, ...]:
    """Everything that the formulas use: whole values, and facts about tensors."""
    return info.kept(_READ)


def kept_tensors(schema: FunctionSchema, info: DifferentiabilityInfo) -> Iterator[Tensors]:
    """The whole tensors, each needed where some gradient uses it, by its position in `needs_input_grad`."""
    positions = places_of(names_of(schema.positional))
    places = [positions[name] for name in info.arguments]
    # torch.library flattens lists before it calls setup_context, so positions are off there.
    has_lists = any(dispatch_kind(a.type).is_list for a in schema.arguments)
    for saved in kept(info):
        if not saved.keeps_tensors:
            continue
        needed = []
        # Of a list, as many tensors are read again as it has.
        if not (has_lists or saved.carries.is_list):
            needed = sorted(places[index] for index in saved.needed_by)
        tests = " or ".join(f"needs[{position}]" for position in needed)
        yield Tensors(local(saved.source), saved.carries.is_list, tests)


def attributes(info: DifferentiabilityInfo) -> list[Named]:
    """What `ctx` keeps under a name: numbers, and facts about tensors as they are when the call is recorded."""
    numbers = []
    facts = []
    for saved in kept(info):
        value = local(saved.source)
        if saved.is_whole:
            if not saved.keeps_tensors:
                numbers.append((value, value))
            continue
        text = _READ[saved.fact].format(value, saved.dim)
        if saved.carries is DispatchKind.optional_tensor:
            text = f"{text} if {value} is not None else None"
        facts.append((local(saved.name), text))
    if info.function.is_auto:
        numbers.append(("_autocast", '_gradients.autocasts(inputs, "cpu")'))
    return numbers + facts


def expression(saved: Saved) -> Expression | None:
    """What stands for a value or a fact in formulas; None where the tensor is kept for the fact."""
    if saved.is_whole:
        return Name(local(saved.source))
    if saved.fact not in _READ:
        return None
    name = Name(local(saved.name))
    if saved.fact is Fact.info:
        return Call(Name("_zeros.zeros"), (name,))
    return name
