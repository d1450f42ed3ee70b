"""The field `samples:`: example arguments for generated tests, and what to compare with, and how.

    samples:                                samples:
      - (randn(3, 4), randn(3, 4), 2.0)       calls: [(randn(3, 4))]
      - (randn(3), dim=0)                     reference: torch.relu(x)
      - self: randn(3)                        dtypes: [float32, bfloat16]
        dim: 0                                gradcheck: {eps: 1e-3, atol: 1e-2, rtol: 1e-2}

Each call is kept as expressions; `analysis.checks.samples` checks them against the schema. The reference is
an expression of Python, which has only values, operators and calls, so that all names in it can be
listed, or has one for each result; or it is the name of a function.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from keyword import iskeyword

from torchgen_lite.diagnostics import Locate, Span, did_you_mean, not_compared
from torchgen_lite.formulas.model import Call, Expression, ListDisplay
from torchgen_lite.formulas.prefix import TORCH, with_prefix
from torchgen_lite.loader.entry.derivatives import Uses, in_order
from torchgen_lite.loader.entry.fakes import parse_in, read_expression
from torchgen_lite.loader.entry.reader import KERNEL_NAME, TRUTH, EntryReader, python_names, short
from torchgen_lite.loader.entry.shapes import Shape, comma_list, plain, words
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, ScalarNode, is_text
from torchgen_lite.schema import return_names
from torchgen_lite.schema.grouped import without_none

# The dtypes that the floating-point tensors of samples may have.
DTYPES = ("float16", "bfloat16", "float32", "float64")
TOLERANCES = ("rtol", "atol")
GRADCHECK = ("dtype", "eps", "atol", "rtol", "nondet_tol", "check_batched_grad")
FIELDS = ("calls", "reference", "dtypes", *TOLERANCES, "gradcheck")
Settings = tuple[tuple[str, float | str], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One list of arguments; `text` is what is written."""

    text: str
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()
    span: Span | None = not_compared()
    keyword_spans: tuple[tuple[str, Span], ...] = not_compared(())


@dataclass(frozen=True, slots=True)
class Reference:
    """An expression, or the name of a `function`; `names` are the names in it and their places.

    `tree` is what Python makes of the expression, or of those of several results; `places` are those of its parts.
    `let` are the values that it names, each with its expression and the place of its name, after those it uses.
    """

    text: str
    function: str = ""
    span: Span | None = not_compared()
    tree: ast.expr = not_compared(ast.Name(""))
    places: Mapping[ast.AST, Span] = field(default_factory=dict, compare=False, repr=False)
    let: tuple[tuple[str, ast.expr, Span], ...] = not_compared(())

    @property
    def names(self) -> Uses:
        return [(part.id, at) for part, at in self.places.items() if isinstance(part, ast.Name)]


@dataclass(frozen=True, slots=True)
class Samples:
    """What is written under `samples:`: the calls and the settings.

    `gradcheck` is None if gradients are not to be checked.
    """

    calls: tuple[Sample, ...]
    reference: Reference | None = None
    dtypes: tuple[str, ...] = ()
    tolerances: tuple[tuple[str, float], ...] = ()
    gradcheck: Settings | None = ()


def read_samples(reader: EntryReader, name: str, node: Node) -> Samples:
    """A list of calls, or a mapping that has the calls and settings for all of them."""
    if isinstance(node, ListNode):
        return Samples(_read_calls(reader, node))
    if not isinstance(node, MapNode):
        reader.wrong_type(
            "samples",
            node,
            "a list, or a mapping with `calls`",
            "write each sample behind a dash",
        )
        return Samples(())
    values = {}
    for key, value in reader.read_keys(node):
        if key.value in FIELDS:
            values[key.value] = value
            continue
        reader.report(
            "TG335",
            f"unknown field `{short(key.value)}` of `samples`",
            key,
            "not a field",
            reader.as_a_field(key.value)
            or did_you_mean(key.value, FIELDS)
            or "write each sample behind a dash",
        )
    if "calls" not in values:
        if len(values) == len(node.items):
            reader.report(
                "TG335",
                "`samples` without `calls`",
                node,
                "here",
                "write the samples as a list under `calls:`",
            )
        return Samples(())
    dtypes = values.get("dtypes")
    reference = values.get("reference")
    return Samples(
        _read_calls(reader, values["calls"]),
        # One with mistakes is there, too, so that nothing else is said to lack it.
        (_read_reference(reader, reference) or Reference("")) if reference else None,
        reader.choices("TG335", "dtype of samples", "dtypes", dtypes, DTYPES) if dtypes else (),
        _read_tolerances(reader, values),
        _read_gradcheck(reader, values["gradcheck"]) if "gradcheck" in values else (),
    )


