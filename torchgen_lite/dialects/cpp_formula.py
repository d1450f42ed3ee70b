"""A derivative formula in C++.

    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

is `grads[0].defined() ? at::where(self >= 0, grads[0], weight) : self_info.zeros()`. Operators of PyTorch are
functions of `at` or methods of tensors, those of the library are functions of its own.

Note [Kinds in formulas]
The language of formulas has no types and C++ has many, so each expression is given a kind as far as it can be
told: what is symbolic wants the `_symint` variant of a function, a quotient of two integers is no integer, an
optional number is unpacked where it is calculated with, and arithmetic of two `at::Scalar`s does not exist.
What is not known is taken for a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.dialects.cpp.defaults import as_written
from torchgen_lite.dialects.cpp_text import (
    assigned,
    assignment,
    function_name,
    identifier,
    quote,
)
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.formula import (
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
)
from torchgen_lite.schema.formula.model import PRECEDENCE, UNARY_PRECEDENCE
from torchgen_lite.schema.model import bare_type

_POSTFIX = UNARY_PRECEDENCE + 1
_CONDITIONAL = 1
_LINE = 80
_CONSTANTS = {"True": "true", "False": "false", "true": "true", "false": "false"}
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_INTEGERS = frozenset({"int", "symint"})
_NUMBERS = frozenset({"int", "symint", "float", "bool", "scalar"})
_LISTS = frozenset({"ints", "symints", "floats", "tensors"})
# What a tensor has in Python as an attribute, and the kind of it.
_ATTRIBUTES = {
    "T": ("numpy_T()", "tensor"),
    "H": ("matrix_H()", "tensor"),
    "mT": ("mT()", "tensor"),
    "mH": ("mH()", "tensor"),
    "device": ("device()", "other"),
    "dtype": ("scalar_type()", "other"),
    "imag": ("imag()", "tensor"),
    "layout": ("layout()", "other"),
    "ndim": ("dim()", "int"),
    "real": ("real()", "tensor"),
    "requires_grad": ("requires_grad()", "bool"),
    "shape": ("sym_sizes()", "symints"),
}
# Methods that are called otherwise in C++, or whose result is no tensor.
_METHODS = {
    "defined": ("defined", "bool"),
    "dim": ("dim", "int"),
    "is_complex": ("is_complex", "bool"),
    "is_floating_point": ("is_floating_point", "bool"),
    "item": ("item", "scalar"),
    "numel": ("sym_numel", "symint"),
    "scalar_type": ("scalar_type", "other"),
    "size": ("sym_size", "symint"),
    "sizes": ("sym_sizes", "symints"),
    "stride": ("sym_stride", "symint"),
    "suggest_memory_format": ("suggest_memory_format", "other"),
    "sym_numel": ("sym_numel", "symint"),
    "sym_size": ("sym_size", "symint"),
    "sym_sizes": ("sym_sizes", "symints"),
    "sym_strides": ("sym_strides", "symints"),
}
_OPTIONS = ("dtype", "layout", "device", "pin_memory")


class Written(NamedTuple):
    """The text of an expression, how tightly it binds, and its kind."""

    text: str
    level: int
    kind: str

    def at(self, level: int) -> str:
        """The text, in brackets if it binds looser than `level`."""
        return f"({self.text})" if self.level < level else self.text


class OwnOperator(NamedTuple):
    """An operator of the library: the struct with its typed call, and whether it is a function as well."""

    schema: FunctionSchema
    struct: str
    is_function: bool


@dataclass(frozen=True, slots=True)
class Functions:
    """What formulas may call.

    `own` are operators of the library by base name, called in `namespace`; `torch` those of PyTorch that are
    declared too, of which the order of arguments is known. `has_headers` says that the author's headers may
    define more functions, and `python` are functions that only Python has.
    """

    namespace: str
    own: Mapping[str, Sequence[OwnOperator]] = field(default_factory=dict)
    torch: Mapping[str, Sequence[FunctionSchema]] = field(default_factory=dict)
    has_headers: bool = False
    python: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes formulas of one operator.

    `kinds` are those of the names in scope. `fact` gives the local name and the kind of an expression that was
    saved in place of a tensor, or None. `problems` collects what C++ has no way to say, `parts` the names of
    parts that have statements of their own.
    """

    functions: Functions
    kinds: Mapping[str, str]
    fact: Callable[[Expression], tuple[str, str] | None]
    problems: list[tuple[Expression, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def text(self, node: Expression, level: int = 0) -> str:
        """The expression, in brackets if it binds looser than `level`."""
        return self.write(node).at(level)

    def write(self, node: Expression) -> Written:
        """The expression with its kind."""
        fact = self.fact(node)
        if fact is not None:
            return Written(fact[0], _POSTFIX, fact[1])
        if isinstance(node, Name):
            return self._name(node)
        if isinstance(node, Literal):
            return _literal(node)
        if isinstance(node, Lambda):
            return Written(node.text, _POSTFIX, "other")
        if isinstance(node, Member):
            return self._member(node)
        if isinstance(node, Subscript):
            return self._subscript(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, ListDisplay):
            items = [self.write(item) for item in node.items]
            kind = "symints" if any(item.kind == "symint" for item in items) else "list"
            return Written(f"{{{', '.join(item.text for item in items)}}}", _POSTFIX, kind)
        if isinstance(node, Unary):
            operand = self.value(node.operand)
            kind = "bool" if node.operator == "!" else operand.kind
            text = f"{node.operator}{operand.at(UNARY_PRECEDENCE)}"
            return Written(text, UNARY_PRECEDENCE, kind)
        if isinstance(node, Conditional):
            return self._conditional(node)
        return self._binary(node)

    def value(self, node: Expression) -> Written:
        """The expression where it is calculated with: an optional number is unpacked."""
        written = self.write(node)
        if not written.kind.endswith("?"):
            return written
        return Written(f"{written.at(_POSTFIX)}.value()", _POSTFIX, written.kind[:-1])

    def result(self, node: Expression) -> str:
        """The expression as a gradient, which is a tensor."""
        return "at::Tensor()" if isinstance(node, Name) and node.text == "None" else self.text(node)

    def _name(self, node: Name) -> Written:
        if node.text == "None":
            return Written("std::nullopt", _POSTFIX, "other")
        if node.text in _CONSTANTS:
            return Written(_CONSTANTS[node.text], _POSTFIX, "bool")
        if "::" in node.text:
            # A constant such as `at::MemoryFormat::Contiguous`.
            return Written(node.text, _POSTFIX, self.kinds.get(node.text, "other"))
        name = identifier(node.text)
        return Written(name, _POSTFIX, self.kinds.get(node.text, "tensor"))

    def _member(self, node: Member) -> Written:
        value = self.value(node.value).at(_POSTFIX)
        if node.arrow:
            return Written(f"{value}->{node.name}", _POSTFIX, "other")
        known = _ATTRIBUTES.get(node.name)
        if known is None:
            self.problems.append((node, f"C++ has no attribute `{node.name}` of a tensor"))
            return Written(f"{value}.{node.name}", _POSTFIX, "tensor")
        return Written(f"{value}.{known[0]}", _POSTFIX, known[1])

    def _subscript(self, node: Subscript) -> Written:
        value = self.write(node.value)
        kind = {"symints": "symint", "ints": "int", "floats": "float"}.get(value.kind, "tensor")
        # A negative index counts from the end, which no list of C++ knows.
        if isinstance(node.index, Unary) and node.index.operator == "-":
            return Written(f"{value.at(_POSTFIX)}.end()[{self.text(node.index)}]", _POSTFIX, kind)
        return Written(f"{value.at(_POSTFIX)}[{self.text(node.index)}]", _POSTFIX, kind)

    def _conditional(self, node: Conditional) -> Written:
        yes, no = self.write(node.yes), self.write(node.no)
        # Both branches have one type in C++, and `None` alone has none.
        texts = [
            "at::Tensor()" if written.text == "std::nullopt" else written.at(2)
            for written in (yes, no)
        ]
        kind = no.kind if yes.text == "std::nullopt" else yes.kind
        return Written(f"{self.text(node.test, 2)} ? {texts[0]} : {texts[1]}", _CONDITIONAL, kind)

    def _binary(self, node: Binary) -> Written:
        operator, level = node.operator, PRECEDENCE[node.operator]
        left, right = self.value(node.left), self.value(node.right)
        kinds = {left.kind, right.kind}
        if not kinds <= _NUMBERS:
            kind = "tensor" if operator not in ("&&", "||") else "bool"
            return Written(f"{left.at(level)} {operator} {right.at(level + 1)}", level, kind)
        left, right = _plain_number(left), _plain_number(right)
        if operator == "/" and kinds <= _INTEGERS:
            return _quotient(left, right)
        kind = "bool"
        if operator not in _COMPARISONS:
            kind = "float" if {left.kind, right.kind} & {"float"} else "int"
            kind = "symint" if kind == "int" and "symint" in kinds else kind
        return Written(f"{left.at(level)} {operator} {right.at(level + 1)}", level, kind)

    def _call(self, node: Call) -> Written:
        head, items, kind = self.called(node)
        return Written(f"{head}({', '.join(items)})", _POSTFIX, kind)

    def called(self, node: Call) -> tuple[str, list[str], str]:
        """What stands before the bracket of a call, its arguments, and the kind of its result."""
        function = node.function
        if isinstance(function, Member):
            return self._method(node, function)
        name = function.text if isinstance(function, Name) else self.text(function, _POSTFIX)
        base = name.rpartition("::")[2]
        own = self.functions.own.get(base) if "::" not in name else None
        if own is not None:
            return self._own(node, base, own, node.arguments)
        arguments, symbolic = self._arguments(node, self.functions.torch.get(base, ()))
        if "::" in name or not isinstance(function, Name):
            return name, arguments, "tensor"
        if base in self.functions.python and not self.functions.has_headers:
            self.problems.append((node, f"`{base}` is a function of Python"))
        # Where the author has functions too, `formulas` is a namespace that sees them and PyTorch's.
        scope = "formulas" if self.functions.has_headers else "at"
        return f"{scope}::{_symbolic(base, symbolic)}", arguments, "tensor"

    def _method(self, node: Call, method: Member) -> tuple[str, list[str], str]:
        written = self.write(method.value)
        name, arrow = method.name, "->" if method.arrow else "."
        if name == "size" and written.kind in _LISTS and not node.arguments:
            return f"{written.at(_POSTFIX)}.size", [], "int"
        if name == "defined" and written.kind.endswith("?"):
            return f"{written.at(_POSTFIX)}.has_value", [], "bool"
        if name == "conj" and written.kind in _NUMBERS - {"scalar"}:
            return "", [written.text], written.kind
        own = self.functions.own.get(name)
        if own is not None and written.kind == "tensor":
            return self._own(node, name, own, (method.value, *node.arguments))
        arguments, symbolic = self._arguments(node, self.functions.torch.get(name, ()), method=True)
        renamed, kind = _METHODS.get(name, (name, "tensor"))
        # `size(0)` is one number, `sizes()` and `stride()` are lists.
        if name == "stride" and not arguments:
            renamed, kind = "sym_strides", "symints"
        if name == "size" and not arguments:
            renamed, kind = "sym_sizes", "symints"
        if name == "conj":
            kind = written.kind
        return f"{written.at(_POSTFIX)}{arrow}{_symbolic(renamed, symbolic)}", arguments, kind

    def _own(
        self,
        node: Call,
        name: str,
        overloads: Sequence[OwnOperator],
        given: Sequence[Expression],
    ) -> tuple[str, list[str], str]:
        """A call of an operator of the library; one that is a method only is called by its struct."""
        keys = [key for key, _ in node.keywords]
        kinds = [self.write(argument).kind for argument in given]
        schema = _overload([own.schema for own in overloads], len(given), keys, kinds)
        own = next(own for own in overloads if own.schema is schema)
        bound = self._bind(node, schema, given, every=not own.is_function)
        symbolic = any(written.kind in ("symint", "symints") for written in bound)
        takes_symint = any("SymInt" in str(a.type) for a in schema.arguments)
        suffix = "_symint" if symbolic and takes_symint else ""
        types = [bare_type(a.type) for a in schema.arguments]
        texts = [
            f"autograd::optional({w.text})" if t == "Tensor?" and w.kind != "other" else w.text
            for w, t in zip(bound, types)
        ]
        several = len(schema.returns) != 1 or bare_type(schema.returns[0].type) != "Tensor"
        function = f"functions::{function_name(name)}{suffix}"
        if not own.is_function:
            function = f"ops::{own.struct}::call"
        head = f"::{self.functions.namespace}::{function}"
        return head, texts, "other" if several else "tensor"

    def _arguments(
        self, node: Call, overloads: Sequence[FunctionSchema], *, method: bool = False
    ) -> tuple[list[str], bool]:
        """The arguments of a call of PyTorch's, and whether one is symbolic."""
        given = list(node.arguments)
        keywords = dict(node.keywords)
        options = {key: keywords.pop(key) for key in _OPTIONS if key in keywords}
        if keywords and overloads:
            count = len(given) + method
            schema = _overload(overloads, count, list(keywords))
            bound = self._bind(
                Call(node.function, (), tuple(keywords.items())), schema, given, method
            )
        else:
            bound = [self.write(argument) for argument in given]
            for key, value in keywords.items():
                self.problems.append((value, f"C++ has no keyword arguments, such as `{key}`"))
        texts = [written.text for written in bound]
        if options:
            setters = "".join(f".{key}({self.text(value)})" for key, value in options.items())
            texts.append(f"at::TensorOptions(){setters.replace('.pin_memory', '.pinned_memory')}")
        return texts, any(written.kind in ("symint", "symints") for written in bound)

    def _bind(
        self,
        node: Call,
        schema: FunctionSchema,
        given: Sequence[Expression],
        method: bool = False,
        *,
        every: bool = False,
    ) -> list[Written]:
        """Arguments in the order of the schema, with its defaults between; all of them, or what is needed."""
        layout = argument_layout(schema)
        order = list(layout.inputs)[1 if method else 0 :]
        keywords = dict(node.keywords)
        bound = [self.write(argument) for argument in given]
        for argument in order[len(given) :]:
            if not keywords and not every:
                break
            if argument.name in keywords:
                bound.append(self.write(keywords.pop(argument.name)))
            else:
                default = as_written(argument.default or "None", argument.type, symint=every)
                bound.append(Written(default.text, _POSTFIX, "other"))
        for value in keywords.values():
            self.problems.append((value, f"no overload of `{schema.full_name}` takes this"))
        return bound


def _symbolic(name: str, symbolic: bool) -> str:
    """The variant of a function that takes symbolic sizes, which a formula may name itself."""
    return f"{name}_symint" if symbolic and not name.endswith("_symint") else name


def _literal(node: Literal) -> Written:
    text = node.text
    if text[:1] in "'\"":
        return Written(quote(text[1:-1]), _POSTFIX, "str")
    is_float = any(character in text for character in ".e") and not text.startswith("0x")
    return Written(text, _POSTFIX, "float" if is_float else "int")


def _plain_number(written: Written) -> Written:
    """A number that C++ calculates with."""
    if written.kind != "scalar":
        return written
    return Written(f"{written.at(_POSTFIX)}.toDouble()", _POSTFIX, "float")


def _quotient(left: Written, right: Written) -> Written:
    level = PRECEDENCE["/"]
    if "symint" in (left.kind, right.kind):
        text = f"c10::SymFloat({left.text}) / c10::SymFloat({right.text})"
    else:
        text = f"static_cast<double>({left.text}) / {right.at(level + 1)}"
    return Written(text, level, "float")


def _overload(
    overloads: Sequence[FunctionSchema],
    count: int,
    keywords: Sequence[str],
    kinds: Sequence[str] = (),
) -> FunctionSchema:
    """The overload that so many arguments, these keywords and most of the kinds fit; else the first."""
    fitting: list[tuple[int, int, FunctionSchema]] = []
    for schema in overloads:
        names = [a.name for a in schema.arguments]
        if count <= len(schema.positional) and set(keywords) <= set(names[count:]):
            types = [bare_type(a.type) for a in schema.positional]
            misfits = sum(not _fits(kind, type_) for kind, type_ in zip(kinds, types))
            fitting.append((misfits, len(fitting), schema))
    return min(fitting)[2] if fitting else overloads[0]


def _fits(kind: str, type_: str) -> bool:
    """Whether an expression of the kind may be an argument of the type, as far as can be told."""
    is_tensor = type_.startswith("Tensor")
    return kind == "other" or (kind in ("tensor", "tensors")) == is_tensor


def statements(writer: Writer, target: str, node: Expression, *, indent: int) -> list[str]:
    """`target = formula;` in as many statements as fit into lines.

    What doesn't fit is taken apart: operands, objects of methods and arguments of calls get a name of their
    own. Each item is one line.
    """
    text = writer.result(node)
    margin = " " * indent
    flat = f"{target} = {text};"
    if indent + len(flat) <= _LINE:
        return [margin + flat]
    if indent + 4 + len(text) + 1 <= _LINE and not isinstance(node, Conditional):
        return [*f"{margin}{assigned(target, indent=indent)} =".split("\n"), f"{margin}    {text};"]
    if isinstance(node, Conditional) and not target.startswith("const auto "):
        yes = statements(writer, target, node.yes, indent=indent + 2)
        no = statements(writer, target, node.no, indent=indent + 2)
        test = f"{margin}if ({writer.text(node.test)}) {{"
        if len(test) <= _LINE:
            return [test, *yes, f"{margin}}} else {{", *no, f"{margin}}}"]
    if isinstance(node, Conditional) and _is_tensor(writer, node):
        local = target.removeprefix("const auto ")
        if local != target:
            lines = statements(writer, local, node, indent=indent)
            return [f"{margin}at::Tensor {local};", *lines]
    name = _part_name(writer, target)
    taken = _apart(node, name)
    if taken is None:
        return _as_it_is(writer, target, node, margin)
    inner, rest = taken
    written = writer.write(inner)
    head = f"const auto {name}"
    if written.kind == "symints":
        # A list that belongs to a tensor without a name would not outlive the statement.
        return _as_it_is(writer, target, node, margin)
    writer.parts.append(name)
    known = replace(writer, kinds={**writer.kinds, name: written.kind})
    return [
        *statements(writer, head, inner, indent=indent),
        *statements(known, target, rest, indent=indent),
    ]


def _as_it_is(writer: Writer, target: str, node: Expression, margin: str) -> list[str]:
    """A statement that no line holds: a call with one argument a line, or as it comes."""
    if isinstance(node, Call) and not any(isinstance(a, Lambda) for a in node.arguments):
        head, items, _ = writer.called(node)
        text = assignment(target, f"{head}(", items, indent=len(margin))
        lines = [line if i else margin + line for i, line in enumerate(text.split("\n"))]
        if all(len(line) <= _LINE for line in lines):
            return lines
    text = f"{margin}{target} = {writer.result(node)};"
    return [f"{margin}// clang-format off", text, f"{margin}// clang-format on"]


def _is_tensor(writer: Writer, node: Conditional) -> bool:
    """Whether both branches are tensors, of which one may be absent."""
    kinds = {writer.write(branch).kind for branch in (node.yes, node.no)}
    return kinds == {"tensor"} and "nullopt" not in str(node)


def _part_name(writer: Writer, target: str) -> str:
    """A name that no part has yet: `grad_self_part`, then `grad_self_part_2`."""
    stem = re.findall(r"\w+", target)[-1].partition("_part")[0].rstrip("_") + "_part"
    count = sum(name.partition("_part")[0] + "_part" == stem for name in writer.parts)
    return f"{stem}_{count + 1}" if count else stem


def _apart(node: Expression, name: str) -> tuple[Expression, Expression] | None:
    """The longest part of an expression that can have a name, and the rest with the name in its place."""
    part = Name(name)
    parts: list[tuple[Expression, Expression]] = []
    if isinstance(node, Unary):
        parts = [(node.operand, Unary(node.operator, part))]
    elif isinstance(node, Binary):
        parts = [
            (node.left, Binary(node.operator, part, node.right)),
            (node.right, Binary(node.operator, node.left, part)),
        ]
    elif isinstance(node, Call):
        arguments = node.arguments
        parts = [
            (item, Call(node.function, (*arguments[:i], part, *arguments[i + 1 :]), node.keywords))
            for i, item in enumerate(arguments)
        ]
        if isinstance(node.function, Member):
            method = Member(part, node.function.name, node.function.arrow)
            parts.append((node.function.value, Call(method, arguments, node.keywords)))
    able = [p for p in parts if isinstance(p[0], (Binary, Call, Unary, Conditional))]
    if not able:
        return None
    return max(able, key=lambda pair: len(str(pair[0])))
