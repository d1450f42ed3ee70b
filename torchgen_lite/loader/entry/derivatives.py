"""Derivative formulas, from `derivatives:` of our own entries or from a derivatives.yaml.

    derivatives:                        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: grad * other                  self: mul_tensor_backward(grad, other, self.scalar_type())
      other: grad * self                  other: mul_tensor_backward(grad, self, other.scalar_type())

Formulas become trees whose nodes know their place in the file. `analysis.differentiability`, which
sees all operators, works out what the formulas mean for an operator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from torchgen_lite.diagnostics import Span, not_compared
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas.mistakes import answer_in_a_formula
from torchgen_lite.formulas.model import Expression, Name, children, rebuild, texts_in, walk
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.formulas.prefix import TORCH, text_without_prefix, without_prefix
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry.reader import TRUTH, EntryReader, short
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, is_text
from torchgen_lite.schema.grouped import places_of

DEFAULT = "Default"
"""The variant for every autograd key without specific formulas."""

AUTOGRAD_KEYS = (
    "AutogradNestedTensor",
    "AutogradOther",
    *(f"Autograd{backend}" for backend in CURRENT.backends),
)

NOT_DIFFERENTIABLE = "not_differentiable"
AUTO_LINEAR = "auto_linear"
AUTO_ELEMENT_WISE = "auto_element_wise"
_WORDS = {word: word for word in (NOT_DIFFERENTIABLE, AUTO_LINEAR, AUTO_ELEMENT_WISE)}
# PyTorch's spelling of the first word is accepted too.
_WORDS["non_differentiable"] = NOT_DIFFERENTIABLE
Pairs = Sequence[tuple[ScalarNode, Node]]


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula for one or more names: arguments, or results in forward mode.

    `word` is `not_differentiable`, `auto_linear` or `auto_element_wise` if one of these is written
    instead of a formula. `expression` is None in that case, and if the formula can't be read.
    """

    names: tuple[str, ...]
    text: str
    expression: Expression | None = None
    word: str = ""
    name_spans: tuple[Span, ...] = not_compared(())
    span: Span | None = not_compared()


@dataclass(frozen=True, slots=True)
class Derivatives:
    """What is written under `derivatives:`.

    `variants` has the formulas by autograd key, `Default` first.
    `output_differentiability` has True, False or a condition for each result; it is None if absent.
    `let` are values that formulas name, which are in the expressions of `variants` already.
    `is_auto`: the word `auto` stands there, and its formula is made when the whole entry is known.
    """

    variants: tuple[tuple[str, tuple[Formula, ...]], ...]
    output_differentiability: tuple[bool | str, ...] | None = None
    span: Span | None = not_compared()
    differentiability_span: Span | None = not_compared()
    let: tuple[Formula, ...] = ()
    is_auto: bool = False

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas of the default variant."""
        return dict(self.variants).get(DEFAULT, ())


def read_derivatives(reader: EntryReader, pairs: Pairs, span: Span) -> Derivatives:
    """The formulas of a mapping, with its variants by key."""
    variants = {}
    differentiability = None
    place = None
    let: tuple[Formula, ...] = ()
    plain = []
    values = _names_of_let(pairs)
    for key, value in pairs:
        if key.value == "output_differentiability":
            if place is not None:
                reader.report(
                    "TG105",
                    "`output_differentiability` is given both under `derivatives` and next to it",
                    key,
                    "again here",
                )
            place = reader.span(value)
            differentiability = _read_differentiability(reader, value)
        elif key.value == "let" and isinstance(value, MapNode):
            let = _read_formulas(reader, reader.read_keys(value), values)
        elif key.value == "dispatch" and isinstance(value, MapNode):
            for name, formulas in reader.read_keys(value):
                choices = (DEFAULT, *AUTOGRAD_KEYS)
                if not reader.choice("TG103", "dispatch key", name.value, name, choices):
                    continue
                if not isinstance(formulas, MapNode):
                    reader.wrong_type(name.value, formulas, "a mapping to formulas")
                    continue
                variants[name.value] = _read_formulas(reader, reader.read_keys(formulas), values)
        else:
            plain.append((key, value))
    if plain or not variants:
        variants = {DEFAULT: _read_formulas(reader, plain, values), **variants}
    if let:
        bound = _Values(reader, let, chain.from_iterable(variants.values()))
        variants = {key: bound.put(formulas) for key, formulas in variants.items()}
    return Derivatives(tuple(variants.items()), differentiability, span, place, let)


def _names_of_let(pairs: Pairs) -> Collection[str]:
    """The names of values under `let`, wherever it stands."""
    names = set[str]()
    for key, value in pairs:
        if key.value == "let" and isinstance(value, MapNode):
            names.update(name.value for name, _ in value.items if isinstance(name, ScalarNode))
    return names


# A few values may name each other often enough for billions of parts.
_MOST_PARTS = 10_000
_MOST_DEPTH = 100
_MOST_VALUES = 16
# The names in an expression, and their places.
Uses = Sequence[tuple[str, Span]]


def in_order(
    reader: EntryReader, let: Mapping[str, tuple[Span, Uses]], uses: Uses, user: str
) -> list[str]:
    """The values of one `let:`, each after those that it uses, otherwise as they are written.

    TG385 for one that needs itself, TG110 for one below too many others, TG386 for one that no `user` uses.
    """
    written = places_of(let)
    order = dict[str, None]()
    making: list[str] = []

    def follow(uses: Uses) -> None:
        known = [use for use in uses if use[0] in written]
        for name, span in sorted(known, key=lambda use: written[use[0]]):
            if name in making:
                circle = quoted([*making[making.index(name) :], name], " -> ")
                reader.report("TG385", f"`{name}` needs itself: {circle}", span, "here again")
            elif name not in order and len(making) == _MOST_VALUES:
                reader.report(
                    "TG110",
                    f"`{name}` is below {_MOST_VALUES} other values of `let`",
                    span,
                    "here",
                )
                order.update(dict.fromkeys(let))
            elif name not in order:
                making.append(name)
                follow(let[name][1])
                order[making.pop()] = None

    follow(uses)
    unused = [name for name in let if name not in order]
    for name in unused:
        reader.report("TG386", f"no {user} uses `{name}`", let[name][0], "not used", "leave it out")
    return [*order, *unused]


class _Values:
    """The values of one `let:`, by name. Each may use others, in any order.

    They are put where `formulas` name them: targets find by themselves what is equal (`analysis.differentiability.shared`).
    """

    def __init__(
        self, reader: EntryReader, let: Sequence[Formula], formulas: Iterable[Formula]
    ) -> None:
        self.reader = reader
        given: dict[str, Formula] = {}
        values: dict[str, tuple[Span, Uses]] = {}
        for formula in let:
            for name, span in zip(formula.names, formula.name_spans):
                given[name] = formula
                values[name] = span, _uses(formula)
        uses = list(chain.from_iterable(map(_uses, formulas)))
        # What a value is with others in it, how many parts it has then, and how deep it is; None if that can't be.
        self.whole: dict[str, tuple[Expression, int, int] | None] = dict.fromkeys(given)
        for name in in_order(reader, values, uses, "formula"):
            self.whole[name] = self._complete(given[name])

    def put(self, formulas: Sequence[Formula]) -> tuple[Formula, ...]:
        """The formulas with values for names; one that names a value which can't be read is not read either."""
        whole = []
        for formula in formulas:
            completed = self._complete(formula)
            whole.append(replace(formula, expression=completed and completed[0]))
        return tuple(whole)

    def _complete(self, formula: Formula) -> tuple[Expression, int, int] | None:
        if formula.expression is None:
            return None
        tree, parts, depth = self._put(formula.expression)
        if formula.span and (parts > _MOST_PARTS or depth > _MOST_DEPTH):
            self.reader.report(
                "TG110",
                f"a formula with {parts} parts, {depth} deep, once it has the values of `let`",
                formula.span,
                "this formula",
            )
            return None
        return (tree, parts, depth) if self.whole.keys().isdisjoint(texts_in(tree)) else None

    def _put(self, node: Expression) -> tuple[Expression, int, int]:
        if isinstance(node, Name) and node.text in self.whole:
            return self.whole[node.text] or (node, 1, 1)
        below = [self._put(child) for child in children(node)]
        trees = []
        parts = 1
        depth = 1
        for tree, its_parts, its_depth in below:
            trees.append(tree)
            parts += its_parts
            depth = max(depth, its_depth + 1)
        return rebuild(node, trees), parts, depth


