"""Random formulas: each is refused by one code in every target, or gives in all what a plain evaluator gives.

Each part of a formula is made together with a function that computes it as docs/autograd.md says. This evaluator knows
nothing of the parser, of kinds or of printers.
"""

from __future__ import annotations

import json
import math
import operator
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tests.formulas import programs
from tests.formulas.projects import codes, entry, run, write_project
from tests.formulas.rows import Row

TARGETS = ("python", "torch-python")
Names = Mapping[str, Any]


class Made(NamedTuple):
    """A part of a formula, in brackets where it needs them, and its value for the arguments of a call."""

    text: str
    value: Callable[[Names], Any]


def _quotient(a: Any, b: Any) -> Any:
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(1, a) * math.copysign(math.inf, b)


_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_COMPARED = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}  # fmt: skip


# Functions and methods of PyTorch, as formulas call them and as Python does.
_FUNCTIONS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("add({0}, {1}, {2})", lambda torch, a, b, n: torch.add(a, b, alpha=n)),
    ("{0}.sub({1}, {2})", lambda torch, a, b, n: a.sub(b, alpha=n)),
    ("addcmul({0}, {1}, {1}, {2})", lambda torch, a, b, n: torch.addcmul(a, b, b, value=n)),
    ("{0}.div({1} * {2}, 'floor')", lambda torch, a, b, n: a.div(b * n, rounding_mode="floor")),
    ("{0}.clamp({2})", lambda torch, a, b, n: a.clamp(n)),
    ("full_like({0}, {2})", lambda torch, a, b, n: torch.full_like(a, n)),
    ("where({0} > {1}, {1}, {2})", lambda torch, a, b, n: torch.where(a > b, b, n)),
    ("{0}.masked_fill({1} < 0, {2})", lambda torch, a, b, n: a.masked_fill(b < 0, n)),
    ("({0}.sum({{k - 1}}, true) * {1})", lambda torch, a, b, n: a.sum([1], True) * b),
    ("{0}.expand({{k, 3}}).roll(k, {{k - 1}})", lambda torch, a, b, n: a.expand(2, 3).roll(2, [1])),
)


