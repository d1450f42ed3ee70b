"""One rule of layout for generated Python and C++.

Note [Layout]
A template writes each statement on one line, however long. A statement that fits stays on its line;
one that does not is split at its outermost brackets, parameters before the return type, one item a
line, and again inside each item that is too long; strings never. What operators join is split
before those that bind least, and a value without brackets worth it goes on a line of its own.
Comments are wrapped.

Only white space changes, and in Python also the comma after a last item and the brackets around a
whole value. What stays as it is: preprocessor lines, strings and comments of several lines,
statements with a comment behind them, and what `# fmt: off` or `// clang-format off` switches off,
until `on` or to the end.
"""

from __future__ import annotations

import re
from itertools import pairwise
from keyword import iskeyword, kwlist
from textwrap import fill

from torchgen_lite.emit.tokens import CPP, LANGUAGES, PYTHON, STRING, Language, Pair, scan

WIDTH = 100
# Brackets around one word that is no longer are not worth a split.
_SHORT = 16
_KEYWORDS = tuple(kwlist)
_PLAIN_VALUE = re.compile(r"([\w.]+(?:: \w+)? = )([\w.]+)")
_LONE_STRING = re.compile(STRING)
_BEFORE_VALUE = re.compile(r"return |(?:el)?if (?=.*:$)|while (?=.*:$)|from [\w.]+ import (?![(*])")


def lay_out(path: str, text: str) -> str:
    """The text of a generated file, with every line that is too long split where that is possible.

    >>> print(lay_out("a.h", f"int f(int {'a' * 40}, int {'b' * 40}, int c);"))
    int f(
        int aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
        int bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,
        int c);
    """
    language = LANGUAGES.get(path[path.rfind(".") :])
    if language is None:
        return text
    lines = text.split("\n")
    long = {number for number, length in enumerate(map(len, lines)) if length > WIDTH}
    if not long:
        return text
    marked = _marked(text, language)
    end = ""
    for number in sorted(long | marked):
        line = lines[number]
        if end or (number in marked and _begins_region(line, language)):
            end = _left_open(line, end, language)
        elif number in long:
            before = lines[number - 1] if number else ""
            lines[number] = _lay_out_line(line, before, language)
    return "\n".join(lines)


def _begins_region(line: str, language: Language) -> bool:
    """Whether a line has a mark behind which the text stays as it is."""
    return any(mark[1] for mark in language.marks.finditer(line))


def _marked(text: str, language: Language) -> set[int]:
    """The numbers of lines that may begin or end a region that stays as it is."""
    marks = set[str]()
    for beginning, end in language.ends.items():
        if beginning in text:
            marks |= {beginning, end}
    numbers = set()
    for mark in marks:
        before = 0
        number = 0
        at = text.find(mark)
        while at >= 0:
            number += text.count("\n", before, at)
            numbers.add(number)
            before = at
            at = text.find(mark, at + 1)
    return numbers


def _left_open(
    line: str,
    end: str,
    language: Language,
) -> str:
    """What closes the region that is open after the line, if one is; before it, `end` does."""
    at = 0
    while True:
        if end:
            closing = line.find(end, at)
            if closing < 0:
                return end
            at = closing + len(end)
        mark = language.marks.search(line, at)
        if mark is None:
            return ""
        at = mark.end()
        end = language.ends[mark[1]] if mark[1] else ""


def _lay_out_line(
    line: str,
    before: str,
    language: Language,
) -> str:
    """The lines of one that is too long, after the line `before`."""
    text = line.lstrip(" ")
    margin = len(line) - len(text)
    if before.endswith("\\") or (language is CPP and text[0] == "#"):
        return line
    if text.startswith(language.comment):
        mark, _, words = text.partition(" ")
        begin = f"{' ' * margin}{mark} "
        return fill(
            words,
            WIDTH,
            initial_indent=begin,
            subsequent_indent=begin,
            break_long_words=False,
            break_on_hyphens=False,
        )
    if language.comment in text and language.comment in re.sub(STRING, "", text):
        return line
    if text[-1] == ",":
        # An item of a table, which may be nothing but a string.
        is_string = _LONE_STRING.fullmatch(text, 0, len(text) - 1)
        if is_string:
            return line
        return "\n".join(_at_brackets(text[:-1], margin, ",", language))
    return "\n".join(_STATEMENTS[language.comment](text, margin))


def _best(text: str, pairs: list[Pair]) -> Pair | None:
    """The brackets to split at: the longest, but those of types only if there are no others."""
    if len(pairs) == 1 and pairs[0].parts.commas:
        return pairs[0]

    def length_of(pair: Pair) -> int:
        return pair.closing - pair.opening

    def worth(pair: Pair) -> tuple[bool, int]:
        is_type = _is_type(text, pair.opening)
        return not is_type, length_of(pair)

    long = [pair for pair in pairs if pair.parts.commas or length_of(pair) > _SHORT]
    return max(long, key=worth, default=None)


def _is_type(text: str, opening: int) -> bool:
    """Whether a bracket opens template arguments or a subscript, rather than a call or a list.

    >>> _is_type("f[a]", 1), _is_type("return [a]", 7), _is_type("f(a)", 1)
    (True, False, False)
    """
    bracket = text[opening]
    return bracket == "<" or (bracket == "[" and _is_behind_value(text, opening))


def _is_behind_value(text: str, opening: int) -> bool:
    """Whether brackets belong to the value before them, which is called or has items."""
    before = text[opening - 1 : opening]
    ends_value = before.isalnum() or before in "_)]}\"'"
    if not before or not ends_value:
        return False
    may_be_keyword = text.endswith(_KEYWORDS, 0, opening)
    if not may_be_keyword:
        return True
    words = re.split(r"\W", text[:opening])
    return not iskeyword(words[-1])


