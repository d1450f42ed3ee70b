"""C++ statements broken as clang-format 21 breaks them, with the `.clang-format` of this
repository.

Clang-format looks for the line breaks that cost least. A character beyond the last column costs
more than anything else, and a break costs more the deeper it is in brackets. Among equal costs, the
one whose last cost comes latest wins.

Statements are assumed to be inside functions, and function declarations outside. Not supported:
member initialisers, lambdas, comments, adjacent strings, and `<<`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from torchgen_lite.emit.layout.cpp_breaks import COSTLY, weigh
from torchgen_lite.emit.layout.cpp_levels import Rules, State
from torchgen_lite.emit.layout.cpp_operations import find_operations
from torchgen_lite.emit.layout.cpp_usual import lay_out_usual_cpp
from torchgen_lite.emit.layout.cpp_words import Word, read_words
from torchgen_lite.emit.layout.items import is_too_deep

# The steps that cost something, latest first: the negated word number, the cost so far, the steps
# before, and the word's column if it begins a line. So paths whose last cost comes earlier sort
# later.
_Path = tuple[Any, ...]
# The deepest nesting of brackets, and the step counts up to which states are compared by levels and
# by depths. The first two are clang-format's; it never stops comparing depths, which would take us
# many seconds for 40 nested conditions.
_DEEPEST, _LEVELS, _DEPTHS = 50, 50_000, 100_000


def lay_out_cpp_statement(text: str, indent: int) -> str:
    """A statement (without its indentation), broken into lines.

    >>> lay_out_cpp_statement("int64_t value = function(first_argument);", 50).split()[-1]
    'function(first_argument);'
    """
    usual = lay_out_usual_cpp(text, indent)
    if usual is not None:
        return usual
    words = None if is_too_deep(text) else read_words(text)
    if words is None or max(word.depth for word in words) > _DEEPEST:
        return " " * indent + text
    cost, path = _cheapest(words, indent)
    if cost >= COSTLY and "::" in text:
        # Only here is a name split.
        words = read_words(text, is_short=True) or words
        _, path = _cheapest(words, indent)
    return _lines(words, indent, path)


def _lines(words: list[Word], indent: int, path: _Path) -> str:
    columns: dict[int, int | None] = {}
    while path:
        i, _, path, columns[-i] = path
    text = " " * indent
    for i, word in enumerate(words):
        column = columns.get(i)
        space = word.space if i else 0
        text += (" " * space if column is None else f"\n{' ' * column}") + word.text
    return text


def _cheapest(words: list[Word], indent: int) -> tuple[int, _Path]:
    """The lowest cost, and the path that has it."""
    find_operations(words)
    weigh(words)
    rules = Rules(words, indent)
    queue: list[tuple[int, _Path, int, State]] = [(0, (), 0, rules.first())]
    seen: set[tuple[Any, ...]] = set()
    count = 0
    while queue:
        cost, path, _, state = heappop(queue)
        known = state if count < _LEVELS else state[: 4 if count < _DEPTHS else 2]
        if known in seen:
            continue
        seen.add(known)
        while state.i < len(words):
            i, may, must = state.i, rules.may_end(state), rules.must_end(state)
            if may:
                count += 1
                broken, more = rules.on_next_line(state)
                column = broken.column - len(words[i].text)
                heappush(queue, (cost + more, (-i, cost, path, column), count, broken))
            if must:
                break
            state, more = rules.on_line(state)
            count += 1
            if may or more:
                after = (-i, cost, path, None) if more else path
                heappush(queue, (cost + more, after, count, state))
                break
        else:
            return cost, path
    return 0, ()
