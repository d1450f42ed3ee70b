"""Which words of a C++ statement begin and end an operation, as clang-format's `ExpressionParser` finds them."""

from __future__ import annotations

from torchgen_lite.emit.layout.cpp_words import ASSIGNMENT, CONDITIONAL, MEMBER, UNARY, Word


def find_operations(words: list[Word]) -> None:
    """Record where operations begin and end, and which member follows which in a chain."""
    _Finder(words).scope()


class _Finder:
    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.at = 0

    def scope(self) -> None:
        """Everything up to the closing bracket, one precedence level after another."""
        levels = {0, MEMBER}
        i = self.at
        while i < len(self.words) and not self.words[i].is_closing:
            word = self.words[i]
            if word.precedence >= 0:
                levels.add(word.precedence)
            elif word.kind == "unary":
                levels.add(UNARY)
            i = max(word.partner, i) + 1
        self.operations(sorted(levels), 0)

    def operations(self, levels: list[int], k: int) -> None:
        words, level = self.words, levels[k]
        while self.at < len(words) and words[self.at].text == "return":
            self.at += 1
        if level == CONDITIONAL:
            return self.choice(levels, k)
        if level == UNARY:
            return self.unary(levels, k)
        start, latest = self.at, -1
        while self.at < len(words):
            if k + 1 < len(levels):
                self.operations(levels, k + 1)
            if self.at == len(words):
                break
            word = words[self.at]
            found = word.precedence
            if word.is_closing or 0 <= found < level or (word.kind == ":" and level == ASSIGNMENT):
                break
            if word.is_opening:
                self.at += 1
                self.scope()
            elif found == level:
                if latest >= 0:
                    words[latest].next_operator = self.at
                latest = self.at
            self.at += 1
        if latest >= 0 and (self.at < len(words) or level):
            self.note(start, 0 if level == MEMBER else level)

    def choice(self, levels: list[int], k: int) -> None:
        start = self.at
        branch = k - 1 if levels[k - 1] == ASSIGNMENT else k
        self.operations(levels, k + 1)
        for kind in "?:":
            if self.at == len(self.words) or self.words[self.at].kind != kind:
                return
            self.at += 1
            self.operations(levels, branch)
        self.note(start, CONDITIONAL)

    def unary(self, levels: list[int], k: int) -> None:
        start = self.at
        while self.at < len(self.words) and self.words[self.at].kind == "unary":
            self.at += 1
        signs = range(start, self.at)
        self.operations(levels, k + 1)
        for sign in reversed(signs):
            self.note(sign, 0)

    def note(self, start: int, level: int) -> None:
        first = self.words[start]
        first.opens.append(level)
        first.starts_binary = first.starts_binary or level > 0
        if self.at < len(self.words):
            last = self.words[self.at - 1]
            last.closes += 1
            last.ends_binary = last.ends_binary or level > 0
