"""C++ statements divided as clang-format 21 divides them, with the `.clang-format` of this repository.

Clang-format looks for the line breaks that cost least. A character beyond the last column costs more than
anything else, and the deeper a break is in brackets, the more it costs. Of those that cost the same, the later is taken.

Statements stand in functions, as C++ has it, and functions are declared outside of them.
What is not here: member initialisers, lambdas, comments, strings that follow each other, and `<<`.
"""

from __future__ import annotations

from heapq import heappop, heappush

from torchgen_lite.emit.layout.cpp_breaks import COSTLY, weigh
from torchgen_lite.emit.layout.cpp_levels import Rules, State
from torchgen_lite.emit.layout.cpp_operations import find_operations
from torchgen_lite.emit.layout.cpp_usual import lay_out_usual_cpp
from torchgen_lite.emit.layout.cpp_words import Word, read_words
from torchgen_lite.emit.layout.items import is_too_deep

_Breaks = tuple[tuple[int, int], ...]
# As deep as brackets may be, and how many ways are told apart by more than word and column. Clang-format gives up
# at the same depth, and after more ways.
_DEEPEST, _WAYS = 50, 5_000


def lay_out_cpp_statement(text: str, indent: int) -> list[str]:
    """The lines of a statement (without its indentation).

    >>> lay_out_cpp_statement("int64_t value = function(first_argument);", 50)[1].strip()
    'function(first_argument);'
    """
    usual = lay_out_usual_cpp(text, indent)
    if usual is not None:
        return usual
    words = None if is_too_deep(text) else read_words(text)
    if words is None or max(word.depth for word in words) > _DEEPEST:
        return [" " * indent + text]
    cost, breaks = _cheapest(words, indent)
    if cost >= COSTLY and "::" in text:
        # Only here names are torn apart.
        words = read_words(text, is_short=True) or words
        _, breaks = _cheapest(words, indent)
    return _lines(words, indent, breaks)


def _lines(words: list[Word], indent: int, breaks: _Breaks) -> list[str]:
    columns = {-i: column for i, column in breaks}
    lines = [" " * indent]
    for i, word in enumerate(words):
        if i in columns:
            lines.append(" " * columns[i] + word.text)
        else:
            lines[-1] += " " * (word.space if i else 0) + word.text
    return lines


def _cheapest(words: list[Word], indent: int) -> tuple[int, _Breaks]:
    """The cost of the best breaks, and the words before which they are, with their columns."""
    find_operations(words)
    weigh(words)
    rules = Rules(words, indent)
    queue: list[tuple[int, _Breaks, int, State]] = [(0, (), 0, rules.first())]
    seen: set[State | tuple[int, int]] = set()
    count = 0
    while queue:
        cost, breaks, _, state = heappop(queue)
        known = state if len(seen) < _WAYS else (state.i, state.column)
        if known in seen:
            continue
        seen.add(known)
        while state.i < len(words):
            may, must = rules.may_end(state), rules.must_end(state)
            if may:
                count += 1
                broken, more = rules.on_next_line(state)
                place = (-state.i, broken.column - len(words[state.i].text))
                heappush(queue, (cost + more, (*breaks, place), count, broken))
            if must:
                break
            state, more = rules.on_line(state)
            if may or more:
                count += 1
                heappush(queue, (cost + more, breaks, count, state))
                break
        else:
            return cost, breaks
    return 0, ()
