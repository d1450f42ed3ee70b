"""What clang-format's `ContinuationIndenter` does when it places a word, on a line or at the start of the next.

Note [Levels]
Each bracket and each operation (`cpp_operations.py`) is a level with its own columns and rules:
brackets that are not opened at the end of a line may not be broken inside, and if one item is on
its own line, all are. Only the rules that this repository's style needs are implemented.
"""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.emit.layout.cpp_breaks import COSTLY
from torchgen_lite.emit.layout.cpp_usual import LINE_LENGTH
from torchgen_lite.emit.layout.cpp_words import (
    ASSIGNMENT,
    CONDITIONAL,
    EQUALITY,
    RELATIONAL,
    Word,
)

_INDENT = 4
# The extra cost of the first break in a level.
_FIRST = 15


class Level(NamedTuple):
    """Brackets or an operation that have begun, inside the level `outer`.

    `indent` is the column where lines begin, `last` the column that the next brackets count from.
    `listed`: items in brackets; `each`: every item goes on its own line, and one has begun a line.
    No break is allowed in a level that is `shut`, nor before the next operator or comma in an
    `operand`. `is_broken`: a line has ended in it. `wrapped`: its last operator begins a line.
    `question`, `subscript` and `chain` are the columns of the first `?`, `[` and `.` that begin a
    line, `call` that of a call; `is_chain`: a `.` follows brackets on the same line.
    """

    indent: int
    last: int
    listed: bool = False
    shut: bool = False
    operand: bool = False
    is_broken: bool = False
    each: bool = False
    wrapped: bool = True
    question: int = 0
    chain: int = 0
    call: int = 0
    subscript: int = 0
    is_chain: bool = False
    outer: Level | None = None


class State(NamedTuple):
    """The words before `i` have been placed, up to `column`, in `level`.

    The line begins with a word that is `depth` brackets deep, and `lowest` is the lowest of its
    words.
    """

    i: int
    column: int
    depth: int
    lowest: int
    level: Level


