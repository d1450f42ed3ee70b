"""The field `guard:`: a line that opens a preprocessor condition and that a preprocessor accepts.

Note [Guards are parsed]
Generated code joins the condition with others, so text that is not a whole expression could close
brackets, open a comment, or go on in the next line. Only the language of
[cpp.cond] is read: names, integers, `defined`, macro calls, operators, and brackets.
"""

from __future__ import annotations

import re

from torchgen_lite.loader.config.options import NAME

# Nobody writes a longer guard by hand, and each bracket costs a pass over the text.
_MAX_LENGTH = 1000
_LINE = re.compile(rf"#(?:if[ \t]+(?P<condition>[ -~\t]+)|(?P<test>ifn?def)[ \t]+(?P<name>{NAME}))")
_SPELLED = dict(
    zip("and bitand bitor compl not not_eq or xor".split(), "&& & | ~ ! != || ^".split())
)
# Names that no macro can have.
_TAKEN = frozenset({*_SPELLED, "and_eq", "defined", "or_eq", "xor_eq"})
# Two signs that C++ reads as one operator, and the characters that stand for operands below.
_UNREAD = re.compile(r"\+\+|--|[$@]")
_INTEGER = r"(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)[uU]?(?:ll?|LL?)?"
_OPERANDS = tuple(
    re.compile(pattern.replace(" ", "[ \t]*"))
    for pattern in (
        rf"\bdefined (?:\( ({NAME}) \)|(?<=\s)({NAME})\b)",
        r"\b__has_include \( (?:<[^<>\"\\]+>|\"[^\"\\]+\") \)",
        rf"(?<![\w.']){_INTEGER}(?![\w.']|(?<=[eEpP])[-+])",
    )
)
# `$` stands for a name, which may be called, and `@` for any other operand.
_STEPS = tuple(
    (re.compile(pattern.replace(" ", "[ \t]*")), result)
    for pattern, result in (
        (r"\$ \( (?:[$@](?: , [$@])*)? \)", "@"),
        (r"\( [$@] \)", "@"),
        (r"((?:^|[^$@)\s]) )[-+!~] [$@]", r"\1@"),
        (r"[$@] (?:&&|\|\||[=!<>]=|<<|>>|[-+*/%<>&|^]) [$@]", "@"),
        (r"[$@] \? [$@] : [$@]", "@"),
    )
)


def read_guard(text: str) -> str | None:
    """The condition of a guard, in brackets if `&&` would tear it apart, or None if it isn't one.

    >>> read_guard("#ifdef A"), read_guard("#ifndef A"), read_guard("#if A || B"), read_guard("#if A //")
    ('defined(A)', '!defined(A)', '(A || B)', 'A')
    >>> read_guard("#if A) || (B"), read_guard("#if A ?"), read_guard("#if '"), read_guard("#ifdef A B")
    (None, None, None, None)
    """
    line = _LINE.fullmatch(text.strip(" \t\n"))
    if line is None or len(text) > _MAX_LENGTH:
        return None
    if line["name"]:
        sign = "!" if line["test"] == "ifndef" else ""
        return None if line["name"] in _TAKEN else f"{sign}defined({line['name']})"
    # A comment would swallow what follows.
    condition = line["condition"].partition("//")[0].strip()
    if not _is_condition(condition):
        return None
    return f"({condition})" if re.search(r"\|\||\bor\b|\?", condition) else condition


def _is_condition(text: str) -> bool:
    """Whether the text is one expression: parts are reduced to operands until one is left."""
    if _UNREAD.search(text):
        return False
    for operand in _OPERANDS:
        text = operand.sub(lambda match: match[0] if _TAKEN & {*match.groups()} else "@", text)
    text = re.sub(r"\w+", _word, text)
    before = ""
    while text != before:
        before = text
        for step, result in _STEPS:
            text = step.sub(result, text)
    return text in ("$", "@")


def _word(match: re.Match[str]) -> str:
    """`$` for a name, or the operator that a word spells; any other word stays, and is refused."""
    word = match[0]
    is_name = re.fullmatch(NAME, word) and word not in _TAKEN
    return "$" if is_name else _SPELLED.get(word, word)