class Formulas:
    """Parts of each kind. `limit` is how deep they may be nested."""

    def __init__(self, chooser: random.Random) -> None:
        self.chooser = chooser

    def formula(self) -> Made:
        """The gradient: `grad` times something, so that it has the shape of `self`."""
        kind = self.chooser.choice((self.tensor, self.tensor, self.number, self.whole, self.truth))
        grad, factor = _named("grad"), kind(self.chooser.randint(1, 4))
        return _two("*", operator.mul, grad, factor)

    def _pick(self, leaves: list[Made], deeper: list[Callable[[int], Made]], limit: int) -> Made:
        if limit <= 0 or self.chooser.random() < 0.15:
            return self.chooser.choice(leaves)
        return self.chooser.choice(deeper)(limit - 1)

    def whole(self, limit: int) -> Made:
        """An integer."""
        size = Made("self.size(1)", lambda names: 3)
        last = Made("dims[-1]", lambda names: 20)
        lengths = [_length("xs", 2), _length("sz", 2), _length("fs", 2)]
        symbolic = [
            _named("k"),
            Made("other.numel()", lambda names: 6),
            Made("sz[k - 2]", lambda names: 2),
        ]
        leaves = [_number(2), _number(0), _number(5), _named("n"), _named("m"), size, last]
        leaves += lengths + symbolic
        return self._pick(leaves, [self._sum, self._rest, self._bits, self._chosen_whole], limit)

    def _sum(self, limit: int) -> Made:
        return self._arithmetic(self.whole(limit), self.whole(limit))

    def _arithmetic(self, a: Made, b: Made) -> Made:
        sign = self.chooser.choice("+-*")
        return _two(sign, lambda x, y: _narrow(_ARITHMETIC[sign](x, y)), a, b)

    def _rest(self, limit: int) -> Made:
        rest = lambda a, b: a - b * int(_truncated(a, b))  # noqa: E731
        return _two("%", rest, self.whole(limit), self.whole(limit))

    def _bits(self, limit: int) -> Made:
        """Bits of integers that are no sizes."""
        small = [_number(6), _named("n"), _one("~", operator.inv, _named("n")), _named("m")]
        a, b = self.chooser.choice(small), self.chooser.choice(small)
        sign = self.chooser.choice("&|^")
        return _two(sign, _BITS[sign], a, b)

    def _chosen_whole(self, limit: int) -> Made:
        return _choice(self.truth(limit), self.whole(limit), self.whole(limit))

    def number(self, limit: int) -> Made:
        """A float."""
        leaves = [_number(0.5), _number(2.25), _named("s"), _named("alpha")]
        return self._pick(leaves, [self._quotient, self._float, self._minus], limit)

    def _any_number(self, limit: int) -> Made:
        return self.chooser.choice((self.whole, self.number, self.truth))(limit)

    def _quotient(self, limit: int) -> Made:
        return _two("/", _quotient, self._any_number(limit), self._any_number(limit))

    def _float(self, limit: int) -> Made:
        return self._arithmetic(self._any_number(limit), self.number(limit))

    def _minus(self, limit: int) -> Made:
        return _one("-", operator.neg, self.number(limit))

    def truth(self, limit: int) -> Made:
        """A boolean."""
        there = Made("weight.defined()", lambda names: True)
        gone = Made("(gone == k)", lambda names: False)
        leaves = [_named("flag"), Made("false", lambda names: False), there, gone]
        return self._pick(leaves, [self._compared, self._logical, self._not], limit)

    def _compared(self, limit: int) -> Made:
        sign = self.chooser.choice(list(_COMPARED))
        return _two(sign, _COMPARED[sign], self._any_number(limit), self._any_number(limit))

    def _logical(self, limit: int) -> Made:
        a, b = self._any_number(limit), self._any_number(limit)
        if self.chooser.random() < 0.5:
            return Made(f"({a.text} && {b.text})", lambda n: bool(a.value(n)) and bool(b.value(n)))
        return Made(f"({a.text} || {b.text})", lambda n: bool(a.value(n)) or bool(b.value(n)))

    def _not(self, limit: int) -> Made:
        return _one("!", operator.not_, self._any_number(limit))

    def tensor(self, limit: int) -> Made:
        """A tensor of floats."""
        leaves = [_named(name) for name in ("grad", "self", "other", "weight")]
        leaves.append(Made("xs[-1]", lambda names: names["xs"][1]))
        deeper = [self._both, self._left, self._right, self._where, self._chosen, self._method]
        deeper += [self._function, self._function]
        return self._pick(leaves, deeper, limit)

    def _tensors(self, a: Made, b: Made) -> Made:
        signs = {**_ARITHMETIC, "/": operator.truediv, "%": operator.mod}
        sign = self.chooser.choice(list(signs))
        return _two(sign, signs[sign], a, b)

    def _both(self, limit: int) -> Made:
        return self._tensors(self.tensor(limit), self.tensor(limit))

    def _left(self, limit: int) -> Made:
        """A number before a tensor of floats or of integers."""
        return self._tensors(
            self.number(limit), self.chooser.choice((self.tensor, self._counts))(limit)
        )

    def _right(self, limit: int) -> Made:
        return self._tensors(self.tensor(limit), self._any_number(limit))

    def _mask(self, limit: int) -> Made:
        sign = self.chooser.choice(list(_COMPARED))
        other = self.chooser.choice((self.tensor, self.whole))(limit)
        return _two(sign, _COMPARED[sign], self.tensor(limit), other)

    def _counts(self, limit: int) -> Made:
        """A tensor of integers, none of which is zero."""
        return _two("+", operator.add, self._mask(limit), _number(2))

    def _where(self, limit: int) -> Made:
        test, yes, no = self._mask(limit), self.tensor(limit), self.tensor(limit)
        text = f"where({test.text}, {yes.text}, {no.text})"
        return Made(text, lambda n: n["where"](test.value(n), yes.value(n), no.value(n)))

    def _chosen(self, limit: int) -> Made:
        return _choice(self._any_number(limit), self.tensor(limit), self.tensor(limit))

    def _function(self, limit: int) -> Made:
        """A function of two tensors and a number, each given by position."""
        text, compute = self.chooser.choice(_FUNCTIONS)
        a, b = self.tensor(limit), self.tensor(limit)
        number = self.chooser.choice((self.whole, self.number))(limit)
        parts = (a, b, number)
        return Made(
            text.format(*[part.text for part in parts]),
            lambda names: compute(names["torch"], *[part.value(names) for part in parts]),
        )

    def _method(self, limit: int) -> Made:
        of = self.tensor(limit)
        name = self.chooser.choice(("neg", "conj", "abs"))
        return Made(f"{of.text}.{name}()", lambda names: getattr(of.value(names), name)())