def _read_calls(reader: EntryReader, node: Node) -> tuple[Sample, ...]:
    """The samples that can be read."""
    if not isinstance(node, ListNode):
        reader.wrong_type("calls", node, "a list")
        return ()
    samples = [_read_sample(reader, item) for item in node.items]
    return tuple(without_none(samples))


def _read_tolerances(reader: EntryReader, values: dict[str, Node]) -> tuple[tuple[str, float], ...]:
    """Both or neither, as `torch.testing.assert_close` takes them."""
    given = [name for name in TOLERANCES if name in values]
    tolerances = [(name, _number(reader, name, values[name])) for name in given]
    if len(given) == 1:
        missing = TOLERANCES[1 - TOLERANCES.index(given[0])]
        reader.report(
            "TG335",
            f"`{given[0]}` without `{missing}`",
            reader.span(values[given[0]]),
            "alone",
            "write both; one may be 0",
        )
    return tuple((name, number) for name, number in tolerances if number is not None)


def _number(reader: EntryReader, name: str, node: Node) -> float | None:
    text = reader.text_of(name, node, "a number")
    if text is None:
        return None
    with suppress(ValueError):
        if 0 <= (number := float(text)) < math.inf:
            return number
    reader.report(
        "TG106",
        f"`{name}` takes a non-negative number, not `{short(text)}`",
        node,
        "not a number",
    )
    return None


def _read_gradcheck(reader: EntryReader, node: Node) -> Settings | None:
    """None for `false`, or the settings that `torch.autograd.gradcheck` is given."""
    if isinstance(node, ScalarNode) and node.value.lower() == "false" and not node.style:
        return None
    if not isinstance(node, MapNode):
        reader.wrong_type("gradcheck", node, "`false`, or a mapping such as `{eps: 1e-3}`")
        return ()
    settings: list[tuple[str, float | str]] = []
    for key, value in reader.read_keys(node):
        if not reader.choice("TG335", "setting of gradcheck", key.value, key, GRADCHECK):
            continue
        if key.value == "dtype":
            given = reader.words_of("dtype", value)
            kinds = DTYPES[2:]
            if len(given) == 1 and reader.choice("TG335", "dtype of gradcheck", *given[0], kinds):
                settings.append(("dtype", given[0][0]))
        elif key.value == "check_batched_grad":
            if isinstance(value, ScalarNode) and value.value in TRUTH:
                settings.append((key.value, TRUTH[value.value]))
            else:
                reader.wrong_type(key.value, value, "`true` or `false`")
        elif (number := _number(reader, key.value, value)) is not None:
            settings.append((key.value, number))
    return tuple(settings)


def _read_sample(reader: EntryReader, node: Node) -> Sample | None:
    span = reader.span(node)
    if isinstance(node, ScalarNode):
        return _from_text(reader, node, span)
    text = reader.written(node).rstrip()
    if isinstance(node, ListNode):
        tree = read_expression(reader, "samples", node)
        return Sample(text, tree.items, span=span) if isinstance(tree, ListDisplay) else None
    return _from_mapping(reader, node, text, span)


def _from_text(reader: EntryReader, node: ScalarNode, span: Span) -> Sample | None:
    text = node.value.strip()
    is_cut = reader.source.text.startswith(",", node.end)
    is_open = text.startswith("(") and text.count("(") > text.count(")") and not is_cut
    if not (text.startswith("(") and text.endswith(")")) and not is_open:
        hint = "write the arguments in brackets: `(randn(3), 2.0)`"
        if text[:1] == "(" or text[-1:] == ")" and text.count("(") < text.count(")"):
            hint = "in square brackets a comma ends a sample: write each behind a dash"
        reader.refuse("TG335", text, "a list of arguments", span, "here", hint)
        return None
    locate = reader.locator(node)
    lead = len(node.value) - len(node.value.lstrip())

    def shifted(start: int, end: int) -> Span:
        # The `_` in front, which makes the arguments a call, is not in the file.
        return locate(max(start - 1, 0) + lead, max(end - 1, 1) + lead)

    tree = parse_in(reader, "_" + text, shifted)
    if not isinstance(tree, Call) or isinstance(tree.function, Call):
        if tree is not None:
            reader.refuse("TG335", text, "a list of arguments", span, "here")
        return None
    return Sample(node.value, tree.arguments, tree.keywords, span)


