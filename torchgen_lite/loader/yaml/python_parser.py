"""PyYAML's own parser, which is used where PyYAML has no libyaml, made to read and say what libyaml does.

The playground runs on it, and PyPy. It is several times slower, and differs in what it makes of tabs between
tokens and in plain scalars, and of `?` and `:` in brackets (`[a ? b : c]`, `[a:]`), and in the words of errors.
"""

from __future__ import annotations

import re

import yaml
from yaml.scanner import ScannerError

# What begins the texts of the two parsers. The others differ by a rule.
_WORDS = {
    "mapping values are": "mapping values are not allowed in this context",
    "mapping keys are": "mapping keys are not allowed in this context",
    "sequence entries are": "block sequence entries are not allowed in this context",
    "expected chomping": "did not find expected comment or line break",
    "expected '<document start>'": "did not find expected <document start>",
}
# An empty value in brackets is just before one of these.
_ENDS = (yaml.FlowEntryToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)


class PythonParser(yaml.SafeLoader):
    """The parser, looking at text through `peek` as libyaml would; the text that it takes is as it is."""

    _in_plain = False

    def peek(self, index: int = 0) -> str:
        char: str = super().peek(index)
        if char == "?" and self._in_plain:
            return "," if index and super().peek(index - 1) == ":" else "x"
        if char == "\t" and self._separates(index):
            return " "
        return char

    def _separates(self, index: int) -> bool:
        """Whether a tab is as good as a space: anywhere but in what indents a line."""
        if self._in_plain:
            return bool(self.column + index > self.indent)
        return bool(self.flow_level or not self.allow_simple_key)

    def scan_plain(self) -> yaml.ScalarToken:
        self._in_plain = True
        try:
            token: yaml.ScalarToken = super().scan_plain()
        finally:
            self._in_plain = False
        if self.flow_level and self.peek() == ":" and self.peek(1) in ",?[]{}":
            problem = "found unexpected ':'"
            raise ScannerError("while scanning a plain scalar", None, problem, self.get_mark())
        return token

    def process_empty_scalar(self, mark: yaml.Mark) -> yaml.ScalarEvent:
        following = self.peek_token()  # type: ignore[no-untyped-call]
        event: yaml.ScalarEvent = super().process_empty_scalar(
            following.start_mark if isinstance(following, _ENDS) else mark
        )
        return event


def as_libyaml_says(problem: str, context: str) -> str:
    """What libyaml says of a mistake, by what either parser says."""
    if problem.startswith("expected <block end>"):
        wanted = "key" if "mapping" in context else "'-' indicator"
        return f"did not find expected {wanted}"
    for begin, words in _WORDS.items():
        if problem.startswith(begin):
            return words
    problem = re.sub(r"^found character .* that", "found character that", problem)
    expected = re.fullmatch(r"expected (?:the |a )?(.*?), but (?:found|got) .*", problem, re.DOTALL)
    return f"did not find expected {expected[1].replace(' a ', ' ')}" if expected else problem
