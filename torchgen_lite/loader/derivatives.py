"""Derivative formulas, from `derivatives:` of our own entries or from a derivatives.yaml.

    derivatives:                        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: grad * other                  self: mul_tensor_backward(grad, other, self.scalar_type())
      other: grad * self                  other: mul_tensor_backward(grad, self, other.scalar_type())

Formulas become trees whose nodes know their place in the file. `analysis.differentiability`, which
sees all operators, works out what the formulas mean for an operator.

In a vendor's file the list may be under `backward`, beside `all_version`, and an entry may have a
`version`. Formulas for a PyTorch operator apply to the vendor's backend; other backends use
PyTorch's formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.diagnostics import Label, Span
from torchgen_lite.formulas import Expression, parse_formula
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.earlier import Earlier
from torchgen_lite.loader.reader import TRUTH, EntryReader, short
from torchgen_lite.loader.vendor_versions import VendorVersions
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.loader.yaml_text import scalar_locator
from torchgen_lite.schema import parse_schema

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
    name_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derivatives:
    """What is written under `derivatives:`.

    `variants` has the formulas by autograd key, `Default` first.
    `output_differentiability` has True, False or a condition for each result; it is None if absent.
    """

    variants: tuple[tuple[str, tuple[Formula, ...]], ...]
    output_differentiability: tuple[bool | str, ...] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    differentiability_span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas of the default variant."""
        return dict(self.variants).get(DEFAULT, ())


def read_derivatives(
    reader: EntryReader, pairs: Sequence[tuple[ScalarNode, Node]], span: Span
) -> Derivatives:
    """The formulas of a mapping, with its variants by key."""
    variants: dict[str, tuple[Formula, ...]] = {}
    differentiability: tuple[bool | str, ...] | None = None
    place: Span | None = None
    plain: list[tuple[ScalarNode, Node]] = []
    for key, value in pairs:
        if key.value == "output_differentiability":
            if place is not None:
                said = "`output_differentiability` is given both under `derivatives` and next to it"
                reader.report("TG105", said, key, "again here")
            place = reader.span(value)
            differentiability = _read_differentiability(reader, value)
        elif key.value == "dispatch" and isinstance(value, MapNode):
            for name, formulas in reader.read_keys(value):
                choices = (DEFAULT, *AUTOGRAD_KEYS)
                if not reader.choice("TG103", "dispatch key", name.value, name, choices):
                    continue
                if not isinstance(formulas, MapNode):
                    reader.wrong_type(name.value, formulas, "a mapping to formulas")
                    continue
                variants[name.value] = _read_formulas(reader, reader.read_keys(formulas))
        else:
            plain.append((key, value))
    if plain or not variants:
        variants = {DEFAULT: _read_formulas(reader, plain), **variants}
    return Derivatives(tuple(variants.items()), differentiability, span, place)


def _read_formulas(
    reader: EntryReader, pairs: Sequence[tuple[ScalarNode, Node]]
) -> tuple[Formula, ...]:
    formulas: list[Formula] = []
    for key, value in pairs:
        if not isinstance(value, ScalarNode) or value.is_null:
            reader.wrong_type(key.value, value, "a formula")
            continue
        names, spans = zip(*reader.split_words(key))
        text, tree = value.value, None
        word = _WORDS.get(text.strip().lower(), "")
        if not word:
            tree, found = parse_formula(text, locate=scalar_locator(reader.source, value))
            reader.repeat(found)
        formulas.append(Formula(names, text, tree, word, spans, reader.span(value)))
    return tuple(formulas)


def _read_differentiability(reader: EntryReader, node: Node) -> tuple[bool | str, ...] | None:
    """`[True, False]`, or one condition as text."""
    if not isinstance(node, ListNode) or not node.items:
        reader.wrong_type("output_differentiability", node, "a list")
        return None
    values: list[bool | str] = []
    for item in node.items:
        if not isinstance(item, ScalarNode) or item.is_null:
            reader.wrong_type("output_differentiability", item, "True, False or a condition")
        elif item.style == "" and item.value in TRUTH:
            values.append(TRUTH[item.value])
        elif len(node.items) > 1:
            message = f"`{short(item.value)}` is neither True nor False"
            reader.report("TG328", message, item, "a condition must be the only item")
        else:
            values.append(item.value)
    return tuple(values)


def load_derivatives_file(reader: EntryReader, node: Node, earlier: Earlier) -> None:
    """Give the functions their formulas."""
    versions = VendorVersions(reader)
    plain = node.items if isinstance(node, ListNode) else None
    for item in plain or reader.items("backward", "a list of entries"):
        entry = EntryReader(reader.source, reader.diagnostics, reader.dialect, item)
        _load_formulas(entry, item, earlier, versions)


def _load_formulas(
    reader: EntryReader, node: Node, earlier: Earlier, versions: VendorVersions
) -> None:
    if not isinstance(node, MapNode):
        hint = "begin the entry with `- name: ...`"
        reader.report("TG101", "an entry must be a mapping", node, "here", hint)
        return
    version = reader.fields.pop("version", None)
    releases = versions.every if version is None else versions.read("version", version[1])
    pair = reader.fields.pop("name", None)
    name = pair[1] if pair else None
    if not isinstance(name, ScalarNode) or name.is_null:
        reader.report("TG104", "an entry without `name`", node, "here")
        return
    reader.head = name
    schema, found = parse_schema(name.value, locate=scalar_locator(reader.source, name))
    reader.diagnostics += found
    derivatives = read_derivatives(reader, list(reader.fields.values()), reader.span(node))
    if schema is None or not (versions.has(releases) or earlier.has(schema.full_name)):
        return
    position = earlier.find(reader, schema.full_name, name)
    if position is None:
        return
    function = earlier.functions[position]
    names = [a.name for a in schema.arguments]
    every = [f for f in earlier.functions if f.name == function.name]
    same = [f for f in every if [a.name for a in f.func.arguments] == names]
    if not same:
        said = f"the arguments of `{schema.full_name}` are named differently where it is declared"
        there = function.func.span
        declared = (Label(there, "declared here"),) if there else ()
        reader.report("TG307", said, name, "formulas use these names", secondary=declared)
        return
    if earlier.is_native(function.name):
        variants = dict(derivatives.variants)
        if DEFAULT in variants:
            variants["AutogradPrivateUse1"] = variants.pop(DEFAULT)
        derivatives = replace(derivatives, variants=tuple(variants.items()))
    functions = earlier.functions
    for one in same:
        at = next(number for number, other in enumerate(functions) if other is one)
        known = versions.of(one.torch)
        rest, own = known - releases, known & releases
        if own and rest:
            # The operator has the formulas in some of its releases.
            functions[at] = one._replace(torch=versions.text(rest, one.torch))
            one, at = one._replace(torch=versions.text(own, one.torch)), len(functions)
            functions.append(one)
        if own:
            functions[at] = one._replace(derivatives=derivatives)