def _from_mapping(reader: EntryReader, node: MapNode, text: str, span: Span) -> Sample | None:
    if text.startswith("{") and "(" in text:
        reader.report(
            "TG335",
            "a sample in curly brackets cannot have calls",
            span,
            "here",
            "write `(name=value)`, or one name a line: in curly brackets a comma ends a value",
        )
        return None
    pairs = reader.read_keys(node)
    trees = [(key.value, read_expression(reader, key.value, value)) for key, value in pairs]
    keywords = tuple((name, tree) for name, tree in trees if tree is not None)
    if len(keywords) < len(pairs):
        return None
    places = tuple((key.value, reader.span(key)) for key, _ in pairs)
    return Sample(text, (), keywords, span, places)


# What a reference may have. What marks an operator, or the use of a name, is no part of its own.
_NODES = tuple(getattr(ast, name) for name in """
    Attribute BinOp BoolOp Call Compare Constant IfExp List Name Slice Subscript Tuple UnaryOp keyword
    boolop cmpop expr_context operator unaryop
    """.split())


BUILTINS = frozenset(
    "abs bool complex float int len list max min range round sum torch tuple zip".split()
)
"""What an expression of a reference may call besides functions of PyTorch."""


def _read_reference(reader: EntryReader, node: Node) -> Reference | None:
    """The value of `reference:`, or None and diagnostics if it can't be read."""
    if isinstance(node, MapNode):
        return _read_results(reader, node, return_names(reader.func)) if reader.func else None
    text = node.value.strip() if is_text(node) else ""
    if KERNEL_NAME.fullmatch(text) and "::" not in text:
        first, *rest = text.split(".")
        tree: ast.expr = ast.Name(first)
        for name in rest:
            tree = ast.Attribute(tree, name)
        span = reader.span(node)
        return Reference(text, text, span, tree, dict.fromkeys(ast.walk(tree), span))
    return _read_python(reader, "reference", node)


# The keys of a mapping, with their places and values.
_Pairs = Mapping[str, tuple[ScalarNode, Node]]


def _read_results(reader: EntryReader, node: MapNode, results: Sequence[str]) -> Reference | None:
    """One expression, of those of all results and of the values under `let`, which are variables in it."""
    pairs = reader.fields_of(node)
    values = pairs.pop("let")[1] if "let" in pairs else MapNode(0)
    if not isinstance(values, MapNode):
        reader.wrong_type("let", values, "a mapping from names to expressions")
        return None
    let = reader.fields_of(values)
    are_named = _names_are_right(reader, node, let, pairs, results)
    variables = _read_each(reader, let, let)
    parts = _read_each(reader, pairs, let)
    if not are_named or variables is None or parts is None:
        return None
    trees = [parts[name].tree for name in results]
    tree = trees[0] if len(trees) == 1 else ast.Tuple(trees, ast.Load())
    order = _order_of(reader, let, variables, parts)
    bound = tuple([(name, variables[name].tree, reader.span(let[name][0])) for name in order])
    places: dict[ast.AST, Span] = {}
    for part in (*variables.values(), *parts.values()):
        places.update(part.places)
    text = _with_variables(ast.unparse(tree), {name: variables[name].text for name in order})
    return Reference(text, "", reader.span(node), tree, places, bound)


def _names_are_right(
    reader: EntryReader, node: MapNode, let: _Pairs, pairs: _Pairs, results: Sequence[str]
) -> bool:
    """Whether variables have names of variables, and each result has an expression; reports what is not so."""
    is_right = True
    for name, (place, _) in let.items():
        if iskeyword(name) or not name.isidentifier():
            reader.refuse("TG385", name, "a name", place)
            is_right = False
    are_known = True
    for name, (place, _) in pairs.items():
        is_known = reader.choice("TG335", "result", name, place, (*results, "let"))
        are_known = are_known and is_known
    missing = [name for name in results if name not in pairs]
    if missing and are_known:
        reader.report(
            "TG335",
            f"the reference gives no `{missing[0]}`",
            node,
            "missing here",
            "give each result an expression",
        )
    return is_right and are_known and not missing


