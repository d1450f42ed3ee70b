"""What templates of pages see: names and texts, escaped for Markdown or HTML; and where a page is:
`mylib/add.Tensor.md`.

An operator called `index`, the name of a folder's page, or like a device of Windows gets a suffix
after a hyphen, which no operator's name has. Names that differ only in case stay apart too: see
Note [Names that differ in case].
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname, relpath
from urllib.parse import quote

from torchgen_lite.analysis.checks.compiled import language_of
from torchgen_lite.analysis.composition import composition
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.markup import Block, Markup, Phrase
from torchgen_lite.languages.text import doc_lines
from torchgen_lite.loader.entry.derivatives import DEFAULT, Formula
from torchgen_lite.loader.sources import portable_path
from torchgen_lite.schema.kept import kept
from torchgen_lite.targets.docs.facts import Reference, base_of, rows_of
from torchgen_lite.targets.file_names import WINDOWS_DEVICES, file_names

_INDEXES = ("index", "readme")


def page_paths(names: Collection[str], ending: str) -> Mapping[str, str]:
    """The path of each operator's page, by the operator's full name."""
    stems = {name: _stem(name) for name in names}
    files = file_names(stems.values())
    return {name: files[stem] + ending for name, stem in stems.items()}


def _stem(name: str) -> str:
    whole, dot, overload = name.partition(".")
    *namespaces, base = [
        f"{n}-op" if n.lower() in WINDOWS_DEVICES else n for n in whole.split("::")
    ]
    if not overload and base.lower() in _INDEXES:
        base += "-op"
    return "/".join([*namespaces, base]) + dot + overload


def link(path: str, page: str) -> str:
    """The address of a page, as a link on another has it."""
    return relpath(path, dirname(page) or ".")


_SENTENCE = re.compile(r"(?<=[.!?])\s")
# The wording of each kind for readers.
_KINDS = {"inplace": "in-place", "mutable": "writes to arguments"}


# A line of the computed table: runs of keys (the first and the last of each), what runs, its origin, and the source.
Row = tuple[tuple[tuple[str, str], ...], Phrase, str, str]
# Another operator: its name, its address, and the text about it.
Link = tuple[str, str, str]
# A line of the list at the top: its label, the phrases, and the address that these link to, or empty.
Fact = tuple[str, Sequence[Phrase], str]


@dataclass(frozen=True)
class PageView:
    """The page of an operator. What is empty has no section."""

    operator: Operator
    reference: Reference
    markup: Markup
    paths: Mapping[str, str]
    sources: str

    @property
    def name(self) -> str:
        return self.operator.name

    @kept
    def paragraphs(self) -> Sequence[Sequence[str]]:
        return [list(map(self.markup.text, lines)) for lines in paragraphs(self.operator)]

    @property
    def schema(self) -> Block:
        return self.markup.block("text", [str(self.operator.schema)])

    @kept
    def facts(self) -> Sequence[Fact]:
        return list(self._facts())

    def _facts(self) -> Iterator[Fact]:
        function = self.operator.function
        phrase = self.markup.phrase
        kind = _kind_of(self.operator)
        if self.operator.is_view:
            kind += ", view"
        yield "Kind", (Phrase(self.markup.text(kind), False),), ""
        if function.is_written:
            yield "Variants", [Phrase(variant, False) for variant in function.variants], ""
        if function.unstable:
            promise = "unstable: a later version may change it without notice"
            yield "Promise", (Phrase(self.markup.text(promise), False),), ""
        if self.operator.tags:
            yield "Tags", list(map(phrase, self.operator.tags)), ""
        if function.torch:
            yield "PyTorch", (phrase(function.torch),), ""
        if function.delegate:
            yield "Kernels of", (phrase(function.delegate),), self._page(function.delegate)
        if function.span is not None:
            label = "Derived from an entry of" if self.operator.is_derived else "Declared in"
            path = function.span.source.path
            yield label, (phrase(portable_path(path)),), self._source(path)

    @kept
    def signatures(self) -> Mapping[str, Block]:
        """How the operator is called in the code that each target generates."""
        calls = self.reference.signatures(self.operator)
        return {target: self.markup.block(*call) for target, call in calls}

    @kept
    def kernels(self) -> Sequence[tuple[str, Phrase, Phrase, Phrase, str]]:
        """The lines of `dispatch`: key, kernel, its condition if it is one of several, and its file with the address.

        The file and its address are empty if they are not known.
        """
        phrase = self.markup.phrase
        lines = []
        for entry in self.operator.kernels:
            rest = "the rest" if len(entry.rows) > 1 else ""
            for kernel, row in zip(entry.kernels, entry.rows or [None]):
                text = kernel.kernel
                condition = ""
                if row is not None:
                    condition = row.text or rest
                    language = language_of(self.operator, entry.key, row)
                    text = f"{text} ({language})" if language else text
                file = self.reference.source(kernel.kernel)
                words = phrase(text), phrase(condition), phrase(file), self._source(file)
                lines.append((kernel.key, *words))
        return lines

    @kept
    def table(self) -> Sequence[Row]:
        rows: list[Row] = []
        if self.name in self.reference.tables:
            for runs, cell in rows_of(self.reference.tables[self.name]):
                source = "" if cell.source in (cell.key, cell.called) else cell.source
                called = self.markup.text(cell.called)
                rows.append((runs, self.markup.phrase(cell.label), called, source))
        return rows

    @property
    def absent(self) -> str:
        return self.markup.text(self.reference.absent(self.operator))

    @kept
    def composition(self) -> Sequence[tuple[str, str, Phrase]]:
        """What the operator composes with, in what way, and why."""
        served = self.reference.served.get(self.name)
        text = self.markup.text
        lines = []
        if served is not None:
            for what, how, why in composition(self.operator, served):
                lines.append((text(what), text(how), self.markup.phrase(why)))
        return lines

    @kept
    def formulas(self) -> Mapping[str, Block]:
        """The formulas for each autograd key; those of all have an empty one."""
        derivatives = self.operator.function.derivatives
        blocks: dict[str, Block] = {}
        if derivatives is None:
            return blocks
        let = [f"  {_line(value)}" for value in derivatives.let]
        if let:
            let.insert(0, "let:")
        for key, formulas in derivatives.variants:
            if formulas:
                block = self.markup.block("yaml", [*let, *map(_line, formulas)])
                blocks["" if key == DEFAULT else key] = block
        return blocks

    @kept
    def overloads(self) -> Sequence[Link]:
        """Those that are not variants."""
        shown = [self.operator, *self.reference.variants[self.name]]
        every = self.reference.overloads[base_of(self.operator)]
        return self._links([other for other in every if other not in shown])

    @kept
    def variants(self) -> Sequence[Link]:
        return self._links(self.reference.variants[self.name])

    def _links(self, operators: Iterable[Operator]) -> Sequence[Link]:
        links = []
        for operator in operators:
            links.append((operator.name, self._page(operator.name), _kind_of(operator)))
        return links

    def _page(self, name: str) -> str:
        """The address of an operator's page, seen from this one; empty if it has none."""
        if name in self.paths:
            return link(self.paths[name], self.paths[self.name])
        return ""

    def _source(self, path: str) -> str:
        """The address of a file of the project; empty for any other, and for none."""
        if self.sources and path and path == portable_path(path):
            return self.markup.code(self.sources + quote(path))
        return ""


def _kind_of(operator: Operator) -> str:
    return _KINDS.get(str(operator.kind), str(operator.kind))


def _line(formula: Formula) -> str:
    return f"{', '.join(formula.names)}: {formula.text}"


def paragraphs(operator: Operator) -> list[list[str]]:
    """The lines of `doc:`, paragraph by paragraph."""
    parts: list[list[str]] = [[]]
    for line in doc_lines(operator.function.doc):
        if line.strip():
            parts[-1].append(line.strip())
        elif parts[-1]:
            parts.append([])
    return list(filter(None, parts))


def index_view(
    operators: Iterable[Operator], markup: Markup, paths: Mapping[str, str]
) -> dict[str, list[Link]]:
    """The namespaces with their operators, both by name, and the first sentence of each."""
    sections: dict[str, list[Link]] = {}
    for operator in sorted(operators, key=lambda o: (o.function.namespace, o.name)):
        lines = paragraphs(operator) or [[]]
        first = _SENTENCE.split(" ".join(lines[0]), maxsplit=1)[0]
        entry = (operator.schema.local_name, paths[operator.name], markup.text(first))
        sections.setdefault(operator.function.namespace, []).append(entry)
    return sections
