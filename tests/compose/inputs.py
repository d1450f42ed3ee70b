"""What the operators of the library are called with: each kind of input, and the calls that it makes.

A call is compared with the same call of the kernel in Python (`library/kern.py`), which is made of PyTorch's functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor

Arguments = dict[str, Any]
Function = Callable[..., Any]
Shape = tuple[int, ...]


class Tensors:
    """Makes the tensors of one call, which differ, and are the same in each call."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.shapes = cycle(form.shapes)
        self.dtypes = cycle(form.dtypes)
        self.count = 0

    def __call__(self, *shape: int) -> Tensor:
        """A tensor of the next shape, or of this one."""
        return self._made(shape or next(self.shapes), next(self.dtypes), self.form.layout)

    def row(self) -> Tensor:
        """A tensor with the last dimension alone."""
        return self(*self.form.shapes[0][-1:])

    def written(self) -> Tensor:
        """A tensor of floats that has its own memory for each element."""
        layout = contiguous if self.form.layout is expanded else self.form.layout
        return self._made(self.form.shapes[0], torch.float32, layout)

    def _made(self, shape: Shape, dtype: torch.dtype, layout: Layout) -> Tensor:
        self.count += 1
        generator = torch.Generator().manual_seed(self.count)
        numbers = torch.randn(prod(shape), generator=generator)
        numbers = numbers * 3 if not dtype.is_floating_point else numbers
        return layout(numbers.to(dtype), shape)


Layout = Callable[[Tensor, Shape], Tensor]


def contiguous(numbers: Tensor, shape: Shape) -> Tensor:
    return numbers.reshape(shape)


def transposed(numbers: Tensor, shape: Shape) -> Tensor:
    """The first dimension has the smallest stride; a vector is every other element of a longer one."""
    if len(shape) == 1:
        return torch.stack([numbers, numbers], 1).reshape(-1)[::2]
    return numbers.reshape(shape[::-1]).permute(*reversed(range(len(shape))))


def channels_last(numbers: Tensor, shape: Shape) -> Tensor:
    dense = numbers.reshape(shape)
    return dense.contiguous(memory_format=torch.channels_last) if len(shape) == 4 else dense


def expanded(numbers: Tensor, shape: Shape) -> Tensor:
    """All of the first dimension is the same memory."""
    if not shape or shape[0] == 0:
        return numbers.reshape(shape)
    own = (1, *shape[1:])
    return numbers[: prod(own)].reshape(own).expand(shape)


class Form(NamedTuple):
    """How tensors look; if there are several shapes or dtypes, the arguments of a call take turns."""

    shapes: tuple[Shape, ...] = ((4, 6),)
    dtypes: tuple[torch.dtype, ...] = (torch.float32,)
    layout: Layout = contiguous


class Operator(NamedTuple):
    """An operator, as its calls are made: all arguments in their order, and what of it is differentiated."""

    name: str
    arguments: Callable[[Tensors], Arguments]
    leaves: tuple[str, ...] = ()
    # Which results depend on the leaves; all if None.
    results: int | None = None
    dims: tuple[int, ...] = (0, 1, 2, 3, 4)
    namespace: str = "tlc"
    # The module with the same in Python.
    twins: str = "kern"

    @property
    def op(self) -> Any:
        """The overload, or None where a column does not have it."""
        base, _, overload = self.name.partition(".")
        packet = getattr(getattr(torch.ops, self.namespace), base, None)
        return getattr(packet, overload or "default", None)


OPERATORS = (
    Operator("muladd", lambda t: {"a": t(), "b": t(), "s": 2.5}, ("a", "b")),
    Operator(
        "row_norm", lambda t: {"x": t(), "weight": t.row(), "eps": 0.1}, ("x", "weight"), 1, (2, 4)
    ),
    Operator("mm", lambda t: {"a": t(*t.form.shapes[0]), "b": t(6, 5)}, ("a", "b"), dims=(2,)),
    Operator("scale", lambda t: {"self": t(), "s": 2.5}, ("self",)),
    Operator("scale_", lambda t: {"self": t.written(), "s": 2.5}, ("self",)),
    Operator("scale.out", lambda t: {"self": t(), "s": 2.5, "out": t.written()}),
    Operator("axpy", lambda t: {"y": t.written(), "x": t(), "s": 2.5}),
    Operator("weighted_sum", lambda t: {"xs": [t(), t()], "weight": t()}, ("xs",)),
    Operator("blend", lambda t: {"x": t(), "masks": [t(), None, t()], "s": 1.5}, ("x", "masks")),
    Operator("affine", lambda t: {"x": t(), "bias": t(), "s": 3.5, "negate": True}, ("x", "bias")),
    Operator("gate", lambda t: {"x": t(), "gate": t()}),
    Operator("halves", lambda t: {"x": t(), "n": 3, "dim": -1}, ("x",)),
    Operator("cube", lambda t: {"x": t()}, ("x",)),
    Operator("collect", lambda t: {"x": t(), "s": 2.5, "total": t.written()}),
    Operator("tally", lambda t: {"x": t(), "seen": t.written()}, ("x",), 1),
    Operator("shift", lambda t: {"self": t(), "other": t(), "alpha": 2}, ("self", "other")),
    Operator("plus", lambda t: {"self": t(), "other": 2.5}, ("self",)),
)


