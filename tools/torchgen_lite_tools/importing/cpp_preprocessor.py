"""C++ before it is parsed: records the conditions of each line, and expands macros.

Note [Both branches are read]
Directives become blanks, so the parser sees the `#if` branch followed by the `#else` branch, and
each registration knows its line's conditions. Only `#if 0` and `#if 1` are evaluated.

Note [Lists that are included]
A file that is included inside of braces is a part of what is around it, if it is one of the given files and has no
conditions of its own. It is expanded at that line, with the macros as they are defined there: lists (`OP(add) OP(mul)`)
are included several times, each time with another meaning of `OP`. What it registers has the place of the `#include`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from torchgen_lite.diagnostics import Source, Span

_LITERAL = r"""R"(?P<raw>[^\s()\\]{0,16})\(.*?(?:\)(?P=raw)"|\Z)|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'"""
_COMMENT = r"//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)"
_DIRECTIVE = r"^[ \t]*\#[ \t]*(?P<word>\w+)(?P<rest>(?:\\\r?\n|/\*.*?(?:\*/|\Z)|[^\n])*)"
_QUOTED = re.compile(rf"{_COMMENT}|{_LITERAL}", re.S)
_PIECE = re.compile(rf"{_COMMENT}|{_DIRECTIVE}|{_LITERAL}", re.M | re.S)
_TOKEN = re.compile(rf"{_COMMENT}|{_LITERAL}|[A-Za-z_]\w*|\.?\d[\w.']*|\#\#|\S", re.S)
# Gives the file that another one includes by this name.
Find: TypeAlias = Callable[[str, Source], "Source | None"]
_ONCE = re.compile(r"^\s*#\s*pragma\s+once", re.M)
# The number of characters of one included file.
_MAX_INCLUDED = 1_000_000
# What is in front of a brace that is not the start of a block.
_IN_FRONT = re.compile(r"(?:\bnamespace\b[\w:\s]*|\bextern\s*)\Z")
# The number of characters that macros may read and produce in one file; each use costs a few.
_MAX_LENGTH = 8_000_000
_USE = 16
_MAX_DEPTH = 40
# The number of conditions around one registration, each of which its guard repeats.
_MAX_CONDITIONS = 200
# The number of characters between the parentheses of one use.
_MAX_CALL = 100_000
# Text read after a macro's name that is not a call counts more: the next name may read it again.
_IN_VAIN = 4
_OPENING = {"if": "{}", "ifdef": "defined({})", "ifndef": "!defined({})"}
_BRANCHES = {"elif": "{}", "elifdef": "defined({})", "elifndef": "!defined({})", "else": ""}


@dataclass(frozen=True, slots=True)
class Macro:
    """`NAME=body`, perhaps with parameters that a call's arguments replace in the body."""

    name: str
    parameters: tuple[str, ...] | None
    body: str


def parse_macro(text: str) -> Macro | None:
    """A macro from the command line; None if the text isn't one.

    >>> parse_macro("CPU(n, f)=m.impl(n, torch::kCPU, f)")
    Macro(name='CPU', parameters=('n', 'f'), body='m.impl(n, torch::kCPU, f)')
    """
    match = re.fullmatch(r"([A-Za-z_]\w*)(\([^()]*\))?=(.*)", text.strip(), re.S)
    if match:
        return _macro(match[1], match[2], match[3])
    return None


def _macro(name: str, parameters: str | None, body: str) -> Macro:
    names = None
    if parameters is not None:
        between_parentheses = parameters[1:-1]
        words = [word.strip() for word in between_parentheses.split(",")]
        names = tuple(word for word in words if word)
    return Macro(name, names, _without_comments(body).strip())


def _without_comments(text: str) -> str:
    """One line of what a directive says."""
    one_line = re.sub(r"\\\r?\n", " ", text)
    return re.sub(_COMMENT, " ", one_line, flags=re.S)


def without_comments(text: str) -> str:
    """The text with blanks for comments."""

    def without(match: re.Match[str]) -> str:
        is_comment = match[0].startswith(("//", "/*"))
        return _blank(match[0]) if is_comment else match[0]

    return _QUOTED.sub(without, text)


