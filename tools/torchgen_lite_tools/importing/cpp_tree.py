"""C++ as a tree: wraps tree-sitter, and the few queries readers need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
import tree_sitter_cpp
from tree_sitter import Node

from torchgen_lite.diagnostics import Span
from torchgen_lite_tools.importing.cpp_preprocessor import CppText

_ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n|.))", re.S
)
_LETTERS = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v"))


@dataclass(frozen=True, slots=True)
class CppTree:
    """A file and its tree."""

    text: CppText
    root: Node

    def of(self, node: Node | None) -> str:
        """The text of a node."""
        if node is None:
            return ""
        return self.text.text[node.start_byte : node.end_byte]

    def span(self, node: Node) -> Span:
        return self.text.span(node.start_byte, node.end_byte)

    def conditions(self, node: Node) -> tuple[str, ...] | None:
        return self.text.conditions(node.start_byte)


def parse_cpp(text: CppText) -> CppTree:
    """The tree of a file; what cannot be parsed is a node `ERROR` in it."""
    # The parser sees `?` for what isn't ASCII, so that bytes and characters have the same numbers.
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
    return CppTree(text, parser.parse(text.text.encode("ascii", "replace")).root_node)


def walk(tree: CppTree, *wanted: str) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Every node of these types outside functions, with its namespaces, `""` for unnamed ones."""
    stack: list[tuple[Node, tuple[str, ...]]] = [(tree.root, ())]
    while stack:
        node, around = stack.pop()
        if node.type in wanted:
            yield node, around
        if node.type == "compound_statement":
            continue
        if node.type == "namespace_definition":
            name = tree.of(node.child_by_field_name("name"))
            around = (*around, *(part.strip() for part in name.split("::")))
        elif node.type in ("class_specifier", "struct_specifier"):
            around = (*around, tree.of(node.child_by_field_name("name")))
        stack += [(child, around) for child in reversed(node.named_children)]


def literal(tree: CppTree, node: Node) -> str | None:
    """The value of a string, adjacent ones joined; None for anything but literals."""
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    if node.type == "raw_string_literal":
        return tree.of(node).partition("(")[2].rpartition(")")[0]
    if node.type == "string_literal":
        return _unescaped(tree.of(node).partition('"')[2].rpartition('"')[0])
    if node.type == "concatenated_string":
        parts = []
        for child in node.named_children:
            if child.type != "comment":
                parts.append(literal(tree, child))
        if None in parts:
            return None
        return "".join(filter(None, parts))
    return None


def _unescaped(text: str) -> str | None:
    """The characters that a literal stands for; None where its bytes are not UTF-8."""
    try:
        return _ESCAPE.sub(_bytes, text.encode()).decode()
    except (ValueError, OverflowError):
        return None


def _bytes(match: re.Match[bytes]) -> bytes:
    """What an escape stands for; raises ValueError or OverflowError if it is no character."""
    octal, byte, short, long, other = match.groups()
    if short or long:
        return chr(int(short or long, 16)).encode()
    if octal or byte:
        return bytes([int(octal, 8) if octal else int(byte, 16)])
    if other.endswith(b"\n"):
        return b""
    return bytes([_LETTERS.get(other[0], other[0])])


def called(tree: CppTree, node: Node) -> str:
    """The last part of the name of what is called, without its template arguments."""
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
    else:
        function = None
    name = re.sub(r"\s+", "", tree.of(function))
    return re.sub(r"<.*>", "", name).rpartition("::")[2]


def arguments(node: Node) -> list[Node]:
    """The arguments of a call, or of a list of them."""
    is_list = node.type in ("argument_list", "initializer_list")
    given = node if is_list else node.child_by_field_name("arguments")
    if given:
        return [one for one in given.named_children if one.type != "comment"]
    return []


def split_commas(text: str) -> list[str]:
    """`a, f(b, c)` to `a` and `f(b, c)`."""
    parts = list[str]()
    depth = 0
    start = 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
