"""What to write in place of an expression that cannot be read: the help of TG219.

Each rule knows one thing that Python has and expressions have not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from torchgen_lite.formulas.parser import parse_formula

# Where the language of rules is.
_PAGE = "docs/torch-python-target.md has the language"
_OPERAND = r"[\w.]+(?:\(\w*\))?"
_SLICE = re.compile(
    r"(?P<tensor>\w+)\.(?:shape|size\(\))\[\s*(?P<start>\w*)\s*:\s*(?P<stop>-?\w*)\s*\]"
)
_OR = re.compile(rf"(?P<left>{_OPERAND})\s+or\s+(?P<right>{_OPERAND})")
_AND = re.compile(rf"(?P<left>{_OPERAND})\s+and\s+(?P<right>{_OPERAND})")
_NOT = re.compile(rf"\bnot\s+(?P<operand>{_OPERAND})")
_IF = re.compile(r"(?P<yes>[^,()\[\]{}]+?)\s+if\s+(?P<test>.+?)\s+else\s+(?P<no>[^,()\[\]{}]+)")
_ITEM = r"[\w.]+(?:\(\w*\)|\[-?\w+\])*"
_IF_OF_ITEMS = re.compile(rf"(?P<yes>{_ITEM})\s+if\s+(?P<test>.+?)\s+else\s+(?P<no>{_ITEM})")
_POWER = re.compile(rf"(?P<left>{_ITEM})\s*\*\*\s*(?P<right>-?{_ITEM})")
_FLOOR = re.compile("//")
_MATMUL = re.compile(rf"(?P<left>{_ITEM})\s*@\s*(?P<right>{_ITEM})")
# Parentheses around a comma that belong to no call.
_TUPLE = re.compile(r"(?<![\w\])>.])\((?P<items>[^()\[\]{}]*,[^()\[\]{}]*)\)")
_IS_NONE = re.compile(r"(?P<name>\w+)\s+is\s+(?P<is_not>not\s+)?None\b")


_Rule = Callable[[str], str | None]
# The patterns below try every place of a text; nobody writes a longer one by mistake.
_MOST = 200


def answer_in_a_formula(text: str) -> str | None:
    """The help for a formula, or None if no rule knows the mistake."""
    return _first_answer(text, _IN_FORMULAS)


def answer_in_a_rule(text: str) -> str | None:
    """The same for the expressions of `fake`, `flops` and `samples`."""
    return _first_answer(text, _IN_RULES)


class Correction(NamedTuple):
    """The part of an expression that is replaced by another text; `is_certain` if nothing else can have been meant."""

    start: int
    end: int
    new: str
    is_certain: bool

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def correction_in_a_rule(text: str) -> Correction | None:
    """What to write in the place of Python in an expression of `fake` and `flops`, where that makes it one of rules."""
    if len(text) > _MOST:
        return None
    size = _SLICE.search(text)
    dim = _left_out(size) if size is not None else None
    either = _OR.search(text)
    if size is not None and dim is not None:
        new = f"reduced({size['tensor']}, {dim}, False)"
        correction = Correction(size.start(), size.end(), new, is_certain=True)
    elif either is not None:
        # Of conditions it is `||`.
        new = f"default({either['left']}, {either['right']})"
        correction = Correction(either.start(), either.end(), new, is_certain=False)
    else:
        return None
    _, mistakes = parse_formula(correction.applied(text))
    return None if mistakes else correction


def _first_answer(text: str, rules: tuple[_Rule, ...]) -> str | None:
    known = rules if len(text) <= _MOST else (_bracket,)
    return next(filter(None, (rule(text) for rule in known)), None)


def _bracket(text: str) -> str | None:
    """A bracket that is left open, whatever else is in the text."""
    for opening, closing in ("()", "[]", "{}"):
        if text.count(opening) > text.count(closing):
            return f"write the `{closing}` that closes it"
    return None


def _power_of_numbers(text: str) -> str | None:
    match = _POWER.search(text)
    if match is not None and match["right"] in ("2", "3"):
        factors = [match["left"]] * int(match["right"])
        return f"write `{' * '.join(factors)}`"
    return "write a product: `a * a`" if "**" in text else None


def _tuple(text: str) -> str | None:
    """`(0, 1)`, where a list is an expression."""
    match = _TUPLE.search(text)
    if match is None:
        return None
    written = f"[{match['items'].strip().rstrip(',')}]"
    _, mistakes = parse_formula(text[: match.start()] + written + text[match.end() :])
    return None if mistakes else f"write a list: `{written}`"


def _part_of_a_shape(text: str) -> str | None:
    """`x.shape[:-1]` and `x.shape[1:]`: all sizes but one."""
    sliced = _SLICE.search(text)
    if sliced is None:
        return None
    tensor = sliced["tensor"]
    dim = _left_out(sliced)
    if dim is None:
        return f"write the sizes one by one: `[{tensor}.size(0), {tensor}.size(1)]`; {_PAGE}"
    return (
        f"write `reduced({tensor}, {dim}, False)`, all sizes but that of dimension {dim}; {_PAGE}"
    )


def _left_out(part: re.Match[str]) -> int | None:
    """The dimension that a part of a shape leaves out, if that is all it does."""
    return {("", "-1"): -1, ("0", "-1"): -1, ("1", ""): 0}.get((part["start"], part["stop"]))


def _is_none(text: str) -> str | None:
    match = _IS_NONE.search(text)
    if match is None:
        return None
    sign = "" if match["is_not"] else "!"
    return f"write `{sign}{match['name']}.defined()`"


def _written(pattern: re.Pattern[str], right: str) -> _Rule:
    """A rule that says what to write for what a pattern finds."""

    def rule(text: str) -> str | None:
        match = pattern.search(text)
        if match is None:
            return None
        parts = {name: part.strip() for name, part in match.groupdict().items()}
        return f"write {right.format(**parts)}"

    return rule


# `x if y is None else z` is two mistakes: the first rule that knows one answers.
_COMMON = (
    _is_none,
    _written(_IF, "`{test} ? {yes} : {no}`"),
    _written(_IF_OF_ITEMS, "`{test} ? {yes} : {no}`"),
    _tuple,
    _written(_AND, "`{left} && {right}`"),
    _written(_NOT, "`!{operand}`"),
)
_IN_FORMULAS = (
    _bracket,
    _written(_POWER, "`pow({left}, {right})`"),
    _written(re.compile(r"\*\*"), "`pow(x, n)`"),
    _written(_MATMUL, "`matmul({left}, {right})`"),
    _written(
        _FLOOR,
        "`floor_divide(x, y)` of tensors, and `a / b` of integers, which gives an integer",
    ),
    *_COMMON,
    _written(_SLICE, "the sizes one by one: `[{tensor}.size(0), {tensor}.size(1)]`"),
    # `x[:, 0]` and `x[..., 1:]`.
    _written(
        re.compile(r"\[[^\]]*(?::|\.\.\.)"),
        "`x.select(dim, index)`, or `x.narrow(dim, start, length)`",
    ),
    _written(_OR, "`{left} || {right}`"),
)
_IN_RULES = (
    _bracket,
    _written(_FLOOR, f"`floor_div(a, b)`; {_PAGE}"),
    _part_of_a_shape,
    _power_of_numbers,
    *_COMMON,
    _written(
        _OR, f"`default({{left}}, {{right}})`, or `{{left}} || {{right}}` for conditions; {_PAGE}"
    ),
)