def without_quoted(text: str) -> str:
    """The text with blanks for comments and literals."""
    return _QUOTED.sub(lambda match: _blank(match[0]), text)


def _without_open_comment(text: str) -> str:
    """The text with an unclosed comment blanked: the parser would seek its end at every line."""
    last = text.rfind("/*")
    if last < 0 or text.find("*/", last + 2) >= 0:
        return text
    for match in _QUOTED.finditer(text):
        if match.end() == len(text) and match[0].startswith("/*"):
            return text[: match.start()] + _blank(match[0])
    return text


def unclosed(source: Source) -> Iterator[tuple[str, Span]]:
    """What the end of a file cuts off: a comment, a raw string, and conditions, each where it begins."""
    conditions = list[Span]()
    for match in _PIECE.finditer(source.text):
        place = Span(
            source, match.start(), min(match.start() + len(match[0].split()[0]), match.end())
        )
        is_last = match.end() == len(source.text)
        if match["word"] in _OPENING:
            conditions.append(place)
        elif match["word"] == "endif" and conditions:
            conditions.pop()
        elif is_last and match[0].startswith("/*") and not match[0].endswith("*/", 2):
            yield "comment", place
        elif is_last and match["raw"] is not None and not match[0].endswith(f'){match["raw"]}"'):
            yield "string", place
    for place in conditions:
        yield "condition", place


def defined_macros(source: Source) -> Iterator[Macro]:
    """The macros that a file defines."""
    for match in _PIECE.finditer(source.text):
        if match["word"] != "define":
            continue
        rest = match["rest"]
        head = re.match(r"\s*([A-Za-z_]\w*)(\([^()]*\))?", rest)
        if head is not None:
            name, parameters = head.groups()
            yield _macro(name, parameters, rest[head.end() :])


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition and those around it, which several branches share; `count` is how many there are."""

    text: str
    around: _Condition | None
    count: int
    is_never: bool


@dataclass(frozen=True, slots=True)
class CppText:
    """A file for the parser: no directives, macros expanded. `included` has the places of `#include`s that it contains."""

    source: Source
    text: str
    included: frozenset[int]
    _conditions: tuple[tuple[int, _Condition | None], ...]
    # Where pieces of the text begin, where they came from, and whether they are expansions.
    _pieces: tuple[tuple[int, int, bool], ...] = field(repr=False)

    def span(self, start: int, end: int) -> Span:
        """The place in the file of a part of the text; for an expansion, the macro's name."""
        first = self._origin(start)
        last = self._origin(max(end - 1, start))
        return Span(self.source, first, max(last + 1, first))

    def _origin(self, offset: int) -> int:
        behind = bisect_right(self._pieces, offset, key=lambda piece: piece[0])
        start, origin, is_expansion = self._pieces[behind - 1]
        if is_expansion:
            return origin
        return origin + offset - start

    def conditions(self, offset: int) -> tuple[str, ...] | None:
        """The conditions around a place, outermost first; None for more than a guard can repeat."""
        behind = bisect_right(self._conditions, self._origin(offset), key=lambda place: place[0])
        if behind == 0:
            return ()
        _, condition = self._conditions[behind - 1]
        if condition is not None and condition.count > _MAX_CONDITIONS:
            return None
        innermost_first = list[str]()
        while condition is not None:
            innermost_first.append(condition.text)
            condition = condition.around
        return tuple(reversed(innermost_first))


