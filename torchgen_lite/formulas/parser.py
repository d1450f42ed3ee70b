"""Parses a formula into a tree by precedence climbing. Never raises; reports the first mistake.

    conditional := binary [`?` conditional `:` conditional]
    postfix     := primary (`.` name | `->` name | `(` arguments `)` | `[` conditional `]`)*
    primary     := name | number | string | `(` conditional `)` | `{` items `}` | `[` items `]` | lambda

Note [Less-than or template]
`std::get<0>(x)` and `a < b` begin alike. A `<` right after a qualified name opens template
arguments if only names, numbers, `::`, commas and angle brackets follow up to its `>`, and a `(` or
`{` comes next.

Note [Words in conditions]
A condition of `dispatch` may be written with Python's words, which mean what they mean there:

    not x.requires_grad and x.dtype in {half, bfloat16}

`not` binds looser than a comparison, unlike `!`. `x in {a, b}` is read as `x == a || x == b`, so that no other code
knows of it. In other fields the words are mistakes: `a or b` could also mean `default(a, b)` there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn

from torchgen_lite.diagnostics import Diagnostics, Locate, Source, Span
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.model import CONSTANTS, PRECEDENCE, Expression, children, walk
from torchgen_lite.schema.cursor import Abort, Cursor
from torchgen_lite.schema.lexer import END, IDENT, NUMBER, STRING

MAX_DEPTH = 64
MAX_HEIGHT = 100
MAX_CHARACTERS = 20_000
_UNARY = frozenset("-+!~*")
_WORDS = {"and": "&&", "or": "||"}
_MEMBER = "in"
_LINKS = {
    ".": "has no attributes",
    "->": "has no attributes",
    "(": "cannot be called",
    "[": "has no items",
}
_TEMPLATE = frozenset(["::", ",", "<", ">"])
# C++ types of lists, from the namespaces `at`, `c10` and `std`.
_LIST_TYPES = frozenset({"ArrayRef", "IntArrayRef", "SymIntArrayRef", "TensorList", "vector"})

Parsed = tuple["Expression | None", Diagnostics]

# White space and comments separate tokens and are dropped.
_TOKEN = re.compile(
    r"""
      (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | [ \t\r\n\f\v]+ | /\*.*?\*/
    | (?P<punct>::|->|&&|\|\||==|!=|<=|>=|[-+*/%<>=!~&|^?:.,;()\[\]{}])
    | (?P<bad>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_formula(text: str, *, locate: Locate | None = None, is_condition: bool = False) -> Parsed:
    """The tree of a formula, or None and a diagnostic. `locate` maps offsets in `text` to a span.

    If it `is_condition`, it may have Python's words: see Note [Words in conditions].
    """
    parser = _Parser(text, locate or Source("<formula>", text).locator())
    parser.has_words = is_condition
    with suppress(Abort):
        if len(text) > MAX_CHARACTERS:
            parser.refuse(f"a formula of more than {MAX_CHARACTERS} characters", 0, 1)
        tree = parser.conditional()
        if parser.kind != END:
            raise parser.unexpected("the end of the formula")
        if _is_deep(tree):
            parser.refuse("a formula nested too deeply", 0, len(text))
        return tree, ()
    return None, tuple(parser.diagnostics)


def _is_out_of_range(number: str) -> bool:
    """Whether no type of C++ holds a literal: it would be infinite, zero instead of tiny, or another integer."""
    value = float(number)
    is_written_as_zero = re.search("[1-9]", re.split("[eE]", number)[0]) is None
    if value > sys.float_info.max or (value == 0 and not is_written_as_zero):
        return True
    return number.isdigit() and int(number) >= 1 << 63


def _is_constant(value: Expression) -> bool:
    """Whether an expression consists only of numbers, strings and constants, such as `(2 / 1e3)`."""
    made = (nodes.Literal, nodes.Unary, nodes.Binary, nodes.Conditional, nodes.ListDisplay)
    return all(
        isinstance(node, made) or (isinstance(node, nodes.Name) and node.text in CONSTANTS)
        for node in walk(value)
    )


def _is_deep(tree: Expression) -> bool:
    """Whether the tree is too deep for recursive walkers: a sum has as many levels as terms."""
    level = [tree]
    for _ in range(MAX_HEIGHT):
        level = [child for node in level for child in children(node)]
        if not level:
            return False
    return True


class _Parser(Cursor):
    """A position in the tokens of one formula."""

    pattern = _TOKEN
    foreign = "TG219", "not part of a formula"
    has_words = False

    def require(self, text: str) -> None:
        if not self.take(text):
            raise self.unexpected(f"`{text}`")

    def unexpected(self, wanted: str) -> Abort:
        opening = self.left_open() if self.kind == END else None
        if opening is not None:
            sign = self.text[opening]
            self.report(
                "TG219",
                f"`{sign}` is not closed",
                opening,
                opening + 1,
                "opened here",
            )
            return Abort()
        return self.abort("TG219", f"expected {wanted}, found {self.found()}", "here")

    def left_open(self) -> int | None:
        """The offset of the innermost bracket that nothing closes."""
        opened = []
        for text, start in zip(self.texts, self.starts):
            if text in ("(", "[", "{"):
                opened.append(start)
            elif text in (")", "]", "}") and opened:
                opened.pop()
        return opened[-1] if opened else None

    def refuse(
        self,
        message: str,
        start: int,
        end: int,
        label: str = "here",
    ) -> NoReturn:
        self.report("TG219", message, start, end, label)
        raise Abort

    def check_depth(self, depth: int, start: int) -> None:
        if depth > MAX_DEPTH:
            self.refuse("a formula nested too deeply", start, start + 1)

    def span(self, start: int) -> Span:
        return self.locate(start, self.last_end)

    def conditional(self) -> Expression:
        start = self.start
        self.depth += 1
        self.check_depth(self.depth, start)
        test = self.binary(0)
        if self.take("?"):
            yes = self.conditional()
            self.require(":")
            test = nodes.Conditional(test, yes, self.conditional(), span=self.span(start))
        self.depth -= 1
        return test

    def binary(self, lowest: int) -> Expression:
        start = self.start
        left = self.negation() or self.unary()
        while True:
            sign = self.sign()
            level = PRECEDENCE.get(sign, -1)
            if level <= lowest:
                return left
            operator = self.advance()
            if operator in (_MEMBER, "not"):
                left = self.membership(left, start, is_negated=operator == "not")
                continue
            operator = sign
            end = self.start
            if operator == self.token == "*" and self.text[end - 1] == "*":
                self.refuse("`**` is not an operator of formulas", end - 1, end + 1, "here")
            left = nodes.Binary(operator, left, self.binary(level), span=self.span(start))

    def sign(self) -> str:
        """The operator that comes next, as C++ writes it; `==` for `in` and `not in`, which bind as tightly."""
        if not self.has_words:
            return self.token
        is_member = self.token == _MEMBER
        is_negated = self.token == "not" and self.texts[self.at + 1] == _MEMBER
        if is_member or is_negated:
            return "=="
        return _WORDS.get(self.token, self.token)

    def negation(self) -> Expression | None:
        """`not` and what it negates, up to the next `and` or `or`; None if no `not` comes next."""
        start = self.start
        if not self.has_words or not self.take("not"):
            return None
        self.depth += 1
        self.check_depth(self.depth, start)
        operand = self.binary(PRECEDENCE["&&"])
        self.depth -= 1
        return nodes.Unary("!", operand, span=self.span(start))

    def membership(self, value: Expression, start: int, *, is_negated: bool) -> Expression:
        """`value in {a, b}` or `value not in {a, b}`, behind its first word."""
        if is_negated:
            self.advance()
        opening = self.start
        choices = self.primary()
        if not (isinstance(choices, nodes.ListDisplay) and choices.items):
            self.refuse("`in` takes a list", opening, self.last_end, "write `{a, b}`")
        place = self.span(start)
        test: Expression = nodes.Binary("==", value, choices.items[0], span=place)
        for choice in choices.items[1:]:
            equal = nodes.Binary("==", value, choice, span=place)
            test = nodes.Binary("||", test, equal, span=place)
        if is_negated:
            test = nodes.Unary("!", test, span=place)
        return test

    def unary(self) -> Expression:
        start = self.start
        operators = []
        while self.token in _UNARY:
            operators.append((self.token, self.start))
            self.advance()
        operand = self.postfix()
        self.check_depth(len(operators), start)
        for operator, position in reversed(operators):
            operand = nodes.Unary(operator, operand, span=self.span(position))
        return operand

    def postfix(self) -> Expression:
        start = self.start
        value = self.primary()
        links = 0
        while True:
            links += 1
            self.check_depth(links, start)
            self.check_link(value, start)
            if self.token in (".", "->"):
                arrow = self.advance() == "->"
                value = nodes.Member(value, self.word(), arrow, span=self.span(start))
            elif self.take("("):
                arguments, keywords = self.arguments()
                value = nodes.Call(value, arguments, keywords, span=self.span(start))
            elif self.take("["):
                index = self.conditional()
                self.require("]")
                value = nodes.Subscript(value, index, span=self.span(start))
            else:
                return value

    def check_link(self, value: Expression, start: int) -> None:
        """Refuse what no formula language accepts: `2.5[0]`, `True.sum()`, `{x, y}(z)`."""
        link = self.token
        if link in _LINKS and (isinstance(value, nodes.ListDisplay) or _is_constant(value)):
            self.refuse(
                f"`{self.text[start : self.last_end][:40]}` {_LINKS[link]}",
                self.start,
                self.start + len(link),
            )

    def arguments(self) -> tuple[tuple[Expression, ...], tuple[tuple[str, Expression], ...]]:
        """The arguments between the brackets of a call, and the closing bracket."""
        positional = []
        keywords: list[tuple[str, Expression]] = []
        for _ in self.each(")"):
            if self.kind == IDENT and self.texts[self.at + 1] == "=":
                if any(self.token == name for name, _ in keywords):
                    raise self.unexpected("each keyword only once")
                name = self.advance()
                self.advance()
                keywords.append((name, self.conditional()))
            elif keywords:
                raise self.unexpected("a keyword argument")
            else:
                positional.append(self.conditional())
        return tuple(positional), tuple(keywords)

    def primary(self) -> Expression:
        start = self.start
        text = self.token
        if self.kind == IDENT or text == "::":
            name = self.name()
            plain = name.text.partition("<")[0].rpartition("::")[2]
            if self.token == "{" and plain in _LIST_TYPES and "::" in name.text:
                self.advance()
                return nodes.ListDisplay(self.items("}"), name.text, span=self.span(start))
            return name
        if self.kind in (NUMBER, STRING):
            self.check_literal(text)
            self.advance()
            return nodes.Literal(text, span=self.span(start))
        if self.take("("):
            inner = self.conditional()
            self.require(")")
            return inner
        if self.texts[self.at : self.at + 3] == ["[", "]", "("]:
            return self.lambda_()
        for opening, closing in (("{", "}"), ("[", "]")):
            if self.take(opening):
                return nodes.ListDisplay(self.items(closing), span=self.span(start))
        raise self.unexpected("a value")

    def items(self, closing: str) -> tuple[Expression, ...]:
        """The items between the brackets of a list, and the closing bracket."""
        return tuple([self.conditional() for _ in self.each(closing)])

    def each(self, closing: str) -> Iterator[None]:
        """Once before each of the items between commas; the closing bracket is read, too."""
        while not self.take(closing):
            yield
            if self.token != closing:
                self.require(",")

    def check_literal(self, text: str) -> None:
        """Refuse literals that formula languages read differently."""
        problem = ""
        if text.isdigit() and text[0] == "0" and len(text) > 1:
            problem = f"`{text[:40]}` is octal in C++, and not a number in Python"
        elif self.kind == STRING and "\\" in text:
            problem = f"`{text[:40]}` has an escape; C++ and Python have different ones"
        elif self.kind == NUMBER and _is_out_of_range(text):
            problem = f"`{text[:40]}` does not fit into 64 bits"
        if problem:
            self.refuse(problem, self.start, self.start + len(text))

    def word(self) -> str:
        if self.kind != IDENT:
            raise self.unexpected("a name")
        return self.advance()

    def name(self) -> nodes.Name:
        """An identifier with its qualification and template arguments."""
        start = self.start
        text = "" if self.token == "::" else self.advance()
        while self.take("::"):
            text += f"{'::' if text else ''}{self.word()}"
        if self.token == "<" and "::" in text:
            opening = self.start
            for _ in range(self.template_length()):
                self.advance()
            text += self.text[opening : self.last_end]
        return nodes.Name(text, span=self.span(start))

    def template_length(self) -> int:
        """How many tokens the template arguments have that begin here; 0 if none do."""
        depth = 0
        for at in range(self.at, len(self.texts)):
            kind = self.kinds[at]
            text = self.texts[at]
            if kind not in (IDENT, NUMBER) and text not in _TEMPLATE:
                return 0
            depth += (text == "<") - (text == ">")
            if depth == 0:
                if self.texts[at + 1] in ("(", "{"):
                    return at + 1 - self.at
                return 0
        return 0

    def lambda_(self) -> Expression:
        start = self.start
        self.advance()
        self.advance()
        self.skip_bracket("(", ")")
        if self.token != "{":
            raise self.unexpected("`{`")
        self.skip_bracket("{", "}")
        return nodes.Lambda(self.text[start : self.last_end], span=self.span(start))

    def skip_bracket(self, opening: str, closing: str) -> None:
        depth = 0
        while self.kind != END:
            text = self.advance()
            depth += (text == opening) - (text == closing)
            if depth == 0:
                return
        raise self.unexpected(f"`{closing}`")