class Rules:
    """The rules for the words of a statement at a column."""

    def __init__(self, words: list[Word], indent: int) -> None:
        self.words, self.indent = words, indent
        # The result of `_each` by a level's id; the level is kept alive, so that no other
        # takes it.
        self.with_each: dict[int, tuple[Level, Level]] = {}
        self.totals: list[int] = []
        total = 0
        for word in words:
            total += word.space + len(word.text)
            self.totals.append(total)

    def first(self) -> State:
        """The state with the first word placed."""
        level = Level(self.indent, self.indent)
        return self._passed(0, self.indent, 0, 0, level, starts_line=False)[0]

    def may_end(self, state: State) -> bool:
        """Whether a line may end before the next word (`canBreak`)."""
        i, level = state.i, state.level
        word = self.words[i]
        if not word.may_begin or level.shut or (level.operand and word.kind != "binary"):
            return False
        before = self.words[i - 1]
        if before.is_opening:
            if before.kind != "{":
                if state.lowest < state.depth and state.lowest < word.depth:
                    return False
            elif not word.must_begin and i > 1 and self.words[i - 2].kind in ("{", "(", ","):
                return False
        if word.kind == "." and level.is_chain:
            return False
        return word.kind != "function" or state.column >= 6

    def must_end(self, state: State) -> bool:
        """Whether a line has to end before the next word (`mustBreak`)."""
        i, column, depth, _, level = state
        word, before = self.words[i], self.words[i - 1]
        if word.must_begin:
            return True
        kind, left = word.kind, before.kind
        if level.each and not word.is_closing:
            if left == "," or (kind in ("?", ":") and left != "?"):
                return True
            if left == ">" and before.depth == 1 and kind in ("name", "function"):
                return True
        if kind != "." and not level.each:
            return False
        start = self.start(i, level)
        if kind == ".":
            following = word.next_operator
            length = self.totals[following] - self.totals[i] if following > 0 else 0
            if column + length > LINE_LENGTH and (column > start or word.depth < depth):
                return True
            if before.is_closing and (level.chain or level.each):
                return True
        if column <= start or not level.each:
            return False
        if left == "binary" and word.may_begin and before.precedence != ASSIGNMENT:
            is_comparison = before.precedence in (EQUALITY, RELATIONAL)
            return self.words[i - 2].ends_binary or not is_comparison
        return kind == "function"

    def start(self, i: int, level: Level) -> int:
        """The column of a word that begins a line (`getNewLineColumn`)."""
        word, before = self.words[i], self.words[i - 1]
        kind, left = word.kind, before.kind
        further = max(level.last, level.indent) + _INDENT
        if kind == "}" and level.outer is not None:
            return level.outer.last
        if kind == ".":
            return level.chain or further
        if level.question and (kind == ":" or left in ("?", ":")):
            return level.question
        if kind == "inheritance":
            return self.indent + _INDENT
        if kind == "function":
            return max(level.last, level.indent)
        if kind == "[":
            return level.subscript or further
        if kind == "name" or left == "::" or before.text == "=":
            return further
        if left == ")" and kind not in ("binary", "?", ":"):
            return further
        if level.indent == self.indent and left != "}":
            return level.indent + _INDENT
        return level.indent

    def on_line(self, state: State) -> tuple[State, int]:
        """The state with the next word on the same line, and its cost (`addTokenOnCurrentLine`)."""
        i, column, depth, lowest, level = state
        word, before = self.words[i], self.words[i - 1]
        kind, left = word.kind, before.kind
        if not left and kind != ".":
            return self._passed(i, column + word.space, depth, lowest, level, starts_line=False)
        column += word.space
        changed: dict[str, object] = {}
        if before.is_opening:
            if self._is_shut(i, column, level):
                changed["shut"] = True
            changed["indent"] = column
            if i > 1 and self.words[i - 2].text in ("for", "if"):
                changed["last"] = column
            else:
                after = before.partner + 1
                is_chain = after < len(self.words) and self.words[after].kind == "."
                if is_chain and level.outer is not None and not level.outer.chain:
                    changed["last"] = column
        elif kind == ".":
            if before.is_closing and column > self.start(i, level):
                changed["is_chain"] = True
            if left == ")" and self.totals[i - 1] - self.totals[before.partner] > 10:
                changed["shut"] = True
        elif left == ",":
            changed = {"operand": True, "last": column, "shut": level.shut or level.listed}
        elif left in ("?", ":"):
            changed["last"] = column
            if left == ":" and not level.wrapped:
                changed["operand"] = True
        elif left == "binary":
            if before.precedence not in (ASSIGNMENT, RELATIONAL):
                changed["operand"] = True
            if before.precedence != ASSIGNMENT or word.starts_binary:
                changed["last"] = column
        elif left == "inheritance":
            changed = {"indent": column, "last": column}
        if changed:
            level = level._replace(**changed)  # type: ignore[arg-type]
        return self._passed(i, column, depth, lowest, level, starts_line=False)

    def _is_shut(self, i: int, column: int, level: Level) -> bool:
        """Whether brackets whose first item stays on the line may not be broken inside."""
        called = self.words[i - 2] if i > 1 else None
        if column <= self.start(i, level) or (called and called.text in ("for", "while", "switch")):
            return False
        word, after = self.words[i], self.words[i + 1]
        if word.opens and word.opens[-1] > 0:
            return True
        if word.kind == "unary" or word.text == "new":
            return False
        if not self._is_call(i - 1) or word.is_opening:
            return False
        return not (after.kind == "." or ("::" not in word.text and self._is_call(i + 1)))

    def _is_call(self, i: int) -> bool:
        """Whether a bracket holds the arguments of a named function or type."""
        word = self.words[i]
        return word.kind == "(" and word.operands > 0 and self.words[i - 1].is_identifier

    def on_next_line(self, state: State) -> tuple[State, int]:
        """The state with the next word on a new line, and its cost (`addTokenOnNewLine`)."""
        i, level = state.i, state.level
        word, before = self.words[i], self.words[i - 1]
        kind, left = word.kind, before.kind
        cost = word.cost + (0 if level.is_broken else _FIRST)
        column = self.start(i, level)
        each = level.each
        if (
            left == "binary"
            or (left == "," and not level.listed)
            or (left == ">" and not word.depth)
        ):
            each = False
        if kind == "?" or left == "?":
            each = True
        if left not in (",", ":", ";", "binary", "inheritance", "range") and not before.is_opening:
            each = each or left != ">" or word.depth > 0
        level = level._replace(
            is_broken=True,
            last=column,
            each=each or level.listed,
            chain=level.chain or (column if kind == "." else 0),
            outer=self._each(level.outer),
        )
        state, more = self._passed(i, column, word.depth, word.depth, level, starts_line=True)
        return state, cost + more

    def _each(self, level: Level | None) -> Level | None:
        """The level with every item on its own line, here and in the enclosing levels."""
        if level is None:
            return None
        known = self.with_each.get(id(level))
        if known is None:
            outer = self._each(level.outer)
            is_so = level.each and outer is level.outer
            changed = level if is_so else level._replace(each=True, outer=outer)
            self.with_each[id(level)] = known = (level, changed)
        return known[1]

    def _passed(
        self, i: int, column: int, depth: int, lowest: int, level: Level, *, starts_line: bool
    ) -> tuple[State, int]:
        """The state after a word (`moveStateToNextToken`), and the cost if the word doesn't fit."""
        word = self.words[i]
        kind = word.kind
        if not word.is_opening and not word.is_closing and kind != "pointer":
            lowest = min(lowest, word.depth)
        if kind in (",", "binary"):
            wrapped = starts_line if kind == "binary" else level.wrapped
            level = level._replace(operand=False, wrapped=wrapped)
        elif kind == "?":
            level = level._replace(question=column, wrapped=starts_line)
        elif kind == ":":
            level = level._replace(wrapped=starts_line)
        elif kind == ".":
            level = level._replace(call=column if word.next_operator > 0 else 0)
        elif kind == "[" and not level.subscript:
            level = level._replace(subscript=column)
        elif kind == "inheritance":
            level = level._replace(indent=self.indent + _INDENT, listed=True)
        if word.opens:
            level = self._in_operations(i, column, level)
        if word.is_closing:
            level = level.outer or level
            is_last = i + 1 < len(self.words) and self.words[i + 1].kind != "["
            if kind == "]" and level.subscript and is_last:
                level = level._replace(subscript=0)
        elif word.is_opening:
            level = self._in_brackets(word, level)
        for _ in range(word.closes):
            level = level.outer or level
        column += len(word.text)
        excess = COSTLY * max(0, column - LINE_LENGTH)
        return State(i + 1, column, depth, lowest, level), excess

    def _in_operations(self, i: int, column: int, level: Level) -> Level:
        """The state inside the operations that a word begins (`moveStatePastFakeLParens`)."""
        word, before = self.words[i], self.words[i - 1] if i else None
        is_opened = before is not None and before.is_opening
        is_indented = not (before is not None and (is_opened or before.text in (";", "return")))
        for precedence in reversed(word.opens):
            indent, last = level.indent, level.last
            is_returned = before is not None and before.text == "return" and not precedence
            if precedence < ASSIGNMENT and not is_returned:
                indent = max(column, indent, last)
            if precedence == CONDITIONAL or (is_indented and precedence > ASSIGNMENT):
                indent += _INDENT
            is_call = precedence != CONDITIONAL and word.kind != "unary"
            level = Level(
                indent,
                max(last, column) if precedence else last,
                level.listed and precedence <= 1,
                level.shut or level.operand,
                level.operand,
                False,
                level.each and precedence == 1 and (is_opened or before is None),
                True,
                level.question,
                level.chain,
                column if is_call else level.call,
                level.subscript,
                level.is_chain,
                level,
            )
            is_indented = True
        return level

    def _in_brackets(self, word: Word, level: Level) -> Level:
        """The state inside the brackets that a word opens (`moveStatePastScopeOpener`)."""
        last, each = level.last, False
        if word.kind == "{":
            indent = last + _INDENT
            each = word.partner > 0 and self.words[word.partner - 1].kind == ","
        else:
            indent = max(last, level.call) + _INDENT
            if word.kind == "<" and self._is_in_call(word):
                indent, last = max(indent, level.indent), max(last, level.indent)
        shut = level.shut or level.operand or (word.kind == "<" and level.is_chain)
        return Level(indent, last, True, shut, each=each, outer=level)

    def _is_in_call(self, word: Word) -> bool:
        """Whether the innermost enclosing brackets are round."""
        depth = word.depth
        if not depth:
            return False
        i = word.partner
        while self.words[i].depth > depth or not self.words[i].is_closing or i == word.partner:
            i += 1
        return self.words[i].kind == ")"