def preprocess(
    source: Source,
    macros: Mapping[str, Macro],
    given: Collection[str] = (),
    find: Find = lambda name, source: None,
) -> CppText:
    """Remove directives, record conditions, expand macros and what `find` gives for an `#include` inside of braces.

    Macros that are `given` have one meaning, whatever the file says.
    """
    text, conditions = _without_directives(source.text)
    known = dict(macros)
    expander = _Expander(known)
    out = list[str]()
    pieces = list[tuple[int, int, bool]]()
    included = set[int]()
    length = 0
    at = 0
    for cut, change in [*_changes(source, text, given, find), (len(text), "")]:
        body, its_pieces = expander.expand(text[at:cut])
        for start, origin, is_expansion in its_pieces:
            pieces.append((length + start, at + origin, is_expansion))
        out.append(body)
        length += len(body)
        at = cut
        if isinstance(change, Macro):
            known[change.name] = change
        elif change and len(change) <= expander.left:
            expander.left -= len(change)
            included.add(cut)
            pieces.append((length, cut, True))
            expanded = expander.scan(change)
            out.append(expanded)
            length += len(expanded)
    whole = _without_open_comment("".join(out))
    return CppText(source, whole, frozenset(included), tuple(conditions), tuple(pieces))


def _changes(
    source: Source, text: str, given: Collection[str], find: Find
) -> Iterator[tuple[int, Macro | str]]:
    """Where a macro gets another meaning, under no condition, and where a text is included; `text` has no directives."""
    times_defined = Counter(macro.name for macro in defined_macros(source))
    blank = without_quoted(text)
    at = 0
    # Of each open brace, whether it begins a block; of each open `#if`, whether it is a condition.
    are_blocks = list[bool]()
    are_conditions = list[bool]()
    guard = _include_guard(source.text)
    uncertain = set[str]()
    known = dict[str, str | None]()
    cuts = list[tuple[int, Macro | str]]()
    for match in _PIECE.finditer(source.text):
        word = match["word"]
        if word in _OPENING:
            are_conditions.append(match.start() != guard)
        elif word == "endif" and are_conditions:
            are_conditions.pop()
        elif word == "define":
            macro = next(defined_macros(Source("", match[0])), None)
            if macro is None or macro.name in given or times_defined[macro.name] < 2:
                continue
            cuts.append((match.end(), macro))
            if any(are_conditions):
                uncertain.add(macro.name)
        elif word == "include":
            _follow_braces(are_blocks, blank, at, match.start())
            at = match.start()
            inner = _included(match, source, find) if any(are_blocks) else None
            inner_text = _flat(inner, find, known)
            if inner_text is not None:
                hash_sign = source.text.index("#", match.start())
                cuts.append((hash_sign, inner_text))
    for cut, change in cuts:
        if isinstance(change, str) or change.name not in uncertain:
            yield cut, change


def _follow_braces(are_blocks: list[bool], text: str, start: int, end: int) -> None:
    """Open and close the braces of a part of a text."""
    for brace in re.finditer("[{}]", text[start:end]):
        if brace[0] == "{":
            at = start + brace.start()
            in_front = text[max(at - 200, 0) : at]
            are_blocks.append(_IN_FRONT.search(in_front) is None)
        elif are_blocks:
            are_blocks.pop()


def _flat(source: Source | None, find: Find, known: dict[str, str | None]) -> str | None:
    """The text of an included file, with those that it includes; None if it has conditions, is a header, or too long.

    `known` has the texts of files by path, None while a file is being read: it may not include itself.
    """
    if source is None or source.path in known:
        return known[source.path] if source else None
    known[source.path] = None
    text, places = _without_directives(source.text)
    if _has_conditional_text(text, places) or _ONCE.search(source.text):
        return None
    parts = list[str]()
    at = 0
    for match in _PIECE.finditer(source.text):
        if match["word"] != "include":
            continue
        inner = _flat(_included(match, source, find), find, known)
        if inner is None:
            return None
        parts += [text[at : match.start()], inner]
        at = match.end()
    parts.append(text[at:])
    whole = "".join(parts)
    if 0 < len(whole) <= _MAX_INCLUDED:
        known[source.path] = whole
    return known[source.path]


def _has_conditional_text(text: str, places: Sequence[tuple[int, _Condition | None]]) -> bool:
    """Whether anything stands under a condition; `places` are where each begins."""
    starts = [start for start, _ in places]
    ends = [*starts[1:], len(text)]
    for (start, condition), end in zip(places, ends):
        if condition and text[start:end].strip():
            return True
    return False


