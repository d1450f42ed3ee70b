"""Fields whose values are more than text, one of a few words, or a truth value.

    precomputed:                                       ufunc_inner_loop:
    - kernel_size -> int poolSizeH, int poolSizeW        Generic: add (AllAndComplex, BFloat16, Half)
    - int outputHeight, int outputWidth                  ScalarOnly: add (Bool)

`precomputed` says which arguments the meta function replaces. Its last line may leave out the arrow: it
then adds parameters and replaces nothing.

`ufunc_inner_loop` says which inner loop of an element-wise kernel serves which element types. `Generic`
loops have a scalar and a vector form, `ScalarOnly` loops only a scalar form. Both give the operator
kernels for CPU and CUDA. A single line of text means `Generic`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from torchgen_lite.loader.config.options import NAME, Json
from torchgen_lite.loader.entry.dispatch_table import key_names, read_dispatch
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.loader.entry.guards import read_guard
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES
from torchgen_lite.loader.entry.reader import (
    KERNEL_NAME,
    OPERATOR,
    OPERATOR_NAME,
    Dialect,
    EntryReader,
    short,
)
from torchgen_lite.loader.entry.shapes import Shape, comma_list, one_of, plain, some_of, words
from torchgen_lite.loader.sources import blocks_beside
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, is_text
from torchgen_lite.schema import parse_schema
from torchgen_lite.schema.defaults import DTYPES
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.kind import VARIANTS

if TYPE_CHECKING:
    from torchgen_lite.loader.entry.derivatives import Derivatives

_LOOP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*) \(([A-Za-z0-9_]+(?:, [A-Za-z0-9_]+)*)\)", re.ASCII)
_WORDS = blocks_beside(__file__)
_KEYS = tuple(_WORDS["keys"].split())
_TYPES = tuple(_WORDS["types"].split())
RETIRED = [line.split(None, 3) for line in _WORDS["retired"].splitlines()]
_DISPATCH_KEYS = ("CUDA", "CPU")
_LOOP_TABLE = {
    "type": "object",
    "propertyNames": {"enum": list(_KEYS)},
    "additionalProperties": {"type": "string"},
}

Loops = tuple[tuple[str, str], ...]


def _precomputed(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    """The lines as written; each has been checked."""
    if not isinstance(node, ListNode):
        reader.wrong_type(name, node, "a list of lines")
        return ()
    lines = []
    for item in node.items:
        line = reader.text_of(name, item, "a line of text")
        if line is not None and "->" not in line and item is not node.items[-1]:
            reader.report(
                "TG118",
                "only the last line of `precomputed` may be without `->`",
                item,
                "no `->`",
            )
        elif line is not None and _is_replacement(reader, line, item):
            lines.append(line)
    return tuple(lines)


def _is_replacement(reader: EntryReader, line: str, node: Node) -> bool:
    replaced, arrow, parameters = line.partition("->")
    if arrow and reader.func is not None:
        names = names_of(reader.func.arguments)
        if not reader.choice("TG118", "argument", replaced.strip(), node, names):
            return False
    parameters = parameters if arrow else replaced
    schema, _ = parse_schema(f"f({parameters.strip()}) -> ()")
    if schema is None or not schema.arguments:
        reader.refuse(
            "TG118",
            parameters,
            "a list of parameters",
            node,
            "expected `type name, type name ...`",
        )
        return False
    for name in names_of(schema.arguments):
        if name == name.upper():
            reader.report(
                "TG118",
                f"the name of parameter `{name}` is in upper case",
                node,
                "in upper case",
                f"call it `{name.lower()}`: upper-case names are for template parameters",
            )
            return False
    return True


def _inner_loops(reader: EntryReader, name: str, node: Node) -> Loops:
    """Each key with its line as written; the lines have been checked."""
    if is_text(node):
        return (("Generic", _loop(reader, node.value, node)),)
    if not isinstance(node, MapNode):
        reader.wrong_type(name, node, "a mapping or text")
        return ()
    loops = []
    for key, value in reader.read_keys(node):
        if reader.choice("TG107", "ufunc key", key.value, key, _KEYS):
            text = reader.text_of(key.value, value, "an inner loop")
            loops += [] if text is None else [(key.value, _loop(reader, text, value))]
    return tuple(loops)


def _loop(reader: EntryReader, text: str, node: Node) -> str:
    loop = _LOOP.fullmatch(text)
    if loop is None:
        reader.refuse(
            "TG124",
            text,
            "an inner loop",
            node,
            "not `name (Type, Type)`",
            "write it like `add (AllAndComplex, Half)`",
        )
        return text
    for name in loop[2].split(", "):
        reader.choice("TG124", "element type", name, node, _TYPES)
    return text


def implied_kernels(
    reader: EntryReader, loops: Loops, dispatch: tuple[DispatchEntry, ...]
) -> tuple[DispatchEntry, ...]:
    """The kernels that the loops give; the table may not name others (torchgen `from_yaml`)."""
    func = reader.func
    if func is None or not any(key in ("Generic", "ScalarOnly") for key, _ in loops):
        return ()
    field, value = reader.fields["ufunc_inner_loop"]
    for entry in dispatch:
        if entry.key in _DISPATCH_KEYS and entry.key_span is not None:
            reader.report(
                "TG116",
                f"`ufunc_inner_loop` gives the kernel for `{entry.key}`",
                entry.key_span,
                "a second kernel",
                f"leave `{entry.key}` out",
                (reader.span(field), "given here"),
            )
    span = reader.span(value)
    present = {entry.key for entry in dispatch}
    return tuple(
        DispatchEntry.at(key, f"ufunc_{func.base_name}_{key}", span)
        for key in _DISPATCH_KEYS
        if key not in present
    )


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
    names = []
    for word, span in reader.words_of(name, node):
        if OPERATOR_NAME.fullmatch(word):
            names.append(word)
        else:
            reader.refuse("TG123", word, "the name of an operator", span)
    return tuple(names)


def _tags(reader: EntryReader, name: str, node: Node) -> tuple[str, ...]:
    """Every valid name, known or not: a tag from another release has a meaning there."""
    tags = []
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
    defaulted = reader.words_of(name, node)
    if reader.func is not None:
        defaults = {argument.name: argument.default for argument in reader.func.arguments}
        for word, span in defaulted:
            if reader.choice("TG107", "argument", word, span, defaults) and defaults[word] is None:
                reader.report(
                    "TG107",
                    f"argument `{word}` has no default",
                    span,
                    "nothing to leave out",
                    "take it from this list",
                )
    return tuple(word for word, _ in defaulted)


def _guard(reader: EntryReader, name: str, node: Node) -> str | None:
    """One condition as it is written, or one that joins all conditions of a list."""
    if not isinstance(node, ListNode):
        text = reader.text_of(name, node)
        is_right = text is not None and _condition(reader, text, node) is not None
        return text.strip() if text is not None and is_right else None
    conditions = []
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
        reader.refuse(
            "TG122",
            text,
            "a build guard",
            node,
            "here",
            'write it like "#ifndef USE_ROCM"',
        )
    return condition


def _derivatives(reader: EntryReader, name: str, node: Node) -> Derivatives | None:
    """Formulas by argument name; arguments that share a formula are a comma list.

    `output_differentiability` may be among the formulas, as in PyTorch's derivatives.yaml, or
    beside `derivatives`.
    """
    pairs = []
    fields = reader.fields
    is_auto = False
    if "derivatives" in fields:
        node = fields["derivatives"][1]
        is_auto = isinstance(node, ScalarNode) and node.value == "auto"
        if not isinstance(node, MapNode) and not is_auto:
            reader.wrong_type("derivatives", node, "a mapping to formulas, or `auto`")
            return None
        pairs = reader.read_keys(node) if isinstance(node, MapNode) else []
    if "output_differentiability" in fields:
        pairs.append(fields["output_differentiability"])
    from torchgen_lite.loader.entry.derivatives import read_derivatives

    derivatives = read_derivatives(reader, pairs, reader.span(node))
    _refuse_conditions(reader, derivatives)
    return replace(derivatives, is_auto=is_auto)


def _refuse_conditions(reader: EntryReader, derivatives: Derivatives) -> None:
    """TG328 for a condition, C++ that PyTorch's own derivatives.yaml has and that no target asks in a call."""
    for flag in derivatives.output_differentiability or ():
        if isinstance(flag, str) and derivatives.differentiability_span is not None:
            reader.report(
                "TG328",
                f"`{short(flag)}` is neither True nor False",
                derivatives.differentiability_span,
                "a condition is not asked in a call",
                "write `[True]`, and formulas that are zero where there is no gradient",
            )


