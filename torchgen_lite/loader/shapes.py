"""What fields of an entry take: how each is read, and its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from torchgen_lite.loader.dispatch_table import key_names, read_dispatch
from torchgen_lite.loader.guards import read_guard
from torchgen_lite.loader.options import NAME, Json
from torchgen_lite.loader.reader import (
    KERNEL,
    KERNEL_NAME,
    OPERATOR,
    OPERATOR_NAME,
    Dialect,
    EntryReader,
)
from torchgen_lite.loader.structured_fields import (
    LOOPS_SCHEMA,
    read_inner_loops,
    read_precomputed,
)
from torchgen_lite.loader.versions import parse_range
from torchgen_lite.loader.yaml_nodes import ListNode, MapNode, Node, ScalarNode
from torchgen_lite.schema.defaults import DTYPES
from torchgen_lite.schema.kind import VARIANTS

if TYPE_CHECKING:
    from torchgen_lite.loader.derivatives import Derivatives

Schema = Callable[[Dialect], Json]
Read = Callable[[EntryReader, str, Node], object]


class Shape(NamedTuple):
    """What a field takes.

    `schema` returns the JSON Schema in a dialect. `read` returns the value, given the entry's reader,
    the field's name and its node; without `read`, the field is kept as text. `is_words` says that the
    field is a comma list or a YAML list.
    """

    schema: Schema
    read: Read | None = None
    is_words: bool = False


def plain(**schema: object) -> Schema:
    """A schema that is the same in all dialects."""
    return lambda dialect: schema


def comma_list(words: Iterable[str]) -> str:
    """The pattern of one or more of these words with commas between them."""
    one = "|".join(re.escape(word) for word in words)
    return rf"^\s*(?:{one})\s*(?:,\s*(?:{one})\s*)*$"


def words(pattern: str, choices: Collection[str] = ()) -> Json:
    """A comma list, or a YAML list."""
    item: Json = {"enum": list(choices)} if choices else {"type": "string", "pattern": pattern}
    return {"anyOf": [{"type": "string", "pattern": pattern}, {"type": "array", "items": item}]}


def one_of(code: str, what: str, choices: Collection[str]) -> Shape:
    """One of a few words; any other word is reported under `code`."""

    def read(reader: EntryReader, name: str, node: Node) -> str | None:
        text = reader.text_of(name, node)
        known = text is not None and reader.choice(code, what, text, node, choices)
        return text if known else None

    return Shape(plain(enum=list(choices)), read)


def several_of(code: str, what: str, choices: Collection[str]) -> Shape:
    """Some of a few words, each once; any other word is reported under `code`."""

    def read(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
        return reader.choices(code, what, name, node, choices)

    return Shape(plain(**words(comma_list(choices), choices)), read, is_words=True)


def text_that(
    fits: Callable[[str], object],
    pattern: str,
    code: str,
    what: str,
    label: str = "not a name",
    hint: str | None = None,
) -> Shape:
    """Text that fits; of any other, `code` says that it is not `what`."""

    def read(reader: EntryReader, name: str, node: Node) -> str | None:
        text = reader.text_of(name, node)
        if text is None or fits(text):
            return text
        reader.refuse(code, text, what, node, label, hint)
        return None

    return Shape(plain(type="string", pattern=pattern), read)


def declared_in(module: str) -> Shape:
    """The shape that a module of `loader` declares, imported when an entry has the field."""

    def shape() -> Any:
        return import_module(f"torchgen_lite.loader.{module}").SHAPE

    return Shape(lambda dialect: shape().schema(dialect), lambda *given: shape().read(*given))


# Nearly every entry has one of these texts.
_USUAL_VARIANTS = {
    "function": ("function",),
    "method": ("method",),
    "function, method": VARIANTS,
    "method, function": VARIANTS,
}


def _variants(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    """The variants, each once, in the order of `VARIANTS`."""
    usual = _USUAL_VARIANTS.get(node.value) if isinstance(node, ScalarNode) else None
    if usual is not None:
        return usual
    given = reader.choices("TG107", "variant", name, node, VARIANTS)
    return tuple(variant for variant in VARIANTS if variant in given) or ("function",)


def _autogen(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    names: list[str] = []
    for word, span in reader.words_of(name, node):
        if OPERATOR_NAME.fullmatch(word):
            names.append(word)
        else:
            reader.refuse("TG123", word, "the name of an operator", span)
    return tuple(names)


def _tags(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    """Every valid name, known or not: a tag from another release has a meaning there."""
    tags: list[str] = []
    for word, span in reader.words_of(name, node):
        if re.fullmatch(NAME, word, re.ASCII):
            reader.choice("TG111", "tag", word, span, reader.dialect.tags)
            tags.append(word)
        else:
            reader.refuse("TG128", word, "the name of a tag", span)
    return tuple(tags)


def _no_defaults(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    """A list, which torchgen asserts too: it would split a string into letters."""
    if isinstance(node, ScalarNode):
        reader.wrong_type(name, node, "a list of arguments")
        return ()
    found = reader.words_of(name, node)
    if reader.func is not None:
        defaults = {argument.name: argument.default for argument in reader.func.arguments}
        for word, span in found:
            if reader.choice("TG107", "argument", word, span, defaults) and defaults[word] is None:
                message = f"argument `{word}` has no default"
                reader.report("TG107", message, span, "nothing to leave out")
    return tuple(word for word, _ in found)


def _guard(reader: EntryReader, name: str, node: Node) -> str | None:
    """One condition as it is written, or one that joins all conditions of a list."""
    if not isinstance(node, ListNode):
        text = reader.text_of(name, node)
        is_right = text is not None and _condition(reader, text, node) is not None
        return text.strip() if text is not None and is_right else None
    conditions: list[str] = []
    for item in node.items:
        text = reader.text_of(name, item)
        condition = None if text is None else _condition(reader, text, item)
        if condition is None:
            return None
        conditions.append(condition)
    if not conditions:
        reader.wrong_type(name, node, "a condition, or a list of them")
        return None
    joined = f"#if {' && '.join(conditions)}"
    return joined if _condition(reader, joined, node) is not None else None


def _condition(reader: EntryReader, text: str, node: Node) -> str | None:
    condition = read_guard(text)
    if condition is None:
        hint = 'write it like "#ifndef USE_ROCM"'
        reader.refuse("TG122", text, "a build guard", node, "here", hint)
    return condition


def _derivatives(reader: EntryReader, name: str, node: Node) -> Derivatives | None:
    """Formulas by argument name; arguments that share a formula are a comma list.

    `output_differentiability` may be among the formulas, as in PyTorch's derivatives.yaml, or
    beside `derivatives`.
    """
    pairs, fields = [], reader.fields
    if "derivatives" in fields:
        node = fields["derivatives"][1]
        if not isinstance(node, MapNode):
            reader.wrong_type("derivatives", node, "a mapping from arguments to formulas")
            return None
        pairs = reader.read_keys(node)
    if "output_differentiability" in fields:
        pairs.append(fields["output_differentiability"])
    from torchgen_lite.loader.derivatives import read_derivatives

    return read_derivatives(reader, pairs, reader.span(node))


def _dispatch_schema(dialect: Dialect) -> Json:
    kernel = {"type": "string", "pattern": f"^{KERNEL}$"}
    names = {"pattern": comma_list(sorted(key_names(dialect.privateuse1)))}
    table = {"type": "object", "propertyNames": names, "additionalProperties": kernel}
    return {"anyOf": [table, kernel]}


_LINES = plain(type="array", items={"type": "string"})
_GUARD: Json = {"type": "string", "pattern": r"^#(?:if|ifdef|ifndef)[ \t]+\S"}
_NAMES = rf"^\s*{OPERATOR}\s*(?:,\s*{OPERATOR}\s*)*$"

TEXT = Shape(plain(type="string"), EntryReader.text_of)
FLAG = Shape(plain(type="boolean"), EntryReader.flag)
UNREAD_FLAG = Shape(plain(type="boolean"))
UNREAD = Shape(plain())
FUNC = Shape(
    plain(type="string", pattern=rf"^\s*{OPERATOR}\s*\([\s\S]*\)\s*->\s*[\s\S]*\S[\s\S]*$")
)
OPERATOR_OF = text_that(
    OPERATOR_NAME.fullmatch, f"^{OPERATOR}$", "TG123", "the name of an operator"
)
FUNCTION = text_that(
    lambda text: "::" not in text and KERNEL_NAME.fullmatch(text),
    f"^{KERNEL}$",
    "TG334",
    "the name of a Python function",
)
RANGE = text_that(
    lambda text: parse_range(text) is not None,
    r"^\s*(?:>=|<=|==|!=|~=|<|>)\s*[0-9]",
    "TG119",
    "a version range",
    "here",
    'write it like ">=2.6,<2.9"',
)
GUARD = Shape(plain(anyOf=[_GUARD, {"type": "array", "items": _GUARD, "minItems": 1}]), _guard)
VARIANTS_OF = Shape(plain(**words(comma_list(VARIANTS), VARIANTS)), _variants)
DEVICE_CHECK = one_of("TG107", "device check", ("NoCheck", "ExactSame"))
# The modules in which PyTorch binds functions (gen_python_functions.py); in others it binds none.
PYTHON_MODULE = one_of(
    "TG107", "Python module", ("nn", "fft", "linalg", "nested", "sparse", "special")
)
# The categories that torchgen's `api.python` knows.
CATEGORY = one_of("TG107", "category", ("factory", "new", "like", "dummy"))
PRECOMPUTED = Shape(_LINES, read_precomputed)
LOOPS = Shape(plain(**LOOPS_SCHEMA), read_inner_loops)
NO_DEFAULTS = Shape(_LINES, _no_defaults)
DISPATCH = Shape(_dispatch_schema, read_dispatch)
TAGS = Shape(lambda dialect: words(comma_list(dialect.tags), dialect.tags), _tags, is_words=True)
AUTOGEN = Shape(plain(**words(_NAMES)), _autogen, is_words=True)
DERIVATIVES = Shape(plain(type="object"), _derivatives)
DIFFERENTIABILITY = Shape(plain(type="array", minItems=1), _derivatives)
KERNEL_DTYPES = several_of("TG107", "dtype", DTYPES)