def _included(match: re.Match[str], source: Source, find: Find) -> Source | None:
    name = re.match(r'\s*"([^"\n]+)"', match["rest"])
    return find(name[1], source) if name else None


def negated(condition: str) -> str:
    """
    >>> negated("defined(A)"), negated("!defined(A)"), negated("A > 1")
    ('!defined(A)', 'defined(A)', '!(A > 1)')
    """
    if re.fullmatch(r"!?defined\(\w+\)", condition):
        if condition[0] == "!":
            return condition[1:]
        return f"!{condition}"
    return f"!({condition})"


def guard_of(conditions: Sequence[str]) -> str:
    """One line for `guard:`.

    >>> guard_of(["defined(A)"]), guard_of(["!defined(A)"]), guard_of(["defined(A)", "B || C"])
    ('#ifdef A', '#ifndef A', '#if defined(A) && (B || C)')
    """
    different = list(dict.fromkeys(conditions))
    if len(different) == 1:
        match = re.fullmatch(r"(!?)defined\((\w+)\)", different[0])
        if match is None:
            return f"#if {different[0]}"
        directive = "#ifndef" if match[1] else "#ifdef"
        return f"{directive} {match[2]}"
    simple = re.compile(r"!?defined\(\w+\)|!?\w+|!\([^()]*\)")
    operands = []
    for condition in different:
        is_simple = simple.fullmatch(condition)
        operands.append(condition if is_simple else f"({condition})")
    return "#if " + " && ".join(operands)


def _and(around: _Condition | None, text: str) -> _Condition | None:
    if text in ("", "1", "!(0)"):
        return around
    is_never = text in ("0", "!(1)")
    if around is None:
        return _Condition(text, None, 1, is_never)
    return _Condition(text, around, around.count + 1, is_never or around.is_never)


def _without_directives(text: str) -> tuple[str, list[tuple[int, _Condition | None]]]:
    """The text with directives and `#if 0` blocks blanked, and where each condition starts."""
    out: list[str] = []
    places: list[tuple[int, _Condition | None]] = []
    # What holds around the branch of each open `#if`, and the branch's own condition.
    open_: list[tuple[_Condition | None, str]] = []
    at = 0
    is_dead = False
    guard = _include_guard(text)
    for match in _PIECE.finditer(text):
        word = match["word"]
        if word is None:
            continue
        before = text[at : match.start()]
        out.append(_blank(before) if is_dead else before)
        out.append(_blank(match[0]))
        at = match.end()
        words = _without_comments(match["rest"]).split()
        rest = " ".join(words)
        if word in _OPENING:
            is_guard = match.start() == guard
            opening = "" if is_guard else _OPENING[word].format(rest)
            open_.append((_and(*open_[-1]) if open_ else None, opening))
        elif word in _BRANCHES and open_:
            around, last = open_.pop()
            around_branch = _and(around, negated(last))
            open_.append((around_branch, _BRANCHES[word].format(rest)))
        elif word == "endif" and open_:
            open_.pop()
        else:
            continue
        condition = _and(*open_[-1]) if open_ else None
        is_dead = condition is not None and condition.is_never
        places.append((at, condition))
    out.append(_blank(text[at:]) if is_dead else text[at:])
    return "".join(out), places


