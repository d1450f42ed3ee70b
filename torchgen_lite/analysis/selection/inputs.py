"""Inputs of a call, as far as conditions ask for them, and what a condition is for one.

`half[4, 12]` is a tensor in text; `half[4, 12] noncontiguous requires_grad` says more of it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Union

from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import DTYPES, INTEGRAL_DTYPES
from torchgen_lite.formulas.model import Expression
from torchgen_lite.schema.defaults import ENUMERATORS

_ENUMERATORS = ENUMERATORS["ScalarType"]
FORMATS = frozenset(ENUMERATORS["MemoryFormat"])
"""The names of memory formats, which conditions compare by name."""

# The name that messages use for a dtype: the first one is that with the number of bits.
_NAMES = {enumerator: name for name, enumerator in reversed(_ENUMERATORS.items())}
_COMPLEX = frozenset({"ComplexHalf", "ComplexFloat", "ComplexDouble"})
_QUANTIZED = frozenset({"QInt8", "QUInt8", "QInt32"})
_TEXT = re.compile(r"\s*(?P<dtype>\w+)\s*\[(?P<sizes>[\d,\s]*)\](?P<rest>.*)", re.DOTALL)
_NUMBER_WORDS = ("address", "capability", "offset")


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype by its enumerator, so that `half` and `float16` are equal."""

    enumerator: str

    @property
    def is_complex(self) -> bool:
        return self.enumerator in _COMPLEX

    @property
    def is_floating_point(self) -> bool:
        is_other = self.enumerator in _COMPLEX | _QUANTIZED
        return not is_other and _NAMES[self.enumerator] not in INTEGRAL_DTYPES

    def __str__(self) -> str:
        return _NAMES[self.enumerator]


@dataclass(frozen=True, slots=True)
class TensorInput:
    """A tensor. `strides` are those of a contiguous one if None; `address` is that of the first element, in bytes, and
    `offset` its place in the storage."""

    dtype: Dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    requires_grad: bool = False
    address: int = 0
    capability: int = 0
    offset: int = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides, in elements."""
        return contiguous_strides(self.shape) if self.strides is None else self.strides

    @property
    def is_contiguous(self) -> bool:
        """As PyTorch has it: strides of dimensions of one element, and of empty tensors, say nothing."""
        if 0 in self.shape:
            return True
        wanted = contiguous_strides(self.shape)
        for size, step, due in zip(self.shape, self.steps, wanted):
            if size != 1 and step != due:
                return False
        return True

    def __str__(self) -> str:
        words = [f"{self.dtype}[{', '.join(map(str, self.shape))}]"]
        if self.strides == noncontiguous(self).strides and not self.is_contiguous:
            words.append("noncontiguous")
        elif self.steps != contiguous_strides(self.shape):
            words.append(f"strides={','.join(map(str, self.steps))}")
        if self.requires_grad:
            words.append("requires_grad")
        for word in _NUMBER_WORDS:
            number = getattr(self, word)
            if number:
                words.append(f"{word}={number}")
        return " ".join(words)


Value = Union[TensorInput, Dtype, int, float, str, tuple["Value", ...], None]
Read = Callable[[Expression], Value]


class Unknown(Exception):
    """What a condition asks for is not there: an argument that is not given, a dimension that a tensor has not."""


class NoReading(Exception):
    """The node reads nothing of the input by itself."""


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous tensor of that shape."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def noncontiguous(tensor: TensorInput) -> TensorInput:
    """The tensor with twice the strides, which is contiguous all the same if it has no two elements."""
    steps = contiguous_strides(tensor.shape)
    return replace(tensor, strides=tuple([2 * step for step in steps]))


def dtype_named(name: str) -> Dtype:
    return Dtype(_ENUMERATORS[name])


def tensor_from(text: str) -> TensorInput:
    """`half[4, 12] noncontiguous`. Raises ValueError, with what is wrong in words, for another text."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"`{text}` is no tensor: write `float32[4, 12]`")
    if match["dtype"] not in DTYPES:
        raise ValueError(f"`{match['dtype']}` is no dtype")
    sizes = [int(size) for size in re.findall(r"\d+", match["sizes"])]
    tensor = TensorInput(dtype_named(match["dtype"]), tuple(sizes))
    for word in match["rest"].split():
        name, _, number = word.partition("=")
        if word == "noncontiguous":
            tensor = noncontiguous(tensor)
        elif word == "requires_grad":
            tensor = replace(tensor, requires_grad=True)
        elif name == "strides" and number.count(",") == len(sizes) - 1:
            if not re.fullmatch(r"[\d,]+", number):
                raise ValueError(f"`{number}` are no strides")
            tensor = replace(tensor, strides=tuple(map(int, number.split(","))))
        elif name in _NUMBER_WORDS and number.isdigit():
            numbers: dict[str, Any] = {name: int(number)}
            tensor = replace(tensor, **numbers)
        else:
            known = (
                "`noncontiguous`, `strides=8,1`, `requires_grad`, `address=8`, `offset=2` and "
                "`capability=90`"
            )
            raise ValueError(f"`{word}` says nothing of a tensor: there are {known}")
    return tensor