def _read_each(
    reader: EntryReader, pairs: _Pairs, let: Collection[str]
) -> dict[str, Reference] | None:
    """The expression of each key, or None if one of them can't be read; all are reported. Each may use `let`."""
    read = {name: _read_python(reader, name, value, let) for name, (_, value) in pairs.items()}
    expressions = {name: expression for name, expression in read.items() if expression is not None}
    return expressions if len(expressions) == len(read) else None


def _order_of(
    reader: EntryReader,
    let: _Pairs,
    variables: Mapping[str, Reference],
    parts: Mapping[str, Reference],
) -> Sequence[str]:
    """The variables, each behind those that its expression uses."""
    places = {name: (reader.span(let[name][0]), variables[name].names) for name in let}
    uses = [use for part in parts.values() for use in part.names]
    return in_order(reader, places, uses, "result")


def _with_variables(result: str, values: Mapping[str, str]) -> str:
    """
    >>> _with_variables("(a, a + 1)", {"a": "x.sum()"})
    '(a := x.sum(), (a, a + 1))[-1]'
    """
    if not values:
        return result
    assigned = [f"{name} := {value}" for name, value in values.items()]
    return f"({', '.join([*assigned, result])})[-1]"


def _read_python(
    reader: EntryReader, name: str, node: Node, let: Collection[str] = ()
) -> Reference | None:
    """An expression, which may use the values of `let`, or None and diagnostics if it can't be read."""
    scalar = reader.scalar(name, node, "an expression")
    if scalar is None:
        return None
    try:
        tree = ast.parse(f"(\n{scalar.value}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reader.refuse(
            "TG335",
            scalar.value.strip(),
            "an expression of Python",
            node,
            "here",
            error.msg if isinstance(error, SyntaxError) else None,
        )
        return None
    place = _placed(scalar.value, reader.locator(scalar))
    for part in ast.walk(tree):
        problem = _unread(part)
        if problem:
            reader.report(
                "TG335",
                f"a reference cannot use {problem}",
                place(part),
                "here",
            )
            return None
    names = {*let}
    if reader.func:
        names.update(python_names(reader.func))
    if TORCH not in names:
        tree = with_prefix(tree, functions_of_torch().torch, names | BUILTINS)
    places = {part: place(part) for part in ast.walk(tree)}
    return Reference(ast.unparse(tree), "", reader.span(node), tree, places)


def _unread(node: ast.AST) -> str:
    """What a reference must not have at this node, for a message; empty for an allowed node."""
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return f"private names: `{short(node.attr)}`"
    if isinstance(node, _NODES):
        return ""
    return f"`{short(ast.unparse(node))}`"


def _placed(text: str, locate: Locate) -> Callable[[ast.AST], Span]:
    """Map nodes to places. Python counts bytes within lines, and the first line is our bracket."""
    lines = text.splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        before = sum(map(len, lines[: line - 2]))
        within = lines[line - 2] if line - 2 < len(lines) else ""
        return before + len(within.encode()[:column].decode(errors="ignore"))

    def place(node: ast.AST) -> Span:
        lineno = getattr(node, "lineno", 2)
        column = getattr(node, "col_offset", 0)
        end = getattr(node, "end_lineno", lineno), getattr(node, "end_col_offset", column + 1)
        return locate(offset(lineno, column), offset(*end))

    return place


_NUMBER = {"type": "number", "minimum": 0}
_SETTINGS = {
    **dict.fromkeys(GRADCHECK, _NUMBER),
    "dtype": {"enum": list(DTYPES[2:])},
    "check_batched_grad": {"type": "boolean"},
}
_GRADCHECK = {"type": "object", "properties": _SETTINGS, "additionalProperties": False}
_CALLS = {"type": "array"}
_EACH = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
_MAPPING = {
    "type": "object",
    "properties": {
        "calls": _CALLS,
        "reference": {"anyOf": [{"type": "string"}, {**_EACH, "properties": {"let": _EACH}}]},
        "dtypes": words(comma_list(DTYPES), DTYPES),
        **dict.fromkeys(TOLERANCES, _NUMBER),
        "gradcheck": {"anyOf": [{"enum": [False]}, _GRADCHECK]},
    },
    "additionalProperties": False,
    "required": ["calls"],
    "dependencies": {"rtol": ["atol"], "atol": ["rtol"]},
}
SHAPE = Shape(plain(anyOf=[_CALLS, _MAPPING]), read_samples)
