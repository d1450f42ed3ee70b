"""Parses a formula into a tree by precedence climbing. Never raises; reports the first mistake.

    conditional := binary [`?` conditional `:` conditional]
    postfix     := primary (`.` name | `->` name | `(` arguments `)` | `[` conditional `]`)*
    primary     := name | number | string | `(` conditional `)` | `{` items `}` | `[` items `]` | lambda

Note [Less-than or template]
`std::get<0>(x)` and `a < b` begin alike. A `<` right after a qualified name opens template
arguments if only names, numbers, `::`, commas and angle brackets follow up to its `>`, and a `(` or
`{` comes next.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span
from torchgen_lite.formulas.lexer import BAD, END, IDENT, NUMBER, STRING, Token, tokenize
from torchgen_lite.formulas.model import (
    CONSTANTS,
    PRECEDENCE,
    Binary,
    Call,
    Conditional,
    Expression,
    Lambda,
    ListDisplay,
    Literal,
    Member,
    Name,
    Subscript,
    Unary,
    children,
    walk,
)

MAX_DEPTH = 64
MAX_HEIGHT = 100
MAX_CHARACTERS = 20_000
_UNARY = frozenset("-+!~*")
_LINKS = {
    ".": "has no attributes",
    "->": "has no attributes",
    "(": "cannot be called",
    "[": "has no items",
}
_TEMPLATE = frozenset(["::", ",", "<", ">"])
# C++ types of lists, from the namespaces `at`, `c10` and `std`.
_LIST_TYPES = frozenset({"ArrayRef", "IntArrayRef", "SymIntArrayRef", "TensorList", "vector"})

Parsed = tuple["Expression | None", tuple[Diagnostic, ...]]


class _Abort(Exception):
    """The formula can't be read further."""

    def __init__(self, message: str, start: int, end: int, label: str) -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.label = message, start, end, label


def parse_formula(text: str, *, locate: Callable[[int, int], Span] | None = None) -> Parsed:
    """The tree of a formula, or None and a diagnostic. `locate` maps offsets in `text` to a span."""
    locate = locate or Source("<formula>", text).locator()
    parser = _Parser(text, locate)
    try:
        if len(text) > MAX_CHARACTERS:
            raise _Abort(f"a formula of more than {MAX_CHARACTERS} characters", 0, 1, "here")
        tree = parser.conditional()
        if parser.token.kind != END:
            raise parser.unexpected("the end of the formula")
        if _is_deep(tree):
            raise _Abort("a formula nested too deeply", 0, len(text), "here")
    except _Abort as error:
        span = locate(error.start, max(error.end, error.start + 1))
        return None, (Diagnostic("TG219", error.message, Label(span, error.label)),)
    return tree, ()


def _is_too_large(number: str) -> bool:
    """Whether a literal is too large for any C++ type. Infinity isn't converted to an integer."""
    is_infinite = float(number) > sys.float_info.max
    return is_infinite or (number.isdigit() and int(number) >= 1 << 63)


def _is_constant(value: Expression) -> bool:
    """Whether an expression consists only of numbers, strings and constants, such as `(2 / 1e3)`."""
    made = (Literal, Unary, Binary, Conditional, ListDisplay)
    return all(
        isinstance(node, made) or (isinstance(node, Name) and node.text in CONSTANTS)
        for node in walk(value)
    )


def _is_list_type(name: str) -> bool:
    return "::" in name and name.partition("<")[0].rpartition("::")[2] in _LIST_TYPES


def _is_deep(tree: Expression) -> bool:
    """Whether the tree is too deep for recursive walkers: a sum has as many levels as terms."""
    level = [tree]
    for _ in range(MAX_HEIGHT):
        level = [child for node in level for child in children(node)]
        if not level:
            return False
    return True