def reading(values: Mapping[str, Value]) -> Read:
    """What conditions read of these arguments."""

    def read(node: Expression) -> Value:
        match node:
            case nodes.Name(text) if text in values:
                return values[text]
            case nodes.Member(nodes.Name(text), name) if text in values:
                return _attribute(values[text], name)
            case nodes.Call(nodes.Member(nodes.Name(text), "defined"), ()) if text in values:
                return values[text] is not None
            case nodes.Call(nodes.Member(nodes.Name(text), name), arguments) if text in values:
                given = [value_of(argument, read) for argument in arguments]
                return _method(values[text], name, given)
            case nodes.Call(nodes.Name("capability"), (nodes.Name(text),)) if text in values:
                return _present(values[text]).capability
        raise NoReading

    return read


def _present(value: Value) -> TensorInput:
    if isinstance(value, TensorInput):
        return value
    raise Unknown("a tensor that is not given")


def _attribute(value: Value, name: str) -> Value:
    tensor = _present(value)
    if name == "ndim":
        return len(tensor.shape)
    if name == "shape":
        return tensor.shape
    if name == "dtype":
        return tensor.dtype
    return tensor.requires_grad


def _method(value: Value, name: str, arguments: Sequence[Value]) -> Value:
    if isinstance(value, tuple):
        return len(value)
    tensor = _present(value)
    given = arguments[0] if arguments else None
    if name in ("size", "stride"):
        every = tensor.shape if name == "size" else tensor.steps
        return every if given is None else _item(every, given)
    if name == "is_aligned":
        assert isinstance(given, int)
        # What has no elements has no address, which PyTorch says is zero.
        return 0 in tensor.shape or tensor.address % given == 0
    plain: Mapping[str, Value] = {
        "dim": len(tensor.shape),
        "numel": prod(tensor.shape),
        "storage_offset": tensor.offset,
        "is_complex": tensor.dtype.is_complex,
        "is_contiguous": tensor.is_contiguous,
        "is_floating_point": tensor.dtype.is_floating_point,
    }
    return plain[name]


def _item(values: Sequence[Value], at: Value) -> Value:
    assert isinstance(at, int)
    if not -len(values) <= at < len(values):
        raise Unknown(f"item {at} of {len(values)}")
    return values[at]


def value_of(node: Expression, read: Read) -> Value:
    """What an expression of a condition is, where `read` has what it reads. Raises `Unknown`."""
    try:
        return read(node)
    except NoReading:
        pass
    match node:
        case nodes.Literal(text):
            return _literal(text)
        case nodes.Name(text):
            return _constant(text)
        case nodes.Unary("!", operand):
            return not value_of(operand, read)
        case nodes.Unary("-", operand):
            return -_number(value_of(operand, read))
        case nodes.Unary(_, operand):
            return value_of(operand, read)
        case nodes.Conditional(test, yes, no):
            return value_of(yes if value_of(test, read) else no, read)
        case nodes.Binary("&&", left, right):
            return bool(value_of(left, read)) and bool(value_of(right, read))
        case nodes.Binary("||", left, right):
            return bool(value_of(left, read)) or bool(value_of(right, read))
        case nodes.Binary(sign, left, right):
            return _binary(sign, value_of(left, read), value_of(right, read))
        case nodes.Subscript(value, index):
            every = value_of(value, read)
            assert isinstance(every, tuple)
            return _item(every, value_of(index, read))
        case nodes.ListDisplay(items):
            return tuple([value_of(item, read) for item in items])
        case nodes.Call(nodes.Name(name), arguments):
            return _called(name, [value_of(argument, read) for argument in arguments])
    raise Unknown(str(node))


def _literal(text: str) -> Value:
    if text[0] in "\"'":
        return text[1:-1]
    return int(text) if text.isdigit() else float(text)


def _constant(text: str) -> Value:
    if text in DTYPES:
        return dtype_named(text)
    if text in ("True", "true", "False", "false"):
        return text in ("True", "true")
    if text in FORMATS:
        return text
    if text == "None":
        return None
    raise Unknown(text)


def _number(value: Value) -> int | float:
    if isinstance(value, int | float):
        return value
    raise Unknown("a number that is not given")


def _binary(sign: str, left: Value, right: Value) -> Value:
    if sign == "==":
        return left == right
    if sign == "!=":
        return left != right
    try:
        return _ARITHMETIC[sign](_number(left), _number(right))
    except ZeroDivisionError:
        raise Unknown("a division by zero") from None


_ARITHMETIC: Mapping[str, Callable[[int | float, int | float], Value]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
    "/": operator.truediv,
    # That of `floor_div`.
    "//": operator.floordiv,
}


def _called(name: str, arguments: Sequence[Value]) -> Value:
    match name, arguments:
        case "len", [tuple(items)]:
            return len(items)
        case "default", [first, second]:
            return second if first is None else first
        case "floor_div", [left, right]:
            return _binary("//", left, right)
        case "max", _:
            return max(map(_number, arguments))
        case "min", _:
            return min(map(_number, arguments))
    raise Unknown(f"`{name}`")