def _uses(formula: Formula) -> Uses:
    nodes = walk(formula.expression) if formula.expression else ()
    return [(node.text, node.span) for node in nodes if isinstance(node, Name) and node.span]


def _plain(text: str, tree: Expression, taken: Collection[str]) -> tuple[str, Expression]:
    """A formula without the prefix `torch.`, if that is PyTorch in it."""
    plain = without_prefix(tree, taken)
    if plain == tree:
        return text, tree
    return text_without_prefix(text), plain


def _read_formulas(reader: EntryReader, pairs: Pairs, let: Collection[str]) -> tuple[Formula, ...]:
    """The formulas of a mapping, which may use the values of `let`."""
    taken = {*reader.names, *let}
    formulas = []
    for key, value in pairs:
        scalar = reader.scalar(
            key.value,
            value,
            "a formula",
            f"write the formula, or `{short(key.value)}: not_differentiable`",
        )
        if scalar is None:
            continue
        names, spans = zip(*reader.split_words(key))
        text = scalar.value
        tree = None
        word = _WORDS.get(text.strip().lower(), "")
        if not word:
            tree, mistakes = parse_formula(text, locate=reader.locator(scalar))
            if mistakes:
                reader.repeat(mistakes, answer_in_a_formula(text))
            if tree is not None and TORCH in text:
                text, tree = _plain(text, tree, taken)
        formulas.append(Formula(names, text, tree, word, spans, reader.span(value)))
    return tuple(formulas)


def _read_differentiability(reader: EntryReader, node: Node) -> tuple[bool | str, ...] | None:
    """`[True, False]`, or one condition as text."""
    if not isinstance(node, ListNode) or not node.items:
        reader.wrong_type("output_differentiability", node, "a list")
        return None
    values: list[bool | str] = []
    for item in node.items:
        if not is_text(item):
            reader.wrong_type("output_differentiability", item, "True, False or a condition")
        elif item.style == "" and item.value in TRUTH:
            values.append(TRUTH[item.value])
        elif len(node.items) > 1 or reader.truth_meant(item) is not None:
            reader.report(
                "TG328",
                f"`{short(item.value)}` is neither True nor False",
                item,
                "a condition must be the only item" if len(node.items) > 1 else "not a condition",
                reader.truth_meant(item),
            )
        else:
            values.append(item.value)
    if len(values) < len(node.items):
        return None
    return tuple(values)