class _Parser:
    """A position in the tokens of one formula."""

    def __init__(self, text: str, locate: Callable[[int, int], Span]) -> None:
        self.text = text
        self.locate = locate
        self.tokens = tokenize(text)
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, distance: int) -> str:
        at = self.at + distance
        return self.tokens[at].text if at < len(self.tokens) else ""

    def advance(self) -> Token:
        token = self.token
        if token.kind != END:
            self.at += 1
        return token

    def take(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != STRING:
            self.advance()
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise self.unexpected(f"`{text}`")

    def unexpected(self, wanted: str) -> _Abort:
        token = self.token
        found = "the end" if token.kind == END else f"`{token.text[:40]}`"
        label = "not part of a formula" if token.kind == BAD else "here"
        return _Abort(f"expected {wanted}, found {found}", token.start, token.end, label)

    def span(self, start: int) -> Span:
        return self.locate(start, self.tokens[max(self.at - 1, 0)].end)

    def conditional(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            token = self.token
            raise _Abort("a formula nested too deeply", token.start, token.end, "here")
        start = self.token.start
        test = self.binary(0)
        if self.take("?"):
            yes = self.conditional()
            self.expect(":")
            no = self.conditional()
            test = Conditional(test, yes, no, span=self.span(start))
        self.depth -= 1
        return test

    def binary(self, lowest: int) -> Expression:
        start = self.token.start
        left = self.unary()
        while True:
            level = PRECEDENCE.get(self.token.text, -1) if self.token.kind != STRING else -1
            if level <= lowest:
                return left
            operator, end = self.advance().text, self.token.start
            if operator == self.token.text == "*" and self.text[end - 1] == "*":
                raise _Abort(
                    "`**` is not an operator of formulas", end - 1, end + 1, "write `pow(x, n)`"
                )
            right = self.binary(level)
            left = Binary(operator, left, right, span=self.span(start))

    def unary(self) -> Expression:
        start = self.token.start
        operators: list[tuple[str, int]] = []
        while self.token.text in _UNARY and self.token.kind != STRING:
            operators.append((self.token.text, self.token.start))
            self.advance()
        operand = self.postfix()
        if len(operators) > MAX_DEPTH:
            raise _Abort("a formula nested too deeply", start, start + 1, "here")
        for operator, position in reversed(operators):
            operand = Unary(operator, operand, span=self.span(position))
        return operand

    def postfix(self) -> Expression:
        start = self.token.start
        value = self.primary()
        links = 0
        while True:
            links += 1
            if links > MAX_DEPTH:
                raise _Abort("a formula nested too deeply", start, start + 1, "here")
            self.check_link(value, start)
            if self.take(".") or (self.token.text == "->" and self.take("->")):
                arrow = self.tokens[self.at - 1].text == "->"
                if self.token.kind != IDENT:
                    raise self.unexpected("a name")
                value = Member(value, self.advance().text, arrow, span=self.span(start))
            elif self.take("("):
                arguments, keywords = self.arguments()
                value = Call(value, arguments, keywords, span=self.span(start))
            elif self.take("["):
                index = self.conditional()
                self.expect("]")
                value = Subscript(value, index, span=self.span(start))
            else:
                return value

    def check_link(self, value: Expression, start: int) -> None:
        """Refuse what no formula language accepts: `2.5[0]`, `True.sum()`, `{x, y}(z)`."""
        token = self.token
        if token.text in _LINKS and (isinstance(value, ListDisplay) or _is_constant(value)):
            text = self.text[start : self.tokens[self.at - 1].end]
            raise _Abort(f"`{text[:40]}` {_LINKS[token.text]}", token.start, token.end, "here")

    def arguments(self) -> tuple[tuple[Expression, ...], tuple[tuple[str, Expression], ...]]:
        """The arguments between the brackets of a call, and the closing bracket."""
        positional: list[Expression] = []
        keywords: list[tuple[str, Expression]] = []
        while not self.take(")"):
            if self.token.kind == IDENT and self.peek(1) == "=":
                if any(self.token.text == name for name, _ in keywords):
                    raise self.unexpected("each keyword only once")
                name = self.advance().text
                self.advance()
                keywords.append((name, self.conditional()))
            elif keywords:
                raise self.unexpected("a keyword argument")
            else:
                positional.append(self.conditional())
            if self.token.text != ")":
                self.expect(",")
        return tuple(positional), tuple(keywords)

    def primary(self) -> Expression:
        token = self.token
        if token.kind == IDENT or token.text == "::":
            name = self.name()
            if self.token.text == "{" and _is_list_type(name.text):
                self.advance()
                return ListDisplay(self.items("}"), name.text, span=self.span(token.start))
            return name
        if token.kind in (NUMBER, STRING):
            self.advance()
            self.check_literal(token)
            return Literal(token.text, span=self.span(token.start))
        if self.take("("):
            inner = self.conditional()
            self.expect(")")
            return inner
        if token.text == "[" and self.peek(1) == "]" and self.peek(2) == "(":
            return self.lambda_()
        for opening, closing in (("{", "}"), ("[", "]")):
            if self.take(opening):
                return ListDisplay(self.items(closing), span=self.span(token.start))
        raise self.unexpected("a value")

    def items(self, closing: str) -> tuple[Expression, ...]:
        """The items between the brackets of a list, and the closing bracket."""
        items: list[Expression] = []
        while not self.take(closing):
            items.append(self.conditional())
            if self.token.text != closing:
                self.expect(",")
        return tuple(items)

    def check_literal(self, token: Token) -> None:
        """Refuse literals that formula languages read differently."""
        text, problem = token.text, ""
        if text.isdigit() and text[0] == "0" and len(text) > 1:
            problem = f"`{text[:40]}` is octal in C++, and not a number in Python"
        elif token.kind == STRING and "\\" in text:
            problem = f"`{text[:40]}` has an escape; C++ and Python have different ones"
        elif token.kind == NUMBER and _is_too_large(text):
            problem = f"`{text[:40]}` does not fit into 64 bits"
        if problem:
            raise _Abort(problem, token.start, token.end, "here")

    def name(self) -> Name:
        """An identifier with its qualification and template arguments."""
        start = self.token.start
        text = "" if self.token.text == "::" else self.advance().text
        while self.token.text == "::":
            self.advance()
            if self.token.kind != IDENT:
                raise self.unexpected("a name")
            text += f"{'::' if text else ''}{self.advance().text}"
        if self.token.text == "<" and "::" in text:
            end = self.template_end()
            if end is not None:
                opening = self.token.start
                self.at = end
                text += self.text[opening : self.tokens[end - 1].end]
        return Name(text, span=self.span(start))

    def template_end(self) -> int | None:
        """The index of the token after template arguments, or None if there are none here."""
        depth, at = 0, self.at
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.kind not in (IDENT, NUMBER) and token.text not in _TEMPLATE:
                return None
            depth += (token.text == "<") - (token.text == ">")
            at += 1
            if depth == 0:
                return at if self.tokens[at].text in ("(", "{") else None
        return None

    def lambda_(self) -> Expression:
        start = self.token.start
        self.advance()
        self.advance()
        self.skip_bracket("(", ")")
        if self.token.text != "{":
            raise self.unexpected("`{`")
        self.skip_bracket("{", "}")
        return Lambda(self.text[start : self.tokens[self.at - 1].end], span=self.span(start))

    def skip_bracket(self, opening: str, closing: str) -> None:
        depth = 0
        while self.token.kind != END:
            text = self.advance().text
            depth += (text == opening) - (text == closing)
            if depth == 0:
                return
        raise self.unexpected(f"`{closing}`")