class Given(NamedTuple):
    """A function of tensors, and tensors for it: one call, or several at once.

    The function returns a list of all results and of what it has written. `leaves` are the places of the tensors that it
    is differentiated in, and `used` is how many of the results depend on them; all if None.
    """

    function: Callable[..., list[Tensor]]
    tensors: list[Tensor]
    leaves: list[int]
    used: int | None
    written: list[int]


@dataclass(frozen=True)
class Call:
    """One call of an operator; `style` says which of its arguments are given, and how."""

    operator: Operator
    form: Form
    style: Style

    @property
    def op(self) -> Any:
        return self.operator.op

    @property
    def twin(self) -> Function:
        """The same with PyTorch's functions. What is compiled reads no schema, which Dynamo cannot."""
        parameters = self.op._schema.arguments
        names = [one.name for one in parameters]
        defaults = {one.name: one.default_value for one in parameters if one.has_default_value()}
        twins = importlib.import_module(self.operator.twins)
        kernel = getattr(twins, self.operator.name.replace(".", "_"))

        def call(*args: Any, **kwargs: Any) -> Any:
            return kernel(**(defaults | dict(zip(names, args)) | kwargs))

        return call

    def given(self, function: Function, *, keeps: bool = True) -> Given:
        """The call of a function, `op` or `twin`. With `keeps` it writes to copies of what it is given."""
        args, kwargs = self.style(self.op._schema, self.operator.arguments(Tensors(self.form)))
        parameters = {one.name: one for one in self.op._schema.arguments}
        tensors: list[Tensor] = []
        owners: list[str] = []

        def kept(name: str, value: Any) -> Any:
            """The places of the tensors of an argument, or the argument."""
            if isinstance(value, list):
                return [kept(name, one) for one in value]
            if not isinstance(value, Tensor):
                return value
            tensors.append(value)
            owners.append(name)
            return _Place(len(tensors) - 1)

        by_position = [kept(name, value) for name, value in zip(parameters, args)]
        by_name = {name: kept(name, value) for name, value in kwargs.items()}
        written = [at for at, name in enumerate(owners) if _is_written(parameters[name])]

        def call(*tensors: Tensor) -> list[Tensor]:
            passed = list(tensors)
            if keeps:
                for at in written:
                    passed[at] = passed[at].clone()
            result = function(
                *[_filled(value, passed) for value in by_position],
                **{name: _filled(value, passed) for name, value in by_name.items()},
            )
            results = [] if result is None else result
            results = [results] if isinstance(results, Tensor) else list(results)
            return results + [passed[at] for at in written]

        leaves = [
            at
            for at, name in enumerate(owners)
            if name in self.operator.leaves and tensors[at].is_floating_point()
        ]
        return Given(call, tensors, leaves, self.operator.results, written)


class _Place(NamedTuple):
    one: int


def _filled(value: Any, tensors: list[Tensor]) -> Any:
    if isinstance(value, _Place):
        return tensors[value.one]
    if isinstance(value, list):
        return [_filled(one, tensors) for one in value]
    return value


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


Style = Callable[[Any, Arguments], tuple[list[Any], dict[str, Any]]]


def positional(schema: Any, named: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """As usual: what may be given by position is."""
    keywords = {one.name for one in schema.arguments if one.kwarg_only}
    args = [value for name, value in named.items() if name not in keywords]
    return args, {name: value for name, value in named.items() if name in keywords}


def by_keyword(schema: Any, named: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """Everything by keyword, the last first."""
    return [], dict(reversed(named.items()))


def without_defaults(schema: Any, named: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """Only what has no default."""
    needed = {one.name for one in schema.arguments if not one.has_default_value()}
    return positional(schema, {name: value for name, value in named.items() if name in needed})


def equal_to_defaults(schema: Any, named: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """Everything, with the values that are the defaults."""
    defaults = {one.name: one.default_value for one in schema.arguments if one.has_default_value()}
    return positional(schema, named | defaults)


class Kind(NamedTuple):
    """One kind of input."""

    name: str
    forms: Sequence[Form] = (Form(),)
    styles: Sequence[Style] = (positional,)

    def calls(self, operators: Sequence[Operator]) -> Iterator[Call]:
        """The calls of the operators that a column has and that take such tensors."""
        for operator in operators:
            if operator.op is None:
                continue
            for form in self.forms:
                if len(form.shapes[0]) in operator.dims:
                    yield from (Call(operator, form, style) for style in self.styles)


_INTEGERS, _FLOATS, _DOUBLES = torch.int64, torch.float32, torch.float64
KINDS = (
    Kind("contiguous"),
    Kind("transposed", [Form(layout=transposed)]),
    Kind("channels_last", [Form(((2, 3, 4, 6),), layout=channels_last)]),
    Kind("expanded", [Form(layout=expanded)]),
    Kind("sizes that are broadcast", [Form(((4, 6), (6,), (4, 1)))]),
    Kind("no dimensions", [Form(((),)), Form(((4, 6), ()), (_FLOATS, _DOUBLES))]),
    Kind("zero sizes", [Form(((0, 6),)), Form(((4, 0, 6, 2),))]),
    Kind("integers", [Form(dtypes=(_INTEGERS,))]),
    Kind("several dtypes", [Form(dtypes=(_INTEGERS, _FLOATS)), Form(dtypes=(_FLOATS, _DOUBLES))]),
    Kind("defaults left out", styles=[without_defaults, equal_to_defaults]),
    Kind("keywords", styles=[by_keyword]),
)