def _truncated(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


def _narrow(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= 1 << 53:
        raise OverflowError
    return value


def _named(name: str) -> Made:
    return Made(name, lambda names: names[name])


def _length(name: str, count: int) -> Made:
    return Made(f"{name}.size()", lambda names: count)


def _number(value: float) -> Made:
    return Made(repr(value), lambda names: value)


def _one(sign: str, compute: Callable[[Any], Any], of: Made) -> Made:
    return Made(f"({sign}{of.text})", lambda names: compute(of.value(names)))


def _two(sign: str, compute: Callable[[Any, Any], Any], a: Made, b: Made) -> Made:
    return Made(f"({a.text} {sign} {b.text})", lambda n: compute(a.value(n), b.value(n)))


def _choice(test: Made, yes: Made, no: Made) -> Made:
    return Made(
        f"({test.text} ? {yes.text} : {no.text})",
        lambda names: yes.value(names) if test.value(names) else no.value(names),
    )


def _expected(made: Made) -> Any:
    """What the evaluator gives; `raises` for a remainder by zero, and for what torch refuses (`x - true`);
    `overflows` where an integer has more bits than those of C++."""
    import torch

    row = Row(made.text)
    tensors = programs.inputs(row, lambda data: torch.tensor(data, dtype=torch.float64))
    names = {**tensors, "grad": torch.tensor(programs.GRAD, dtype=torch.float64)}
    try:
        found = made.value({**names, "where": torch.where, "torch": torch})
    except (ZeroDivisionError, RuntimeError):
        return "raises"
    except OverflowError:
        return "overflows"
    return programs.numbers(found.to(torch.float64))


def _agree(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) or isinstance(found, str):
        return isinstance(wanted, str) and isinstance(found, str)
    pairs = zip(chain(*found), chain(*wanted))
    return all(a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-6) for a, b in pairs)


def accepted(count: int, seed: int, target: str) -> list[Made]:
    """Formulas that a target takes."""
    every = [_made(seed, number) for number in range(count)]
    return [made for made in every if not codes(entry(0, Row(made.text)), target)]


def _made(seed: int, number: int) -> Made:
    return Formulas(random.Random(f"formulas {seed} {number}")).formula()


def differences(target: str, folder: Path, every: Sequence[Made], first: int = 0) -> list[str]:
    """The formulas that a target computes in another way. `first` is the number of the first one's operator."""
    (folder / "rows.json").write_text(json.dumps([first, [made.text for made in every]]))
    found, problems = run(target, folder, "tests.fuzz.formulas"), []
    for at, made in enumerate(every):
        wanted = _expected(made)
        if wanted != "overflows" and not _agree(found[str(at)], wanted):
            problems.append(f"{made.text}: {target} gives {found[str(at)]}, not {wanted}")
    return problems


def run_formulas(count: int, seed: int, first: int = 0) -> list[str]:
    """The formulas that are refused in one target only, or that some target computes in another way."""
    problems, taken = [], list[Made]()
    for number in range(first, first + count):
        made = _made(seed, number)
        text = entry(0, Row(made.text))
        refused = {target: codes(text, target) for target in (*TARGETS, "cpp-torch")}
        if len({*map(tuple, refused.values())}) > 1:
            problems.append(f"seed {seed}, input {number}: {made.text}: {refused}")
        elif not refused["python"]:
            taken.append(made)
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as name:
            write_project(Path(name), target, [Row(made.text) for made in taken])
            problems += differences(target, Path(name), taken)
    return problems


def main(target: str) -> None:
    first, texts = json.loads(Path("rows.json").read_text())
    programs.main(target, [Row(text) for text in texts], first)


if __name__ == "__main__":
    main(sys.argv[1])