def _include_guard(text: str) -> int:
    """Where a header's include guard begins; -1 without one."""
    directives = (piece for piece in _PIECE.finditer(text) if piece["word"])
    first_two = list(islice(directives, 2))
    if [directive["word"] for directive in first_two] != ["ifndef", "define"]:
        return -1
    first, second = first_two
    is_guard = first["rest"].split()[:1] == second["rest"].split()[:1]
    return first.start() if is_guard else -1


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class _Expander:
    """Expands macros within a budget per file, since nested macros can grow exponentially."""

    __slots__ = ("depth", "left", "macros")

    def __init__(self, macros: Mapping[str, Macro]) -> None:
        self.macros = macros
        self.left = _MAX_LENGTH
        self.depth = 0

    def expand(
        self, text: str, inside: tuple[str, ...] = ()
    ) -> tuple[str, list[tuple[int, int, bool]]]:
        """The text with macros expanded, and the origin of each piece; those of `inside` are being expanded already."""
        out: list[str] = []
        pieces = [(0, 0, False)]
        length = at = 0
        for start, end, body in self._calls(text, inside):
            out += [text[at:start], body]
            length += start - at
            pieces.append((length, start, True))
            length += len(body)
            pieces.append((length, end, False))
            at = end
        return "".join([*out, text[at:]]), pieces

    def scan(self, text: str, inside: tuple[str, ...] = ()) -> str:
        """The text of a macro with the macros in it expanded, up to some depth."""
        if self.depth == _MAX_DEPTH:
            return text
        self.depth += 1
        expanded, _ = self.expand(text, inside)
        self.depth -= 1
        return expanded

    def _calls(self, text: str, inside: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
        """Each use of a macro: its start, its end and its expansion."""
        at = 0
        if not self.macros:
            return
        for match in _TOKEN.finditer(text):
            macro = self.macros.get(match[0])
            if macro is None or match[0] in inside or self.left <= 0:
                continue
            is_in_last_call = match.start() < at
            if is_in_last_call:
                continue
            arguments, end = _call(macro, text, match.end())
            read = end - match.end()
            if arguments is None:
                self.left -= read * _IN_VAIN
                continue
            self.left -= read
            at = end
            yield match.start(), at, self._expansion(macro, arguments, inside)

    def _expansion(self, macro: Macro, given: Sequence[str], inside: tuple[str, ...]) -> str:
        """The body with parameters replaced, `#` and `##` applied, and nested macros expanded."""
        body = macro.body
        if macro.parameters is not None:
            words = dict(zip(macro.parameters, given))
            if macro.parameters[-1:] == ("...",):
                others = given[len(macro.parameters) - 1 :]
                words["__VA_ARGS__"] = ", ".join(others)
            expanded = {}
            for name, text in words.items():
                expanded[name] = self.scan(text, inside)
            body = _substituted(body, words, expanded)
        self.left -= len(body) + _USE
        return self.scan(body, (*inside, macro.name))


def _call(macro: Macro, text: str, at: int) -> tuple[list[str] | None, int]:
    """The arguments after a macro's name, or None if it is not called; and how far was read."""
    if macro.parameters is None:
        return [], at
    depth = 0
    start = 0
    arguments = list[str]()
    limit = min(len(text), at + _MAX_CALL)
    for match in _TOKEN.finditer(text, at, limit):
        token = match[0]
        is_comment = token.startswith(("//", "/*"))
        if depth == 0 and token != "(" and not is_comment:
            return None, match.end()
        if token in "([{":
            depth += 1
            start = start or match.end()
        elif token in ")]}":
            depth -= 1
        ends_argument = token == "," and depth == 1
        if ends_argument or depth == 0:
            arguments.append(text[start : match.start()].strip())
            start = match.end()
        if depth == 0:
            return arguments if arguments != [""] else [], match.end()
    return None, limit


def _substituted(body: str, given: Mapping[str, str], expanded: Mapping[str, str]) -> str:
    """The body with a call's arguments: expanded, or verbatim next to `#` and `##`."""
    out: list[str] = []
    at = 0
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token == "##":
            while out and out[-1].isspace():
                out.pop()
            behind = body[match.end() :].lstrip()
            at = len(body) - len(behind)
            continue
        if match.start() > at:
            out.append(body[at : match.start()])
        if out and out[-1] == "#" and token in given:
            escaped = given[token].replace("\\", "\\\\").replace('"', '\\"')
            out[-1] = f'"{escaped}"'
        else:
            before = body[: match.start()].rstrip()
            behind = body[match.end() :].lstrip()
            is_pasted = before.endswith("##") or behind.startswith("##")
            arguments = given if is_pasted else expanded
            out.append(arguments.get(token, token))
        at = match.end()
    return "".join([*out, body[at:]])
