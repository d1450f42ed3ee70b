"""PyTorch's fields whose values are more than text or a truth value."""

from __future__ import annotations

import re
from typing import Any

from torchgen_lite.diagnostics import Label
from torchgen_lite.loader.dispatch_table import key_names, read_dispatch
from torchgen_lite.loader.options import NAME
from torchgen_lite.loader.precomputed import read_precomputed
from torchgen_lite.loader.reader import KERNEL, OPERATOR, OPERATOR_NAME, EntryReader
from torchgen_lite.loader.shapes import Shape, comma_list, one_of, plain, words
from torchgen_lite.loader.ufunc import LOOPS_SCHEMA, implied_kernels, read_inner_loops
from torchgen_lite.loader.yaml_nodes import ScalarNode
from torchgen_lite.schema.kind import VARIANTS as VARIANT_WORDS

# The modules in which PyTorch binds functions (gen_python_functions.py); in others it binds none.
_PYTHON_MODULES = ("nn", "fft", "linalg", "nested", "sparse", "special")
_NAME = re.compile(NAME, re.ASCII)
# The categories that torchgen's `api.python` knows.
_CATEGORIES = ("factory", "new", "like", "dummy")


# Nearly every entry has one of these texts.
_USUAL_VARIANTS = {
    "function": ("function",),
    "method": ("method",),
    "function, method": VARIANT_WORDS,
    "method, function": VARIANT_WORDS,
}


def _variants(reader: EntryReader, name: str) -> tuple[str, ...]:
    """The variants, each once, in the order of `VARIANT_WORDS`."""
    node = reader.fields[name][1]
    usual = _USUAL_VARIANTS.get(node.value) if isinstance(node, ScalarNode) else None
    if usual is not None:
        return usual
    words = {
        word
        for word, span in reader.list_words(name)
        if reader.choice("TG107", "variant", word, span, VARIANT_WORDS)
    }
    return tuple(variant for variant in VARIANT_WORDS if variant in words) or ("function",)


def _autogen(reader: EntryReader, name: str) -> tuple[str, ...]:
    names: list[str] = []
    for word, span in reader.list_words(name):
        if OPERATOR_NAME.fullmatch(word):
            names.append(word)
        else:
            reader.refuse("TG123", word, "the name of an operator", span)
    return tuple(names)


def _tags(reader: EntryReader, name: str) -> tuple[str, ...]:
    """Every valid name, known or not: a tag from another release has a meaning there."""
    tags: list[str] = []
    for word, span in reader.list_words(name):
        if _NAME.fullmatch(word):
            reader.choice("TG111", "tag", word, span, reader.dialect.tags)
            tags.append(word)
        else:
            reader.refuse("TG128", word, "the name of a tag", span)
    return tuple(tags)


def _no_defaults(reader: EntryReader, name: str) -> tuple[str, ...]:
    """A list, which torchgen asserts too: it would split a string into letters."""
    node = reader.fields[name][1]
    if isinstance(node, ScalarNode):
        reader.wrong_type(name, node, "a list of arguments")
        return ()
    found = reader.list_words(name)
    if reader.func is not None:
        defaults = {argument.name: argument.default for argument in reader.func.arguments}
        for word, span in found:
            if not reader.choice("TG107", "argument", word, span, defaults):
                continue
            if defaults[word] is None:
                message = f"argument `{word}` has no default"
                reader.report("TG107", message, span, "nothing to leave out")
    return tuple(word for word, _ in found)


def complete_fields(reader: EntryReader, values: dict[str, Any]) -> None:
    """Complete an entry across fields: add implied kernels, report contradictions."""
    loops = values.get("ufunc_inner_loop")
    if loops is not None:
        dispatch = values.get("dispatch", ())
        values["dispatch"] = dispatch + implied_kernels(reader, loops, dispatch)
    _check_exclusive(reader, values)


# An entry with none of these fields can't contradict itself.
_EXCLUSIVE = frozenset(
    "manual_kernel_registration precomputed python_module structured structured_delegate structured_inherits "
    "ufunc_inner_loop".split()
)


def _check_exclusive(reader: EntryReader, values: dict[str, Any]) -> None:
    """Fields that contradict each other (torchgen `NativeFunction.from_yaml`)."""
    fields, func = reader.fields, reader.func
    if fields.keys().isdisjoint(_EXCLUSIVE):
        return
    structured = values.get("structured", reader.is_structured) is True
    if structured and "structured_delegate" in fields:
        _exclude(reader, "structured", "structured_delegate")
    if values.get("manual_kernel_registration") is True and "dispatch" in fields:
        _exclude(reader, "manual_kernel_registration", "dispatch")
    for name in ("precomputed", "ufunc_inner_loop", "structured_inherits"):
        if name in fields and not structured:
            message = f"`{name}` needs `structured: True`"
            reader.report("TG116", message, fields[name][0], "not structured")
    if "python_module" in fields and "method" in values.get("variants", ()):
        _exclude(reader, "variants", "python_module")
    if structured and func is not None and not func.out:
        message = "`structured: True` on an operator without out arguments"
        hint = "put it on the out variant and give this one `structured_delegate`"
        reader.report("TG310", message, fields["structured"][0], "not an out variant", hint)


def _exclude(reader: EntryReader, first: str, second: str) -> None:
    """Report two exclusive fields; the first may be from the operator that the entry names."""
    fields = reader.fields
    given = (Label(reader.span(fields[first][0]), "given here"),) if first in fields else ()
    reader.report(
        "TG116",
        f"`{first}` and `{second}` exclude each other",
        fields[second][0],
        f"not together with `{first}`",
        secondary=given,
    )


def dispatch_schema(privateuse1: str = "") -> dict[str, object]:
    kernel = {"type": "string", "pattern": f"^{KERNEL}$"}
    table = {
        "type": "object",
        "propertyNames": {"pattern": comma_list(sorted(key_names(privateuse1)))},
        "additionalProperties": kernel,
    }
    return {"anyOf": [table, kernel]}


_LINES = plain(type="array", items={"type": "string"})

FUNC = Shape(
    plain(type="string", pattern=rf"^\s*{OPERATOR}\s*\([\s\S]*\)\s*->\s*[\s\S]*\S[\s\S]*$")
)
DISPATCH = Shape(lambda tags: dispatch_schema(), lambda reader, name: read_dispatch(reader))
VARIANTS = Shape(lambda tags: words(comma_list(VARIANT_WORDS), VARIANT_WORDS), _variants)
DEVICE_CHECK = one_of("TG107", "device check", ("NoCheck", "ExactSame"))
PYTHON_MODULE = one_of("TG107", "Python module", _PYTHON_MODULES)
CATEGORY = one_of("TG107", "category", _CATEGORIES)
PRECOMPUTED = Shape(_LINES, read_precomputed)
UFUNC = Shape(plain(**LOOPS_SCHEMA), read_inner_loops)
NO_DEFAULTS = Shape(_LINES, _no_defaults)
TAGS = Shape(lambda tags: words(comma_list(tags), tags), _tags, is_words=True)
AUTOGEN = Shape(
    lambda tags: words(rf"^\s*{OPERATOR}\s*(?:,\s*{OPERATOR}\s*)*$"), _autogen, is_words=True
)
