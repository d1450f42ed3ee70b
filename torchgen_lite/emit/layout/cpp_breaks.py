"""Where a C++ statement may be broken, and at what cost, following clang-format's
`TokenAnnotator`."""

from __future__ import annotations

from torchgen_lite.emit.layout.cpp_words import STARS, Word

COSTLY = 1_000_000
"""The cost of a break after `::`, and of each character beyond the last column."""
_RETURN_TYPE, _MEMBER = 100_000, 100_000
_DEPTH = 20
# How much deeper brackets are than the text around them.
_DEPTHS = {"(": 1, "[": 10, "{": 1, "<": 12}
_NEVER_BEHIND = frozenset(("pointer", "?", ":", "inheritance", ">", "unary"))
_BEHIND = frozenset((",", "::", "{", "(", "<", "binary", "range"))
_BEFORE = frozenset((".", "arrow", "["))


def weigh(words: list[Word]) -> None:
    """Record which words may begin a line, which must, and at what cost."""
    depths = [1]
    is_declaration = words[0].text == "explicit" or any(w.kind == "function" for w in words)
    for i, word in enumerate(words):
        if i:
            word.must_begin = _must_begin(words, i)
            word.may_begin = word.must_begin or _may_begin(words, i)
            if word.may_begin:
                word.cost = _DEPTH * depths[-1] + _cost(words, i, is_declaration=is_declaration)
        if word.is_opening:
            depths.append(depths[-1] + _DEPTHS[word.kind])
        elif word.is_closing:
            depths.pop()


def _must_begin(words: list[Word], i: int) -> bool:
    """A comma after the last item of a list asks for one item per line."""
    before, word = words[i - 1], words[i]
    if before.kind == "{" and before.partner > i:
        return words[before.partner - 1].kind == ","
    return word.kind == "}" and before.kind == ","


def _may_begin(words: list[Word], i: int) -> bool:
    """Whether a word may begin a line (`canBreakBefore`)."""
    before, word = words[i - 1], words[i]
    kind, left = word.kind, before.kind
    if word.is_closing or kind in ("pointer", "range"):
        return False
    if kind in ("name", "function"):
        return True
    if kind in ("?", ":", "inheritance"):
        return left != "pointer"
    if left in _NEVER_BEHIND:
        return False
    if left == "(":
        is_type = word.text in STARS and words[i + 1].kind == ")"
        return not is_type and (i < 2 or words[i - 2].kind != "binary")
    if left == "trailing":
        return kind not in ("(", "<", "::", ";") and word.text not in ("{", "=")
    if left == ")":
        return word.is_identifier or word.text == "const" or kind in _BEFORE
    if kind == "string" and not left:
        return before.is_identifier
    is_class = before.text in ("class", "struct")
    return left in _BEHIND or kind in _BEFORE or is_class or word.text == "typename"


def _cost(words: list[Word], i: int, *, is_declaration: bool) -> int:
    """The cost of a break before a word, without that of its depth (`splitPenalty`)."""
    before, word = words[i - 1], words[i]
    kind, left = word.kind, before.kind
    if kind == "[":
        return 200 if left == "]" else 500
    if left == "::":
        return COSTLY
    if kind in ("name", "function"):
        if left == "name":
            return 110
        return _RETURN_TYPE if is_declaration and not word.depth else 200
    if kind == "arrow":
        return 110
    if before.text == "=" and kind == "{":
        return 160
    if before.text in ("class", "struct"):
        return 5_000
    if kind == ".":
        following = word.next_operator
        return 35 if following > 0 and words[following - 1].is_closing else _MEMBER
    if kind == "trailing":
        return (100 if left == ")" else 120) + (50 if len(word.text) < 10 else 0)
    if before.text == "=":
        return 4 if words[0].text == "for" else 110 if is_declaration else before.precedence
    if left == "(" and is_declaration:
        return 100
    if left == "(" and i > 1 and words[i - 2].text in ("for", "if"):
        return 1_000
    if left == "<":
        return 100
    if kind == "}" or left == ",":
        return 1
    if before.is_opening:
        return 1 if before.operands > 1 else 19
    return {"range": 2, "binary": before.precedence}.get(left, 3)
