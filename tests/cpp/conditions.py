"""Every word of conditions, what Python says of each, and the calls on which C++ has to say the same.

An operator `c7` chooses between `yes` and `no`, by the condition of that number. What a tensor is asked is in `Facts`,
from which tests make tensors of PyTorch and of a framework.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, NamedTuple

ITEMSIZES = {
    "half": 2,
    "bfloat16": 2,
    "float": 4,
    "double": 8,
    "float8_e5m2": 1,
    "long": 8,
    "bool": 1,
    "complex64": 8,
}
ARGUMENTS = {
    "x": "Tensor",
    "w": "Tensor?",
    "n": "int",
    "k": "int?",
    "m": "SymInt",
    "s": "int[]",
    "r": "int[]?",
    "f": "float",
    "flag": "bool",
    "mode": "str",
    "dtype": "ScalarType?",
    "a": "Scalar",
}


class Condition(NamedTuple):
    """A condition, and the expression of Python that it means, if it is another one; `needs` is what not every target
    has."""

    text: str
    python: str = ""
    needs: str = ""


CONDITIONS = [
    # What tensors are asked.
    Condition("x.dtype == half"),
    Condition("x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0 and x.is_contiguous()"),
    Condition("x.dtype not in [float, complex64]"),
    Condition("x.dtype == float8_e5m2 or x.stride(0) == 0"),
    Condition("x.dim() > 1 and x.ndim < 3"),
    Condition("x.numel() <= 16"),
    Condition("x.size(0) <= 8"),
    Condition("x.size(n) == 3"),
    Condition("x.shape[-1] == 8 or x.size()[0] == 3"),
    Condition("x.shape[m] < 4"),
    Condition("len(x.shape) == 2"),
    Condition("x.shape == s"),
    Condition("x.shape != [3, n + 5]"),
    Condition("x.stride(-1) == 1"),
    Condition("x.stride()[0] > 8"),
    Condition("len(x.stride()) == len(s)"),
    Condition("x.storage_offset() % 4 == 0"),
    Condition("x.is_aligned(16)"),
    Condition("x.is_contiguous()"),
    Condition("x.is_floating_point()"),
    Condition("x.is_complex()"),
    Condition("not x.requires_grad", needs="requires_grad"),
    # What may be absent.
    Condition("w.defined()"),
    Condition("w.defined() and w.dim() == 1 and w.size(0) == x.size(-1)"),
    Condition("not w.defined() or x.dtype == half"),
    Condition(
        "w.defined() ? w.dtype == x.dtype : n > 0", "w.dtype == x.dtype if w.defined() else n > 0"
    ),
    Condition("k.defined() and k > 2"),
    Condition("default(k, -1) < n"),
    Condition("k.defined() and k in {0, 2}"),
    Condition("dtype.defined() and dtype == half"),
    Condition("r.defined() and len(r) == 2 and r[0] == 3"),
    Condition("default(r, s) == s", "(r if r.defined() else s) == s"),
    Condition("default(dtype, half) == x.dtype"),
    # Numbers, as Python calculates.
    Condition("n % 3 == 2"),
    Condition("-7 % 4 == n"),
    Condition("floor_div(n, 2) == -2"),
    Condition("floor_div(x.size(0), n) > 0"),
    Condition("x.size(0) % n == 0"),
    Condition("(x.numel() - 20) % 8 == 4"),
    Condition("floor_div(x.size(0) - 5, 3) < -1"),
    Condition("min(x.size(0), n, m) == n"),
    Condition("max(n, 2) > max(m, x.size(-1))"),
    Condition("x.size(0) * 65536 * 65536 > 12884901887"),
    Condition("65536 * 65536 > n"),
    Condition("+n - -m == 4"),
    Condition("n + flag > 2"),
    Condition("m >= 3 && !(n > 1)", "m >= 3 and not n > 1"),
    Condition("(n > 0 ? m : x.size(0)) == 3", "(m if n > 0 else x.size(0)) == 3"),
    # The other kinds of arguments.
    Condition("s[0] == n or s[-1] == 3"),
    Condition("s == [1, 2]"),
    Condition("len(s) > 0 and s[len(s) - 1] == 3"),
    Condition("f > 0.5 and f / 2 < x.size(0)"),
    Condition("n / 2.0 == 1.5"),
    Condition("f / n > 0.25"),
    Condition("n / f == 0.5"),
    Condition("flag"),
    Condition("flag == (n > 0)"),
    Condition('mode == "fast"', needs="text"),
    Condition("mode != 'it\"s'", needs="text"),
    Condition("a == 1"),
    Condition("a == x.size(0) or a == 0.5"),
    Condition("a > 1.5 or n == a"),
    Condition("a == flag"),
    Condition("true", "True"),
]


@dataclass(frozen=True)
class Facts:
    """A tensor, of which elements have the offset and the strides given; memory begins at an address divisible by 64."""

    dtype: str
    shape: Sequence[int]
    strides: Sequence[int]
    offset: int = 0
    requires_grad: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def defined(self) -> bool:
        return True

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return prod(self.shape)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        return self.strides if dim is None else self.strides[dim]

    def storage_offset(self) -> int:
        return self.offset

    def is_aligned(self, by: int) -> bool:
        # Without elements there is no address, which PyTorch says is zero.
        return self.numel() == 0 or self.offset * ITEMSIZES[self.dtype] % by == 0

    def is_contiguous(self) -> bool:
        expected = 1
        for size, stride in reversed([*zip(self.shape, self.strides)]):
            if size != 1 and stride != expected:
                return self.numel() == 0
            expected *= size
        return True

    def is_complex(self) -> bool:
        return self.dtype == "complex64"

    def is_floating_point(self) -> bool:
        return self.dtype in ("half", "bfloat16", "float", "double", "float8_e5m2")


class _Absent:
    def defined(self) -> bool:
        return False


class _Int(int):
    def defined(self) -> bool:
        return True


class _Word(str):
    def defined(self) -> bool:
        return True


class _List(list[int]):
    def defined(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, tuple)) and [*self] == [*other]

    __hash__ = None


Call = dict[str, Any]


def said(condition: Condition, call: Call) -> int:
    """1 or 0, as Python evaluates the condition, and -1 if it raises an exception."""
    names = {**{name: name for name in ITEMSIZES}, "true": True, **_STANDARD}
    text = condition.python or condition.text
    values = {name: _asked(value) for name, value in call.items()}
    try:
        return int(bool(eval(text, {"__builtins__": {}}, names | values)))
    except (IndexError, ZeroDivisionError):
        return -1


def counted(conditions: Sequence[Condition], count: int) -> list[str]:
    """What `TORCHGEN_LITE_TRACE=kernels` says of as many calls, sorted."""
    ran = Counter[str]()
    for call in calls(count):
        for number, condition in enumerate(conditions):
            answer = said(condition, call)
            if answer >= 0:
                ran[f"sel::c{number} for CPU: {'yes' if answer else 'no_'}"] += 1
    return sorted(
        f"{name} ran {'once' if times == 1 else f'{times} times'}" for name, times in ran.items()
    )


def _floor_div(left: int, right: int) -> int:
    return left // right


def _default(value: Any, other: Any) -> Any:
    return value if not isinstance(value, _Absent) else other


_STANDARD = {"len": len, "min": min, "max": max, "floor_div": _floor_div, "default": _default}


def _asked(value: Any) -> Any:
    if value is None:
        return _Absent()
    if isinstance(value, (list, tuple)):
        return _List(value)
    if type(value) is int:
        return _Int(value)
    if isinstance(value, str):
        return _Word(value)
    if isinstance(value, Facts):
        # Sizes are compared with lists.
        return replace(value, shape=_List(value.shape))
    return value


def entries(conditions: Sequence[Condition], arguments: Iterable[str]) -> str:
    """The file of operators `sel::c0`, `sel::c1`, ..., which return 1 or 0."""
    taken = ", ".join(f"{ARGUMENTS[name]} {name}" for name in arguments)
    text = ""
    for number, condition in enumerate(conditions):
        when = condition.text.replace("'", "''")
        text += f"- func: sel::c{number}({taken}) -> int\n  dispatch:\n    CPU:\n"
        text += f"      - {{when: '{when}', kernel: yes}}\n      - no_\n"
    return text


def calls(count: int) -> Iterator[Call]:
    """Calls with every tensor, and of all other arguments a choice that is the same each time."""
    chosen = random.Random(53)
    tensors = [*_tensors()]
    for number in range(count):
        x = tensors[number % len(tensors)]
        yield {
            "x": x,
            "w": chosen.choice([None, *_weights(x)]),
            "n": chosen.randint(-3, 4),
            "k": chosen.choice([None, 0, 3]),
            "m": chosen.randint(-1, 4),
            "s": chosen.choice([[], [1, 2], [3], [2, -1, 3], [3, 8], list(x.shape)]),
            "r": chosen.choice([None, [], [3, 8], [1, 2]]),
            "f": chosen.choice([0.0, 0.5, 0.75, 4.0, 40.0]),
            "flag": chosen.choice([False, True]),
            "mode": chosen.choice(["fast", "", 'it"s']),
            "dtype": chosen.choice([None, "half", "float"]),
            "a": chosen.choice([1, 2, 0.5, 2.5, True, False]),
        }


def _tensors() -> Iterator[Facts]:
    shapes = [(3, 8), (3, 7), (3, 9), (8,), (9,), (1, 1), (2, 2, 4), (0, 8), (), (16,), (17,)]
    for dtype, shape in product(ITEMSIZES, shapes):
        strides = [prod(shape[place + 1 :]) for place in range(len(shape))]
        yield Facts(dtype, shape, tuple(strides))
        yield Facts(dtype, shape, tuple(2 * stride for stride in strides), 1)
        yield Facts(dtype, shape, tuple(reversed(strides)), 8, dtype in ("half", "float"))
        # One element in every place.
        yield Facts(dtype, shape, (0,) * len(shape))


def _weights(x: Facts) -> Iterator[Facts]:
    yield Facts("half", (x.shape[-1] if x.shape else 1,), (1,))
    yield Facts(x.dtype, (3, 8), (8, 1), 2)