def _dispatch_schema(dialect: Dialect) -> Json:
    kernel = {"type": "string", "pattern": f"^{KERNEL_NAME.pattern}$"}
    row = {
        "type": "object",
        "properties": {
            "when": {"type": ["string", "boolean"]},
            "kernel": kernel,
            "tune": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "language": {"enum": sorted(KERNEL_LANGUAGES)},
        },
        "required": ["kernel"],
        "additionalProperties": False,
    }
    rows = {"type": "array", "items": {"anyOf": [kernel, row]}, "minItems": 1}
    names = {"pattern": comma_list(sorted(key_names(dialect.privateuse1)))}
    value = {"anyOf": [kernel, row, rows]}
    table = {"type": "object", "propertyNames": names, "additionalProperties": value}
    return {"anyOf": [table, kernel]}


_LINES = plain(type="array", items={"type": "string"})
_GUARD = {"type": "string", "pattern": r"^#(?:if|ifdef|ifndef)[ \t]+\S"}
_NAMES = rf"^\s*{OPERATOR}\s*(?:,\s*{OPERATOR}\s*)*$"

GUARD = Shape(plain(anyOf=[_GUARD, {"type": "array", "items": _GUARD, "minItems": 1}]), _guard)
VARIANTS_OF = Shape(plain(**words(comma_list(VARIANTS), VARIANTS)), _variants)
DEVICE_CHECK = one_of("device check", ("NoCheck", "ExactSame"))
# The modules in which PyTorch binds functions (gen_python_functions.py); in others it binds none.
PYTHON_MODULE = one_of("Python module", ("nn", "fft", "linalg", "nested", "sparse", "special"))
# The categories that torchgen's `api.python` knows.
CATEGORY = one_of("category", ("factory", "new", "like", "dummy"))
EFFECTS = one_of("effect", ("ordered",))
PRECOMPUTED = Shape(_LINES, _precomputed)
LOOPS = Shape(plain(anyOf=[{"type": "string"}, _LOOP_TABLE]), _inner_loops)
NO_DEFAULTS = Shape(_LINES, _no_defaults)
DISPATCH = Shape(_dispatch_schema, read_dispatch)
TAGS = Shape(lambda dialect: words(comma_list(dialect.tags), dialect.tags), _tags, is_words=True)
AUTOGEN = Shape(plain(**words(_NAMES)), _autogen, is_words=True)
DERIVATIVES = Shape(plain(anyOf=[{"type": "object"}, {"const": "auto"}]), _derivatives)
DIFFERENTIABILITY = Shape(plain(type="array", minItems=1), _derivatives)
KERNEL_DTYPES = some_of("dtype", DTYPES)
CHECKPOINT = one_of("policy", ("save", "recompute"))
DECOMPOSE = some_of("compiler", ("inductor", "onnx"))
TRITON = some_of("dispatch key", ("CPU", "CUDA", "XPU", "PrivateUse1", "CompositeExplicitAutograd"))
