"""Reads the fields of one entry from its mapping node, and collects diagnostics."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from keyword import iskeyword
from typing import Any, NamedTuple

from torchgen_lite.diagnostics import (
    Diagnostic,
    Help,
    Label,
    Locate,
    Source,
    Span,
    Suggestion,
    did_you_mean,
)
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.loader.config.options import NAME
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.versions import Version
from torchgen_lite.loader.yaml.keys import GLUED
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, is_text
from torchgen_lite.loader.yaml.text import scalar_locator
from torchgen_lite.schema import FunctionSchema, return_names
from torchgen_lite.schema.grouped import names_of

KERNEL_NAME = re.compile(rf"(?:::)?{NAME}(?:(?:\.|::){NAME})*", re.ASCII)
OPERATOR = rf"(?:{NAME}::)*{NAME}(?:\.{NAME})?"
OPERATOR_NAME = re.compile(OPERATOR, re.ASCII)
# YAML 1.2's core schema; YAML 1.1's `yes`, `on` and so on are strings.
TRUTH = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# What other formats write for a truth value, YAML 1.1 among them.
_TRUTH_ELSEWHERE = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), "True"),
    **dict.fromkeys(("false", "no", "off", "n", "0"), "False"),
}
# After this many diagnostics, the rest of an entry is read in silence.
MAX_ENTRY_DIAGNOSTICS = 100
# What stands before a value on the line of its field.
_FIELD = re.compile(r"(?P<margin>[ -]*)\w+:(?P<blanks>[ ]+)")
Fields = dict[str, tuple[ScalarNode, Node]]
_NODE_NAMES = {ScalarNode: "a single value", ListNode: "a list", MapNode: "a mapping"}


class Dialect(NamedTuple):
    """What a project's schema files may say besides PyTorch's own.

    `tags` are the known tags, by default PyTorch's; `extra_fields` are a vendor's fields, which are kept as text.
    Operators written without a namespace are in `namespace`, or in `aten` if it is empty.
    `privateuse1` is another name of that key. `for_torch` is the release for which version ranges
    of vendors are read, by default the newest in the file; `autocast` is its header of autocast rules, if it is
    not the installed one. `opaque` are the classes of Python that are types.
    """

    tags: Collection[str] = KNOWN_TAGS
    extra_fields: Collection[str] = ()
    namespace: str = ""
    privateuse1: str = ""
    for_torch: Version = ()
    autocast: str = ""
    opaque: Collection[str] = ()


PYTORCH = Dialect()


class EntryReader:
    """Reads the fields of one mapping and records mistakes in them; other nodes have no fields.

    `head` is the value that names the operator and `func` the operator's schema, once they are
    read. `known_fields` are those that an entry may have. `is_structured` says that the entry names a PyTorch operator that is structured. `unknown` are
    the fields that no entry has.
    """

    func: FunctionSchema | None = None
    head: ScalarNode | None = None
    is_structured = False
    reported = 0
    known_fields: Collection[str] = ()

    def __init__(
        self,
        source: Source,
        diagnostics: list[Diagnostic],
        dialect: Dialect = PYTORCH,
        node: Node | None = None,
    ) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.dialect = dialect
        self.unknown = set[str]()
        self.fields: Fields = self.fields_of(node) if isinstance(node, MapNode) else {}

    @property
    def about(self) -> dict[str, Any]:
        """What a diagnostic says of the entry: its operator's name, as far as it can be read, and its head."""
        if self.head is None:
            return {}
        name = self.head.value.split("(", 1)[0].strip()[:100]
        return {"operator": name, "context": self.span(self.head)}

    @property
    def names(self) -> Collection[str]:
        """The names that the operator's schema gives to values, as far as it can be read."""
        if self.func is None:
            return ()
        arguments = names_of(self.func.arguments)
        return {*arguments, *return_names(self.func)}

    def as_a_field(self, key: str) -> str | None:
        """The help for a key that is a field of the entry, where it stands deeper."""
        if key not in self.known_fields:
            return None
        return f"`{key}` is a field of the entry: indent it as `func` is"

    @property
    def is_full(self) -> bool:
        """Whether this entry has so many diagnostics that no more are reported."""
        return self.reported > MAX_ENTRY_DIAGNOSTICS

    def span(self, node: Node) -> Span:
        """The place of a node; for a block of text or a collection, only its first line."""
        return Span(self.source, node.start, node.end).first_line

    def written(self, node: Node) -> str:
        """The text of a node as it stands in the file."""
        return self.source.text[node.start : node.end]

    def report(
        self,
        code: str,
        message: str,
        at: Span | Node,
        label: str = "",
        help: Help | None = None,
        other: tuple[Span | None, str] = (None, ""),
    ) -> None:
        """Record a diagnostic about this entry, unless it has too many already. `other` is a second labeled place."""
        self.reported += 1
        if self.is_full:
            return
        self.diagnostics.append(
            Diagnostic(
                code,
                message,
                Label(at if isinstance(at, Span) else self.span(at), label),
                (Label(other[0], other[1]),) if other[0] else (),
                help,
                **self.about,
            )
        )

    def repeat(self, mistakes: Iterable[Diagnostic], help: Help | None = None) -> None:
        """Record what the parser of a value has found."""
        for mistake in mistakes:
            label = mistake.label
            assert label is not None
            self.report(mistake.code, mistake.message, label.span, label.text, mistake.help or help)

    def refuse(
        self,
        code: str,
        text: str,
        what: str,
        at: Span | Node,
        label: str = "not a name",
        help: Help | None = None,
    ) -> None:
        """Record that a text is not what it should be."""
        self.report(code, f"`{short(text)}` is not {what}", at, label, help)

    def read_keys(self, node: MapNode) -> list[tuple[ScalarNode, Node]]:
        """The pairs of a mapping whose keys are names, each name once."""
        return list(self.fields_of(node).values())

    def fields_of(self, node: MapNode) -> Fields:
        """The pairs of `read_keys`, by name."""
        pairs: Fields = {}
        for key, value in map(self._parted, node.items):
            if not isinstance(key, ScalarNode) or not key.value:
                self.report("TG121", "a key must be a name", key, "not a name")
            elif key.value == "<<" and not key.style:
                self.report("TG109", "merge keys are not read", key, "merge key")
            elif key.value in pairs:
                self.report(
                    "TG105",
                    f"`{short(key.value)}` is written twice",
                    key,
                    "written again here",
                    "another entry begins with `- func: ...`" if key.value == "func" else None,
                    (self.span(pairs[key.value][0]), "first written here"),
                )
            else:
                pairs[key.value] = key, value
        return pairs

    def _parted(self, pair: tuple[Node, Node]) -> tuple[Node, Node]:
        """A pair; of `{CPU:kernel}`, which is a key without a value, the one that is meant."""
        key, value = pair
        if not isinstance(key, ScalarNode) or value.start < value.end:
            return pair
        glued = GLUED.match(key.value) if key.is_verbatim else None
        if glued is None or self.source.text.startswith(":", key.end):
            return pair
        name = glued["key"]
        middle = key.start + glued.end()
        colon = Span(self.source, middle - 1, middle)
        self.report(
            "TG114",
            f"`{short(name)}` has no value",
            colon,
            "no space behind it",
            Suggestion("put a space after the `:`", colon, ": "),
        )
        return (
            ScalarNode(name, "", key.start, middle - 1),
            ScalarNode(key.value[glued.end() :], "", middle, key.end),
        )

    def missing_space(self, node: Node) -> Help | None:
        """The help for `CPU:kernel`, which is text but should be a key and its value."""
        glued = None
        if isinstance(node, ScalarNode) and not node.style:
            glued = GLUED.match(node.value)
        if glued is None:
            return None
        # Imported here: most files have no such mistake.
        from torchgen_lite.loader.yaml.mistakes import pair_on_its_line

        source, start = self.source, node.start
        before = source.text[source.line_start(source.line_column(start)[0]) : start]
        field = _FIELD.fullmatch(before)
        if field is not None:
            return pair_on_its_line(source, start - len(field["blanks"]), len(field["margin"]))
        colon = Span(source, start + glued.end() - 1, start + glued.end())
        return Suggestion("put a space after the `:`", colon, ": ")

    def wrong_type(
        self, name: str, node: Node, wanted: str, hint: Help | None = None, missing: str = ""
    ) -> None:
        """Record that a node is not what a field takes.

        `missing` is what to do where a value is required and there is none; others may be left out.
        """
        if isinstance(node, ScalarNode) and node.is_null:
            span = self.span(node)
            text = self.source.text
            help_ = self._indent(name) or missing or _leave_out(span, name)
            if text.startswith(",", span.start) and text[span.start - 1] != ":":
                help_ = f'in braces, several keys are in quotes: `{{"{name}, ...": ...}}`'
            self.report("TG114", f"`{name}` has no value", node, f"expected {wanted}", help_)
            return
        given = _NODE_NAMES[type(node)]
        is_formula = wanted.startswith(("a formula", "an expression"))
        if hint is None and is_formula and self.written(node)[:1] in "[{":
            hint = "put it in quotes"
        if "mapping" in wanted:
            hint = self.missing_space(node) or hint
        self.report("TG106", f"`{name}` takes {wanted}, not {given}", node, "wrong type", hint)

    def _indent(self, name: str) -> Help | None:
        """The help if what follows is no field, so that it may be the value without its indentation."""
        names = list(self.fields)
        following = names[names.index(name) + 1 :][:1] if name in names else []
        return f"indent `{short(following[0])}`" if self.unknown.intersection(following) else None

    def node(self, name: str) -> Node | None:
        """The value of a field; None if it is absent."""
        if name not in self.fields:
            return None
        return self.fields[name][1]

    def text(self, name: str) -> str | None:
        """The text of a field, or None if it is absent or wrong."""
        node = self.node(name)
        return None if node is None else self.text_of(name, node)

    def text_of(self, name: str, node: Node, wanted: str = "a string") -> str | None:
        """The text of a value, or None if it is wrong; `name` is its field, for messages."""
        scalar = self.scalar(name, node, wanted)
        return None if scalar is None else scalar.value

    def scalar(
        self, name: str, node: Node, wanted: str = "a string", missing: str = ""
    ) -> ScalarNode | None:
        """The node, if it is a text; `missing` is as for `wrong_type`."""
        if is_text(node):
            return node
        self.wrong_type(name, node, wanted, missing=missing)
        return None

    def locator(self, node: ScalarNode) -> Locate:
        """A function from offsets in the text of a node to places."""
        return scalar_locator(self.source, node)

    def items(self, name: str, wanted: str) -> list[Node]:
        """The items of a field that is a list; none if it is absent or wrong."""
        node = self.node(name)
        if isinstance(node, ListNode):
            return node.items
        if node is not None and not (isinstance(node, ScalarNode) and node.is_null):
            self.wrong_type(name, node, wanted)
        return []

    def flag(self, name: str, node: Node) -> bool:
        """The truth value of a field by YAML 1.2; False if it is wrong."""
        scalar = self.scalar(name, node, "True or False")
        if scalar is None:
            return False
        if scalar.style or scalar.value not in TRUTH:
            self.report(
                "TG106",
                f"`{name}` takes True or False, not `{short(scalar.value)}`",
                node,
                "not a boolean",
                self.truth_meant(node),
            )
        return not scalar.style and TRUTH.get(scalar.value, False)

    def truth_meant(self, node: Node) -> Help | None:
        """The help for `yes`, for `0`, and for a truth value in quotes, which is text."""
        if not isinstance(node, ScalarNode):
            return None
        word = node.value.lower()
        right = _TRUTH_ELSEWHERE.get(word)
        if right is None:
            return None
        return Suggestion(f"write `{right}` without quotes", self.span(node), right)

    def words_of(self, name: str, node: Node) -> list[tuple[str, Span]]:
        """The words of a comma list or a YAML list, with their places."""
        items = node.items if isinstance(node, ListNode) else [node]
        words = []
        for item in items:
            if is_text(item):
                words += self.split_words(item)
            else:
                self.wrong_type(name, item, "a string" if item is not node else "words")
        return words

    def split_words(self, node: ScalarNode) -> list[tuple[str, Span]]:
        """The comma-separated words of a scalar with their places."""
        value = node.value
        if "," not in value and value == value.strip() and value:
            return [(value, self.span(node))]
        locate = self.locator(node)
        return [(word, locate(start, end)) for word, start, end in cut_words(value)]

    def choices(
        self, code: str, what: str, name: str, node: Node, choices: Collection[str]
    ) -> tuple[str, ...]:
        """The words of a value that are among the choices, each once; the others are reported."""
        words = self.words_of(name, node)
        known = [word for word, at in words if self.choice(code, what, word, at, choices)]
        return tuple(dict.fromkeys(known))

    def check_names(self, what: str, fields: Fields, known: Collection[str]) -> None:
        """Report the names in a mapping that are none of those that it may have."""
        for name, (key, _) in fields.items():
            self.choice("TG102", what, name, key, known)

    def choice(
        self, code: str, what: str, word: str, at: Span | Node, choices: Collection[str]
    ) -> bool:
        """Whether a word is one of the choices; reports a diagnostic if it isn't."""
        if word in choices:
            return True
        names = tuple(choices)
        hint = None if self.is_full else did_you_mean(word, names)
        if hint is None and len(names) < 8:
            hint = "one of " + quoted(names)
        article = "an" if what[0] in "aeiou" else "a"
        self.report(code, f"unknown {what} `{short(word)}`", at, f"not {article} {what}", hint)
        return False


def cut_words(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a comma list, and where each starts and ends; an empty word is one character."""
    position = 0
    for part in text.split(","):
        word = part.strip()
        start = position + len(part) - len(part.lstrip())
        yield word, start, start + max(len(word), 1)
        position += len(part) + 1


def python_names(schema: FunctionSchema) -> dict[str, str]:
    """The names of the arguments by those that they have in Python: a reserved word gets an underscore."""
    return {a.name + "_" * iskeyword(a.name): a.name for a in schema.arguments}


def short(text: str) -> str:
    """Foreign text for a message: one line, cut to sixty characters."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def _leave_out(at: Span, name: str) -> Help:
    """The help for a field without a value; an edit if the field has the line to itself."""
    source = at.source
    line, _ = source.line_column(max(at.start - 1, 0))
    if source.line_text(line).strip() != f"{name}:":
        return "leave it out"
    return Suggestion(
        "leave it out",
        Span(source, source.line_start(line), source.line_start(line + 1)),
        "",
    )