def _cut(text: str, places: list[int]) -> list[str]:
    """The pieces between places, without the spaces around them.

    >>> _cut("a + b - c", [1, 5])
    ['a', '+ b', '- c']
    """
    return [text[i:j].strip() for i, j in pairwise([0, *places, len(text)])]


def _item(
    text: str,
    margin: int,
    end: str,
    language: Language,
) -> list[str]:
    """The lines of what stands in brackets or begins a statement; `end` follows it."""
    whole = " " * margin + text + end
    if len(whole) <= WIDTH:
        return [whole]
    parts, pairs = scan(text, language)
    pair = _best(text, pairs)
    if not parts.operators or (pair and parts.is_product):
        return _split(text, margin, end, language, pair)
    pieces = _cut(text, parts.breaks)
    ends = [""] * (len(pieces) - 1) + [end]
    return _items(pieces, ends, margin, language)


def _items(
    texts: list[str],
    ends: list[str],
    margin: int,
    language: Language,
) -> list[str]:
    """The lines of several items, each of which is followed by its end."""
    lines: list[str] = []
    for text, end in zip(texts, ends, strict=True):
        lines += _item(text, margin, end, language)
    return lines


def _split(
    text: str,
    margin: int,
    end: str,
    language: Language,
    pair: Pair | None,
) -> list[str]:
    """The lines of text split at a pair of brackets, if there is one, one item a line."""
    whole = " " * margin + text + end
    if pair is None:
        return [whole]
    places = pairwise([pair.opening, *pair.parts.commas, pair.closing])
    items = [text[i + 1 : j].strip() for i, j in places]
    ends = [","] * len(items)
    if items[-1]:
        ends[-1] = _last_comma(text, pair, language)
    else:
        items.pop()
        ends.pop()
    lines = _items(items, ends, margin + 4, language)
    if len(lines) == 1 and len(lines[0]) > WIDTH:
        return [whole]
    first = _at_brackets(text[: pair.opening + 1], margin, "", language)
    rest = text[pair.closing :]
    if language is CPP and len(lines[-1]) + len(rest) + len(end) <= WIDTH:
        return [*first, *lines[:-1], lines[-1] + rest + end]
    return [*first, *lines, *_at_brackets(rest, margin, end, language)]


def _at_brackets(
    text: str,
    margin: int,
    end: str,
    language: Language,
) -> list[str]:
    whole = " " * margin + text + end
    if len(whole) <= WIDTH:
        return [whole]
    _, pairs = scan(text, language)
    return _split(text, margin, end, language, _best(text, pairs))


def _last_comma(
    text: str,
    pair: Pair,
    language: Language,
) -> str:
    """The comma after the last item, unless it would make a tuple or a mistake."""
    is_loop = any(text.startswith(" for ", at) for _, at in pair.parts.operators)
    if language is CPP or is_loop:
        return ""
    # What begins a line may be either a call or a list.
    begins_line = pair.opening == 0
    # A call has brackets behind a value, a list has none.
    is_round = text[pair.opening] == "("
    if not begins_line and is_round == _is_behind_value(text, pair.opening):
        return ","
    # The commas may be those of a lambda.
    has_lambda = "lambda" in text[pair.opening : pair.closing]
    return "," if pair.parts.commas and not has_lambda else ""


def _python_statement(text: str, margin: int) -> list[str]:
    """The lines of a Python statement; its value may need brackets to go on in the next line."""
    room = WIDTH - margin
    plain = _PLAIN_VALUE.fullmatch(text)
    if plain is not None:
        target, plain_value = plain.groups()
        lines = [f"{target}(", f"    {plain_value}", ")"]
        if max(map(len, lines)) <= room:
            return [" " * margin + line for line in lines]
    parts, pairs = scan(text, PYTHON)
    pair = _best(text, pairs)
    begin, end = _value(text, parts.signs)
    commas = [at + 1 for at in parts.commas if at > begin]
    is_joined = bool(commas) or any(at > begin for _, at in parts.operators)
    fits = max(begin + 1, 4 + end - begin) <= room
    is_single = fits and (pair is None or _is_type(text, pair.opening))
    if not begin or not (is_joined or is_single):
        return _split(text, margin, "", PYTHON, pair)
    whole = f"{text[:begin]}({text[begin:end]}){text[end:]}"
    around_value = Pair(begin, end + 1, parts._replace(commas=commas))
    return _split(whole, margin, "", PYTHON, around_value)


def _value(text: str, signs: list[int]) -> tuple[int, int]:
    """Where the value of a Python statement begins and ends, if it may stand in brackets; or (0, 0).

    >>> _value("return a and b", [])
    (7, 14)
    """
    word = _BEFORE_VALUE.match(text)
    begin = word.end() if word is not None else max(signs, default=0)
    goes_on = text[-1] in "([{" or ";" in text
    is_string = text[begin] in "\"'"
    if not begin or goes_on or is_string:
        return 0, 0
    end = len(text.removesuffix(":"))
    return begin, end


def _cpp_statement(text: str, margin: int) -> list[str]:
    """The lines of a C++ statement, which goes on in the next line without brackets."""
    parts, pairs = scan(text, CPP)
    pair = _best(text, pairs)
    places = parts.breaks
    if pair is None and not places:
        last_sign = parts.signs[-1:]
        places = [at for at in last_sign if margin + 4 + len(text) - at <= WIDTH]
    if not places or (pair is not None and parts.is_product):
        return _split(text, margin, "", CPP, pair)
    first, *others = _cut(text, places)
    lines = _items(others, [""] * len(others), margin + 4, CPP)
    return _at_brackets(first, margin, "", CPP) + lines


_STATEMENTS = {PYTHON.comment: _python_statement, CPP.comment: _cpp_statement}
